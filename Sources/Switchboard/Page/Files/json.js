// SPDX-License-Identifier: MIT
//
// JSON to look at, and what two of them do not share.

import { el } from "./dom.js";

const longest = 100_000;
const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
const steering = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A value in a line: a text as it is, else JSON. */
export const plainText = (value) => (typeof value === "string" ? value : value === undefined || value === null ? "" : jsonText(value));

/** JSON text that is the same value, with all that steers a display escaped. */
export const jsonText = (value, indent) =>
	JSON.stringify(value, null, indent).replace(steering, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A box with the value, in colours. */
export function jsonBox(value, label) {
	const text = jsonText(value, 2);
	const box = el("pre", { class: "json", tabindex: "0", role: "region", "aria-label": label });
	let at = 0;
	const shown = text.slice(0, longest);
	for (const match of shown.matchAll(token)) {
		box.append(shown.slice(at, match.index));
		const kind = match[2] !== undefined ? "name" : match[1] !== undefined ? "text" : "word";
		box.append(el("span", { class: kind }, match[1] ?? match[0]), match[2] ?? "");
		at = match.index + match[0].length;
	}
	box.append(shown.slice(at));
	if (text.length > longest) box.append(`\n… ${text.length - longest} more characters; copy it to see all`);
	return box;
}

const mostLines = 600;

/** Lines of both with what becomes of them: [" ", "-" or "+", line]. */
export function difference(before, after) {
	const [a, b] = [before, after].map((value) => jsonText(value, 2).split("\n"));
	if (a.length > mostLines || b.length > mostLines) return [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
	// The longest lines in common, from the end, so that it can be read from the start.
	const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
		}
	}
	const lines = [];
	let [i, j] = [0, 0];
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && a[i] === b[j]) lines.push([" ", a[i++], j++]);
		else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) lines.push(["-", a[i++]]);
		else lines.push(["+", b[j++]]);
	}
	return lines;
}

/** The same as a box. */
export const differenceBox = (before, after) =>
	el("pre", { class: "json", tabindex: "0", role: "region", "aria-label": "What is another in the NCCO" },
		difference(before, after).map(([sign, line]) =>
			el("span", { class: sign === "-" ? "gone" : sign === "+" ? "come" : "kept" }, `${sign} ${line}\n`)));

/** A text for a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that sends it again. */
export const curl = (url, value) => `curl -H 'Content-Type: application/json' -d ${quoted(jsonText(value))} ${quoted(url)}`;
