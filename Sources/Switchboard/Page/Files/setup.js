// SPDX-License-Identifier: MIT
//
// How the server is set up: the strip above the calls, and the view with all of it and the three steps.

import { prefix } from "./api.js";
import { copied, el, failure, short, visible } from "./dom.js";
import { playButton } from "./play.js";
import { count } from "./words.js";

const lamp = (tone, words) => el("span", { class: `lamp ${tone}` }, words);

function signature({ webhooks }) {
	return webhooks.signed ? lamp("good", "checked") : lamp("open", "not checked");
}

function log({ log }) {
	return log.state === "ok" ? lamp("good", "ok") : lamp("bad", log.state);
}

function application({ application }, most = 40) {
	if (application.problem) return lamp("bad", short(application.problem, 90));
	return application.id ? el("code", { title: visible(application.id) }, short(application.id, most)) : lamp("open", "none");
}

const numbers = (setup) => (setup.numbers.length ? setup.numbers.map((number) => el("code", {}, visible(number), " ")) : lamp("open", "none"));

/** Whether nothing was set yet. */
const isFresh = (setup) => !setup.numbers.length && !setup.application.id && !setup.is_public;

const missingList = (setup) => el("ul", { class: "missing" }, setup.missing.map(({ what, cure }) =>
	el("li", {}, el("strong", {}, visible(what)), cure ? [el("span", { class: "dim" }, " → "), visible(cure)] : null)));

function steps(setup) {
	return el("ol", { class: "steps" },
		el("li", {}, el("strong", {}, "Try it here."), " Play a call: the simulator calls this server as Vonage would, without an account, and nobody is rung."),
		el("li", {}, el("strong", {}, "Let Vonage reach it."), " Start a tunnel to this port, give its address as ", el("code", {}, "--public-url"),
			", and paste the answer URL and the event URL into your Vonage application, under Voice."),
		el("li", {}, el("strong", {}, "Say who you are."), " Give your number as ", el("code", {}, "--number"), ", the application as ", el("code", {}, "--application-id"),
			" with ", el("code", {}, "--private-key-file"), ", and the account’s signature secret, so that nobody else’s webhooks are taken.",
			setup.missing.length ? null : " All of it is there."));
}

/** The strip above the calls. */
export function setupStrip(setup, page) {
	if (!setup) return el("p", { class: "dim" }, "Asking how the server is set up…");
	if (setup instanceof Error) return failure(setup);
	const fresh = isFresh(setup);
	const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
	return el("section", { class: "strip", "aria-label": "Set-up" },
		el("dl", { class: "facts" },
			fact("Answer URL", copied(setup.answer_url, "the answer URL")), fact("Event URL", copied(setup.event_url, "the event URL")),
			fact("Number", numbers(setup)), fact("Application", application(setup, 14)), fact("Signature", signature(setup)), fact("Log", log(setup))),
		el("div", { class: "side" }, playButton(page),
			setup.missing.length && !fresh ? el("details", {}, el("summary", {}, `${count(setup.missing.length, "thing is", "things are")} missing`), missingList(setup)) : null),
		fresh ? el("div", { class: "first-visit" }, el("h2", {}, "Three steps"), steps(setup), missingList(setup)) : null);
}

export class SetupView {
	constructor(page) {
		this.page = page;
		this.element = el("div", { class: "sheet" });
	}

	show() {
		this.setupChanged(this.page.setup);
		this.page.readSetup();
	}

	setupChanged(setup) {
		if (!setup || setup instanceof Error) {
			this.element.replaceChildren(el("h1", {}, "Set-up"), setup ? failure(setup) : el("p", { class: "dim" }, "Asking…"));
			return;
		}
		const row = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
		const { webhooks } = setup;
		const unsigned = { retry: "503 for what comes without a signature, so that Vonage tries again", accept: "what comes without a signature is taken", refuse: "what comes without a signature is refused" };
		this.element.replaceChildren(el("h1", {}, "Set-up"), playButton(this.page),
			setup.missing.length ? el("section", { "aria-label": "What is missing" }, el("h2", {}, "What is missing"), missingList(setup)) : el("p", {}, lamp("good", "Nothing is missing.")),
			el("h2", {}, "In the Vonage application"), el("dl", { class: "table" },
				row("Answer URL", copied(setup.answer_url, "the answer URL")), row("Event URL", copied(setup.event_url, "the event URL")),
				row("Fallback URL", copied(setup.fallback_url, "the fallback URL")),
				row("Reachable", setup.is_public ? lamp("good", "by a public address") : lamp("open", "from this machine alone, as far as is known"))),
			el("h2", {}, "Here"), el("dl", { class: "table" },
				row("Numbers", numbers(setup)), row("Inbound user", el("bdi", {}, short(setup.inbound_user, 80))), row("Application", application(setup)),
				row("Webhooks", [signature(setup), webhooks.signed ? `; ${unsigned[webhooks.unsigned] ?? visible(webhooks.unsigned)}` : "; whoever knows the address can send some"]),
				row("Log", [log(setup), " ", el("code", {}, visible(setup.log.folder)), setup.log.reasons.map((reason) => el("p", { class: "failure" }, visible(reason)))]),
				row("Flows", visible(setup.flows)), row("Apps", setup.opens_apps ? lamp("open", "anybody gets tokens and rooms (--open-apps)") : "need the admin token"),
				row("Version", visible(setup.version))),
			el("h2", {}, "Three steps"), steps(setup),
			el("p", {}, el("a", { href: `${prefix}/openapi.json` }, "Routes"), " · ", el("a", { href: `${prefix}/metrics` }, "Metrics"), " · ", el("a", { href: `${prefix}/health` }, "Health as JSON")));
	}
}
