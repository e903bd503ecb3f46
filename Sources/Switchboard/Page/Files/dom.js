// SPDX-License-Identifier: MIT
//
// Elements from names and texts. Whatever comes from callers becomes a text node and never markup; characters that steer the direction or the
// display of what stands around them are shown as their numbers.

// Controls, marks of direction, and what is invisible but not a blank; a line feed and a tab are for the JSON to escape.
const steering = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The text with what steers a display as ⟨U+202E⟩. */
export const visible = (text) =>
	String(text).replace(steering, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** At most so many characters, none of them cut in two. */
export function short(text, most = 64) {
	const shown = visible(String(text).slice(0, most * 4));
	const characters = Array.from(shown);
	const cut = characters.length > most || String(text).length > most * 4;
	return cut ? `${characters.slice(0, most - 1).join("")}…` : shown;
}

function fill(node, properties, children) {
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
		else node.setAttribute(name, value === true ? "" : String(value));
	}
	for (const child of children.flat(3)) {
		if (child === undefined || child === null || child === false) continue;
		node.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
	return node;
}

/** An HTML element; `onclick` and its like are listeners, and everything else an attribute. */
export const el = (name, properties, ...children) => fill(document.createElement(name), properties, children);

/** The same in SVG. */
export const svg = (name, properties, ...children) =>
	fill(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);

/** Somebody's name or number, cut off from the direction of the text around it. */
export const party = (text, most = 48) =>
	text === null || text === undefined || text === "" ? el("span", { class: "dim" }, "unknown")
		: el("bdi", { title: short(text, 400) }, short(text, most));

/** A button that is one word. */
export const button = (label, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, label);

/** A text with the button that copies it. */
export const copied = (text, label) =>
	el("span", { class: "copied" }, el("code", { title: short(text, 400) }, visible(text)),
		button("Copy", () => copy(text, label), { class: "small", "aria-label": `Copy ${label}` }));

/** Puts the text on the clipboard, also where the page came over plain HTTP and the browser has no clipboard for it. */
export async function copy(text, label, more = "") {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
		area.value = text;
		const holder = document.querySelector("dialog[open]") ?? document.body;
		const before = document.activeElement;
		holder.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		before?.focus();
		if (!done) return toast(`The browser does not let ${label} be copied; select the text instead.`);
	}
	toast(`Copied ${label}.${more ? ` ${more}` : ""}`);
}

/** A line that is seen and read out for some seconds. */
export function toast(text) {
	const holder = document.getElementById("toasts");
	const line = el("p", {}, text);
	holder.append(line);
	while (holder.children.length > 3) holder.firstChild.remove();
	setTimeout(() => line.remove(), 6000);
}

let lastSaid = 0;
let waiting;

/** Read out, not seen; at most once in five seconds, and then the latest. */
export function say(text) {
	clearTimeout(waiting);
	const tell = () => {
		lastSaid = Date.now();
		document.getElementById("said").textContent = text();
	};
	waiting = setTimeout(tell, Math.max(0, lastSaid + 5000 - Date.now()));
}

/** What went wrong, where it went wrong. */
export const failure = (problem) => el("p", { class: "failure", role: "alert" }, visible(problem?.message ?? problem));

/** A dialog over the page; Escape closes it, and the focus goes back to where it was. */
export function dialog(title, ...children) {
	const back = document.activeElement;
	const box = el("dialog", { "aria-label": title },
		el("div", { class: "head" }, el("h2", {}, title), button("Close", () => box.close(), { class: "quiet" })), children);
	box.addEventListener("close", () => {
		box.remove();
		if (back?.isConnected) back.focus();
	});
	document.body.append(box);
	box.showModal();
	return box;
}

let fields = 0;

/** A control below its label. */
export function labelled(label, control, hint) {
	control.id = `field-${++fields}`;
	return el("div", { class: "field" }, el("label", { for: control.id }, label), control, hint && el("small", { class: "dim" }, hint));
}

/** A list to choose from, of values or of [value, label]. */
export const select = (values, properties = {}) =>
	el("select", properties, values.map((v) => (Array.isArray(v) ? el("option", { value: v[0] }, v[1]) : el("option", { value: v }, v))));
