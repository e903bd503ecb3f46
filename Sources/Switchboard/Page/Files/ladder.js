// SPDX-License-Identifier: MIT
//
// A call as a ladder: a lane for the caller, one for Switchboard, and one for each further leg; a rung for each request and event, in the order
// of their own time. An arrow that falls arrived late. Each rung is a link to its step. A lane is thick while its leg is connected.
//
// Events that name no leg come from between the lanes.

import { short, svg } from "./dom.js";
import { plainText } from "./json.js";
import { span, tone } from "./words.js";

const mostLanes = 10;
const gutter = 62;
const top = 54;
const rung = 38;
const pause = 22;
// What is worth an elision, and what counts as late: milliseconds.
const longPause = 4000;
const late = 1000;

/** The flow's name of `answer#3 connect-phone`. */
export const flowName = (flow) => String(flow).split("#")[0];

/** What a step is, in a few words. */
export function stepWords(step) {
	if (step.kind === "answer") return "answer request";
	if (step.kind === "fallback") return "fallback request";
	const event = step.event ?? {};
	if (step.status === "input") {
		const keys = plainText(event.dtmf?.digits);
		const said = plainText(event.speech?.results?.[0]?.text);
		return keys ? `input: keys ${keys}` : said ? `input: “${said}”` : "input: nothing";
	}
	return step.status ?? step.kind;
}

/** Whether Vonage, or this server, complains in this step. */
export const isComplaint = (step) => step.status === "error" || Boolean(step.error);

/** Whether most of a call arrived before its own time: then it was played, and lags say nothing. */
export function isPlayed(call) {
	const timed = call.steps.filter((step) => !step.time_is_arrival);
	return timed.length > 1 && timed.filter((step) => new Date(step.at) < new Date(step.time) - late).length * 3 >= timed.length;
}

/** The lanes from left to right, as {name, note, leg}; Switchboard's has no leg. */
export function lanes(call) {
	const [first, ...others] = call.legs;
	const all = [
		{ name: first?.direction === "outbound" ? first.to : first?.from ?? call.from, note: first?.direction === "outbound" ? "first leg" : "caller", leg: first?.uuid },
		{ name: "Switchboard", note: "this server", isServer: true },
		...others.map((leg, index) => ({ name: leg.to, note: `leg ${index + 2}`, leg: leg.uuid })),
	];
	if (all.length <= mostLanes) return all;
	return [...all.slice(0, mostLanes - 1), { name: `${all.length - mostLanes + 1} more legs`, note: "", legs: all.slice(mostLanes - 1).map((lane) => lane.leg) }];
}

/**
 * @param {number} width pixels there are.
 * @param {(step: object) => string} href of a step.
 * @param {number | null} selected the `seq` of the step that is looked at.
 */
