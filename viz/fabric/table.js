/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The table beside the picture: a row for each half link, or each node. Only visible rows are elements. All text is inserted as text.
 */
const table = document.getElementById("table"), rowsBox = document.getElementById("rows");
const ROW_PX = 24;

/* columns: name, and a row's text and sort key; number: aligned to the right. onSelect, onSort, onScroll of `shown` are the page's. */
const kinds = {
	link: {
		columns: [
			{ name: () => measureName(), number: true, key: h => shown.colours.value[h] || 0, text: h => shown.colours.value[h] > 0 ? shown.colours.text(shown.colours.value[h]) : "–" },
			{ name: () => "flows", number: true, key: h => valuesOf(shown.context).flows[h], text: h => textOfCount(valuesOf(shown.context).flows[h]) },
			{ name: () => "from", key: h => endName(links[h >> 1], h & 1), text: h => endName(links[h >> 1], h & 1) + " [" + endPort(links[h >> 1], h & 1) + "]" },
			{ name: () => "to", key: h => endName(links[h >> 1], 1 - (h & 1)), text: h => endName(links[h >> 1], 1 - (h & 1)) + " [" + endPort(links[h >> 1], 1 - (h & 1)) + "]" },
		],
		all: () => Array.from({ length: 2 * links.length }, (_, i) => i),
		near: near => Array.from(near.links).flatMap(l => [2 * l, 2 * l + 1]),
		object: h => h >> 1,
	},
	node: {
		columns: [
			{ name: () => "sends", number: true, key: n => valuesOf(shown.context).sent[n], text: n => textOfBytes(valuesOf(shown.context).sent[n]) },
			{ name: () => "gets", number: true, key: n => valuesOf(shown.context).got[n], text: n => textOfBytes(valuesOf(shown.context).got[n]) },
			{ name: () => "node", key: n => nodes[n].name, text: n => nodes[n].name },
			{ name: () => "level", key: n => nodes[n].row, text: n => rowName(nodes[n].row) },
		],
		all: () => nodes.map((_, i) => i),
		near: near => Array.from(near.nodes),
		object: n => n,
	},
};
const shown = { kind: "link", column: 0, rising: false, list: [], context: 0, colours: null, near: null, selected: null, at: 0, top: 0, height: table.clientHeight };

const measureName = () => ({ bytes: "bytes", flows: "flows", seconds: "time at rate" })[document.getElementById("measure").value];
const byKey = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;

/* Finds and sorts the rows. tableDraw draws them. */
function tableFill() {
	const kind = kinds[shown.kind], column = kind.columns[shown.column], sign = shown.rising ? 1 : -1;
	const list = shown.near ? kind.near(shown.near) : kind.all();
	const keys = new Map(list.map(i => [i, column.key(i)]));
	shown.list = list.sort((a, b) => sign * byKey(keys.get(a), keys.get(b)) || a - b);
	rowsBox.style.height = shown.list.length * ROW_PX + "px";
	table.setAttribute("aria-rowcount", shown.list.length + 1);
	document.getElementById("count").textContent = textOfCount(shown.list.length) + (shown.kind === "link" ? " directions" : " nodes");
}

function headDraw() {
	document.getElementById("head").replaceChildren(...kinds[shown.kind].columns.map((column, i) => {
		const cell = document.createElement("span"), button = document.createElement("button"), sorted = i === shown.column;
		cell.setAttribute("role", "columnheader");
		cell.setAttribute("aria-sort", sorted ? (shown.rising ? "ascending" : "descending") : "none");
		button.type = "button";
		button.className = column.number ? "number" : "";
		button.textContent = column.name() + (sorted ? (shown.rising ? " ▲" : " ▼") : "");
		button.style.width = "100%";
		button.addEventListener("click", () => {
			shown.rising = sorted ? !shown.rising : !column.number;
			shown.column = i;
			shown.onSort();
			headDraw();
			document.getElementById("head").children[i].firstChild.focus();
		});
		cell.append(button);
		return cell;
	}));
}

