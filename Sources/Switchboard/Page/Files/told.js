// SPDX-License-Identifier: MIT
//
// The server's explanations, which are made for a terminal: what it broke into lines is put together, so that it fits any width. A line that
// stands deeper than the text of its action goes on with the line before.

import { el, visible } from "./dom.js";

/** An explanation's text as a list of actions with a paragraph for each sentence; other lines are paragraphs. */
export function told(text, properties) {
	const box = el("div", { class: "words", ...properties });
	let item = box;
	let column = 0;
	for (const line of (text ?? "").split("\n")) {
		const action = /^(\d+)\. (\S+) +/.exec(line);
		const indent = line.search(/\S/);
		if (action) {
			item = el("div", { class: "action" }, el("code", {}, `${action[1]}. ${visible(action[2])}`));
			column = action[0].length;
			box.append(item);
		} else if (indent === 0) {
			item = box;
		}
		const words = visible(action ? line.slice(column) : line.trim());
		if (!words) continue;
		if (!action && indent > column && item.lastChild?.tagName === "P") item.lastChild.append(` ${words}`);
		else item.append(el("p", {}, words));
	}
	return box;
}
