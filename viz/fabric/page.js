/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The selection, and the mouse and keys that change it. A change requests a frame, and the frame draws what changed. */
const byId = id => document.getElementById(id);
const darkness = matchMedia("(prefers-color-scheme: dark)");
const state = { context: 0, selected: null, near: null, hover: null, found: [], foundAt: -1 };
/* Parts to draw again. rows: their set or order; row: scroll to the selection's; table: the rows' text; late: the table was postponed. */
const stale = { colours: false, base: false, top: false, rows: false, row: false, table: false, late: false, asked: false };
let colours, looks;

/* ---- frames ---- */

const FRAMES_KEPT = 1000;
const frames = []; /* duration of each in ms, and whether it drew everything */

function ask(...what) {
	for (const w of what)
		stale[w] = true;
	if (!stale.asked)
		requestAnimationFrame(frame);
	stale.asked = true;
}

function coloursFind() {
	const style = getComputedStyle(document.documentElement), css = name => style.getPropertyValue("--" + name).trim();
	looks = { ground: css("ground"), ink: css("ink"), dim: css("dim"), node: css("node"), mark: css("mark") };
	colours = colouring(state.context, {
		measure: byId("measure").value, scheme: byId("scheme").value, scale: byId("scale").value,
		dark: darkness.matches, unused: css("unused"),
	});
	orderBySteps(colours.step, colours.colour.length);
	Object.assign(shown, { context: state.context, colours });
	legendDraw();
	headDraw();
	selectionTell();
}

/* Postponed by one frame if this one drew the picture, because both together could take longer than a frame. */
function tableUpdate(drewAll) {
	if (!stale.rows && !stale.row && !stale.table)
		return;
	if (drewAll && !stale.late) {
		ask("late");
		return;
	}
	if (stale.rows)
		tableFill();
	if (stale.row)
		tableFollow();
	tableDraw();
	stale.late = stale.rows = stale.row = stale.table = false;
}

function frame() {
	const began = performance.now(), all = stale.base || stale.colours;
	stale.asked = false;
	if (stale.colours)
		coloursFind();
	if (all)
		drawBase(colours, looks);
	drawTop(state, colours, looks);
	tableUpdate(all);
	stale.colours = stale.base = stale.top = false;
	frames.push({ ms: performance.now() - began, all });
	if (frames.length > FRAMES_KEPT)
		frames.shift();
}

/* ---- words ---- */

function made(tag, className, ...inside) {
	const e = document.createElement(tag);
	e.className = className;
	e.append(...inside);
	return e;
}

function patch(colour) {
	const e = made("i", "");
	e.style.background = colour;
	return e;
}

function legendDraw() {
	const r = colours.range;
	byId("legend").replaceChildren(
		made("b", "", measureName() + " of each direction"),
		...r ? [made("span", "range", r.low, made("div", "", ...r.colours.map(patch)), r.high, made("span", "", "(middle: " + r.middle + ")"))] : [],
		...colours.legend.map(entry => made("span", "entry", patch(entry.colour), entry.text)));
}

function directionText(l, end) {
	const v = valuesOf(state.context), half = 2 * l + end, k = links[l];
	const seconds = k.gbitPerS && v.bytes[half] ? ", " + textOfSeconds(linkSeconds(half, v.bytes[half])) + " at its rate" : "";
	return endName(k, end) + " [" + endPort(k, end) + "] → " + endName(k, 1 - end) + " [" + endPort(k, 1 - end) + "]: " +
		(v.flows[half] ? textOfBytes(v.bytes[half]) + " in " + textOfCount(v.flows[half]) + (v.flows[half] === 1 ? " flow" : " flows") + seconds : "no traffic");
}

function linkText(l) {
	const k = links[l], subnet = data.subnets.length > 1 ? subnetName(k.subnet) : "";
	const speed = k.speed ? k.speed + (k.gbitPerS ? " (" + k.gbitPerS + " Gbit/s each way)" : "") : "";
	return [directionText(l, 0), directionText(l, 1), [speed, subnet].filter(t => t).join(", ")].filter(t => t).join("\n");
}

