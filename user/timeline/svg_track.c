/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The tracks of a picture: ranks and CPUs. A run of columns of one kind is one stroke. All strokes
 * of a kind on a track are one path; its title gives their total length.
 */
#include "timeline/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"

#define TINTS 3	     /* for ranks on CPUs */
#define LABEL_MAX 15 /* characters beside a track */
#define NAME_MAX_CHARS 60

const char *svg_state_name(enum moment_state state)
{
	static const char *const names[MOMENT_STATES] = {"computing",	   "no core",
							 "waiting in MPI", "working in MPI",
							 "asleep",	   "tracing",
							 "unknown"};

	return names[state];
}

const char *svg_state_class(enum moment_state state)
{
	static const char *const classes[MOMENT_STATES] = {"c", "q", "w", "x", "a", "t", "u"};

	return classes[state];
}

/* ---- strokes ---- */

typedef bool (*column_test)(const void *of, uint32_t column, uint32_t what);

static bool any_column_passes(column_test is, const void *of, uint32_t what)
{
	return table_any(MOMENT_COLUMNS, i, is(of, i, what));
}

/* Writes the columns that pass a test as a path's data. Returns the number of strokes. */
static uint64_t strokes_put(struct svg *s, column_test is, const void *of, uint32_t what)
{
	uint32_t from = 0, to = 0;
	uint64_t n = 0;

	while (from < MOMENT_COLUMNS) {
		uint32_t end = from;

		while (end < MOMENT_COLUMNS && is(of, end, what))
			end++;
		if (end > from) {
			svg_put(s, n ? "m%u 0h%u" : "M%u 0h%u", from - to, end - from);
			to = end;
			n++;
		}
		from = end + 1;
	}
	return n;
}

static bool has_state(const void *of, uint32_t column, uint32_t what)
{
	const struct moment_band *b = of;

	return moment_cell_state(&b->cell[column]) == (enum moment_state)what;
}

static bool has_call(const void *of, uint32_t column, uint32_t what)
{
	const struct moment_cell *c = &((const struct moment_band *)of)->cell[column];

	return c->mpi_ns && 2 * c->mpi_ns >= table_sum(MOMENT_STATES, i, c->ns[i]);
}

static bool has_who(const void *of, uint32_t column, uint32_t what)
{
	return ((const struct moment_core *)of)->who[column] == what;
}

/* "12.345 ms (30.6 %)" */
static void share_put(struct svg *s, uint64_t ns)
{
	uint64_t all_ns = s->mo->to_ns - s->mo->from_ns;

	svg_put(s, "%s (%.1f %%)", NS_TEXT(ns), 100 * (double)ns / (double)all_ns);
}

/* Writes the label beside a track. */
static void label_put(struct svg *s, const char *name, int y, const struct svg_size *size)
{
	svg_put(s, "<text class='e' x='%d' y='%d' style='font-size:%dpx'>", SVG_LEFT - 8,
		y + size->height / 2 + size->text_px * 3 / 8, size->text_px);
	svg_put_text(s, name, LABEL_MAX);
	svg_put(s, "</text>\n");
}

/* Writes a text inside a track, between two columns, if it fits. Returns whether it did. */
static bool text_put_if_fits(struct svg *s, const char *text, int from, int to, int y,
			     const struct svg_size *size)
{
	if (size->height < size->text_px || svg_text_width(text, size->text_px) > to - from - 4)
		return false;
	svg_put(s, "<text class='i' x='%d' y='%d' style='font-size:%dpx'>",
		SVG_LEFT + (from + to) / 2, y + size->height / 2 + size->text_px * 3 / 8,
		size->text_px);
	svg_put_text(s, text, NAME_MAX_CHARS);
	svg_put(s, "</text>\n");
	return true;
}

/* ---- ranks ---- */

/* Describes the band for screen readers. */
static void band_describe(struct svg *s, const struct moment_band *b, const char *name,
			  const uint64_t *ns)
{
	const char *sep = ": ";

	svg_put(s, "<g role='img' aria-label='%s, pid %u", name, b->process->host_pid);
	for (int state = 0; state < MOMENT_STATES; state++) {
		if (!ns[state])
			continue;
		svg_put(s, "%s%s ", sep, svg_state_name((enum moment_state)state));
		share_put(s, ns[state]);
		sep = ", ";
	}
	svg_put(s, "'>\n");
}

static void band_states(struct svg *s, const struct moment_band *b, const char *name,
			const uint64_t *ns, int y)
{
	svg_put(s, "<g transform='translate(%d,%d)' stroke-width='%d'>\n", SVG_LEFT,
		y + s->rank_size.height / 2, s->rank_size.height);
	for (uint32_t state = 0; state < MOMENT_STATES; state++) {
		if (!any_column_passes(has_state, b, state))
			continue;
		s->state_seen[state] = true;
		svg_put(s, "<path class='%s' d='", svg_state_class((enum moment_state)state));
		s->stretches += strokes_put(s, has_state, b, state);
		svg_put(s, "'><title>%s: %s, ", name, svg_state_name((enum moment_state)state));
		share_put(s, ns[state]);
		svg_put(s, "</title></path>\n");
	}
	svg_put(s, "</g>\n");
}

