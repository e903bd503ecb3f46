// SPDX-License-Identifier: MIT
//
// Asking the server. Errors are problem documents, and their `detail` is what people see. What callers and Vonage
// sent can be read with the digits that its numbers had, where the browser can tell them.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

/** In front of all routes. */
export const prefix = meta("prefix");

/** Why something was not answered as asked; status 0 where nobody answered. */
export class Problem extends Error {
	constructor(status, detail) {
		super(detail);
		this.status = status;
	}
}

/** Called when the server knows this browser no more. */
export const session = { ended() {} };

// Longer than the eight seconds in which the server answers for Vonage.
const patience = 20_000;

/**
 * The answer's JSON; with `as: "exact"` with numbers as they were sent (see `parse`), with `as: "text"` as it is.
 * @throws {Problem} also where the server cannot be reached.
 */
export async function ask(path, { method = "GET", body, as = "json", signal } = {}) {
	const headers = {};
	if (method !== "GET") headers["X-CSRF-Token"] = meta("csrf");
	if (body !== undefined) headers["Content-Type"] = "application/json";
	const limit = new AbortController();
	const timer = setTimeout(() => limit.abort(), patience);
	const giveUp = () => limit.abort();
	signal?.addEventListener("abort", giveUp);
	try {
		const response = await fetch(prefix + path, {
			method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: limit.signal, cache: "no-store",
			redirect: "error",
		});
		const text = await response.text();
		if (!response.ok) throw problem(response, text, path);
		return as === "text" ? text : response.status === 204 ? null : as === "exact" ? parse(text) : JSON.parse(text);
	} catch (error) {
		if (error instanceof Problem) throw error;
		if (signal?.aborted) throw new Problem(-1, "No longer wanted.");
		if (error instanceof SyntaxError) throw new Problem(502, "The answer is no JSON; something between here and the server changed it.");
		throw new Problem(0, limit.signal.aborted ? `No answer within ${patience / 1000} s.` : "The server cannot be reached. Is it running?");
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", giveUp);
	}
}

function problem(response, text, path) {
	// Whoever is not the admin finds none of the page's routes.
	if (response.status === 404 && path === "/setup") session.ended();
	let detail;
	try {
		detail = JSON.parse(text).detail;
	} catch {}
	return new Problem(response.status, detail || `The server answered ${response.status} without saying why.`);
}

/** JSON in which 1.50 stays 1.50: a number that JavaScript writes otherwise is an object that JSON.stringify writes as it was. */
function parse(text) {
	return JSON.parse(text, (_, value, context) =>
		typeof value === "number" && context?.source !== undefined && String(value) !== context.source && JSON.rawJSON
			? JSON.rawJSON(context.source) : value);
}

/** `?a=b` of what is neither empty nor missing. */
export function query(values) {
	const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
	return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}