function nodeText(n) {
	const v = valuesOf(state.context), node = nodes[n];
	return [(node.isSwitch ? "switch" : "adapter") + ", " + rowName(node.row) + ", GUID " + node.guid + ", " +
		textOfCount(linksOf[n].length) + (linksOf[n].length === 1 ? " link" : " links"),
	"sends " + textOfBytes(v.sent[n]) + ", gets " + textOfBytes(v.got[n])].join("\n");
}

function selectionTell() {
	const box = byId("selection"), head = document.createElement("b"), text = document.createElement("span"), s = state.selected;
	const context = contexts[state.context];
	if (!s) {
		head.textContent = "Context " + context.name;
		text.textContent = textOfBytes(context.bytes ?? 0) + " in " + textOfCount(context.flows ?? 0) +
			" flows with a path\nNothing is selected: click a link, a node, or a row below.";
	} else {
		head.textContent = s.kind === "link" ? "Link " + endName(links[s.id], 0) + " – " + endName(links[s.id], 1) : nodes[s.id].name;
		text.textContent = s.kind === "link" ? linkText(s.id) : nodeText(s.id);
	}
	box.replaceChildren(head, text);
}

function tipShow(x, y) {
	const tip = byId("tip"), h = state.hover;
	tip.hidden = !h;
	if (!h)
		return;
	tip.textContent = h.kind === "link" ? linkText(h.id) : nodes[h.id].name + "\n" + nodeText(h.id);
	tip.style.left = Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth - 4)) + "px";
	tip.style.top = (y + 18 + tip.offsetHeight < view.height ? y + 18 : Math.max(0, y - 12 - tip.offsetHeight)) + "px";
}

/* ---- choosing ---- */

/* from "table": the rows stay as they are. */
function select(kind, id, from) {
	const before = view.x + view.y;
	state.selected = kind ? { kind, id } : null;
	state.near = kind ? neighbourhood(kind, id) : null;
	shown.selected = state.selected;
	if (kind === "node")
		viewShow(nodes[id].x, nodes[id].row);
	else if (kind && from)
		viewShow((nodes[links[id].a].x + nodes[links[id].b].x) / 2, (nodes[links[id].a].row + nodes[links[id].b].row) / 2);
	if (view.x + view.y !== before)
		ask("base");
	selectionTell();
	if (from !== "table")
		tableLimit();
	base.classList.toggle("faded", kind !== null);
	ask("top", from === "table" ? "table" : "row");
}

function tableLimit() {
	const near = byId("only").checked ? state.near : null;
	if (near === shown.near)
		return;
	shown.near = near;
	tableScroll(0);
	ask("rows");
}

function contextSet(i) {
	state.context = Math.min(Math.max(i, 0), contexts.length - 1);
	byId("context").value = state.context;
	ask("colours", "top", "rows");
}

function selectHottest() {
	let best = -1;
	colours.value.forEach((v, half) => { if (v > 0 && (best < 0 || v > colours.value[best])) best = half; });
	if (best >= 0)
		select("link", best >> 1, "keys");
}

function find(next) {
	const wanted = byId("find").value.toLowerCase();
	state.found = wanted ? nodes.map((_, i) => i).filter(i => nodes[i].name.toLowerCase().includes(wanted)) : [];
	state.foundAt = next && state.found.length ? (state.foundAt + 1) % state.found.length : -1;
	byId("found").textContent = !wanted ? "" : state.foundAt < 0 ? textOfCount(state.found.length) + " found" : state.foundAt + 1 + " of " + textOfCount(state.found.length);
	if (state.foundAt >= 0)
		select("node", state.found[state.foundAt], "find");
	ask("top");
}

