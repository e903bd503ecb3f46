// SPDX-License-Identifier: MIT
//
// Flows as a picture: a box for each flow with a line for each of its rules, a box for each template with a line for each action, and an edge
// from a rule to what it serves and from an action to the flow that answers its event. What is drawn from one entry reads from left to right;
// a box stands in the column behind the first one that leads to it, and edges that go back are dashed.

import { short, svg } from "./dom.js";
import { plainText } from "./json.js";

const width = 196;
const gap = 52;
const line = 19;
const head = 28;
const between = 18;
const mostBoxes = 400;

/** An action in a few words. */
export function actionWords(action) {
	const to = action.endpoint?.[0] ?? {};
	const words = {
		talk: () => `“${plainText(action.text)}”`, stream: () => plainText(action.streamUrl?.[0]), input: () => [action.type ?? []].flat().map(plainText).join(", "),
		connect: () => [to.type, to.number ?? to.user ?? to.uri ?? to.extension].map(plainText).join(" "), conversation: () => plainText(action.name),
		record: () => (action.endOnKey ? `until ${plainText(action.endOnKey)}` : ""), wait: () => (action.timeout ? `${plainText(action.timeout)} s` : ""),
	};
	const name = plainText(action.action);
	return `${name} ${Object.hasOwn(words, name) ? words[name]() : ""}`.trim();
}

/** A condition in a few words: what is asked for everywhere is left out. */
const shortCondition = (when) => (when.length ? when.map((one) => one.replace(/^dtmf\.digits is /, "key ").replace(/^speech\.results\.0\.text /, "says ")).join(", ") : "else");

/** The pictures of all flows, one for each entry: [name, SVG]. */
export function graphs({ flows, templates }) {
	const templateOf = new Map(templates.map((template) => [template.name, template]));
	const flowOf = new Map(flows.map((flow) => [flow.name, flow]));
	const targets = (name) => (templateOf.get(name)?.leads_to ?? []).filter(({ flow }) => flowOf.has(flow));
	const reached = new Set(flows.flatMap((flow) => flow.rules.flatMap((rule) => targets(rule.template).map(({ flow: to }) => to).filter((to) => to !== flow.name))));
	const drawn = new Set();
	const pictures = [];
	// Flows that only lead to each other have no entry; the first of them is one.
	for (const flow of [...flows.filter(({ name }) => !reached.has(name)), ...flows]) {
		if (drawn.has(flow.name)) continue;
		pictures.push([flow.name, picture(flow)]);
	}
	return pictures;

	function picture(entry) {
		const boxes = new Map();
		const edges = [];
		const queue = [["flow", entry.name, 0]];
		while (queue.length && boxes.size < mostBoxes) {
			const [kind, name, column] = queue.shift();
			const key = `${kind} ${name}`;
			if (boxes.has(key)) continue;
			if (kind === "flow") {
				drawn.add(name);
				const { rules } = flowOf.get(name);
				boxes.set(key, { kind, name, column, lines: rules.map((rule) => `${rule.number}. ${shortCondition(rule.when)}`), full: rules.map((rule) => rule.when.join(", and ") || "always") });
				rules.forEach((rule, at) => {
					edges.push([key, at, `template ${rule.template}`]);
					queue.push(["template", rule.template, column + 1]);
				});
			} else {
				const ncco = templateOf.get(name)?.ncco;
				const actions = Array.isArray(ncco) ? ncco.map(actionWords) : [];
				boxes.set(key, { kind, name, column, lines: actions, full: actions });
				for (const { action, flow } of targets(name)) {
					edges.push([key, action - 1, `flow ${flow}`]);
					queue.push(["flow", flow, column + 1]);
				}
			}
		}
		const columns = [];
		for (const box of boxes.values()) {
			const column = (columns[box.column] ??= { y: 8 });
			Object.assign(box, { x: 8 + box.column * (width + gap), y: column.y, height: head + box.lines.length * line + 8 });
			column.y += box.height + between;
		}
		const size = { width: 16 + columns.length * (width + gap) - gap, height: Math.max(...columns.map((column) => column.y)) };
		return svg("svg", { class: "graph", width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": short(`The flow ${entry.name}`, 80) },
			edges.filter(([, , to]) => boxes.has(to)).map(([from, at, to]) => edge(boxes.get(from), at, boxes.get(to))), [...boxes.values()].map(boxOf));
	}
}

function edge(from, at, to) {
	const [x1, y1] = [from.x + width, from.y + head + (at + 0.5) * line];
	const isBack = to.column <= from.column;
	const [x2, y2] = isBack ? [to.x + width, to.y + head / 2] : [to.x, to.y + head / 2];
	const bend = gap * 0.55;
	const path = isBack ? `M${x1},${y1} C${x1 + bend},${y1} ${x2 + bend},${y2} ${x2 + 4},${y2}` : `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 4},${y2}`;
	const tip = isBack ? `${x2 + 9},${y2 - 4} ${x2 + 2},${y2} ${x2 + 9},${y2 + 4}` : `${x2 - 9},${y2 - 4} ${x2 - 2},${y2} ${x2 - 9},${y2 + 4}`;
	return svg("g", { class: isBack ? "edge back" : "edge" }, svg("path", { d: path }), svg("polyline", { points: tip }));
}

function boxOf(box) {
	const href = box.kind === "flow" ? `#/flows/${encodeURIComponent(box.name)}` : `#/flows/-/${encodeURIComponent(box.name)}`;
	return svg("a", { href, class: `box ${box.kind}`, "aria-label": short(`${box.kind} ${box.name}`, 80) },
		svg("rect", { x: box.x, y: box.y, width, height: box.height, rx: 6 }),
		svg("text", { class: "name", x: box.x + 10, y: box.y + 19 }, svg("title", {}, short(`${box.kind} ${box.name}`, 200)), short(box.kind === "flow" ? `/voice/${box.name}` : box.name, 25)),
		box.lines.map((words, at) => svg("text", { class: "line", x: box.x + 10, y: box.y + head + at * line + 13 }, svg("title", {}, short(box.full[at], 300)), short(words, 27))));
}
