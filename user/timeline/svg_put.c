/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Text and numbers of a picture. Without a file (struct svg.out) nothing is written; this run finds
 * the heights.
 */
#include "timeline/svg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"

/* ---- colours ---- */

/*
 * Colours and hatching of a picture. States differ in lightness, and similar ones in hatching, so
 * that they can be distinguished without colours. The hues lie on the axis from blue to orange,
 * which people with a colour vision deficiency can distinguish.
 */

static const char *const style[] = {
	"<style>",
	"text{font-family:'Liberation Sans',Arial,Helvetica,sans-serif;font-size:12px;fill:#222}",
	".h{font-size:15px;font-weight:bold}.n{font-size:11px;fill:#444}.e{text-anchor:end}"
	".o{text-anchor:middle}",
	".i{text-anchor:middle;pointer-events:none;paint-order:stroke;stroke:#fff;"
	"stroke-width:4px;stroke-linejoin:round}",
	"path{fill:none;shape-rendering:crispEdges}",
	".c{stroke:#7cc7e8}.q{stroke:url(#q)}.w{stroke:url(#w)}.x{stroke:#005a9c}",
	".a{stroke:url(#a)}.t{stroke:#2b1038}.u{stroke:url(#u)}.m{stroke:#222}.d{stroke:#fff}",
	".r0{stroke:#4a73b8}.r1{stroke:#9dbbe6}.r2{stroke:#d3e1f7}",
	".s0{stroke:url(#s0)}.s1{stroke:url(#s1)}.s2{stroke:url(#s2)}",
	".p{stroke:url(#p)}.k{stroke:url(#k)}",
	".f{fill:none;stroke:#999}.g{stroke:#000;stroke-opacity:.2}",
	".v{stroke:#fff;stroke-width:4px}.y{stroke:#222;stroke-width:1.3px}"
	".b{stroke:#222;stroke-width:2px}",
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

/* ---- text and numbers ---- */

void svg_put(struct svg *s, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	if (!s->out)
		return;
	p = out_room(s->out);
	va_start(ap, fmt);
	n = vsnprintf(p, OUT_ROOM_BYTES, fmt, ap);
	va_end(ap);
	out_advance(s->out, p + (n < OUT_ROOM_BYTES ? n : OUT_ROOM_BYTES - 1));
}

/* XML cannot represent U+FFFE and U+FFFF in any form. */
static bool is_noncharacter(const char *p)
{
	return !strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3);
}

void svg_put_bytes(struct svg *s, const char *text, size_t bytes)
{
	for (const char *p = text; p < text + bytes; p++) {
		if (*p == '<' || *p == '>' || *p == '&' || *p == '\'' || *p == '"') {
			svg_put(s, "&#%d;", *p);
		} else if (is_noncharacter(p)) {
			svg_put(s, "?");
			p += 2;
		} else {
			svg_put(s, "%c", *p);
		}
	}
}

void svg_put_text(struct svg *s, const char *text, unsigned int max)
{
	char *clean = text_printable(text, max);

	svg_put_bytes(s, clean, strlen(clean));
	free(clean);
}

int svg_text_width(const char *text, int px)
{
	int chars = 0;

	for (; *text; text++)
		chars += ((unsigned char)*text & 0xc0) != 0x80;
	return chars * px * 3 / 5;
}

struct svg_unit svg_unit_of(uint64_t last_ns, uint64_t step_ns)
{
	static const struct svg_unit units[] = {
		{1, "ns", 0}, {1000, "us", 0}, {1000000, "ms", 0}, {1000000000, "s", 0}};
	struct svg_unit u = units[0];

	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]) && last_ns >= units[i].ns; i++)
		u = units[i];
	for (uint64_t ns = u.ns; ns > 1 && step_ns % ns; ns /= 10)
		u.decimals++;
	return u;
}

char *svg_time(char *buf, size_t bytes, uint64_t ns, const struct svg_unit *u)
{
	uint64_t part_ns = u->ns, part;

	for (int i = 0; i < u->decimals; i++)
		part_ns /= 10;
	ns += part_ns / 2;
	part = (ns % u->ns) / part_ns;
	if (u->decimals)
		snprintf(buf, bytes, "%" PRIu64 ".%0*" PRIu64 " %s", ns / u->ns, u->decimals, part,
			 u->name);
	else
		snprintf(buf, bytes, "%" PRIu64 " %s", ns / u->ns, u->name);
	return buf;
}

char *svg_rank_name(const struct svg *s, const struct model_process *p)
{
	if (p->rank < 0)
		return xasprintf("rank ? (pid %u)", p->host_pid);
	if (s->njobs > 1)
		return xasprintf("rank %d:%d", p->job_idx, p->rank);
	return xasprintf("rank %d", p->rank);
}
