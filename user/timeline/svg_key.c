/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The explanations of a picture: the legend, the findings inside the interval, and notes on what is
 * left out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "timeline/svg.h"

#define ROW_PX 20
#define SWATCH_PX 26
#define LINE_CHARS 145 /* per line of a finding or a note */

/* ---- the legend ---- */

static void row_begin(struct svg *s, const char *title)
{
	s->key_y += ROW_PX;
	s->key_x = SVG_LEFT;
	svg_put(s, "<text class='e' x='%d' y='%d'>%s</text>\n", SVG_LEFT - 8, s->key_y, title);
}

/* Starts the next item, in a new row if this one is full. */
static void item_begin(struct svg *s, const char *text)
{
	int width = SWATCH_PX + 6 + svg_text_width(text, SVG_TEXT_PX) + 10;

	if (s->key_x + width > SVG_RIGHT + 8) {
		s->key_y += ROW_PX;
		s->key_x = SVG_LEFT;
	}
	svg_put(s, "<text x='%d' y='%d'>%s</text>", s->key_x + SWATCH_PX + 6, s->key_y, text);
}

static void item_end(struct svg *s, const char *text)
{
	svg_put(s, "\n");
	s->key_x += SWATCH_PX + 6 + svg_text_width(text, SVG_TEXT_PX) + 10;
}

/* classes: several of them share the swatch, from left to right. */
static void swatch_put(struct svg *s, const char *const *classes, int n)
{
	int width = SWATCH_PX / n;

	for (int i = 0; i < n; i++)
		svg_put(s,
			"<path class='%s' stroke-width='12' transform='translate(%d,%d)' "
			"d='M0 0h%d'/>",
			classes[i], s->key_x + i * width, s->key_y - 4, width);
	svg_put(s, "<rect class='f' x='%d.5' y='%d.5' width='%d' height='13'/>", s->key_x - 1,
		s->key_y - 11, n * width + 1);
}

static void item_put(struct svg *s, const char *text, const char *const *classes, int n)
{
	item_begin(s, text);
	swatch_put(s, classes, n);
	item_end(s, text);
}

static void ranks_legend(struct svg *s)
{
	static const char *const arrow = "message, from its send to its receive";

	row_begin(s, "Ranks");
	for (int state = 0; state < MOMENT_STATES; state++) {
		const char *class = svg_state_class((enum moment_state)state);

		if (s->state_seen[state])
			item_put(s, svg_state_name((enum moment_state)state), &class, 1);
	}
	item_begin(s, "in an MPI call");
	svg_put(s, "<path class='m' stroke-width='3' d='M%d %d.5h%d'/>", s->key_x, s->key_y - 5,
		SWATCH_PX);
	item_end(s, "in an MPI call");
	if (!s->arrows)
		return;
	item_begin(s, arrow);
	svg_put(s,
		"<circle cx='%d' cy='%d' r='2.5'/>"
		"<line class='y' x1='%d' y1='%d' x2='%d' y2='%d' marker-end='url(#v)'/>",
		s->key_x + 3, s->key_y - 4, s->key_x + 3, s->key_y - 4, s->key_x + SWATCH_PX,
		s->key_y - 4);
	item_end(s, arrow);
}

static void cpus_legend(struct svg *s)
{
	static const struct {
		const char *text, *classes[3];
		int n;
	} items[SVG_WHO_CNT] = {
		[SVG_WHO_MAIN] = {"main thread of a rank", {"r0", "r1", "r2"}, 3},
		[SVG_WHO_OTHERS] = {"other threads of a rank", {"s0", "s1", "s2"}, 3},
		[SVG_WHO_PROCESS] = {"another process", {"p"}, 1},
		[SVG_WHO_KERNEL] = {"the kernel", {"k"}, 1},
		[SVG_WHO_POVTRACE] = {"povtrace", {"t"}, 1},
		[SVG_WHO_NOT_RECORDED] = {"not recorded", {"u"}, 1},
	};

	if (!s->ncpu)
		return;
	row_begin(s, "CPUs");
	for (int who = 0; who < SVG_WHO_CNT; who++)
		if (s->who_seen[who] && items[who].n)
			item_put(s, items[who].text, items[who].classes, items[who].n);
	item_put(s, "idle", (const char *const[]){"d"}, 1);
}

/* ---- findings ---- */

