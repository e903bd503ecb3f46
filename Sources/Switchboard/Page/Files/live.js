// SPDX-License-Identifier: MIT
//
// The stream of calls that change. The browser reconnects on its own and says by `Last-Event-ID` what it had last, so nothing is lost with the
// connection; where it gives up, a new stream begins, and whoever listens reads the list again once the server says from where it tells. An
// update that is not newer than the last one of its call is dropped.

import { prefix, query } from "./api.js";

const longestWait = 30_000;
// Calls whose last number is remembered; more than the server lists.
const mostCalls = 20_000;

export class Live {
	#source;
	#timer;
	#wait = 1000;
	#seen = new Map();
	#unmasked = false;

	/**
	 * @param {(call: object, seq: number) => void} onCall a call as it is now.
	 * @param {() => void} onGap what happened may be missing: read the list.
	 * @param {(state: "live" | "lost") => void} onState
	 */
	constructor(onCall, onGap, onState) {
		Object.assign(this, { onCall, onGap, onState });
	}

	/** Begins, or begins anew with numbers shown or masked. */
	start(unmasked) {
		this.#unmasked = unmasked;
		// What was masked comes again unmasked.
		this.#seen.clear();
		this.#open();
	}

	#open() {
		clearTimeout(this.#timer);
		this.#source?.close();
		const source = new EventSource(`${prefix}/calls/stream${query({ unmasked: this.#unmasked ? "1" : "" })}`);
		this.#source = source;
		source.addEventListener("open", () => {
			this.#wait = 1000;
			this.onState("live");
		});
		// From here on nothing is missed: what happened before is in the list. Also sent where the log is another one than before.
		source.addEventListener("ready", () => {
			this.#seen.clear();
			this.onGap();
		});
		source.addEventListener("call", (event) => {
			const seq = Number(event.lastEventId);
			let call;
			try {
				call = JSON.parse(event.data);
			} catch {
				return;
			}
			const key = call.conversation_uuid;
			if (seq <= (this.#seen.get(key) ?? -1)) return;
			this.#seen.delete(key);
			this.#seen.set(key, seq);
			if (this.#seen.size > mostCalls) this.#seen.delete(this.#seen.keys().next().value);
			this.onCall(call, seq);
		});
		source.addEventListener("error", () => {
			this.onState("lost");
			if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
			this.#timer = setTimeout(() => this.#open(), this.#wait);
			this.#wait = Math.min(this.#wait * 2, longestWait);
		});
	}
}
