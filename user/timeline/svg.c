/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An interval of a recording as a picture, for papers, tickets and documents: one SVG file without
 * scripts or references, a thousand pixels wide. It takes two passes of the model. The first one
 * finds the findings, the messages and the main threads; the second one collects what is drawn
 * (moment.h).
 */
#include "timeline/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "timeline/timeline.h"
#include "timeline/writer.h"

/* ---- the legend, the findings inside the interval, and notes on what is left out ---- */

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

/* Draws the marks of findings above the ranks. */
static void svg_finding_marks(struct svg *s)
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

static void svg_key(struct svg *s)
{
	s->key_y = s->axis_y + 30;
	if (s->mo->bands.nband)
		ranks_legend(s);
	cpus_legend(s);
	findings_list(s);
	notes_put(s);
	s->height = s->key_y;
}

/* ---- the picture ---- */

#define TITLE_CHARS 105

/* ---- selecting what is drawn ---- */

/* Puts a finding with its number on the first lane where it overlaps no earlier one. */
static void lane_choose(struct svg *s, struct svg_finding *f)
{
	uint32_t i = 0;

	while (i < s->nfinding) {
		const struct svg_finding *o = &s->finding[i++];

		if (o->lane == f->lane && f->first < o->last + SVG_MARK_PX &&
		    o->first < f->last + SVG_MARK_PX) {
			f->lane++;
			i = 0;
		}
	}
	if (s->nlane <= f->lane)
		s->nlane = f->lane + 1;
}

/* Selects the findings whose longest part lies in the interval, the costliest first. */
static void findings_choose(struct svg *s, const struct findings *all)
{
	const struct moment *mo = s->mo;

	for (uint32_t i = 0; i < all->n && s->nfinding < SVG_FINDINGS_MAX; i++) {
		const struct finding *f = &all->finding[i];
		struct svg_finding *to = &s->finding[s->nfinding];

		if (!f->to_ns || f->to_ns <= mo->from_ns || f->from_ns >= mo->to_ns ||
		    f->explained_by)
			continue;
		*to = (struct svg_finding){.finding = f,
					   .first = (uint32_t)svg_column(s, f->from_ns),
					   .last = (uint32_t)svg_column(s, f->to_ns)};
		if (to->last < to->first + 4)
			to->last = to->first + 4;
		lane_choose(s, to);
		s->nfinding++;
	}
}

static void cpus_choose(struct svg *s)
{
	uint32_t nr_cpus = model_get_info(s->mo->model)->nr_cpus;

	for (uint32_t i = 0; i < s->mo->ncore && s->ncpu < MOMENT_CPUS_MAX; i++)
		if (moment_core_shown(s->mo, i))
			s->cpu[s->ncpu++] = i;
	if (s->ncpu && nr_cpus > s->ncpu)
		s->cpus_hidden = nr_cpus - s->ncpu;
}

/* More tracks have a smaller height. All heights are even, so that strokes lie on pixels. */
static struct svg_size svg_size_for(uint32_t n, const struct svg_size *few)
{
	if (n <= 8)
		return *few;
	return n <= 24 ? (struct svg_size){22, 14, 11} : (struct svg_size){15, 8, 9};
}

static void picture_layout(struct svg *s)
{
	s->rank_size = svg_size_for(s->mo->bands.nband, &(struct svg_size){44, 26, 12});
	s->cpu_size = svg_size_for(s->ncpu, &(struct svg_size){24, 18, 12});
	s->mark_y = 56;
	s->rank_y = s->mark_y + (int)s->nlane * SVG_MARK_PX + (s->nlane ? 4 : 0);
	s->cpu_y = s->rank_y + (int)s->mo->bands.nband * s->rank_size.pitch +
		   (s->mo->bands.nband > 8 ? 8 : 0);
	s->axis_y = s->cpu_y + (int)s->ncpu * s->cpu_size.pitch + 2;
	s->arrows = s->mo->nmessages && s->mo->nmessages <= MOMENT_ARROWS_MAX &&
		    s->mo->bands.nband > 1 && s->mo->bands.nband <= SVG_ARROW_RANKS_MAX;
}

/* ---- drawing ---- */

static const char *command_of(const struct writer_args *recording)
{
	for (uint32_t i = 0; i < recording->n; i++)
		if (!strcmp(recording->arg[i].name, "command") && *recording->arg[i].text)
			return recording->arg[i].text;
	return "povtrace recording";
}

/* The precision of the given times, or a thousandth of the interval. */
static struct svg_unit stretch_unit(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t step = 1000000000;

	while (step > 1 && (from_ns % step || to_ns % step) && step > (to_ns - from_ns) / 1000)
		step /= 10;
	return svg_unit_of(to_ns, step);
}

