/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The fabric's data, without its drawing: the traffic of a context on each half of a link, neighbours, and the colour of a value.
 * Half 2l+e is what leaves end e of link l.
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes, links = data.links, contexts = data.contexts;

/* ---- values ---- */

/* Bytes and flows of each half in a context, and bytes that each node sends and gets. Computed at first use. */
const valuesOf = (() => {
	const known = [];
	return context => known[context] ??= (() => {
		const v = {
			bytes: new Float64Array(2 * links.length), flows: new Float64Array(2 * links.length),
			sent: new Float64Array(nodes.length), got: new Float64Array(nodes.length),
		};
		const h = contexts[context].halves;
		for (let i = 0; i < h.length; i += 4) {
			const l = links[h[i]], half = 2 * h[i] + h[i + 1];
			v.bytes[half] = h[i + 2];
			v.flows[half] = h[i + 3];
			v.sent[h[i + 1] ? l.b : l.a] += h[i + 2];
			v.got[h[i + 1] ? l.a : l.b] += h[i + 2];
		}
		return v;
	})();
})();

const speedsDiffer = new Set(links.map(l => l.gbitPerS)).size > 1;
/* Time that the bytes would take at the link's data rate; NaN if the rate is unknown. */
const linkSeconds = (half, bytes) => {
	const rate = links[half >> 1].gbitPerS;
	return rate ? bytes * 8 / (rate * 1e9) : NaN;
};
const measures = {
	bytes: { of: (v, half) => v.bytes[half], text: textOfBytes },
	flows: { of: (v, half) => v.flows[half], text: textOfCount },
	seconds: { of: (v, half) => linkSeconds(half, v.bytes[half]), text: textOfSeconds },
};

const linksOf = nodes.map(() => []);
links.forEach((l, i) => {
	linksOf[l.a].push(i);
	if (l.b !== l.a)
		linksOf[l.b].push(i);
});

/* The links and nodes that are shown with a selection (Brown et al. 2014, 4.2). */
function neighbourhood(kind, id) {
	const near = { links: new Set(), nodes: new Set() };
	if (kind === "link") {
		for (const n of [links[id].a, links[id].b]) {
			near.nodes.add(n);
			linksOf[n].forEach(l => near.links.add(l));
		}
	} else {
		near.nodes.add(id);
		for (const l of linksOf[id]) {
			near.links.add(l);
			near.nodes.add(links[l].a).add(links[l].b);
		}
	}
	return near;
}

/* ---- words ---- */

