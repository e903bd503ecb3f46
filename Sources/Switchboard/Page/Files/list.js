// SPDX-License-Identifier: MIT
//
// The list of calls: a box to choose from, in which only the rows in sight are elements, however many calls there are. All rows have one height.

import { el, party, short } from "./dom.js";
import { count, span, time, tone } from "./words.js";

const margin = 8;

export class CallList {
	#rows = new Map();
	#height = 56;
	#active = -1;
	#frame;

	/**
	 * @param {import("./store.js").CallStore} store
	 * @param {(key: string, isByKey: boolean) => void} onOpen
	 */
	constructor(store, onOpen) {
		Object.assign(this, { store, onOpen });
		this.opened = null;
		this.box = el("div", {
			class: "rows", role: "listbox", tabindex: "0", "aria-label": "Calls, newest first",
			onkeydown: (event) => this.#key(event), onclick: (event) => this.#click(event), onfocus: () => this.#focus(),
		});
		this.empty = el("div", { class: "empty" });
		this.element = el("div", { class: "scroller", onscroll: () => this.draw() }, this.box, this.empty);
		this.observer = new ResizeObserver(() => this.draw());
		this.observer.observe(this.element);
	}

	get keys() {
		return this.store.order;
	}

	/** Draws what is in sight, once for a frame. */
	draw() {
		this.#frame ??= requestAnimationFrame(() => {
			this.#frame = undefined;
			this.#draw();
		});
	}

	/** Rows came in front: what is read stays where it is. */
	shift(rows) {
		if (this.#active >= 0) this.#active += rows;
		if (this.element.scrollTop > this.#height) {
			this.box.style.height = `${this.keys.length * this.#height}px`;
			this.element.scrollTop += rows * this.#height;
		}
	}

	#draw() {
		const { scrollTop, clientHeight } = this.element;
		const probe = this.#rows.values().next().value;
		if (probe?.offsetHeight) this.#height = probe.offsetHeight;
		const total = this.keys.length;
		this.box.hidden = total === 0;
		this.box.style.height = `${total * this.#height}px`;
		if (this.#active >= total) this.#active = total - 1;
		const first = Math.max(0, Math.floor(scrollTop / this.#height) - margin);
		const last = Math.min(total - 1, Math.ceil((scrollTop + clientHeight) / this.#height) + margin);
		const wanted = new Map();
		for (let at = first; at <= last; at++) wanted.set(this.keys[at], at);
		// A screen reader needs the row that it is told of.
		if (this.#active >= 0) wanted.set(this.keys[this.#active], this.#active);
		for (const [key, row] of this.#rows) {
			if (wanted.has(key)) continue;
			row.remove();
			this.#rows.delete(key);
		}
		for (const [key, at] of wanted) this.#place(key, at, total);
		const active = this.#active >= 0 ? this.#rows.get(this.keys[this.#active]) : null;
		if (active) this.box.setAttribute("aria-activedescendant", active.id);
		else this.box.removeAttribute("aria-activedescendant");
		if (last >= total - margin * 3 && this.store.next) this.store.more();
	}

	#place(key, at, total) {
		const call = this.store.calls.get(key);
		let row = this.#rows.get(key);
		if (row?.call !== call) {
			const fresh = this.#row(call);
			if (row) row.replaceWith(fresh);
			else this.box.append(fresh);
			row = fresh;
			this.#rows.set(key, row);
		}
		row.style.transform = `translateY(${at * this.#height}px)`;
		row.setAttribute("aria-posinset", at + 1);
		row.setAttribute("aria-setsize", this.store.next ? -1 : total);
		row.setAttribute("aria-selected", String(key === this.opened));
		row.classList.toggle("active", at === this.#active);
	}

	#row(call) {
		const state = call.answered_by === "machine" ? "machine" : call.state;
		const missing = call.legs.some((leg) => leg.completed === "missing");
		const row = el("div", { class: "row", role: "option", id: `row-${call.conversation_uuid.replace(/[^\w-]/g, "_").slice(0, 80)}` },
			el("span", { class: "parties" }, party(call.from, 40), el("span", { class: "dim" }, " → "), party(call.to, 40)),
			el("span", { class: `state ${tone(call.state, call.ended)}` }, short(state, 16)),
			el("span", { class: "when dim" }, time(call.began), call.seconds === null ? null : ` · ${span(call.seconds * 1000)}`,
				call.legs.length > 1 ? ` · ${count(call.legs.length, "leg")}` : null),
			missing ? el("span", { class: "flag" }, "no completed event") : null);
		row.call = call;
		return row;
	}

	#click(event) {
		const row = event.target.closest(".row");
		if (!row) return;
		this.#active = this.keys.indexOf(row.call.conversation_uuid);
		this.onOpen(row.call.conversation_uuid, false);
	}

	#focus() {
		if (this.#active < 0 && this.keys.length) this.#move(Math.max(0, this.keys.indexOf(this.opened)), false);
	}

	#key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1);
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
		if (event.key in steps) {
			event.preventDefault();
			this.#move(this.#active + steps[event.key], true);
		} else if ((event.key === "Enter" || event.key === " ") && this.#active >= 0) {
			event.preventDefault();
			this.onOpen(this.keys[this.#active], true);
		}
	}

	#move(to, scrolls) {
		const at = Math.min(Math.max(to, 0), this.keys.length - 1);
		if (at < 0) return;
		this.#active = at;
		const top = at * this.#height;
		const { scrollTop, clientHeight } = this.element;
		if (scrolls && top < scrollTop) this.element.scrollTop = top;
		else if (scrolls && top + this.#height > scrollTop + clientHeight) this.element.scrollTop = top + this.#height - clientHeight;
		this.#draw();
	}

	/** Marks the call that is open. */
	mark(key) {
		this.opened = key;
		this.draw();
	}
}
