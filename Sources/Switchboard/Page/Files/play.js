// SPDX-License-Identifier: MIT
//
// A call that the simulator plays against this server: the same requests and events as Vonage's, in no time, and nobody is rung.

import { ask } from "./api.js";
import { button, dialog, el, failure, labelled, select, toast } from "./dom.js";

/** Opens a played call once the list has it. */
export async function openPlayed(key, page) {
	toast("The call is played.");
	await page.store.known(key);
	page.go(`#/calls/${encodeURIComponent(key)}`);
}

const play = async (what) => (await ask("/play", { method: "POST", body: what })).conversation_uuid;

/** The button that plays a usual call, and the one beside it that asks first. */
export function playButton(page) {
	if (page.setup?.can_play === false) return el("span");
	const place = el("div", { class: "play" });
	const first = button("Play a call", async () => {
		first.disabled = true;
		try {
			await openPlayed(await play({ kind: "phone" }), page);
		} catch (problem) {
			toast(problem.message);
		}
		first.disabled = false;
	}, { class: "first", title: "A phone calls your number; nobody is rung" });
	place.append(first, button("Choose…", () => playDialog(page), { "aria-label": "Choose who calls whom, then play" }));
	return place;
}

const callees = ["answers", "busy", "declines", "no-answer", "unreachable", "machine", "bad-number"];

function playDialog(page) {
	const { setup } = page;
	const kind = select([["phone", "a phone calls your number"], ["app", "an app user calls"]], { onchange: () => fit() });
	const from = el("input", { inputmode: "tel", autocomplete: "off", placeholder: "447700900123" });
	const user = el("input", { autocomplete: "off", value: setup?.inbound_user ?? "Alice" });
	const to = el("input", { autocomplete: "off" });
	const callee = select(callees);
	const press = el("input", { inputmode: "tel", autocomplete: "off", placeholder: "1, 2#" });
	const words = el("input", { autocomplete: "off", placeholder: "sales" });
	const flow = select((page.flowNames ?? ["answer"]).filter((name) => name !== "event" && name !== "fallback"));
	const trouble = el("div");
	const ofPhone = labelled("From", from);
	const ofApp = labelled("User", user);
	const fit = () => {
		ofPhone.hidden = kind.value !== "phone";
		ofApp.hidden = kind.value !== "app";
		to.placeholder = kind.value === "app" ? "447700900123" : setup?.numbers?.[0] ?? "14155550100";
	};
	fit();
	const send = el("button", { class: "first" }, "Play");
	const list = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
	const box = dialog("Play a call", el("form", { class: "fields", onsubmit: async (event) => {
		event.preventDefault();
		const isApp = kind.value === "app";
		const what = { kind: kind.value, callee: callee.value, flow: flow.value, to: to.value.trim() || (isApp ? to.placeholder : "") };
		if (isApp) what.from_user = user.value.trim();
		else what.from = from.value.trim();
		if (press.value.trim()) what.press = list(press.value);
		if (words.value.trim()) what.say = list(words.value);
		send.disabled = true;
		trouble.replaceChildren();
		try {
			const key = await play(Object.fromEntries(Object.entries(what).filter(([, value]) => value !== "")));
			box.close();
			openPlayed(key, page);
		} catch (problem) {
			trouble.replaceChildren(failure(problem));
			send.disabled = false;
		}
	} }, labelled("Who calls", kind), ofPhone, ofApp, labelled("To", to), labelled("Whoever is rung", callee), labelled("Flow", flow),
	labelled("Keys the caller presses", press, "for each input, with commas"), labelled("Words the caller says", words, "for each input, with commas"),
	trouble, el("div", { class: "tools" }, send, el("span", { class: "dim" }, "in no time, and nobody is rung; it counts for limits on calls"))));
}
