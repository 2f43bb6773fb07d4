/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Drawn over the tracks of a picture: arrows from sends to receives, and the time axis. */
#include <inttypes.h>

#include "lib/human.h"
#include "timeline/svg.h"

#define TICKS_MAX 9 /* so that there is room for their labels */

/* ---- arrows ---- */

/* Index of a process's band; -1: it is not shown. */
static int band_of(const struct svg *s, const struct model_process *p)
{
	for (uint32_t i = 0; i < s->mo->bands.nband; i++)
		if (s->mo->bands.band[i].process == p)
			return (int)i;
	return -1;
}

static void arrow_title(struct svg *s, const struct moment_message *m)
{
	svg_put(s, "rank %d to rank %d", m->from->rank, m->to->rank);
	if (m->bytes >= 0)
		svg_put(s, ", %s", BYTES_TEXT((uint64_t)m->bytes));
	svg_put(s, ", tag %d, %s later: ", m->tag, NS_TEXT(m->to_ns - m->from_ns));
	svg_put_text(s, m->send, 40);
	svg_put(s, " to ");
	svg_put_text(s, m->recv, 40);
}

/* Draws from the middle of the sender's band to the near edge of the receiver's. */
static void arrow_put(struct svg *s, const struct moment_message *m)
{
	int from = band_of(s, m->from), to = band_of(s, m->to);
	int x1 = SVG_LEFT + svg_column(s, m->from_ns), x2 = SVG_LEFT + svg_column(s, m->to_ns);
	int half = s->rank_size.height / 2;
	int y1 = s->rank_y + from * s->rank_size.pitch + half;
	int y2 = s->rank_y + to * s->rank_size.pitch + half + (from < to ? 2 - half : half - 2);

	if (from < 0 || to < 0)
		return;
	svg_put(s, "<g><line class='v' x1='%d' y1='%d' x2='%d' y2='%d'/>", x1, y1, x2, y2);
	svg_put(s,
		"<circle cx='%d' cy='%d' r='2.5' style='stroke:#fff'/>"
		"<line class='y' x1='%d' y1='%d' x2='%d' y2='%d' marker-end='url(#v)'/><title>",
		x1, y1, x1, y1, x2, y2);
	arrow_title(s, m);
	svg_put(s, "</title></g>\n");
}

void svg_arrows(struct svg *s)
{
	for (uint32_t i = 0; s->arrows && i < s->mo->nmessages; i++)
		arrow_put(s, &s->mo->message[i]);
}

/* ---- the time axis ---- */

/* The smallest of 1, 2, 5, 10, 20, … ns that gives at most TICKS_MAX steps. */
static uint64_t tick_step(uint64_t ns)
{
	uint64_t step = 1;

	for (int i = 0; ns / step > TICKS_MAX; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

void svg_axis(struct svg *s)
{
	uint64_t from_ns = s->mo->from_ns - s->mo->start_ns;
	uint64_t to_ns = s->mo->to_ns - s->mo->start_ns;
	uint64_t step = tick_step(to_ns - from_ns);
	struct svg_unit unit = svg_unit_of(to_ns, step);
	char text[HUMAN_BYTES];

	svg_put(s, "<path style='stroke:#222' d='M%d %d.5h%d'/>\n", SVG_LEFT, s->axis_y,
		MOMENT_COLUMNS);
	for (uint64_t i = from_ns / step + (from_ns % step != 0); i <= to_ns / step; i++) {
		uint64_t ns = i * step;
		int x = SVG_LEFT + svg_column(s, ns + s->mo->start_ns);

		svg_put(s, "<path class='g' d='M%d.5 %dV%d'/>", x, s->rank_y - 4, s->axis_y);
		svg_put(s, "<path style='stroke:#222' d='M%d.5 %dv5'/>", x, s->axis_y);
		svg_put(s, "<text class='%s' x='%d' y='%d'>%s</text>\n",
			x > SVG_RIGHT - 20 ? "e" : "o", x > SVG_RIGHT - 20 ? SVG_RIGHT : x,
			s->axis_y + 18, svg_time(text, sizeof(text), ns, &unit));
	}
}