function threeDigits(value, factor, units) {
	let u = 0;
	for (; value >= factor && u < units.length - 1; u++)
		value /= factor;
	return (u ? String(+value.toPrecision(value < 1000 ? 3 : 4)) : String(Math.round(value))) + " " + units[u];
}
function textOfBytes(value) {
	return threeDigits(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}
function textOfCount(value) {
	return value.toLocaleString("en");
}
function textOfSeconds(value) {
	return Number.isFinite(value) ? threeDigits(value * 1e9, 1000, ["ns", "µs", "ms", "s"]) : "rate not known";
}
const endName = (l, end) => nodes[end ? l.b : l.a].name;
const endPort = (l, end) => end ? l.bPort : l.aPort;
const subnetName = s => "subnet " + String.fromCharCode(97 + s);
const rowName = row => data.rows.find(r => r.row === row).name;

/* ---- colours ---- */

const stops = {
	range: ["#fdb32f", "#f89540", "#e66c5c", "#cc4778", "#a62098", "#7201a8", "#2c0594"],
	rangeDark: ["#5b2fb0", "#9b2fae", "#cc4778", "#e66c5c", "#f89540", "#fdc527", "#f6f88a"],
	heat: ["#2b5ccf", "#26a7c9", "#3fb24f", "#e6c229", "#ee7d1b", "#d7101c"],
	/* Okabe and Ito's, without yellow, which is invisible on white. */
	bands: ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a6d3b", "#000000"],
	bandsDark: ["#4aa3df", "#e69f00", "#1fc795", "#ff7f2a", "#e39ac4", "#8fd0f5", "#f0e442", "#ffffff"],
};
const RANGE_STEPS = 24, BANDS_MAX = 8;

const parse = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
function mix(a, b, share) {
	const x = parse(a), y = parse(b);
	return "#" + x.map((v, i) => Math.round(v + (y[i] - v) * share).toString(16).padStart(2, "0")).join("");
}
function along(list, t) {
	const at = Math.min(Math.floor(t * (list.length - 1)), list.length - 2);
	return mix(list[at], list[at + 1], t * (list.length - 1) - at);
}

/* Upper ends of bands: each value if there are few; otherwise bands end at the widest gaps between values. */
function bandEnds(sorted, position) {
	const distinct = sorted.filter((v, i) => !i || v !== sorted[i - 1]);
	if (distinct.length <= BANDS_MAX)
		return distinct;
	const gaps = distinct.slice(1).map((v, i) => ({ end: i, gap: position(v) - position(distinct[i]) }));
	gaps.sort((a, b) => b.gap - a.gap);
	return gaps.slice(0, BANDS_MAX - 1).map(g => distinct[g.end]).sort((a, b) => a - b).concat(distinct.at(-1));
}

/*
 * Colours of a context's values. step[half] is an index of colour: 0 without traffic, otherwise rising with the value. legend: colours with
 * words. range: colours without words, from low to high.
 */
function colouring(context, { measure, scheme, scale, dark, unused }) {
	const m = measures[measure], v = valuesOf(context), n = 2 * links.length;
	const value = new Float64Array(n), step = new Uint8Array(n);
	for (let i = 0; i < n; i++)
		value[i] = m.of(v, i);
	const sorted = value.filter(x => x > 0).sort();
	const low = sorted[0] ?? 1, high = sorted.at(-1) ?? 1;
	const position = scale === "log" ? Math.log : x => x;
	const span = position(high) - position(scale === "log" ? low : 0);
	const result = { value, step, text: m.text, range: null };
	if (scheme === "bands") {
		const ends = bandEnds(Array.from(sorted), position), list = stops[dark ? "bandsDark" : "bands"];
		for (let i = 0; i < n; i++)
			step[i] = value[i] > 0 ? 1 + ends.findIndex(end => value[i] <= end) : 0;
		result.colour = [unused, ...ends.map((_, i) => list[i])];
		result.legend = ends.map((end, i) => {
			const first = i ? sorted[sorted.findLastIndex(x => x <= ends[i - 1]) + 1] : low;
			return { colour: list[i], text: first === end ? m.text(end) : m.text(first) + " – " + m.text(end) };
		});
	} else {
		const list = stops[scheme === "range" && dark ? "rangeDark" : scheme];
		const part = x => span > 0 ? (position(x) - position(high) + span) / span : 1;
		for (let i = 0; i < n; i++)
			step[i] = value[i] > 0 ? 1 + Math.min(Math.floor(part(value[i]) * RANGE_STEPS), RANGE_STEPS - 1) : 0;
		result.colour = [unused];
		for (let i = 0; i < RANGE_STEPS; i++)
			result.colour.push(along(list, i / (RANGE_STEPS - 1)));
		const middle = position(high) - span / 2;
		result.range = span > 0 ? {
			colours: result.colour.slice(1), low: m.text(scale === "log" ? low : 0),
			middle: m.text(scale === "log" ? Math.exp(middle) : middle), high: m.text(high),
		} : null;
		result.legend = span > 0 ? [] : [{ colour: result.colour.at(-1), text: m.text(high) }];
	}
	if (step.includes(0))
		result.legend.unshift({ colour: unused, text: measure === "seconds" ? "no traffic, or rate not known" : "no traffic" });
	return result;
}
