// SPDX-License-Identifier: MIT
//
// A call once more: its answer request put to the flows of today, with what is another in the NCCO, or the whole call played by the simulator.

import { ask } from "./api.js";
import { button, dialog, el, failure, visible } from "./dom.js";
import { differenceBox } from "./json.js";
import { openPlayed } from "./play.js";
import { told } from "./told.js";

/** @param step whose request is asked again; the call's first one where it is left out. */
export function playAgain(call, page, step = call.steps.find((one) => one.kind === "answer") ?? call.steps.find((one) => one.ncco)) {
	const place = el("div", { "aria-live": "polite" }, el("p", { class: "dim" }, "Asking…"));
	const path = `/calls/${encodeURIComponent(call.conversation_uuid)}/again`;
	const trouble = el("div");
	const play = button("Play the whole call", async () => {
		play.disabled = true;
		trouble.replaceChildren();
		try {
			const { conversation_uuid: key } = await ask(path, { method: "POST", body: { seq: step.seq, play: true } });
			box.close();
			openPlayed(key, page);
		} catch (problem) {
			trouble.replaceChildren(failure(problem));
			play.disabled = false;
		}
	}, { class: "first" });
	if (!step) {
		dialog("Play again", el("p", {}, "Nothing of this call was answered by a flow, so there is nothing to ask again."));
		return;
	}
	const box = dialog(`Play again: #${step.seq}`, place, trouble,
		page.setup?.can_play === false ? el("p", { class: "dim" }, "This server plays no calls.") : el("div", { class: "tools" }, play,
			el("span", { class: "dim" }, "as a new call with the same caller and callee; nobody is rung")));
	ask(`${path}${page.store.unmasked ? "?unmasked=1" : ""}`, { method: "POST", body: { seq: step.seq }, as: "exact" }).then(
		(answer) => place.replaceChildren(...parts(answer).filter(Boolean)), (problem) => place.replaceChildren(failure(problem)));
}

function parts({ rule, warning, same, before, after, before_text: beforeText, after_text: afterText }) {
	return [
		el("p", {}, same ? "Today’s flows answer the same." : "Today’s flows answer otherwise.", rule ? [" The rule is ", el("code", {}, visible(rule)), "."] : null),
		warning ? el("p", { class: "failure" }, visible(warning)) : null,
		same ? told(afterText) : differenceBox(before, after),
		same || !after ? null : el("div", { class: "sides" }, el("section", {}, el("h3", {}, "Then"), told(beforeText)), el("section", {}, el("h3", {}, "Today"), told(afterText))),
	];
}
