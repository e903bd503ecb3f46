// SPDX-License-Identifier: MIT
//
// Times, sizes and numbers as people read them. The server's times are UTC; they are shown in the time of whoever looks, with UTC in the title.

import { el } from "./dom.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** 10:00:00, with the day where it is not today's. */
export function moment(iso, now = new Date()) {
	const at = new Date(iso);
	if (Number.isNaN(at.getTime())) return "?";
	if (at.toDateString() === now.toDateString()) return clock.format(at);
	return `${(at.getFullYear() === now.getFullYear() ? day : dayAndYear).format(at)} ${clock.format(at)}`;
}

/** The same as an element that says UTC too. */
export const time = (iso) => el("time", { datetime: iso, title: `${iso} (UTC)` }, moment(iso));

/** 850 ms, 12.3 s, 2 min 5 s, 3 h 4 min. */
export function span(milliseconds) {
	const size = Math.abs(milliseconds);
	const sign = milliseconds < 0 ? "−" : "";
	if (size < 1000) return `${sign}${Math.round(size)} ms`;
	const seconds = size / 1000;
	if (seconds < 60) return `${sign}${seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, "") : Math.round(seconds)} s`;
	const whole = Math.round(seconds);
	if (whole < 600) return `${sign}${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
	const minutes = Math.round(whole / 60);
	if (minutes < 60) return `${sign}${minutes} min`;
	return `${sign}${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

/** From microseconds: 850 µs, 12 ms, 1.2 s. */
export const micros = (value) => (value < 1000 ? `${Math.round(value)} µs` : value < 10_000 ? `${(value / 1000).toFixed(1)} ms` : span(value / 1000));

/** 12.3 GB. */
export function bytes(value) {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let at = 0;
	let size = value;
	while (size >= 1000 && at < units.length - 1) [size, at] = [size / 1000, at + 1];
	return `${at === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}

/** One call, 2 calls. */
export const count = (number, one, many = `${one}s`) => `${number === 1 ? "one" : number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** 0.0018 of "0.00180000". */
export const money = (text) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);

const failures = new Set(["busy", "cancelled", "timeout", "unanswered", "rejected", "failed"]);

/** How a state looks: "good", "open", "bad" or "plain". */
export function tone(state, hasEnded = true) {
	if (failures.has(state)) return "bad";
	if (!hasEnded && state !== "unknown") return "open";
	return state === "completed" || state === "answered" ? "good" : "plain";
}
