/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The picture: two canvases. The lower one has all links and nodes. It is drawn again when the view or the colours change, and faded while
 * something is selected. The upper one has what is selected, found or under the pointer. Half links of one colour are one path, the most
 * loaded last, so that they lie on top.
 */
const base = document.getElementById("base"), topmost = document.getElementById("top");
const MARGIN = { left: 104, right: 44, top: 30, bottom: 30 };
const ZOOM_MAX = 400, ZOOM_ROWS_MAX = 2.5;
const LANE_PX = 3, PICK_PX = 7;
const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

/* zoom: of widths. Heights grow less, so that the next row stays visible. x, y: offset in pixels. */
const view = { zoom: 1, x: 0, y: 0, width: 1, height: 1, ratio: 1 };

/* Nodes of each row from left to right, and the least distance between two of them. */
const rows = data.rows.map(r => {
	const ids = nodes.map((_, i) => i).filter(i => nodes[i].row === r.row).sort((a, b) => nodes[a].x - nodes[b].x);
	let least = Infinity;
	for (let i = 1; i < ids.length; i++)
		least = Math.min(least, nodes[ids[i]].x - nodes[ids[i - 1]].x);
	return { ...r, ids, least };
});
const rowLow = Math.min(...rows.map(r => r.row)), rowHigh = Math.max(...rows.map(r => r.row));

const rowZoom = () => Math.min(view.zoom, ZOOM_ROWS_MAX);
const innerWidth_ = () => Math.max(view.width - MARGIN.left - MARGIN.right, 10);
const innerHeight_ = () => Math.max(view.height - MARGIN.top - MARGIN.bottom, 10);
const screenX = x => (MARGIN.left + x * innerWidth_()) * view.zoom + view.x;
const screenY = row => (MARGIN.top + (rowHigh - row) / (rowHigh - rowLow || 1) * innerHeight_()) * rowZoom() + view.y;
/* Distance between links of the same two nodes: smaller when there is less room. */
const laneWidth = () => Math.min(LANE_PX, Math.max(0.4, LANE_PX * view.zoom / 8 * (nodes.length < 200 ? 8 : 1)));

/* Ends and middle of a link. */
function line(l) {
	const k = links[l], shift = k.lane * laneWidth();
	const ax = screenX(nodes[k.a].x) + shift, ay = screenY(nodes[k.a].row);
	const bx = screenX(nodes[k.b].x) + shift, by = screenY(nodes[k.b].row);
	return { ax, ay, bx, by, mx: (ax + bx) / 2, my: (ay + by) / 2 };
}

/* ---- view ---- */

function viewFit() {
	Object.assign(view, { zoom: 1, x: 0, y: 0 });
}

/* The point at x, y stays in place. */
function viewZoom(factor, x, y) {
	const zoom = view.zoom, rowsBefore = rowZoom();
	view.zoom = Math.min(Math.max(zoom * factor, 0.5), ZOOM_MAX);
	view.x = x - (x - view.x) * view.zoom / zoom;
	view.y = y - (y - view.y) * rowZoom() / rowsBefore;
}

function viewShow(x, row) {
	const sx = screenX(x), sy = screenY(row);
	if (sx < MARGIN.left || sx > view.width - MARGIN.right)
		view.x += view.width / 2 - sx;
	if (sy < MARGIN.top / 2 || sy > view.height - MARGIN.bottom / 2)
		view.y += view.height / 2 - sy;
}

function viewResize() {
	const box = topmost.getBoundingClientRect();
	Object.assign(view, { width: box.width, height: box.height, ratio: window.devicePixelRatio || 1 });
	for (const canvas of [base, topmost]) {
		canvas.width = Math.max(1, Math.round(box.width * view.ratio));
		canvas.height = Math.max(1, Math.round(box.height * view.ratio));
	}
}

/* ---- all ---- */

/* Screen coordinates of all halves, and the order in which they are drawn: by colour step. */
const drawn = { xy: new Float32Array(6 * links.length), order: new Uint32Array(2 * links.length), begin: [] };

function orderBySteps(step, steps) {
	const begin = new Array(steps + 1).fill(0);
	step.forEach(s => begin[s + 1]++);
	for (let s = 0; s < steps; s++)
		begin[s + 1] += begin[s];
	drawn.begin = begin.slice();
	step.forEach((s, half) => drawn.order[begin[s]++] = half);
}

