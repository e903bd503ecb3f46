// SPDX-License-Identifier: MIT
//
// The flows as the server serves them: a picture, each rule and template in words, lint's findings where they belong, and what a caller would
// hear. They are files; nothing is changed here.

import { ask, query } from "./api.js";
import { el, failure, labelled, select, short, visible } from "./dom.js";
import { findingList } from "./findings.js";
import { graphs } from "./graph.js";
import { jsonBox } from "./json.js";
import { told } from "./told.js";
import { count } from "./words.js";

export class FlowsView {
	#asked;

	constructor(page) {
		this.page = page;
		this.element = el("div", { class: "sheet" });
	}

	async show([flow, template]) {
		const target = () => {
			const place = document.getElementById(template ? `template-${template}` : flow ? `flow-${flow}` : "");
			if (!place) return;
			place.querySelector("details")?.setAttribute("open", "");
			place.scrollIntoView({ block: "start", behavior: "instant" });
			place.querySelector("h2, h3").focus({ preventScroll: true });
		};
		// The picture's links only move.
		if (this.isThere && flow) return target();
		if (!this.text) this.element.replaceChildren(el("h1", {}, "Flows"), el("p", { class: "dim" }, "Reading…"));
		try {
			const answer = await ask("/flows", { as: "exact" });
			this.page.flowNames = answer.flows.map(({ name }) => name);
			const text = JSON.stringify(answer);
			if (text !== this.text) this.#render(answer);
			[this.text, this.isThere] = [text, true];
			target();
		} catch (problem) {
			this.isThere = false;
			this.text = null;
			this.element.replaceChildren(el("h1", {}, "Flows"), failure(problem));
		}
	}

	leave() {
		// Files change; the next visit reads them again.
		this.isThere = false;
	}

	#render(answer) {
		const { flows, templates, findings } = answer;
		const of = (name) => findings.filter(({ file }) => file?.split("/").pop() === `${name}.json`);
		const placed = new Set(templates.flatMap(({ name }) => of(name)));
		const others = findings.filter((one) => !placed.has(one));
		this.element.replaceChildren(
			el("h1", {}, "Flows"),
			el("p", { class: "dim" }, `${count(flows.length, "flow")} and ${count(templates.length, "template")} of `, el("code", {}, visible(answer.source)), ". They are files: change them there, and this server reads them anew within a second."),
			answer.problem ? el("p", { class: "failure" }, visible(answer.problem)) : "",
			others.length ? findingList(others) : "",
			this.#ask(flows),
			...graphs(answer).map(([name, picture]) => el("section", { "aria-label": `Picture of ${short(name, 60)}` }, el("div", { class: "picture wide", role: "region", tabindex: "0", "aria-label": `Picture of ${short(name, 60)}, may be scrolled` }, picture))),
			el("h2", {}, "Rules"),
			...flows.map((flow) => this.#flow(flow)),
			el("h2", {}, "Templates"),
			...templates.map((template) => this.#template(template, of(template.name))));
	}

	#ask(flows) {
		const flow = select(flows.map(({ name }) => name).filter((name) => name !== "event"));
		const to = el("input", { autocomplete: "off", value: "447700900123" });
		const from = el("input", { autocomplete: "off" });
		const user = el("input", { autocomplete: "off", value: "Alice" });
		const keys = el("input", { autocomplete: "off", inputmode: "tel" });
		const words = el("input", { autocomplete: "off" });
		const time = el("input", { type: "datetime-local" });
		const answer = el("div", { "aria-live": "polite" });
		return el("section", { class: "card" }, el("h2", {}, "What would a caller hear?"),
			el("form", { class: "fields", onsubmit: async (event) => {
				event.preventDefault();
				const turn = (this.#asked = {});
				const values = { to: to.value.trim(), from: from.value.trim(), from_user: user.value.trim(), explain: "1" };
				if (time.value) values.explain_at = `${time.value}Z`;
				if (keys.value.trim()) values.dtmf = JSON.stringify({ digits: keys.value.trim(), timed_out: false });
				if (words.value.trim()) values.speech = JSON.stringify({ results: [{ text: words.value.trim(), confidence: "1" }] });
				try {
					const text = await ask(`/voice/${encodeURIComponent(flow.value)}${query(values)}`, { as: "text" });
					if (turn === this.#asked) answer.replaceChildren(told(text));
				} catch (problem) {
					if (turn === this.#asked) answer.replaceChildren(failure(problem));
				}
			} }, labelled("Flow", flow), labelled("To", to, "a number or a user"), labelled("From", from, "a calling phone"), labelled("From user", user, "a calling app user"),
			labelled("Keys pressed", keys, "for an input"), labelled("Words said", words, "for an input"), labelled("Time", time, "in UTC; empty for now"), el("div", { class: "tools" }, el("button", { class: "first" }, "Ask"), el("span", { class: "dim" }, "nothing is logged"))), answer);
	}

	#flow(flow) {
		return el("section", { class: "card", id: `flow-${flow.name}` }, el("h3", { tabindex: "-1" }, visible(flow.name), " ", el("code", { class: "dim" }, visible(flow.path))),
			el("ol", { class: "rules" }, flow.rules.map((rule) => el("li", { value: rule.number },
				rule.when.length ? rule.when.map((one, at) => [at ? el("span", { class: "dim" }, " and ") : null, el("span", { class: "chip" }, visible(one))]) : el("span", { class: "dim" }, "always"),
				el("span", { class: "dim" }, " → "), el("a", { href: `#/flows/-/${encodeURIComponent(rule.template)}` }, visible(rule.template))))));
	}

	#template(template, findings) {
		return el("section", { class: "card", id: `template-${template.name}` }, el("h3", { tabindex: "-1" }, visible(template.name)),
			told(template.explanation),
			template.leads_to.length ? el("p", {}, template.leads_to.map((lead, at) => [at ? "; " : null, `the event of action ${lead.action} `, el("span", { class: "dim" }, `(${visible(lead.option)})`), " is answered by ",
				el("a", { href: `#/flows/${encodeURIComponent(lead.flow)}` }, visible(lead.flow))])) : null,
			findings.length ? findingList(findings) : null,
			el("details", {}, el("summary", {}, "Template"), jsonBox(template.ncco, `Template ${template.name}`)));
	}
}
