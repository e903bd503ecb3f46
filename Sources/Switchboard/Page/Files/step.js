// SPDX-License-Identifier: MIT
//
// One step of a call: what came, which rule chose what was served, what a caller hears of it, and what Vonage said to that.

import { ask } from "./api.js";
import { playAgain } from "./again.js";
import { button, copy, el, failure, short, visible } from "./dom.js";
import { findingList } from "./findings.js";
import { curl, jsonBox, jsonText } from "./json.js";
import { flowName, stepWords } from "./ladder.js";
import { told } from "./told.js";
import { micros, span, time } from "./words.js";

const explained = new Map();
const mostExplained = 60;

/** What a caller hears of an NCCO, and lint's findings; asked for once. */
export function explain(ncco) {
	const text = jsonText(ncco);
	if (!explained.has(text)) {
		const answer = ask("/explain", { method: "POST", body: ncco });
		answer.catch(() => explained.delete(text));
		explained.set(text, answer);
		if (explained.size > mostExplained) explained.delete(explained.keys().next().value);
	}
	return explained.get(text);
}

/** An NCCO in plain words, once they are there. What lint says of masked numbers is not what was served. */
export function explanation(ncco) {
	const place = el("div", { class: "explanation" }, el("p", { class: "dim" }, "Asking for the explanation…"));
	explain(ncco).then(
		({ explanation, findings }) => place.replaceChildren(told(explanation), ...(findings.length && !jsonText(ncco).includes("***") ? [findingList(findings)] : [])),
		(problem) => place.replaceChildren(failure(problem)));
	return place;
}

export function stepPanel(step, call, page) {
	const { setup, store } = page;
	const link = (seq, words) => el("a", { href: `#/calls/${encodeURIComponent(call.conversation_uuid)}/${seq}` }, words);
	const base = (setup?.answer_url ?? `${location.origin}/voice/answer`).replace(/\/voice\/answer$/, "");
	const sent = step.event ?? step.request;
	const isEvent = step.kind === "event";
	const name = step.flow ? flowName(step.flow) : isEvent ? "event" : step.kind;
	const url = `${base}/voice/${encodeURIComponent(name)}`;
	const masked = store.unmasked ? "" : "Its numbers are masked: show them for a command that works.";
	const warned = store.unmasked ? "" : "Its numbers are masked.";
	const complaints = call.steps.filter((other) => other.about === step.seq);
	const lag = Date.parse(step.at) - Date.parse(step.time);
	const limit = isEvent ? page.limits.event_us : page.limits.answer_us;
	const isSlow = step.micros !== undefined && step.micros > limit / 2;
	const told = [
		step.time_is_arrival ? "time of its arrival" : Math.abs(lag) >= 1 ? (lag > 0 ? `arrived ${span(lag)} later` : `arrived ${span(-lag)} before its own time`) : null,
		step.repeats ? `came ${step.repeats + 1} times` : null, step.again ? "the same was asked before" : null,
	].filter(Boolean);
	return [
		el("h3", {}, `#${step.seq} `, short(stepWords(step), 120)),
		el("p", { class: "dim" }, time(step.time), told.length ? ` · ${told.join(" · ")}` : null,
			step.micros === undefined ? null : [" · ", el("span", { class: isSlow ? "bad" : "" }, `answered in ${micros(step.micros)} of ${micros(limit)}`)]),
		step.reason ? el("p", { class: isEvent || step.kind === "fallback" ? "failure" : "" }, visible(step.kind === "fallback" ? `Vonage asks for the fallback: ${step.reason}` : `Reason: ${step.reason}`)) : null,
		step.error ? el("p", { class: "failure" }, visible(`Problem here: ${step.error}`)) : null,
		step.about ? el("p", {}, "This complains about ", link(step.about, `the NCCO of #${step.about}`), ".") : null,
		complaints.map((other) => el("p", { class: "failure" }, "Vonage complains about this NCCO in ", link(other.seq, `#${other.seq}`), visible(`: ${other.reason ?? "it gives no reason"}`))),
		step.ncco ? [
			el("h4", {}, "What was served"),
			el("p", {}, step.flow ? ["The rule ", el("a", { href: `#/flows/${encodeURIComponent(name)}` }, visible(step.flow)), " chose it."] : "No rule is on the log with it."),
			explanation(step.ncco),
			el("details", { open: true }, el("summary", {}, "NCCO"), el("div", { class: "tools" },
				button("Copy NCCO", () => copy(jsonText(step.ncco, 2), "the NCCO", warned), { class: "small" }),
				button("Ask today’s flows", () => playAgain(call, page, step), { class: "small" })), jsonBox(step.ncco, "NCCO")),
		] : null,
		sent === undefined ? null : [
			el("h4", {}, isEvent ? "The event" : "The request"),
			el("div", { class: "tools" },
				button("Copy JSON", () => copy(jsonText(sent, 2), "the JSON", warned), { class: "small" }),
				button("Copy as curl", () => copy(curl(url, sent), "the command", masked), { class: "small" })),
			jsonBox(sent, isEvent ? "Event" : "Request"),
		],
	].flat(2).filter(Boolean);
}
