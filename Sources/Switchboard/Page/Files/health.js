// SPDX-License-Identifier: MIT
//
// How the server does: now, against Vonage's limits, and minute by minute over the last hour. Asked for every five seconds while it is looked at.

import { ask } from "./api.js";
import { el, failure, svg, visible } from "./dom.js";
import { bytes, micros, moment } from "./words.js";

const interval = 5000;

export class HealthView {
	#timer;
	#turn = 0;

	constructor(page) {
		this.page = page;
		this.body = el("div");
		this.element = el("div", { class: "sheet" }, el("h1", {}, "Health"), this.body);
	}

	show() {
		this.#read(++this.#turn);
	}

	leave() {
		this.#turn++;
		clearTimeout(this.#timer);
	}

	async #read(turn) {
		clearTimeout(this.#timer);
		if (document.visibilityState === "visible") {
			try {
				const [stats, health] = await Promise.all([ask("/stats"), ask("/health")]);
				if (turn !== this.#turn) return;
				this.page.limits = stats.limits;
				this.#render(stats, health);
			} catch (problem) {
				if (turn !== this.#turn) return;
				this.body.replaceChildren(failure(problem));
			}
		}
		if (turn === this.#turn) this.#timer = setTimeout(() => this.#read(turn), interval);
	}

	#render({ now, limits, hour }, health) {
		const per = (value) => (value < 10 ? Number(value).toFixed(1) : Math.round(value).toLocaleString("en"));
		const card = (name, value, note, tone = "") => el("div", { class: `card number ${tone}` }, el("dt", {}, name), el("dd", {}, value), note ? el("dd", { class: "dim" }, note) : null);
		const against = (value, limit) => (value > limit ? "bad" : value > limit / 2 ? "warn" : "");
		const size = (value) => (value === null ? "not known" : bytes(value));
		const isWell = health.status === "ok";
		this.body.replaceChildren(
			el("p", {}, el("span", { class: `lamp ${isWell ? "good" : "bad"}` }, isWell ? "All is well." : "Degraded: calls are answered, but")),
			...(health.reasons ?? []).map((reason) => el("p", { class: "failure" }, visible(reason))),
			el("dl", { class: "cards" },
				card("Answers", `${per(now.answers_per_second)} /s`), card("Events", `${per(now.events_per_second)} /s`),
				card("Answers, p99", micros(now.answer_p99_us), `of ${micros(limits.answer_us)}`, against(now.answer_p99_us, limits.answer_us)),
				card("Slowest answer", micros(now.answer_worst_us), `of ${micros(limits.answer_us)}`, against(now.answer_worst_us, limits.answer_us)),
				card("Events until kept, p99", micros(now.event_p99_us), `of ${micros(limits.event_us)}`, against(now.event_p99_us, limits.event_us)),
				card("Connections", now.connections.toLocaleString("en")), card("Waiting for the log", bytes(now.log_queued_bytes)),
				card("Log", size(now.log_bytes)), card("Free on disk", size(now.disk_free_bytes), null, now.disk_free_bytes !== null && now.disk_free_bytes < 1e9 ? "bad" : "")),
			el("h2", {}, "The last hour"),
			...(hour.length > 1 ? [el("div", { class: "charts" },
				chart("Answers a minute", hour, "answers", String), chart("Events a minute", hour, "events", String),
				chart("Answers, p99", hour, "answer_p99_us", micros), chart("Events until kept, p99", hour, "event_p99_us", micros), chart("Connections", hour, "connections", String)),
			table(hour)] : [el("p", { class: "dim" }, "There is nothing to draw yet; the first minutes come by and by.")]));
	}
}

function chart(name, hour, member, words) {
	const [width, height] = [320, 76];
	const values = hour.map((minute) => minute[member]);
	const most = Math.max(...values, 1);
	const x = (at) => (at * width) / Math.max(values.length - 1, 1);
	const y = (value) => height - 2 - (value / most) * (height - 6);
	const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
	return el("figure", { class: "card chart" }, el("figcaption", {}, name, el("span", { class: "dim" }, ` up to ${words(Math.max(...values))}`)),
		svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}: up to ${words(Math.max(...values))}, at last ${words(values.at(-1))}` },
			svg("polygon", { points: `0,${height} ${points} ${width},${height}` }), svg("polyline", { points, "vector-effect": "non-scaling-stroke" })),
		el("div", { class: "axis dim" }, el("span", {}, moment(hour[0].at)), el("span", {}, `now ${words(values.at(-1))}`)));
}

function table(hour) {
	return el("details", {}, el("summary", {}, "The same in numbers"), el("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "The last hour in numbers" }, el("table", {},
		el("thead", {}, el("tr", {}, ["Minute", "Answers", "Events", "Answers, p99", "Events, p99", "Connections"].map((name) => el("th", { scope: "col" }, name)))),
		el("tbody", {}, [...hour].reverse().map((minute) => el("tr", {}, el("th", { scope: "row" }, moment(minute.at)), el("td", {}, minute.answers), el("td", {}, minute.events),
			el("td", {}, micros(minute.answer_p99_us)), el("td", {}, micros(minute.event_p99_us)), el("td", {}, minute.connections)))))));
}