export function ladder(call, width, href, selected) {
	const columns = lanes(call);
	const room = Math.max(104, Math.min(230, (width - gutter - 16) / columns.length));
	const full = Math.max(gutter + room * columns.length + 8, width - 2);
	const x = (lane) => gutter + room * (lane + 0.5);
	const laneOf = (step) => {
		const at = columns.findIndex((lane) => lane.leg && lane.leg === step.leg || lane.legs?.includes(step.leg));
		if (at >= 0) return at;
		return step.kind === "answer" || step.kind === "fallback" ? 0 : -1;
	};
	const start = Date.parse(call.began);
	const played = isPlayed(call);
	const letters = (pixels) => Math.max(6, Math.floor(pixels / 6.7));
	let y = top;
	let before;
	const rungs = [];
	const lives = columns.map(() => ({ from: null, to: null }));
	for (const step of call.steps) {
		const at = Date.parse(step.time);
		if (before !== undefined && at - before >= longPause) {
			rungs.push(svg("text", { class: "pause", x: gutter + 6, y: y + 14 }, `${span(at - before)} later`));
			y += pause;
		}
		before = at;
		const lane = laneOf(step);
		const answers = Boolean(step.ncco);
		const height = answers ? rung * 2 - 6 : rung;
		rungs.push(link(step, lane, y, height, at));
		if (lane >= 0 && step.kind === "event") {
			if (step.status === "answered") lives[lane].from ??= y + 26;
			if (lives[lane].from && ["completed", "disconnected"].includes(step.status)) lives[lane].to = y + 26;
		}
		y += height;
	}
	const end = y + 14;

	function link(step, lane, y, height, at) {
		const lag = Date.parse(step.at) - at;
		const isLate = !played && !step.time_is_arrival && lag >= late;
		const words = stepWords(step);
		const isEvent = step.kind === "event";
		const kind = isComplaint(step) || step.kind === "fallback" ? "bad" : isEvent ? (tone(step.status) === "bad" ? "bad" : "event") : "request";
		const from = lane >= 0 ? x(lane) : x(1) - room * 0.42;
		const towards = x(1) > from ? -1 : 1;
		const slant = isLate ? Math.min(4 + Math.log10(lag / late) * 5, 12) : 0;
		const line = y + 24;
		const title = [`#${step.seq}`, words, step.flow && `answered by ${step.flow}`, step.repeats && `came ${step.repeats + 1} times`, step.again && "asked again",
			isLate && `arrived ${span(lag)} late`, step.about && `about the NCCO of #${step.about}`].filter(Boolean).join(", ");
		const room2 = Math.abs(x(1) - from) - 12;
		const marks = [step.repeats ? `×${step.repeats + 1}` : "", step.again ? "again" : "", isLate ? `+${span(lag)}` : ""].filter(Boolean).join(" ");
		const parts = [
			svg("rect", { class: "hit", x: 2, y: y + 3, width: full - 4, height: height - 3, rx: 4 }),
			svg("text", { class: "at", x: gutter - 8, y: line + 4, "text-anchor": "end" }, `+${((at - start) / 1000).toFixed(at - start < 100_000 ? 2 : 0)}`),
			arrow(from, line, x(1) + towards * 3, line + slant, kind, isLate),
			text(from, x(1), line - 7, short(marks ? `${words} ${marks}` : words, letters(room2)), kind),
		];
		if (step.ncco) {
			const back = line + rung - 8;
			parts.push(arrow(x(1), back, from - towards * 3, back, "ncco"), text(from, x(1), back - 7, short(step.flow ?? "NCCO", letters(room2 + 48)), "ncco"));
		}
		return svg("a", { href: href(step), class: `rung ${step.seq === selected ? "selected" : ""}`, "data-seq": step.seq, "aria-label": short(title, 200),
			"aria-current": step.seq === selected ? "true" : null }, svg("title", {}, short(title, 300)), parts);
	}

	function arrow(x1, y1, x2, y2, kind, isLate) {
		const angle = Math.atan2(y2 - y1, x2 - x1);
		const tip = (turn) => `${(x2 - 7 * Math.cos(angle + turn)).toFixed(1)},${(y2 - 7 * Math.sin(angle + turn)).toFixed(1)}`;
		return svg("g", { class: `arrow ${kind}${isLate ? " late" : ""}` }, svg("line", { x1, y1, x2, y2 }),
			svg("polyline", { points: `${tip(0.45)} ${x2},${y2} ${tip(-0.45)}` }));
	}

	function text(x1, x2, y, words, kind) {
		return svg("text", { class: `word ${kind}`, x: (x1 + x2) / 2, y, "text-anchor": "middle" }, words);
	}

	const heads = columns.map((lane, index) => svg("g", { class: lane.isServer ? "lane server" : "lane" },
		svg("line", { x1: x(index), x2: x(index), y1: 40, y2: end }),
		lives[index].from && svg("line", { class: "life", x1: x(index), x2: x(index), y1: lives[index].from, y2: lives[index].to ?? end }),
		svg("text", { class: "name", x: x(index), y: 18, "text-anchor": "middle" }, svg("title", {}, short(lane.name ?? "unknown", 200)), short(lane.name ?? "unknown", letters(room - 8))),
		svg("text", { class: "note", x: x(index), y: 33, "text-anchor": "middle" }, lane.note)));
	return svg("svg", { class: "ladder", width: full, height: end + 6, viewBox: `0 0 ${full} ${end + 6}`, role: "group", "aria-label": "Requests and events in their order" },
		heads, rungs);
}
