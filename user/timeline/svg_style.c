/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Colours and hatching of a picture. States differ in lightness, and where two are near, in hatching: so they can be told apart
 * without colours. The hues lie on the axis from blue to orange, which people who see two of three colours tell apart.
 */
#include "timeline/svg.h"

static const char *const style[] = {
	"<style>",
	"text{font-family:'Liberation Sans',Arial,Helvetica,sans-serif;font-size:12px;fill:#222}",
	".h{font-size:15px;font-weight:bold}.n{font-size:11px;fill:#444}.e{text-anchor:end}.o{text-anchor:middle}",
	".i{text-anchor:middle;pointer-events:none;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}",
	"path{fill:none;shape-rendering:crispEdges}",
	".c{stroke:#7cc7e8}.q{stroke:url(#q)}.w{stroke:url(#w)}.x{stroke:#005a9c}",
	".a{stroke:url(#a)}.t{stroke:#2b1038}.u{stroke:url(#u)}.m{stroke:#222}.d{stroke:#fff}",
	".r0{stroke:#4a73b8}.r1{stroke:#9dbbe6}.r2{stroke:#d3e1f7}",
	".s0{stroke:url(#s0)}.s1{stroke:url(#s1)}.s2{stroke:url(#s2)}",
	".p{stroke:url(#p)}.k{stroke:url(#k)}",
	".f{fill:none;stroke:#999}.g{stroke:#000;stroke-opacity:.2}",
	".v{stroke:#fff;stroke-width:4px}.y{stroke:#222;stroke-width:1.3px}.b{stroke:#222;stroke-width:2px}",
	"</style>",
};

/* Hatching: lines up or down through a square, dots, lines. */
#define UP "<path d='M-1 7L7 -1M-1 1L1 -1M5 7L7 5' style='shape-rendering:auto;"
#define DOWN "<path d='M-1 -1L7 7M-1 5L1 7M5 -1L7 1' style='shape-rendering:auto;"
#define DOTS "<path d='M1 1h2v2h-2z' style='"
#define LINES "<path d='M0 2h6v1h-6z' style='"

struct pattern {
	const char *id, *back, *marks;
};

static const struct pattern patterns[] = {
	{"q", "#ee7d1f", UP "stroke:#6b2600;stroke-width:2'/>"},
	{"w", "#fdf1c7", DOWN "stroke:#bfa24a;stroke-width:1'/>"},
	{"a", "#f0f0f0", DOTS "fill:#888'/>"},
	{"u", "#fff", UP "stroke:#999'/>" DOWN "stroke:#999'/>"},
	{"s0", "#4a73b8", UP "stroke:#fff;stroke-width:1.6'/>"},
	{"s1", "#9dbbe6", UP "stroke:#1f4788;stroke-width:1.6'/>"},
	{"s2", "#d3e1f7", UP "stroke:#4a73b8;stroke-width:1.6'/>"},
	{"p", "#6a6a6a", DOTS "fill:#fff'/>"},
	{"k", "#c4c4c4", LINES "fill:#444'/>"},
};

void svg_style(struct svg *s)
{
	for (size_t i = 0; i < sizeof(style) / sizeof(style[0]); i++)
		svg_put(s, "%s\n", style[i]);
	svg_put(s, "<defs>\n");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		svg_put(s,
			"<pattern id='%s' width='6' height='6' patternUnits='userSpaceOnUse'>"
			"<path style='fill:%s' d='M0 0h6v6h-6z'/>%s</pattern>\n",
			patterns[i].id, patterns[i].back, patterns[i].marks);
	svg_put(s, "<marker id='v' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='9' "
		   "markerHeight='9' markerUnits='userSpaceOnUse' orient='auto'>"
		   "<path style='fill:#222' d='M0 0L8 4L0 8z'/></marker>\n</defs>\n");
}