int svg_column(const struct svg *s, uint64_t ns)
{
	if (ns <= s->mo->from_ns)
		return 0;
	return ns >= s->mo->to_ns ? MOMENT_COLUMNS : (int)moment_column(&s->mo->bands, ns);
}

static void call_title(struct svg *s, const struct moment_call *c)
{
	uint64_t begin_ns = c->begin_ns > s->mo->start_ns ? c->begin_ns - s->mo->start_ns : 0;
	struct svg_unit unit = svg_unit_of(begin_ns, 1);
	char from[HUMAN_BYTES];

	svg_put_text(s, c->name, NAME_MAX_CHARS);
	if (c->polls)
		svg_put(s, " ×%" PRIu64, c->polls);
	svg_put(s, ": %s, from %s on", NS_TEXT(c->end_ns - c->begin_ns),
		svg_time(from, sizeof(from), begin_ns, &unit));
}

/*
 * The line below a band shows when it was in MPI. A gap of one pixel separates calls that are long
 * enough.
 */
static void band_calls(struct svg *s, const struct moment_band *b, int y)
{
	const struct moment_calls *calls = &s->mo->calls[b - s->mo->bands.band];
	int line_y = y + s->rank_size.height + 2;

	if (!any_column_passes(has_call, b, 0))
		return;
	svg_put(s, "<g transform='translate(%d,%d.5)' stroke-width='3'>\n<path class='m' d='",
		SVG_LEFT, line_y);
	strokes_put(s, has_call, b, 0);
	svg_put(s, "'/>\n");
	for (uint32_t i = 0; i < calls->n; i++) {
		int from = svg_column(s, calls->call[i].begin_ns);
		int to = svg_column(s, calls->call[i].end_ns);

		svg_put(s, "<path class='m' d='M%d 0h%d'><title>", from, to - from);
		call_title(s, &calls->call[i]);
		svg_put(s, "</title></path>\n");
		if (i && from > 0)
			svg_put(s, "<path class='d' d='M%d 0h1'/>\n", from);
	}
	svg_put(s, "</g>\n");
	for (uint32_t i = 0; i < calls->n; i++) {
		const char *name = calls->call[i].name;
		int from = svg_column(s, calls->call[i].begin_ns);
		int to = svg_column(s, calls->call[i].end_ns);

		if (!text_put_if_fits(s, name, from, to, y, &s->rank_size) &&
		    !strncmp(name, "MPI_", 4))
			text_put_if_fits(s, name + 4, from, to, y, &s->rank_size);
	}
}

static void band_put(struct svg *s, const struct moment_band *b, int y)
{
	uint64_t ns[MOMENT_STATES] = {0};
	char *name = svg_rank_name(s, b->process);

	for (uint32_t i = 0; i < MOMENT_COLUMNS; i++)
		for (int state = 0; state < MOMENT_STATES; state++)
			ns[state] += b->cell[i].ns[state];
	band_describe(s, b, name, ns);
	label_put(s, name, y, &s->rank_size);
	band_states(s, b, name, ns, y);
	band_calls(s, b, y);
	svg_put(s, "</g>\n");
	free(name);
}

void svg_ranks(struct svg *s)
{
	for (uint32_t i = 0; i < s->mo->bands.nband; i++)
		band_put(s, &s->mo->bands.band[i], s->rank_y + (int)i * s->rank_size.pitch);
}

/* ---- CPUs ---- */

/* Kind of a CPU's owner. For a rank, also the number of its colour. */
static enum svg_who who_kind(const struct svg *s, const struct moment_share *share, uint32_t *tint)
{
	const struct model_process *p;
	bool others;

	if (share->who == MOMENT_IDLE)
		return SVG_WHO_IDLE;
	p = moment_who(s->mo, share->who, &others);
	if (p && p->is_rank) {
		*tint = p->idx % TINTS; /* ranks come first */
		return others ? SVG_WHO_OTHERS : SVG_WHO_MAIN;
	}
	if (model_thread_records(s->mo->model, share->thread))
		return SVG_WHO_POVTRACE;
	return share->thread->kthread ? SVG_WHO_KERNEL : SVG_WHO_PROCESS;
}

/* "rank 0", "rank 0, others", "stress". The caller frees it. */
static char *who_name(const struct svg *s, const struct moment_share *share)
{
	bool others = false;
	char *rank, *name;
	const struct model_process *p = moment_who(s->mo, share->who, &others);

	if (!p || !p->is_rank)
		return xstrdup(p && *p->name ? p->name : share->thread->comm);
	rank = svg_rank_name(s, p);
	name = others ? xasprintf("%s, others", rank) : xstrdup(rank);
	free(rank);
	return name;
}