function placeLines() {
	const { xy } = drawn, kx = innerWidth_() * view.zoom, x0 = MARGIN.left * view.zoom + view.x, lane = laneWidth();
	const ys = new Map(rows.map(r => [r.row, screenY(r.row)]));
	for (let l = 0, at = 0; l < links.length; l++, at += 6) {
		const k = links[l], a = nodes[k.a], b = nodes[k.b], shift = x0 + k.lane * lane;
		xy[at] = a.x * kx + shift;
		xy[at + 1] = ys.get(a.row);
		xy[at + 4] = b.x * kx + shift;
		xy[at + 5] = ys.get(b.row);
		xy[at + 2] = (xy[at] + xy[at + 4]) / 2;
		xy[at + 3] = (xy[at + 1] + xy[at + 5]) / 2;
	}
}

/* Many visible links get the screen's thinnest line, which is also the fastest to draw. */
function lineWidth() {
	const inSight = links.length / Math.max(1, view.zoom);
	return inSight > 700 ? 1 / view.ratio : inSight > 200 ? 1.3 : 2.2;
}

function drawHalves(c, step, colours) {
	const { xy, order, begin } = drawn, width = view.width, height = view.height;
	c.lineWidth = lineWidth();
	for (let s = 0; s < colours.length; s++) {
		c.beginPath();
		for (let i = begin[s]; i < begin[s + 1]; i++) {
			const at = 6 * (order[i] >> 1) + 2 * (order[i] & 1);
			const x = xy[at], y = xy[at + 1], u = xy[at + 2], w = xy[at + 3];
			if ((x < 0 && u < 0) || (x > width && u > width) || (y < 0 && w < 0) || (y > height && w > height))
				continue;
			c.moveTo(x, y);
			c.lineTo(u, w);
		}
		c.strokeStyle = colours[s];
		c.stroke();
	}
}

const nameWidths = new Map();
function nameWidth(c, name) {
	let width = nameWidths.get(name);
	if (width === undefined)
		nameWidths.set(name, width = c.measureText(name).width);
	return width;
}

/* Draws a row's visible nodes, with their names if all of these have room. */
function drawRow(c, row, looks) {
	const y = screenY(row.row), spacing = row.least * innerWidth_() * view.zoom;
	const inSight = row.ids.filter(i => { const x = screenX(nodes[i].x); return x > -60 && x < view.width + 60; });
	if (y < -20 || y > view.height + 20)
		return;
	const named = inSight.length <= 120 && inSight.every(i => nameWidth(c, nodes[i].name) + 12 <= spacing);
	row.named = named;
	if (named) {
		for (const i of inSight)
			drawName(c, i, looks);
		return;
	}
	const size = Math.min(Math.max(spacing * 0.6, nodes[row.ids[0]].isSwitch ? 3 : 1.5), 10);
	c.fillStyle = looks.node;
	for (const i of inSight)
		c.fillRect(screenX(nodes[i].x) - size / 2, y - Math.max(size, 4) / 2, size, Math.max(size, 4));
}

function drawName(c, i, { node, ground, ink }, border) {
	const x = screenX(nodes[i].x), y = screenY(nodes[i].row), width = nameWidth(c, nodes[i].name) + 8;
	c.fillStyle = ground;
	c.strokeStyle = border ?? node;
	c.lineWidth = border ? 2 : 1;
	c.beginPath();
	c.roundRect(x - width / 2, y - 9, width, 18, nodes[i].isSwitch ? 2 : 9);
	c.fill();
	c.stroke();
	c.fillStyle = ink;
	c.fillText(nodes[i].name, x, y + 0.5);
}

function drawRowNames(c, looks) {
	c.textAlign = "left";
	for (const r of rows) {
		const y = screenY(r.row), width = c.measureText(r.name).width;
		c.globalAlpha = 0.85;
		c.fillStyle = looks.ground;
		c.fillRect(4, y - 9, width + 8, 18);
		c.globalAlpha = 1;
		c.fillStyle = looks.dim;
		c.fillText(r.name, 8, y);
	}
	c.textAlign = "center";
}

/* ground: the background of the lower, opaque canvas; undefined for the upper, transparent one. */
function begin(canvas, ground) {
	const c = canvas.getContext("2d", { alpha: !ground });
	c.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
	if (ground) {
		c.fillStyle = ground;
		c.fillRect(0, 0, view.width, view.height);
	} else {
		c.clearRect(0, 0, view.width, view.height);
	}
	c.font = FONT;
	c.textAlign = "center";
	c.textBaseline = "middle";
	c.lineCap = "butt";
	return c;
}

function drawBase(colours, looks) {
	const c = begin(base, looks.ground);
	placeLines();
	drawHalves(c, colours.step, colours.colour);
	for (const row of rows)
		drawRow(c, row, looks);
	drawRowNames(c, looks);
}