void svg_finding_marks(struct svg *s)
{
	for (uint32_t i = 0; i < s->nfinding; i++) {
		const struct svg_finding *f = &s->finding[i];
		int x = SVG_LEFT + (int)f->first, end = SVG_LEFT + (int)f->last;
		int y = s->mark_y + (int)f->lane * SVG_MARK_PX;

		svg_put(s, "<g><path class='b' d='M%d %dv8M%d %dh%dM%d %dv8'/>", x + 1, y + 2, x,
			y + 6, end - x, end - 1, y + 2);
		svg_put(s, "<circle cx='%d' cy='%d' r='8'/>", (x + end) / 2, y + 6);
		svg_put(s,
			"<text class='o' x='%d' y='%d' style='fill:#fff;font-weight:bold'>%u</text>"
			"<title>",
			(x + end) / 2, y + 10, i + 1);
		svg_put_text(s, f->finding->text, 1000);
		svg_put(s, "</title></g>\n");
	}
	if (s->nfinding)
		svg_put(s, "<text class='e' x='%d' y='%d'>Findings</text>\n", SVG_LEFT - 8,
			s->mark_y + 10);
}

/* Writes a text in as many lines as it needs, broken at blanks. */
static void text_lines(struct svg *s, const char *text)
{
	char *clean = text_printable(text, 3 * LINE_CHARS), *line = clean;

	while (*line) {
		char *end = line, *blank = NULL;

		for (int chars = 0; *end && chars < LINE_CHARS; end++) {
			chars += ((unsigned char)*end & 0xc0) != 0x80;
			blank = *end == ' ' ? end : blank;
		}
		if (*end && blank)
			end = blank;
		svg_put(s, "<text class='n' x='%d' y='%d'>", SVG_LEFT, s->key_y);
		svg_put_bytes(s, line, (size_t)(end - line));
		svg_put(s, "</text>\n");
		s->key_y += ROW_PX - 5;
		line = end + (*end == ' ');
	}
	free(clean);
}

static void findings_list(struct svg *s)
{
	s->key_y += ROW_PX + 4;
	for (uint32_t i = 0; i < s->nfinding; i++) {
		svg_put(s, "<circle cx='%d' cy='%d' r='8'/>", SVG_LEFT - 16, s->key_y - 4);
		svg_put(s,
			"<text class='o' x='%d' y='%d' "
			"style='fill:#fff;font-weight:bold'>%u</text>\n",
			SVG_LEFT - 16, s->key_y, i + 1);
		text_lines(s, s->finding[i].finding->text);
		s->key_y += 4;
	}
}

/* ---- notes ---- */

static void note_put(struct svg *s, char *text)
{
	text_lines(s, text);
	free(text);
}

static void left_out_note(struct svg *s)
{
	uint32_t ranks = s->mo->nranks - s->mo->bands.nband;
	char more_ranks[64], more_cpus[64];

	human_plural(more_ranks, sizeof(more_ranks), ranks, "rank", "ranks");
	human_plural(more_cpus, sizeof(more_cpus), s->cpus_hidden, "CPU", "CPUs");
	if (ranks)
		note_put(s, xasprintf("Not shown: %s more (--rank chooses others).", more_ranks));
	if (s->cpus_hidden)
		note_put(s,
			 xasprintf("Not shown: %s on which no thread of these ranks ran, or beyond "
				   "%d.",
				   more_cpus, MOMENT_CPUS_MAX));
}

static void notes_put(struct svg *s)
{
	note_put(
		s,
		xasprintf("Ranks: their main threads. Where states change within a pixel (%s), the "
			  "one that took most of it is shown%s",
			  NS_TEXT((s->mo->to_ns - s->mo->from_ns) / MOMENT_COLUMNS),
			  s->nfinding ? "; what findings cost is that of the whole recording." :
					"."));
	if (!s->arrows && s->mo->nmessages)
		note_put(s, xasprintf("Messages: %s, %s.", COUNT_TEXT(s->mo->nmessages),
				      s->mo->nmessages > MOMENT_ARROWS_MAX ?
					      "too many for arrows" :
					      "without arrows among so many ranks"));
	if (!s->mo->sched_recorded)
		note_put(s,
			 xstrdup("The scheduler was not recorded: what ranks did outside MPI, and "
				 "who had the CPUs, is unknown."));
	left_out_note(s);
}

void svg_key(struct svg *s)
{
	s->key_y = s->axis_y + 30;
	if (s->mo->bands.nband)
		ranks_legend(s);
	cpus_legend(s);
	findings_list(s);
	notes_put(s);
	s->height = s->key_y;
}