static void who_labels(struct svg *s, const struct moment_core *c, uint32_t who, const char *name,
		       int y)
{
	for (uint32_t from = 0, to; from < MOMENT_COLUMNS; from = to) {
		for (to = from + 1; to < MOMENT_COLUMNS && c->who[to] == c->who[from];)
			to++;
		if (c->who[from] == who)
			text_put_if_fits(s, name, (int)from, (int)to, y, &s->cpu_size);
	}
}

static void who_put(struct svg *s, uint32_t cpu, const struct moment_share *share, int y)
{
	static const char *const classes[] = {"", "r", "s", "p", "k", "t", "u"};
	const struct moment_core *c = &s->mo->core[cpu];
	uint32_t tint = UINT32_MAX;
	enum svg_who is = who_kind(s, share, &tint);
	char *name;

	if (is == SVG_WHO_IDLE)
		return;
	s->who_seen[is] = true;
	name = who_name(s, share);
	svg_put(s, "<g transform='translate(%d,%d)'><path class='%s", SVG_LEFT,
		y + s->cpu_size.height / 2, classes[is]);
	if (tint != UINT32_MAX)
		svg_put(s, "%u", tint);
	svg_put(s, "' stroke-width='%d' d='", s->cpu_size.height);
	s->stretches += strokes_put(s, has_who, c, share->who);
	svg_put(s, "'><title>");
	svg_put_text(s, name, NAME_MAX_CHARS);
	if (is != SVG_WHO_MAIN && is != SVG_WHO_OTHERS)
		svg_put(s, " (pid %u)", share->thread->proc->host_pid);
	svg_put(s, ": ");
	share_put(s, share->ns);
	svg_put(s, "</title></path></g>\n");
	who_labels(s, c, share->who, name, y);
	free(name);
}

static void unrecorded_put(struct svg *s, const struct moment_core *c, int y)
{
	if (!any_column_passes(has_who, c, MOMENT_NOT_RECORDED))
		return;
	s->who_seen[SVG_WHO_NOT_RECORDED] = true;
	svg_put(s, "<g transform='translate(%d,%d)'><path class='u' stroke-width='%d' d='",
		SVG_LEFT, y + s->cpu_size.height / 2, s->cpu_size.height);
	s->stretches += strokes_put(s, has_who, c, MOMENT_NOT_RECORDED);
	svg_put(s, "'><title>not recorded</title></path></g>\n");
}

TABLE_ORDER(share_compare, struct moment_share *, u64_compare((*a)->cpu, (*b)->cpu),
	    u64_compare((*a)->who, (*b)->who))

/* All shares, sorted by CPU. The caller frees the list. */
static const struct moment_share **shares_list(const struct moment *mo, size_t *n)
{
	const struct moment_share **list = xcalloc(mo->shares.cnt + 1, sizeof(*list)), *share;

	*n = 0;
	for (size_t at = 0; (share = map_next(&mo->shares, &at, NULL));)
		list[(*n)++] = share;
	qsort(list, *n, sizeof(*list), share_compare);
	return list;
}

static char *cpu_name(const struct svg *s, uint32_t cpu)
{
	const struct model_host *host;
	uint32_t local;

	if (model_get_info(s->mo->model)->nhosts < 2)
		return xasprintf("CPU %u", cpu);
	host = model_host_of_cpu(s->mo->model, cpu, &local);
	return xasprintf("%s CPU %u", host->label, local);
}

void svg_cpus(struct svg *s)
{
	size_t n, at = 0;
	const struct moment_share **shares = shares_list(s->mo, &n);

	for (uint32_t i = 0; i < s->ncpu; i++) {
		int y = s->cpu_y + (int)i * s->cpu_size.pitch;
		const struct moment_core *c = &s->mo->core[s->cpu[i]];
		char *name = cpu_name(s, s->cpu[i]);

		label_put(s, name, y, &s->cpu_size);
		free(name);
		while (at < n && shares[at]->cpu < s->cpu[i])
			at++;
		for (; at < n && shares[at]->cpu == s->cpu[i]; at++)
			if (any_column_passes(has_who, c, shares[at]->who))
				who_put(s, s->cpu[i], shares[at], y);
		unrecorded_put(s, c, y);
		svg_put(s, "<rect class='f' x='%d.5' y='%d.5' width='%d' height='%d'/>\n",
			SVG_LEFT - 1, y - 1, MOMENT_COLUMNS + 1, s->cpu_size.height + 1);
	}
	free(shares);
}

/* ---- over the tracks ---- */

/* Drawn over the tracks of a picture: arrows from sends to receives, and the time axis. */

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