/* ---- selected, found, under the pointer ---- */

function strokeLink(c, l, colours, width) {
	const p = line(l), k = 2 * l;
	c.lineWidth = width;
	for (const [half, x, y] of [[k, p.ax, p.ay], [k + 1, p.bx, p.by]]) {
		c.strokeStyle = colours.colour[colours.step[half]];
		c.beginPath();
		c.moveTo(x, y);
		c.lineTo(p.mx, p.my);
		c.stroke();
	}
}

/* A frame around a link that is visible next to any colour. */
function strokeFrame(c, l, colour, width) {
	const p = line(l);
	c.lineWidth = width;
	c.strokeStyle = colour;
	c.beginPath();
	c.moveTo(p.ax, p.ay);
	c.lineTo(p.bx, p.by);
	c.stroke();
}

const fadedLooks = looks => ({ ...looks, node: mix(looks.node, looks.ground, 0.7), ink: mix(looks.ink, looks.ground, 0.6) });
const isNamed = n => rows.find(r => r.row === nodes[n].row).named;

/* Draws names again that links were drawn over. */
function drawEnds(c, ends, looks) {
	for (const n of ends) {
		if (isNamed(n))
			drawName(c, n, looks);
	}
}

function drawSelection(c, { selected, near }, colours, looks) {
	const width = near.links.size > 60 ? 1.6 : 2.4, ends = new Set();
	for (const l of near.links) {
		strokeLink(c, l, colours, width);
		ends.add(links[l].a).add(links[l].b);
	}
	if (selected.kind === "link") {
		strokeFrame(c, selected.id, looks.mark, 8);
		strokeLink(c, selected.id, colours, 4.5);
	}
	drawEnds(c, ends, fadedLooks(looks));
	/* The names of many neighbours would hide each other. */
	for (const n of near.nodes) {
		const chosen = selected.kind === "link" || n === selected.id;
		if (chosen || isNamed(n)) {
			drawName(c, n, looks, chosen ? looks.mark : undefined);
		} else {
			c.fillStyle = looks.ink;
			c.fillRect(screenX(nodes[n].x) - 2.5, screenY(nodes[n].row) - 4, 5, 8);
		}
	}
}

function drawHover(c, { kind, id }, colours, looks) {
	if (kind === "node") {
		drawName(c, id, looks, looks.mark);
		return;
	}
	strokeFrame(c, id, looks.ground, 6);
	strokeLink(c, id, colours, 4);
	drawEnds(c, [links[id].a, links[id].b], looks);
}

let topEmpty = true;

function drawTop({ selected, near, hover, found }, colours, looks) {
	const empty = !selected && !hover && !found.length;
	if (empty && topEmpty)
		return;
	topEmpty = empty;
	const c = begin(topmost);
	if (empty)
		return;
	if (selected)
		drawSelection(c, { selected, near }, colours, looks);
	c.strokeStyle = looks.mark;
	c.lineWidth = 2;
	for (const n of found) {
		c.beginPath();
		c.arc(screenX(nodes[n].x), screenY(nodes[n].row), 13, 0, 2 * Math.PI);
		c.stroke();
	}
	if (hover)
		drawHover(c, hover, colours, looks);
	drawRowNames(c, looks);
}

/* ---- picking ---- */

function distance(x, y, ax, ay, bx, by) {
	const dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
	const t = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
	return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

/* The nearest node, otherwise the nearest link, null if none is near. Among equally near links: the most loaded. */
function pick(x, y, colours) {
	let best = null, least = PICK_PX;
	for (const row of rows) {
		const dy = Math.abs(screenY(row.row) - y);
		if (dy > 10)
			continue;
		for (const i of row.ids) {
			const half = row.named ? nameWidths.get(nodes[i].name) / 2 + 4 : 0;
			const dx = Math.max(0, Math.abs(screenX(nodes[i].x) - x) - half);
			if (dx < least)
				least = dx, best = { kind: "node", id: i };
		}
	}
	if (best)
		return best;
	let load = -1;
	const { xy } = drawn;
	for (let l = 0, at = 0; l < links.length; l++, at += 6) {
		const d = distance(x, y, xy[at], xy[at + 1], xy[at + 4], xy[at + 5]);
		const most = Math.max(colours.value[2 * l], colours.value[2 * l + 1]) || 0;
		if (d < least - 0.5 || (d < least + 0.5 && d < PICK_PX && most > load))
			least = Math.min(d, least), load = most, best = { kind: "link", id: l };
	}
	return best;
}
