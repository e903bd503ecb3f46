// SPDX-License-Identifier: MIT
//
// The calls that are known, newest first, each once: read by pages of 200, and kept true by the stream. A list that is read again takes the place
// of the same calls, whether they came by a page or by the stream.

import { ask, query } from "./api.js";

const pageSize = 200;
// Where a busy server would fill the browser, the oldest go; they can be read again.
const mostCalls = 20_000;

export class CallStore {
	calls = new Map();
	order = [];
	next = null;
	/** As the server's query has them: number, user, status, since, to. */
	filter = {};
	unmasked = false;
	problem = null;
	isLoading = false;
	hasLoaded = false;
	#turn = 0;
	#headTimer;
	// What the stream brought while a page was on its way.
	#early = null;
	#wantsHead = false;
	#waiting = new Set();

	/** @param {(change: {added: object[], call?: object}) => void} onChange */
	constructor(onChange) {
		this.onChange = onChange;
	}

	get isFiltered() {
		return Object.values(this.filter).some((value) => value);
	}

	#path(more) {
		return `/calls${query({ ...this.filter, limit: pageSize, unmasked: this.unmasked ? "1" : "", ...more })}`;
	}

	/** Nothing is known any more. */
	forget() {
		this.calls = new Map();
		this.order = [];
		this.next = null;
	}

	/** What failed, once more. */
	retry() {
		this.problem = null;
		if (this.hasLoaded) this.refreshHead();
		else this.reload();
	}

	/** Reads the newest page and forgets the rest. */
	async reload() {
		const turn = ++this.#turn;
		this.isLoading = true;
		const early = (this.#early = new Map());
		this.onChange({ added: [] });
		try {
			const page = await ask(this.#path());
			if (turn !== this.#turn) return;
			this.calls = new Map();
			this.order = [];
			this.#append(page);
			this.problem = null;
			this.hasLoaded = true;
			for (const call of early.values()) this.#take(call);
		} catch (problem) {
			if (turn !== this.#turn) return;
			this.problem = problem;
		}
		this.#ended();
	}

	/** Reads the next page. */
	async more() {
		// What failed is asked for again by whoever looks, and not by each drawing.
		if (this.isLoading || !this.next || this.problem) return;
		// A reading of the newest that is on its way is done again afterwards.
		if (this.#early) this.#wantsHead = true;
		const turn = ++this.#turn;
		this.isLoading = true;
		const early = (this.#early = new Map());
		try {
			const page = await ask(this.#path({ after: this.next }));
			if (turn !== this.#turn) return;
			this.#append(page);
			for (const call of early.values()) this.#take(call);
			this.problem = null;
		} catch (problem) {
			if (turn !== this.#turn) return;
			this.problem = problem;
		}
		this.#ended();
	}

	#ended() {
		this.isLoading = false;
		this.#early = null;
		this.onChange({ added: [] });
		if (!this.#wantsHead) return;
		this.#wantsHead = false;
		if (!this.problem) this.refreshHead();
	}

	#append(page) {
		for (const call of page.calls) {
			const key = call.conversation_uuid;
			if (!this.calls.has(key)) this.order.push(key);
			this.calls.set(key, call);
		}
		this.next = page.next;
		this.#wake();
	}

	/** Reads the newest page and puts it in front of what is known; where the two do not touch, the rest is forgotten. */
	async refreshHead() {
		if (this.isLoading) {
			this.#wantsHead = true;
			return;
		}
		const turn = ++this.#turn;
		const early = (this.#early = new Map());
		try {
			const page = await ask(this.#path());
			if (turn !== this.#turn) return;
			this.#early = null;
			const keys = page.calls.map((call) => call.conversation_uuid);
			const touches = page.next === null || keys.some((key) => this.calls.has(key));
			const added = page.calls.filter((call) => !this.calls.has(call.conversation_uuid));
			if (!touches || page.next === null) {
				this.calls = new Map();
				this.order = [];
				this.#append(page);
			} else {
				const isNew = new Set(keys);
				for (const call of page.calls) this.calls.set(call.conversation_uuid, call);
				this.order = [...keys, ...this.order.filter((key) => !isNew.has(key))];
			}
			this.problem = null;
			this.hasLoaded = true;
			for (const call of early.values()) this.#take(call);
			this.onChange({ added });
			this.#wake();
		} catch (problem) {
			if (turn !== this.#turn) return;
			this.#early = null;
			this.problem = problem;
			this.onChange({ added: [] });
		}
	}

	/** A call as the stream has it. */
	apply(call) {
		this.#early?.set(call.conversation_uuid, call);
		if (this.isLoading && !this.hasLoaded) return;
		const isNew = this.#take(call);
		this.onChange({ added: isNew ? [call] : [], call });
		this.#wake();
	}

	#take(call) {
		const key = call.conversation_uuid;
		if (this.calls.has(key)) {
			this.calls.set(key, call);
			return false;
		}
		// Whether a masked number fits a filter only the server can tell.
		if (this.isFiltered) {
			this.#headTimer ??= setTimeout(() => {
				this.#headTimer = undefined;
				this.refreshHead();
			}, 700);
			return false;
		}
		let at = 0;
		while (at < this.order.length && this.calls.get(this.order[at]).began > call.began) at++;
		// Behind the last page that was read, it comes with its own.
		if (at === this.order.length && this.next) return false;
		this.calls.set(key, call);
		this.order.splice(at, 0, key);
		if (this.order.length > mostCalls) this.calls.delete(this.order.pop());
		return true;
	}

	#wake() {
		for (const wait of [...this.#waiting]) wait();
	}

	/** Resolves once the call is in the list, or after some seconds all the same. */
	known(key, milliseconds = 4000) {
		return new Promise((resolve) => {
			const done = () => {
				clearTimeout(timer);
				this.#waiting.delete(look);
				resolve(this.calls.has(key));
			};
			const timer = setTimeout(done, milliseconds);
			const look = () => this.calls.has(key) && done();
			this.#waiting.add(look);
			look();
		});
	}
}
