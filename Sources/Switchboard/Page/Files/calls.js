// SPDX-License-Identifier: MIT
//
// The view of calls: search, the live list, and beside it the call that is open.

import { CallView } from "./call.js";
import { button, el, failure, labelled, say, select, short } from "./dom.js";
import { CallList } from "./list.js";
import { playButton } from "./play.js";
import { setupStrip } from "./setup.js";
import { count } from "./words.js";

const states = ["started", "ringing", "answered", "completed", "busy", "cancelled", "timeout", "unanswered", "rejected", "failed", "disconnected", "human", "machine"];
const spans = [["", "any time"], ["15m", "last 15 min"], ["1h", "last hour"], ["today", "today"], ["24h", "last 24 h"], ["7d", "last 7 days"], ["between", "between…"]];

export class CallsView {
	#searchTimer;
	added = [];

	/** @param {{store: import("./store.js").CallStore, setup: () => object | null, go: (hash: string, replaces?: boolean) => void, reveal: (on: boolean) => void}} page */
	constructor(page) {
		this.page = page;
		this.store = page.store;
		this.list = new CallList(this.store, (key, isByKey) => this.#open(key, isByKey));
		this.call = new CallView(page, () => this.close());
		this.strip = el("div", { class: "strip-place" });
		this.heading = el("p", { class: "dim heading", id: "count" });
		this.trouble = el("div");
		this.detail = el("section", { class: "detail", "aria-label": "The opened call" });
		this.element = el("div", { class: "calls" },
			el("h1", { class: "unseen" }, "Calls"), this.strip,
			el("div", { class: "panes" },
				el("section", { class: "browse", "aria-label": "Calls" }, this.#search(), this.trouble, this.list.element),
				this.detail));
	}

	#search() {
		this.text = el("input", { type: "search", placeholder: "Number, user or CON-…", autocomplete: "off", spellcheck: "false", maxlength: "200", oninput: () => this.#later() });
		this.status = select([["", "any state"], ...states], { onchange: () => this.#apply() });
		this.since = select(spans, { onchange: () => this.#apply() });
		this.from = el("input", { type: "datetime-local", onchange: () => this.#apply() });
		this.to = el("input", { type: "datetime-local", onchange: () => this.#apply() });
		this.between = el("div", { class: "pair", hidden: true }, labelled("From", this.from), labelled("To", this.to));
		this.revealed = el("input", { type: "checkbox", role: "switch", id: "reveal", onchange: () => this.page.reveal(this.revealed.checked) });
		return el("form", { class: "search", role: "search", "aria-label": "Calls", onsubmit: (event) => { event.preventDefault(); this.#apply(); } },
			el("div", { class: "grow" }, labelled("Search", this.text)), labelled("State", this.status), labelled("Time", this.since), this.between,
			el("div", { class: "line" }, this.heading, el("label", { class: "switch", for: "reveal" }, this.revealed, "Show numbers")));
	}

	#later() {
		clearTimeout(this.#searchTimer);
		this.#searchTimer = setTimeout(() => this.#apply(), 250);
	}

	#apply() {
		clearTimeout(this.#searchTimer);
		const text = this.text.value.trim();
		if (/^CON-[\w-]{8,}$/i.test(text)) return this.#open(text, false);
		this.between.hidden = this.since.value !== "between";
		const values = { q: text, status: this.status.value, time: this.since.value };
		if (values.time === "between") Object.assign(values, { from: this.from.value, to: this.to.value });
		const pairs = Object.entries(values).filter(([, value]) => value);
		this.query = pairs.length ? `?${new URLSearchParams(pairs)}` : "";
		this.page.go(`#/calls${this.opened ? `/${encodeURIComponent(this.opened)}` : ""}${this.query}`, true);
		this.#filter(values);
	}

	#filter({ q = "", status = "", time = "", from = "", to = "" }) {
		const isNumber = /^[+\d][\d\s()./-]*$/.test(q);
		const iso = (text) => (text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : "");
		const midnight = new Date();
		midnight.setHours(0, 0, 0, 0);
		const filter = {
			number: isNumber ? q : "", user: isNumber ? "" : q, status,
			since: time === "between" ? iso(from) : time === "today" ? midnight.toISOString() : time,
			to: time === "between" ? iso(to) : "",
		};
		// Typing a number is no mistake before it is long enough.
		if (isNumber && q.replace(/\D/g, "").length < 7) filter.number = "";
		this.hint = isNumber && !filter.number ? "A number is looked for once it has 7 digits, with its country code." : null;
		if (JSON.stringify(filter) === JSON.stringify(this.filter) && this.store.hasLoaded) return this.changed({ added: [] });
		this.filter = filter;
		this.store.filter = filter;
		this.list.element.scrollTop = 0;
		this.store.reload();
	}

	/** Shows what an address names: `#/calls/CALL/SEQ?q=…`. */
	show([key, seq], parameters) {
		this.text.value = parameters.get("q") ?? "";
		this.status.value = parameters.get("status") ?? "";
		this.since.value = parameters.get("time") ?? "";
		this.from.value = parameters.get("from") ?? "";
		this.to.value = parameters.get("to") ?? "";
		this.between.hidden = this.since.value !== "between";
		this.query = parameters.size ? `?${parameters}` : "";
		this.#filter(Object.fromEntries(parameters));
		this.opened = key ?? null;
		this.element.classList.toggle("opened", Boolean(key));
		this.list.mark(this.opened);
		this.call.query = this.query;
		if (key) {
			if (this.detail.firstChild !== this.call.element) this.detail.replaceChildren(this.call.element);
			this.call.show(key, seq ? Number(seq) : null, this.movesFocus);
			this.movesFocus = false;
		} else {
			this.call.leave();
			this.detail.replaceChildren(el("div", { class: "blank" }, el("p", {}, "Open a call to see what happened to it."),
				el("p", { class: "dim keys" }, el("kbd", {}, "/"), " searches, ", el("kbd", {}, "↑"), " ", el("kbd", {}, "↓"), " choose, ",
					el("kbd", {}, "Enter"), " opens, ", el("kbd", {}, "Esc"), " closes")));
		}
	}

	#open(key, isByKey) {
		// On a phone the call takes the list's place, and the focus with it.
		this.movesFocus = isByKey || matchMedia("(max-width: 899px)").matches;
		this.page.go(`#/calls/${encodeURIComponent(key)}${this.query ?? ""}`);
	}

	close() {
		if (!this.opened) return false;
		this.page.go(`#/calls${this.query ?? ""}`);
		requestAnimationFrame(() => this.list.box.focus({ preventScroll: true }));
		return true;
	}

	search() {
		if (this.opened && this.text.offsetParent === null) this.close();
		this.text.focus();
		this.text.select();
	}

	/** The list, or one call of it, is another. A burst is drawn once. */
	changed({ added, call }) {
		// A page that nobody looks at is not drawn.
		if (this.added.length < 10_000) this.added.push(...added);
		if (call && call.conversation_uuid === this.opened) this.call.refresh();
		this.frame ??= requestAnimationFrame(() => {
			this.frame = undefined;
			const news = this.added;
			this.added = [];
			this.#render(news);
		});
	}

	#render(added) {
		const isNew = new Set(added.map((call) => call.conversation_uuid));
		let inFront = 0;
		while (isNew.has(this.store.order[inFront])) inFront++;
		if (inFront) this.list.shift(inFront);
		this.list.draw();
		const { store } = this;
		const many = store.order.length;
		this.heading.textContent = !store.hasLoaded ? (store.problem ? "The calls could not be read" : "Reading the log…") : `${count(many, "call")}${store.next ? " so far" : ""}${store.isFiltered ? " found" : ""}`;
		this.trouble.replaceChildren(...[store.problem && failure(store.problem), store.problem && button("Try again", () => store.retry()), this.hint && el("p", { class: "dim hint" }, this.hint)].filter(Boolean));
		const isEmpty = store.hasLoaded && many === 0 && !store.isLoading;
		const empty = `${isEmpty} ${store.isFiltered}`;
		if (empty !== this.empty) this.list.empty.replaceChildren(...(isEmpty ? this.#nothing() : []));
		this.empty = empty;
		this.revealed.checked = store.unmasked;
		if (added.length && store.hasLoaded) this.#tell(added);
	}

	#tell(added) {
		this.news = (this.news ?? 0) + added.length;
		this.newest = added.at(-1);
		say(() => {
			const many = this.news;
			this.news = 0;
			const { from, to } = this.newest;
			return `${count(many, "new call")}; the newest from ${short(from ?? "unknown", 40)} to ${short(to ?? "unknown", 40)}`;
		});
	}

	#nothing() {
		return this.store.isFiltered
			? [el("p", {}, "No call fits."), button("Clear the search", () => { for (const field of [this.text, this.status, this.since]) field.value = ""; this.#apply(); })]
			: [el("p", {}, "No call yet. The first one appears here as it comes in."), playButton(this.page)];
	}

	setupChanged(setup) {
		this.strip.replaceChildren(setupStrip(setup, this.page));
	}
}
