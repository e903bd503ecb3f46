// SPDX-License-Identifier: MIT
//
// Lint's findings, as lint prints them.

import { el, visible } from "./dom.js";

/** One finding. */
export function finding(one) {
	const place = [one.file, one.line, one.column].filter((part) => part !== undefined && part !== null && part !== "").join(":");
	return el("li", { class: one.severity === "error" ? "finding error" : "finding" },
		el("span", { class: "severity" }, visible(one.severity ?? "note")), " ", el("code", {}, visible(one.code ?? "")), " ",
		place ? el("span", { class: "dim" }, visible(place), " ") : null, one.path ? el("code", {}, visible(one.path)) : null, one.path ? ": " : null,
		visible(one.message ?? ""), one.cure ? [el("span", { class: "dim" }, " → "), visible(one.cure)] : null);
}

/** All of them. */
export const findingList = (findings) => el("ul", { class: "findings" }, findings.map(finding));
