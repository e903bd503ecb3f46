// SPDX-License-Identifier: MIT
//
// Who can log in with the Client SDK, tokens for them, and tokens for video rooms. They are Vonage's, or the simulator's; tokens are shown once
// and kept nowhere.

import { ask, query } from "./api.js";
import { button, copied, copy, dialog, el, failure, labelled, party, select, short, toast, visible } from "./dom.js";
import { count, moment, span } from "./words.js";

const lives = [["3600", "1 hour"], ["21600", "6 hours"], ["86400", "24 hours"], ["60", "1 minute"]];

/** The claims of a token, or null. */
function claims(token) {
	try {
		const part = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
		return JSON.parse(atob(part));
	} catch {
		return null;
	}
}

/** A token, how long it lives, and the button that copies it. */
function tokenBox(token, what) {
	const end = claims(token)?.exp;
	return el("div", {}, el("div", { class: "tools" }, button("Copy token", () => copy(token, what), { class: "first" }),
		end ? el("span", {}, `Ends ${moment(new Date(end * 1000).toISOString())}, in ${span(end * 1000 - Date.now())}.`) : null),
	el("pre", { class: "token", tabindex: "0", role: "region", "aria-label": `Token: ${what}` }, visible(token)));
}

export class UsersView {
	constructor(page) {
		this.page = page;
		this.name = el("input", { autocomplete: "off", required: true, maxlength: "100" });
		this.trouble = el("div");
		this.table = el("div", { "aria-live": "off" });
		this.room = el("input", { autocomplete: "off", required: true, pattern: "[A-Za-z0-9._\\-]{1,100}", value: "lobby" });
		this.role = select(["publisher", "subscriber", "moderator"]);
		this.roomLife = select([["3600", "1 hour"], ["86400", "24 hours"], ["604800", "7 days"]]);
		this.roomAnswer = el("div", { "aria-live": "polite" });
		this.element = el("div", { class: "sheet" }, el("h1", {}, "Users"),
			el("p", { class: "dim" }, "Who logs in with the Client SDK is a user of the application, by name."),
			el("form", { class: "fields inline", onsubmit: (event) => this.#create(event) }, labelled("Name of a new user", this.name), el("button", { class: "first" }, "Create")),
			this.trouble, this.table,
			el("section", { class: "card" }, el("h2", {}, "Video room"), el("p", { class: "dim" }, "The first visit makes the room’s session; later ones get the same with a new token."),
				el("form", { class: "fields inline", onsubmit: (event) => this.#enter(event) }, labelled("Room", this.room, "letters, digits, dots, - and _"), labelled("Role", this.role), labelled("Token lives", this.roomLife), el("button", { class: "first" }, "Get a token")),
				this.roomAnswer));
	}

	show() {
		return this.#read();
	}

	async #read() {
		try {
			const { users, truncated } = await ask("/users");
			this.table.replaceChildren(...(users.length ? [
				el("p", { class: "dim" }, truncated ? "The first 10,000 users." : `${count(users.length, "user")}.`),
				el("div", { class: "wide", role: "region", "aria-label": "Users", tabindex: "0" }, el("table", {},
					el("thead", {}, el("tr", {}, ["Name", "Shown as", "Id"].map((name) => el("th", { scope: "col" }, name)), el("td"))),
					el("tbody", {}, users.map((user) => this.#row(user)))))] : [el("p", {}, "No user yet. Create the first one above.")]));
		} catch (problem) {
			this.table.replaceChildren(failure(problem), button("Try again", () => this.#read()));
		}
	}

	#row(user) {
		const name = short(user.name, 60);
		return el("tr", {}, el("th", { scope: "row" }, party(user.name, 60)), el("td", {}, user.display_name ? party(user.display_name, 60) : "–"), el("td", {}, el("code", {}, short(user.id, 50))),
			el("td", { class: "tools" }, button("Token", () => this.#token(user), { class: "small", "aria-label": `Token for ${name}` }),
				button("Delete", () => this.#delete(user), { class: "small", "aria-label": `Delete ${name}` })));
	}

	async #create(event) {
		event.preventDefault();
		this.trouble.replaceChildren();
		try {
			const { name } = await ask("/users", { method: "POST", body: { name: this.name.value } });
			this.name.value = "";
			toast(`${short(name, 60)} is there.`);
			await this.#read();
		} catch (problem) {
			this.trouble.replaceChildren(failure(problem));
		}
	}

	#token(user) {
		const life = select(lives);
		life.value = "21600";
		const place = el("div", { "aria-live": "polite" });
		dialog(`Token for ${short(user.name, 60)}`, el("form", { class: "fields inline", onsubmit: async (event) => {
			event.preventDefault();
			place.replaceChildren(el("p", { class: "dim" }, "Asking…"));
			try {
				const { token } = await ask(`/users/${encodeURIComponent(user.name)}/token`, { method: "POST", body: { ttl: Number(life.value) } });
				place.replaceChildren(tokenBox(token, `the token of ${short(user.name, 60)}`));
			} catch (problem) {
				place.replaceChildren(failure(problem));
			}
		} }, labelled("It lives", life), el("button", { class: "first" }, "Make a token")), place);
	}

	#delete(user) {
		const trouble = el("div");
		const box = dialog(`Delete ${short(user.name, 60)}?`, el("p", {}, "Vonage forgets the user, and nobody can log in by that name until it is created again."), trouble,
			el("div", { class: "tools" }, button("Delete", async () => {
				try {
					await ask(`/users/${encodeURIComponent(user.name)}`, { method: "DELETE" });
					box.close();
					toast(`${short(user.name, 60)} is deleted.`);
					await this.#read();
				} catch (problem) {
					trouble.replaceChildren(failure(problem));
				}
			}, { class: "danger" }), button("Keep", () => box.close())));
	}

	async #enter(event) {
		event.preventDefault();
		this.roomAnswer.replaceChildren(el("p", { class: "dim" }, "Asking…"));
		try {
			const room = await ask(`/room/${encodeURIComponent(this.room.value)}${query({ role: this.role.value, ttl: this.roomLife.value })}`);
			this.roomAnswer.replaceChildren(
				el("dl", { class: "table" }, el("dt", {}, "Application"), el("dd", {}, copied(room.applicationId, "the application’s id")), el("dt", {}, "Session"), el("dd", {}, copied(room.sessionId, "the session’s id"))),
				tokenBox(room.token, `the token for ${short(this.room.value, 60)}`));
		} catch (problem) {
			this.roomAnswer.replaceChildren(failure(problem));
		}
	}
}