function kindShow(kind) {
	Object.assign(shown, { kind, column: 0, rising: false });
	byId("show-links").setAttribute("aria-pressed", kind === "link");
	byId("show-nodes").setAttribute("aria-pressed", kind === "node");
	tableScroll(0);
	headDraw();
	ask("rows", "row");
}

/* ---- mouse ---- */

const pointers = new Map();
let moved = 0;

const place = event => {
	const box = topmost.getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
};

function hoverSet(h, p) {
	if (h?.kind !== state.hover?.kind || h?.id !== state.hover?.id) {
		state.hover = h;
		topmost.classList.toggle("over", !!h);
		ask("top");
	}
	if (p)
		tipShow(p.x, p.y);
	else
		byId("tip").hidden = true;
}

topmost.addEventListener("pointerdown", event => {
	if (event.button)
		return;
	pointers.set(event.pointerId, place(event));
	moved = pointers.size > 1 ? Infinity : 0;
	topmost.setPointerCapture(event.pointerId);
});
topmost.addEventListener("pointermove", event => {
	const p = place(event), before = pointers.get(event.pointerId);
	if (!before) {
		hoverSet(pick(p.x, p.y, colours), p);
		return;
	}
	if (pointers.size === 2) {
		const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
		viewZoom(Math.hypot(p.x - other.x, p.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1), other.x, other.y);
	} else {
		moved += Math.abs(p.x - before.x) + Math.abs(p.y - before.y);
		if (moved <= 4)
			return;
		topmost.classList.add("moving");
		hoverSet(null);
		view.x += p.x - before.x;
		view.y += p.y - before.y;
	}
	pointers.set(event.pointerId, p);
	ask("base", "top");
});
topmost.addEventListener("pointerup", event => {
	const p = place(event);
	if (!pointers.delete(event.pointerId))
		return;
	topmost.classList.remove("moving");
	if (moved > 4)
		return;
	const h = pick(p.x, p.y, colours);
	byId("tip").hidden = true; /* the text above the table is the same */
	select(h?.kind ?? null, h?.id);
});
topmost.addEventListener("pointercancel", event => pointers.delete(event.pointerId));
topmost.addEventListener("pointerleave", () => hoverSet(null));
topmost.addEventListener("wheel", event => {
	const p = place(event);
	event.preventDefault();
	viewZoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), p.x, p.y);
	hoverSet(null);
	ask("base", "top");
}, { passive: false });

/* ---- keys ---- */

const PAN_PX = 60;
const pan = (x, y) => () => { view.x += x; view.y += y; ask("base", "top"); };
const zoom = factor => () => { viewZoom(factor, view.width / 2, view.height / 2); ask("base", "top"); };
const fit = () => { viewFit(); ask("base", "top"); };
const help = () => byId("keys").showModal();
const actions = {
	ArrowLeft: pan(PAN_PX, 0), ArrowRight: pan(-PAN_PX, 0), ArrowUp: pan(0, PAN_PX), ArrowDown: pan(0, -PAN_PX),
	"+": zoom(1.25), "=": zoom(1.25), "-": zoom(0.8), "0": fit, h: selectHottest, "?": help,
	"[": () => contextSet(state.context - 1), "]": () => contextSet(state.context + 1),
	"/": () => byId("find").focus(),
};

document.addEventListener("keydown", event => {
	if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open)
		return;
	if (event.key === "Escape") {
		byId("find").value = "";
		find();
		hoverSet(null);
		select(null);
		return;
	}
	if (event.target.matches("input[type=search], select")) {
		if (event.key === "Enter" && event.target.id === "find")
			find(true);
		return;
	}
	if (!tableKey(event)) {
		if (!Object.hasOwn(actions, event.key))
			return;
		actions[event.key]();
	}
	event.preventDefault();
});

/* ---- beginning ---- */