/* "1.600 s to 1.620 s after the recording began (20.000 ms) · 2 ranks · 2 CPUs" */
static void stretch_put(struct svg *s)
{
	const struct moment *mo = s->mo;
	uint64_t from_ns = mo->from_ns - mo->start_ns, to_ns = mo->to_ns - mo->start_ns;
	struct svg_unit unit = stretch_unit(from_ns, to_ns);
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	svg_put(s, "%s to %s after the recording began (%s)",
		svg_time(from, sizeof(from), from_ns, &unit),
		svg_time(to, sizeof(to), to_ns, &unit), NS_TEXT(to_ns - from_ns));
	if (mo->nranks)
		svg_put(s, " · %s", PLURAL_TEXT(mo->nranks, "rank", "ranks"));
	if (s->ncpu)
		svg_put(s, " · %s", PLURAL_TEXT(s->ncpu + s->cpus_hidden, "CPU", "CPUs"));
}

static void picture_head_put(struct svg *s)
{
	svg_put(s,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d "
		"%d' role='graphics-document' aria-labelledby='title desc'>\n<title id='title'>",
		SVG_WIDTH, s->height, SVG_WIDTH, s->height);
	svg_put_text(s, s->command, TITLE_CHARS);
	svg_put(s, "</title>\n<desc id='desc'>What ranks did, and who had the CPUs: ");
	stretch_put(s);
	svg_put(s, "</desc>\n");
	svg_style(s);
	svg_put(s,
		"<rect width='%d' height='%d' style='fill:#fff'/>\n<text class='h' x='12' y='24'>",
		SVG_WIDTH, s->height);
	svg_put_text(s, s->command, TITLE_CHARS);
	svg_put(s, "</text>\n<text x='12' y='43'>");
	stretch_put(s);
	svg_put(s, "</text>\n");
}

static void picture_draw(struct svg *s)
{
	s->stretches = 0;
	picture_head_put(s);
	svg_finding_marks(s);
	svg_ranks(s);
	svg_cpus(s);
	svg_axis(s);
	svg_arrows(s);
	svg_key(s);
	svg_put(s, "</svg>\n");
}

/* ---- passes of the model ---- */

static int findings_pass(struct model *m, struct findings *f, struct coverage *coverage,
			 struct moment *mo, const struct timeline_options *opt)
{
	const struct model_sink *sinks[1 + FINDING_SINKS_MAX] = {&coverage->sink};
	uint32_t n;

	f->sites = opt->sites;
	f->app.coverage = coverage;
	observers_add(&f->late.matched, moment_message_add, mo);
	n = 1 + findings_sinks(f, sinks + 1);
	return model_run(m, sinks, n);
}

static int moment_pass(struct model *m, struct moment *mo, const struct app_time *app)
{
	const struct model_sink *sinks[] = {&mo->sink, &mo->bands.sink, &mo->bands.holders.sink};
	int err;

	moment_begin(mo, app);
	err = model_run(m, sinks, 3);
	if (err)
		return err;
	moment_finish(mo);
	if (moment_has_something(mo))
		return 0;
	log_error("export: nothing to draw: no activity of a rank or CPU was recorded in this "
		  "interval");
	return -ENOENT;
}

static void picture_put(struct model *m, struct out *out, const struct moment *mo,
			const struct findings *f, const struct timeline_options *opt,
			struct writer_totals *totals)
{
	struct svg s = {
		.mo = mo, .command = command_of(opt->recording), .njobs = model_get_info(m)->njobs};

	findings_choose(&s, f);
	cpus_choose(&s);
	picture_layout(&s);
	picture_draw(&s); /* finds the height */
	s.out = out;
	picture_draw(&s);
	totals->slices = s.stretches;
	totals->flows = totals->arrows = s.arrows ? mo->nmessages : 0;
	totals->messages = mo->nmessages;
	totals->findings = s.nfinding;
}

static int svg_write(struct model *m, struct out *out, struct timeline_options *opt,
		     struct writer_totals *totals)
{
	struct moment *mo = xmalloc(sizeof(*mo));
	struct coverage coverage;
	struct findings findings;
	bool *chosen;
	int err = moment_open(mo, m, opt->select);

	if (err) {
		free(mo);
		return err;
	}
	coverage_init(&coverage);
	findings_init(&findings);
	err = findings_pass(m, &findings, &coverage, mo, opt);
	chosen = select_processes(m, opt->select);
	if (!err) {
		findings_make(&findings, m, chosen);
		err = moment_pass(m, mo, &findings.app);
	}
	if (!err)
		picture_put(m, out, mo, &findings, opt, totals);
	moment_release(mo);
	findings_release(&findings);
	coverage_release(&coverage);
	free(chosen);
	free(mo);
	return err;
}

static const char *const svg_endings[] = {".svg", NULL};

const struct writer writer_svg = {
	.name = "svg",
	.endings = svg_endings,
	.kind = WRITER_PICTURE,
	.passes = 2,
	.write = svg_write,
};
