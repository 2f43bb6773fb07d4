/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The head of all pictures: the benchmark, its origin (library, transport, host, date), and its
 * meaning in words. The scale beside maps, and the tables' heads.
 */
#include "picture.h"

#include "script.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_PX_PER_COLUMN 8.0
#define SCALE_PX 175.0 /* beside the map: the colours, their labels and their name */
#define TIC_PX 62.0    /* width of a label such as 128 KiB */

void picture_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	*width_px = 860;
	*height_px = 640;
}

void picture_lines(const struct plot *p, const char *name, const char *const *lines,
		   struct script *s)
{
	double px = TITLE_PX_PER_COLUMN * gnuplot_font_scale(p->width_px);

	script_title(s, p->title ? p->title : name, lines, (size_t)((double)p->width_px / px));
}

static void write_head(const struct plot *p, const char *name, const char *before, struct script *s)
{
	char *origin = data_origin(p->result[0]->file);
	const char *lines[3] = {origin, p->words ? p->result[0]->sentence : "", NULL};

	for (size_t i = 1; i < p->cnt; i++) {
		/* With several files, keys and rows name them. */
		if (p->result[i]->file != p->result[0]->file)
			lines[0] = "";
		/* A sentence belongs to a single result. */
		lines[1] = "";
	}
	fputs(before, s->out);
	picture_lines(p, name, lines, s);
	free(origin);
}

void picture_title(const struct plot *p, const char *name, struct script *s)
{
	write_head(p, name, "set title ", s);
}

void picture_head(const struct plot *p, const char *name, size_t rows, size_t columns,
		  struct script *s)
{
	char *before = xasprintf("set multiplot layout %zu,%zu title ", rows, columns);

	write_head(p, name, rows ? before : "set multiplot title ", s);
	free(before);
}

double picture_map_px(const struct plot *p)
{
	return fmax((double)p->width_px - (100 + SCALE_PX) * gnuplot_font_scale(p->width_px), 50);
}

double picture_map_tics(const struct plot *p)
{
	return picture_map_px(p) / (TIC_PX * gnuplot_font_scale(p->width_px));
}

void picture_scale(const struct plot *p, const char *name, struct script *s)
{
	double px = gnuplot_font_scale(p->width_px) / (double)p->width_px;

	script_line(s, "set tics out nomirror\nset bmargin 5");
	script_line(s, "set rmargin at screen %.5f", 1 - SCALE_PX * px);
	script_line(s, "set colorbox user origin screen %.5f,graph 0 size screen %.5f,graph 1",
		    1 - (SCALE_PX - 15) * px, 25 * px);
	/*
	 * A label of the colour box would be placed by an estimate of the font, which SVG viewers
	 * do not match.
	 */
	script_line(s, "set label '%s' at screen %.5f,0.5 center rotate by 90", name, 1 - 20 * px);
}

/* ---- tables ---- */

/* Writes a comment such as "# curve: latency, bandwidth; suite.json", with each name once. */

/* True if an earlier result has the same file or benchmark. */
static bool had_before(const struct data_result *const *result, size_t i, bool file)
{
	return table_any(i, k,
			 file ? result[k]->file == result[i]->file :
				!strcmp(result[k]->benchmark, result[i]->benchmark));
}

void table_begin(struct script *s, const struct data_result *const *result, size_t cnt,
		 const char *columns)
{
	char *about = NULL;

	for (size_t i = 0; i < cnt; i++) {
		if (!had_before(result, i, false))
			about = text_joined(about, ", ", xstrdup(result[i]->benchmark));
	}
	for (size_t i = 0; i < cnt; i++) {
		if (!had_before(result, i, true))
			about = text_joined(about, i ? ", " : "; ", xstrdup(result[i]->file->path));
	}
	script_table(s, about, columns);
	free(about);
}