function begins() {
	document.title = byId("title").textContent = "Fabric: " + data.title;
	byId("title").title = data.title;
	byId("context").append(...contexts.map((c, i) => new Option(c.name, i)));
	if (speedsDiffer)
		byId("measure").append(new Option("time at the link's rate", "seconds"));
	byId("notes").textContent = [
		"Each half of a link has the colour of what leaves the node at its end.",
		"Bytes are sums over the whole run, without times: two flows on one link need not have used it at once.",
		data.subnets.length > 1 ? "Subnets: " + data.subnets.map((s, i) => subnetName(i).at(-1) + " is " + s).join(", ") + "." : "",
		data.leftOut ? data.leftOut[0].toUpperCase() + data.leftOut.slice(1) + "." : "",
	].filter(t => t).join(" ");
	Object.assign(shown, { onSelect: (kind, id) => select(kind, id, "table"), onSort: () => ask("rows"), onScroll: () => ask("table") });
	new ResizeObserver(() => { shown.height = table.clientHeight; ask("table"); }).observe(table);
	byId("context").addEventListener("change", event => contextSet(+event.target.value));
	for (const id of ["measure", "scheme", "scale"])
		byId(id).addEventListener("change", () => ask("colours", "top", "rows"));
	byId("find").addEventListener("input", () => find());
	byId("only").addEventListener("change", () => { tableLimit(); ask("row"); });
	byId("show-links").addEventListener("click", () => kindShow("link"));
	byId("show-nodes").addEventListener("click", () => kindShow("node"));
	byId("hottest").addEventListener("click", selectHottest);
	byId("fit").addEventListener("click", fit);
	byId("help").addEventListener("click", help);
	darkness.addEventListener("change", () => ask("colours", "top", "table"));
	new ResizeObserver(() => { viewResize(); hoverSet(null); ask("base", "top", "table"); }).observe(byId("canvases"));
	topmost.setAttribute("aria-label", "Fabric of " + textOfCount(nodes.length) + " nodes and " + textOfCount(links.length) + " links; the table has the same in words");
	viewResize();
	ask("colours", "top", "rows");
}
begins();

/* For tests: the state of the page, and places on it. */
window.fabricView = {
	frames,
	/* Resolves when the requested frame has been drawn completely: reading a pixel back waits for that. */
	drawn() {
		return new Promise(done => requestAnimationFrame(() => {
			for (const canvas of [base, topmost])
				canvas.getContext("2d").getImageData(0, 0, 1, 1);
			done();
		}));
	},
	pan(x, y) {
		view.x += x;
		view.y += y;
		ask("base", "top");
	},
	get state() {
		const s = state.selected;
		return {
			context: contexts[state.context].name, drawn: !stale.asked, zoom: view.zoom, x: view.x, y: view.y,
			selected: s && { kind: s.kind, name: s.kind === "node" ? nodes[s.id].name : endName(links[s.id], 0) + "–" + endName(links[s.id], 1) },
			links: state.near ? Array.from(state.near.links, l => endName(links[l], 0) + "–" + endName(links[l], 1)).sort() : [],
			nodes: state.near ? Array.from(state.near.nodes, n => nodes[n].name).sort() : [],
			rows: shown.list.length, kind: shown.kind, legend: byId("legend").textContent, found: state.found.length,
		};
	},
	/* Coordinates on the page. For a link: the point at that part of the way from a to b, the middle by default. */
	placeOfNode(name) {
		const box = topmost.getBoundingClientRect(), n = nodes.find(x => x.name === name);
		return { x: box.left + screenX(n.x), y: box.top + screenY(n.row) };
	},
	placeOfLink(a, b, part = 0.5) {
		const box = topmost.getBoundingClientRect(), l = links.findIndex((_, i) => endName(links[i], 0) === a && endName(links[i], 1) === b), p = line(l);
		return { x: box.left + p.ax + (p.bx - p.ax) * part, y: box.top + p.ay + (p.by - p.ay) * part };
	},
};
