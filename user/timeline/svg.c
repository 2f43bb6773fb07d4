/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An interval of a recording as a picture, for papers, tickets and documents: one SVG file without
 * scripts or references, a thousand pixels wide. It takes two passes of the model. The first one
 * finds the findings, the messages and the main threads; the second one collects what is drawn
 * (moment.h).
 */
#include "timeline/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "lib/human.h"
#include "lib/log.h"
#include "timeline/writer.h"
#include "timeline/timeline.h"

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
