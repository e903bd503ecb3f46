// SPDX-License-Identifier: MIT
//
// The page: which view an address names, what all views share, and the keys that work everywhere. Addresses stand behind the `#`, so links can be
// shared and the browser's back works: `#/calls/CALL/SEQ?q=…`, `#/flows/FLOW`, `#/users`, `#/health`, `#/setup`.

import { ask, prefix, session } from "./api.js";
import { CallsView } from "./calls.js";
import { el } from "./dom.js";
import { FlowsView } from "./flows.js";
import { HealthView } from "./health.js";
import { Live } from "./live.js";
import { SetupView } from "./setup.js";
import { CallStore } from "./store.js";
import { UsersView } from "./users.js";

const page = {
	store: new CallStore((change) => views.calls.changed(change)),
	setup: null,
	flowNames: null,
	// Vonage's own, until the server says them.
	limits: { answer_us: 5_000_000, event_us: 10_000_000 },
	go(hash, replaces = false) {
		if (location.hash === hash) return;
		if (replaces) history.replaceState(null, "", hash);
		else location.hash = hash;
	},
	reveal(on) {
		page.store.unmasked = on;
		if (!on) {
			// Numbers go at once, whatever becomes of the reading.
			page.store.forget();
			views.calls.call.forget();
		}
		page.store.reload();
		live.start(on);
		views.calls.call.refresh();
	},
	async readSetup() {
		try {
			page.setup = await ask("/setup");
		} catch (problem) {
			// What was known stays: a server that restarts is mostly set up as before.
			if (page.setup) return;
			for (const view of [views.calls, views.setup]) view.setupChanged(problem);
			return;
		}
		for (const view of [views.calls, views.setup]) view.setupChanged(page.setup);
	},
};

const lamp = document.getElementById("live");
const main = document.getElementById("main");

session.ended = () => {
	document.getElementById("notices").replaceChildren(el("p", { class: "notice", role: "alert" }, "This log-in has ended. ", el("a", { href: `${prefix}/login${location.hash}` }, "Log in again"), "."));
};

const live = new Live((call) => page.store.apply(call), () => {
	page.store.refreshHead();
	views.calls.call.refresh();
}, (state) => {
	if (state === lamp.dataset.state) return;
	lamp.dataset.state = state;
	lamp.className = `lamp only-script ${state === "live" ? "good" : "bad"}`;
	lamp.textContent = state === "live" ? "live" : "reconnecting…";
	// An ended log-in looks like a server that is gone; one that is back may be set up otherwise.
	page.readSetup();
});

const views = { calls: new CallsView(page), flows: new FlowsView(page), users: new UsersView(page), health: new HealthView(page), setup: new SetupView(page) };
const titles = { calls: "Calls", flows: "Flows", users: "Users", health: "Health", setup: "Set-up" };
let current;

function route() {
	const [path, search] = location.hash.replace(/^#\/?/, "").split("?", 2);
	const [name, ...rest] = path.split("/").filter(Boolean).map((part) => {
		try {
			return decodeURIComponent(part);
		} catch {
			return part;
		}
	});
	const shown = name in views && Object.hasOwn(views, name) ? name : "calls";
	const view = views[shown];
	if (view !== current) {
		current?.leave?.();
		const isFirst = !current;
		current = view;
		main.replaceChildren(view.element);
		main.scrollTop = 0;
		if (!isFirst) {
			// Screen readers go on at the new view; nobody has tabbed to it.
			main.classList.add("placed");
			main.focus({ preventScroll: true });
		}
	}
	document.title = `${titles[shown]} – Switchboard`;
	for (const link of document.querySelectorAll("nav a")) {
		if (link.hash === `#/${shown}`) link.setAttribute("aria-current", "page");
		else link.removeAttribute("aria-current");
	}
	view.show(shown === name || !name ? rest : [], new URLSearchParams(search ?? ""));
}

addEventListener("hashchange", route);

addEventListener("keydown", (event) => {
	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
	const isTyping = event.target.matches?.("input:not([type=checkbox]), select, textarea");
	if (event.key === "/" && !isTyping) {
		event.preventDefault();
		if (current !== views.calls) location.hash = "#/calls";
		requestAnimationFrame(() => views.calls.search());
	} else if (event.key === "Escape" && current === views.calls) {
		if (isTyping && event.target.value) return;
		if (views.calls.close()) event.preventDefault();
	}
});

document.querySelector(".skip").addEventListener("click", (event) => {
	event.preventDefault();
	main.focus();
});

main.addEventListener("blur", () => main.classList.remove("placed"));

// Whoever was away for long may have slept through a connection that nobody closed.
let hiddenAt = 0;
document.addEventListener("visibilitychange", () => {
	if (document.visibilityState === "hidden") hiddenAt = Date.now();
	else if (hiddenAt && Date.now() - hiddenAt > 60_000) page.store.refreshHead();
});

document.documentElement.classList.add("script");
route();
live.start(false);
page.readSetup();
ask("/flows").then(({ flows }) => (page.flowNames = flows.map(({ name }) => name)), () => {});
