// SPDX-License-Identifier: MIT
//
// One call: how it ended, what Vonage complained about, its legs, the ladder, and the step that is looked at.

import { ask } from "./api.js";
import { playAgain } from "./again.js";
import { button, copy, el, failure, party, short } from "./dom.js";
import { isComplaint, isPlayed, ladder } from "./ladder.js";
import { stepPanel } from "./step.js";
import { count, money, moment, span, time, tone } from "./words.js";

export class CallView {
	#turn = 0;
	#timer;
	#width = 0;

	constructor(page, onClose) {
		Object.assign(this, { page, onClose });
		this.element = el("article", { class: "call" });
		this.picture = el("div", { class: "picture", role: "region", "aria-label": "Ladder", tabindex: "-1", onkeydown: (event) => this.#key(event) });
		this.panel = el("section", { class: "panel", "aria-label": "The step that is looked at" });
		new ResizeObserver(() => {
			// A height that follows from the drawing must not draw again.
			if (Math.abs(this.picture.clientWidth - this.#width) > 4) this.#draw();
		}).observe(this.picture);
	}

	/** Shows a call, and one of its steps where `seq` is no null. */
	show(key, seq, movesFocus) {
		const isOther = key !== this.key;
		this.seq = seq;
		if (isOther) {
			Object.assign(this, { key, call: null, shownStep: undefined, drawn: undefined });
			this.element.replaceChildren(el("p", { class: "dim" }, "Reading the log…"));
			this.#read(movesFocus);
		} else if (this.call) {
			this.#draw();
			this.#step(true);
		}
	}

	leave() {
		this.key = null;
		this.call = null;
		this.#turn++;
	}

	/** The call changed, or numbers are shown or masked now. */
	refresh() {
		if (!this.key) return;
		// A call has several events within a moment.
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			if (this.key) this.#read(false);
		}, 120);
	}

	/** What is shown goes until it is read again. */
	forget() {
		this.call = null;
		this.element.replaceChildren();
	}

	async #read(movesFocus) {
		const [turn, key] = [++this.#turn, this.key];
		try {
			const call = await ask(`/calls/${encodeURIComponent(key)}${this.page.store.unmasked ? "?unmasked=1" : ""}`, { as: "exact" });
			if (turn !== this.#turn) return;
			this.call = call;
			this.#render(movesFocus);
		} catch (problem) {
			if (turn !== this.#turn) return;
			if (!this.call) this.element.replaceChildren(this.#bar(null), failure(problem), button("Try again", () => this.#read(false)));
		}
	}

	#bar(call) {
		return el("div", { class: "bar" }, button("‹ Calls", () => this.onClose(), { class: "quiet back", "aria-label": "Close the call" }),
			call && button("Play again", () => playAgain(this.call, this.page), { class: "first" }),
			call && button("Copy link", () => copy(location.href, "the link to this call")),
			call && button("Copy id", () => copy(call.conversation_uuid, "the call's id")));
	}

	#render(movesFocus) {
		const { call } = this;
		if (!this.element.contains(this.picture)) {
			// What is pressed, unfolded or read stays while the call goes on: only what is another is drawn anew.
			this.title = el("h2", { tabindex: "-1" });
			this.places = [0, 1, 2].map(() => el("div"));
			this.note = el("p", { class: "dim" });
			this.element.replaceChildren(this.#bar(call), this.title, ...this.places,
				el("div", { class: "story" }, el("div", { class: "left" }, el("h3", {}, "What happened"), this.note, this.picture), this.panel));
		}
		const complaints = call.steps.filter(isComplaint);
		const put = (place, what, make) => {
			const text = JSON.stringify(what);
			if (place.text === text) return;
			place.text = text;
			place.replaceChildren(...[make()].flat().filter(Boolean));
		};
		put(this.title, [call.from, call.to], () => [party(call.from, 60), el("span", { class: "dim" }, " → "), party(call.to, 60)]);
		put(this.places[0], { ...call, legs: null, steps: null }, () => this.#facts());
		put(this.places[1], complaints, () => complaints.length ? this.#complaints(complaints) : null);
		put(this.places[2], call.legs, () => this.#legs());
		this.note.textContent = this.#note();
		const steps = JSON.stringify([call.steps, call.legs]);
		if (steps !== this.drawn) this.#draw();
		this.drawn = steps;
		this.#step(false);
		if (movesFocus) this.title.focus();
	}

	#facts() {
		const { call } = this;
		const facts = [
			["State", el("span", { class: `state ${tone(call.state, call.ended)}` }, short(call.state, 30), call.ended || call.state === "unknown" ? "" : ", goes on")],
			["Began", time(call.began)],
			["Lasted", call.seconds === null ? null : span(call.seconds * 1000)],
			["Price", call.price === null ? null : `${money(call.price)} EUR`],
			["Answered by", call.answered_by && `a ${short(call.answered_by, 20)}`],
			["Ended by", call.disconnected_by && `the ${short(call.disconnected_by, 20)}`],
			["Id", el("code", {}, short(call.conversation_uuid, 60))],
		];
		const others = (keys) => keys.map((key) => [el("a", { href: `#/calls/${encodeURIComponent(key)}` }, short(key, 50)), " "]);
		if (call.transferred_from) facts.push(["Came from", others(call.transferred_from)]);
		if (call.transferred_to) facts.push(["Went on as", others(call.transferred_to)]);
		return el("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
	}

	#complaints(steps) {
		return el("section", { class: "complaints", "aria-label": "What went wrong" }, el("h3", {}, "What went wrong"), el("ul", {}, steps.map((step) => {
			const words = step.status === "error" ? `Vonage: ${step.reason ?? "an error without a reason"}` : `Here: ${step.error}`;
			return el("li", {}, el("a", { href: this.#href(step) }, `#${step.seq}`), " ", short(words, 300),
				step.about ? [" – caused by ", el("a", { href: this.#href({ seq: step.about }) }, `the NCCO of #${step.about}`)] : null);
		})));
	}

	#legs() {
		const { legs } = this.call;
		if (!legs.length) return el("p", { class: "dim" }, "No leg is known, only requests or events of the whole call.");
		const words = { missing: "no completed event came", transferred: "transferred", open: "goes on" };
		return el("details", { class: "legs", open: legs.length > 1 || legs.some((leg) => leg.completed === "missing") }, el("summary", {}, count(legs.length, "leg")),
			el("div", { class: "wide", role: "region", "aria-label": "Legs", tabindex: "0" }, el("table", {},
				el("thead", {}, el("tr", {}, ["", "From", "To", "State", "Lasted", "Price", "Notes"].map((name, at) => (at ? el("th", { scope: "col" }, name) : el("td"))))),
				el("tbody", {}, legs.map((leg, at) => el("tr", {},
					el("th", { scope: "row", title: short(leg.uuid, 80) }, at + 1), el("td", {}, party(leg.from, 30)), el("td", {}, party(leg.to, 30)),
					el("td", {}, el("span", { class: `state ${tone(leg.state, leg.completed !== "open")}` }, short(leg.state ?? "unknown", 20))),
					el("td", {}, leg.seconds === null ? "–" : span(leg.seconds * 1000)), el("td", {}, leg.price === null ? "–" : `${money(leg.price)} EUR`),
					el("td", { class: leg.completed === "missing" ? "bad" : "" }, [words[leg.completed], leg.detail, leg.sip_code && `SIP ${leg.sip_code}`,
						leg.answered_by && `a ${leg.answered_by}`, leg.disconnected_by && `ended by the ${leg.disconnected_by}`, leg.network]
						.filter(Boolean).map((part) => short(part, 60)).join(", "))))))));
	}

	#note() {
		const { call } = this;
		return [`Seconds since ${moment(call.began)}, in the order of the events' own times.`,
			isPlayed(call) ? "Most arrived before their time: the call was played, or this machine's clock is behind; how late they came cannot be told." : "A falling arrow arrived late.",
			call.omitted_steps ? `${count(call.omitted_steps, "more step")} are left out.` : ""].join(" ");
	}

	#href(step) {
		return `#/calls/${encodeURIComponent(this.key)}/${step.seq}${this.query ?? ""}`;
	}

	#draw() {
		if (!this.call) return;
		this.#width = this.picture.clientWidth;
		const focusedSeq = this.picture.contains(document.activeElement) ? document.activeElement.dataset?.seq : null;
		this.picture.replaceChildren(ladder(this.call, this.#width || 600, (step) => this.#href(step), this.#chosen()?.seq ?? null));
		if (focusedSeq) this.#focusRung(focusedSeq);
	}

	/** The step of the address, else the first thing that went wrong, else the first answer. */
	#chosen() {
		const { steps } = this.call;
		return steps.find((step) => step.seq === this.seq) ?? (this.seq === null ? steps.find((step) => step.ncco) ?? steps[0] : undefined);
	}

	#step(scrolls) {
		const step = this.#chosen();
		const text = step ? JSON.stringify([step, this.call.steps.filter((other) => other.about === step.seq).length]) : null;
		// What is read, unfolded or selected stays while the call goes on.
		if (text === this.shownStep && this.panel.firstChild) return;
		this.shownStep = text;
		this.panel.replaceChildren(...(step ? stepPanel(step, this.call, this.page) : [el("p", { class: "dim" }, "This call has no such step.")]));
		if (scrolls && this.panel.offsetTop > this.picture.offsetTop + 40) this.panel.scrollIntoView({ block: "nearest", behavior: "instant" });
	}

	#focusRung(seq) {
		this.picture.querySelector(`a[data-seq="${CSS.escape(seq)}"]`)?.focus({ preventScroll: true });
	}

	#key(event) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
		const rungs = [...this.picture.querySelectorAll("a.rung")];
		const at = rungs.indexOf(document.activeElement);
		if (at < 0) return;
		event.preventDefault();
		rungs[Math.min(Math.max(at + step, 0), rungs.length - 1)].focus();
	}
}