const isSelected = i => shown.selected !== null && shown.selected.kind === shown.kind &&
	kinds[shown.kind].object(i) === shown.selected.id;

function rowMade() {
	const row = document.createElement("div");
	row.setAttribute("role", "row");
	for (let i = 0; i < 4; i++) {
		const cell = document.createElement("span");
		cell.setAttribute("role", "gridcell");
		cell.append("");
		row.append(cell);
	}
	return row;
}

/* Sets an attribute only if it differs, so that nothing is laid out again. */
function attribute(e, name, value) {
	if (e.getAttribute(name) !== value)
		e.setAttribute(name, value);
}

function rowDraw(row, at) {
	const i = shown.list[at], columns = kinds[shown.kind].columns;
	attribute(row, "aria-rowindex", String(at + 2));
	attribute(row, "aria-selected", String(isSelected(i)));
	attribute(row, "id", "row" + at);
	attribute(row, "style", "top:" + at * ROW_PX + "px");
	row.dataset.at = at;
	for (let k = 0; k < columns.length; k++) {
		const cell = row.children[k], text = columns[k].text(i);
		attribute(cell, "class", columns[k].number ? "number" : "");
		if (cell.firstChild.data !== text)
			cell.firstChild.data = text;
	}
	attribute(row.firstChild, "style", "border-left-color:" + (shown.kind === "link" ? shown.colours.colour[shown.colours.step[i]] : "transparent"));
}

/* Reuses elements: there are as many as visible rows. */
function tableDraw() {
	const first = Math.max(0, Math.floor(shown.top / ROW_PX) - 3);
	const last = Math.min(shown.list.length, first + Math.ceil(shown.height / ROW_PX) + 6);
	while (rowsBox.children.length > last - first)
		rowsBox.lastChild.remove();
	while (rowsBox.children.length < last - first)
		rowsBox.append(rowMade());
	for (let at = first; at < last; at++)
		rowDraw(rowsBox.children[at - first], at);
}

/* Keeps the position in shown.top, because reading it would lay out the page. */
function tableScroll(top) {
	if (top !== shown.top)
		table.scrollTop = shown.top = top;
}

function tableScrollTo(at) {
	const y = at * ROW_PX, room = shown.height - ROW_PX;
	if (y < shown.top || y + ROW_PX > shown.top + room)
		tableScroll(Math.round(Math.max(0, Math.min(y - room / 2, shown.list.length * ROW_PX - room))));
}

/* Scrolls to the selection's first row, if it has one. */
function tableFollow() {
	const at = shown.list.findIndex(isSelected);
	if (at >= 0)
		tableScrollTo(at);
}

function rowChoose(at) {
	if (at < 0 || at >= shown.list.length)
		return;
	shown.at = at;
	shown.onSelect(shown.kind, kinds[shown.kind].object(shown.list[at]));
	tableScrollTo(at);
	table.setAttribute("aria-activedescendant", "row" + at);
}

function tableKey(event) {
	const page = Math.max(1, Math.floor(shown.height / ROW_PX) - 2);
	const at = shown.list.findIndex(isSelected), now = at < 0 ? -1 : isSelected(shown.list[shown.at]) ? shown.at : at;
	const to = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: shown.list.length - 1 }[event.key];
	if (to === undefined || event.target !== table)
		return false;
	rowChoose(Math.min(Math.max(to, 0), shown.list.length - 1));
	return true;
}

rowsBox.addEventListener("click", event => {
	const row = event.target.closest("[data-at]");
	if (row)
		rowChoose(+row.dataset.at);
});
/* A tooltip shows text that is cut off. */
rowsBox.addEventListener("pointerover", event => {
	if (event.target.tagName === "SPAN")
		event.target.title = event.target.textContent;
});
table.addEventListener("scroll", () => {
	if (table.scrollTop === shown.top)
		return;
	shown.top = table.scrollTop;
	shown.onScroll();
}, { passive: true });
