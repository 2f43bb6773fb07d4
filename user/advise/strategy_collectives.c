/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Algorithms of collectives, chosen from povbench's measurements on this machine (advise
 * --measured).
 *
 * Data: the collectives' own time by function, members and size, and the times of the library's
 * algorithms (algorithms.h).
 *
 * Rule, for each function: another algorithm is faster than the one used, by more than chance makes
 * launches of one algorithm differ, at a size where the run spends time. The strategy advises the
 * algorithm with the largest certain gain. A setting holds for all sizes, so losses at other sizes
 * are subtracted. Sizes that were not measured may only hold a negligible part of the run
 * (ADVICE_PART).
 *
 * Gain: the run with each member's own part of such calls shortened (whatif.h). There are two
 * estimates: the measured nanoseconds, and the measured ratio applied to the call's time in this
 * run. The low end takes the smaller one, the high end the larger one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/algorithms.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "analysis/find.h"

#define CELLS_NAMED 3
#define SIZE_BYTES 24

struct collectives {
	struct advise *a;
	struct collective_calls calls;
	struct algorithms algorithms; /* of the function under examination */
	uint32_t used;		      /* index of the algorithm that the run used */
	/* The effect of another algorithm on each cell. */
	struct cell_change {
		enum algorithms_verdict verdict;
		struct algorithms_difference d;
		bool is_it; /* the cell belongs to the function under examination */
	} * change;
	bool sure; /* compute the low end of the gain */
};

extern const struct strategy strategy_collectives;

static void *begin(struct advise *a)
{
	struct collectives *c = xcalloc(1, sizeof(*c));

	c->a = a;
	collective_calls_init(&c->calls);
	return c;
}

static void release(void *data)
{
	struct collectives *c = data;

	collective_calls_release(&c->calls);
	free(c);
}

static const struct model_sink *sink(void *data)
{
	return &((struct collectives *)data)->calls.arrivals.sink;
}

/* ---- text ---- */

/* Formats a size as povbench reads it. */
static char *size_typed(char *buf, uint64_t bytes)
{
	static const char unit[] = "\0KMG";
	uint32_t i = 0;

	while (bytes && !(bytes % 1024) && i < 3) {
		bytes /= 1024;
		i++;
	}
	snprintf(buf, SIZE_BYTES, "%llu%.1s", (unsigned long long)bytes, i ? &unit[i] : "");
	return buf;
}

/* Returns own time as a share of all ranks' time, in percent. */
static double share_pct(const struct collectives *c, uint64_t own_ns)
{
	if (!c->a->run_ns || !c->a->ranks)
		return 0;
	return 100.0 * (double)own_ns / ((double)c->a->run_ns * c->a->ranks);
}

/* Appends "MPI_Allreduce of 1 MiB among 4 ranks (200 calls, 35 % of the run)". */
static char *words_cell(const struct collectives *c, char *text, const struct collective_cell *cell)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES], calls[HUMAN_BYTES + 8];

	human_bytes(from, sizeof(from), cell->bytes_min);
	human_bytes(to, sizeof(to), cell->bytes_max);
	text = words(text, "%s", cell->function);
	if (cell->bytes_max)
		text = words(text, " of %s%s%s", from, strcmp(from, to) ? " to " : "",
			     strcmp(from, to) ? to : "");
	return words(text, " among %u ranks (%s, %.1f %% of the run)", cell->ranks,
		     human_plural(calls, sizeof(calls), cell->calls, "call", "calls"),
		     share_pct(c, cell->own_ns));
}

/* ---- commands that measure ---- */

/* Appends the run's other settings of the collective, which the measurement needs as well. */
static char *words_settings(const struct collectives *c, char *text, const char *collective)
{
	static const char *const behind[] = {"_segmentsize", "_tree_fanout", "_chain_fanout",
					     "_max_requests", "_knomial_radix"};

	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		char *name = xasprintf("OMPI_MCA_coll_tuned_%s_algorithm%s", collective, behind[i]);
		const char *value = library_environment(c->a->library, name);

		if (value)
			text = words(text, "%s=%s ", name, value);
		free(name);
	}
	return text;
}

/*
 * Appends the povbench command for all cells of first's function and number of ranks. The cell
 * `first` comes first in their order.
 */
static char *words_command(const struct collectives *c, char *text,
			   const struct collective_cell *first)
{
	uint64_t min = UINT64_MAX, max = 0;
	char from[SIZE_BYTES], to[SIZE_BYTES];

	for (uint32_t i = 0; i < c->calls.ncell; i++) {
		const struct collective_cell *cell = &c->calls.cell[i];

		if (cell->collective != first->collective || cell->ranks != first->ranks)
			continue;
		min = cell->bytes_min < min ? cell->bytes_min : min;
		max = cell->bytes_max > max ? cell->bytes_max : max;
	}
	text = words_settings(c, text, first->collective);
	text = words(text, "povbench-algorithms -- mpirun -n %u povbench %s_latency -m %s%s%s",
		     first->ranks, first->collective, size_typed(from, min), min < max ? ":" : "",
		     min < max ? size_typed(to, max) : "");
	return words(text, "%s -o algorithms.json", min < max ? " --step 2" : "");
}

TABLE_ORDER(cell_compare, struct collective_cell *, u64_compare((*b)->own_ns, (*a)->own_ns),
	    u64_compare((uintptr_t)*a, (uintptr_t)*b))

/* Returns all cells, largest own time first. Caller frees. */
static const struct collective_cell **cells_sorted(const struct collectives *c)
{
	const struct collective_cell **list = xcalloc(c->calls.ncell + 1,
						      sizeof(struct collective_cell *));

	for (uint32_t i = 0; i < c->calls.ncell; i++)
		list[i] = &c->calls.cell[i];
	qsort(list, c->calls.ncell, sizeof(struct collective_cell *), cell_compare);
	return list;
}

static bool is_much(const struct collectives *c, uint64_t own_ns)
{
	return share_pct(c, own_ns) * ADVICE_PART >= 100;
}

/* Returns the time of collectives and the commands that measure those that povbench knows. */
static char *text_unmeasured(const struct collectives *c)
{
	const struct collective_cell **list = cells_sorted(c);
	char *text = xstrdup("Time in collectives, without waiting for late members: ");
	uint32_t commands = 0, i;

	for (i = 0; i < c->calls.ncell && i < CELLS_NAMED; i++)
		text = words_cell(c, words(text, "%s", i ? "; " : ""), list[i]);
	text = words_more(text, c->calls.ncell > i ? c->calls.ncell - i : 0);
	for (i = 0; i < c->calls.ncell; i++) {
		bool before = false;

		for (uint32_t k = 0; k < i; k++)
			before |= list[k]->collective == list[i]->collective &&
				  list[k]->ranks == list[i]->ranks;
		if (before || !list[i]->collective || !is_much(c, list[i]->own_ns))
			continue;
		text = words(text, "%s",
			     commands++ ? "; " : ". To compare the library's algorithms: ");
		text = words_command(c, text, list[i]);
	}
	free(list);
	return words(text, "%s",
		     commands ? "; then povtrace advise --measured algorithms.json" :
				". povbench has no benchmark of those that take 1 % or more");
}

/* ---- the effect of another algorithm ---- */

/* Returns by how much a call gets shorter; negative if it gets longer. */
static int64_t shorter_ns(const struct collectives *c, const struct algorithms_difference *d,
			  int64_t own_ns)
{
	double ns = c->sure ? d->ns.low : d->ns.high;
	double by_share = (double)own_ns * (1 - (c->sure ? d->ratio.high : d->ratio.low));

	ns = c->sure ? fmin(ns, by_share) : fmax(ns, by_share);
	return (int64_t)fmin(ns, (double)own_ns);
}

static int64_t shorten(void *ctx, uint32_t thread, uint64_t begin_ns, int64_t own_ns)
{
	struct collectives *c = ctx;
	const struct collective_cell *cell = collective_calls_of(&c->calls, thread, begin_ns);
	const struct cell_change *change = cell ? &c->change[cell - c->calls.cell] : NULL;

	if (!change || !change->is_it || change->verdict != ALGORITHMS_KNOWN)
		return 0;
	return shorter_ns(c, &change->d, own_ns);
}

static uint64_t gain_of(struct collectives *c, bool sure)
{
	const struct whatif_change change = {.shorten = shorten, .ctx = c};

	c->sure = sure;
	return whatif_run(c->a->whatif, &change);
}

/*
 * Compares `other` with the used algorithm in each cell. *unknown_ns is the own time of cells
 * without a comparison, *few the number of cells with too few launches. Returns whether `other` is
 * certainly faster in a cell that matters.
 */
static bool changes_make(struct collectives *c, uint32_t other, uint64_t *unknown_ns, uint32_t *few)
{
	bool less = false;

	*unknown_ns = 0;
	*few = 0;
	for (uint32_t i = 0; i < c->calls.ncell; i++) {
		const struct collective_cell *cell = &c->calls.cell[i];
		struct cell_change *change = &c->change[i];

		change->is_it = cell->collective &&
				!strcmp(cell->collective, c->algorithms.collective);
		if (!change->is_it)
			continue;
		change->verdict = algorithms_compare(&c->algorithms, cell, c->used, other,
						     &change->d);
		if (change->verdict != ALGORITHMS_KNOWN)
			*unknown_ns += cell->own_ns;
		else
			less |= change->d.ns.low > 0 && is_much(c, cell->own_ns);
		*few += change->verdict == ALGORITHMS_FEW;
	}
	return less;
}

/* ---- one function ---- */

/* Returns the function's cell with the largest certain gain. */
static uint32_t cell_most(const struct collectives *c)
{
	uint32_t most = UINT32_MAX;
	double most_ns = 0;

	for (uint32_t i = 0; i < c->calls.ncell; i++) {
		double ns = c->change[i].d.ns.low * (double)c->calls.cell[i].calls;

		if (!c->change[i].is_it || c->change[i].verdict != ALGORITHMS_KNOWN ||
		    (most != UINT32_MAX && ns <= most_ns))
			continue;
		most = i;
		most_ns = ns;
	}
	return most;
}

static char *text_better(const struct collectives *c, uint32_t other, uint32_t at)
{
	const struct algorithms_difference *d = &c->change[at].d;
	char size[HUMAN_BYTES], *used = algorithms_words(&c->algorithms, c->used);
	char *better = algorithms_words(&c->algorithms, other);
	char *text = words_cell(c, xstrdup(""), &c->calls.cell[at]);

	text = words_ns(words(text, " used %s. It takes ", used), "", (uint64_t)d->used_ns,
			" a call");
	text = words_ns(words(text, ", and %s ", better), "", (uint64_t)d->other_ns, "");
	text = words(text, " (povbench at %s, medians of %u and %u launches",
		     human_bytes(size, sizeof(size), d->bytes), d->nused, d->nother);
	if (d->busy)
		text = words(text, ", in %u of which ranks waited for a core", d->busy);
	free(used);
	free(better);
	return words(text, ")");
}

static void numbers_add(const struct collectives *c, uint32_t at, struct advice *d)
{
	const struct algorithms_difference *x = &c->change[at].d;
	const struct collective_cell *cell = &c->calls.cell[at];
	const struct advice_number list[] = {
		{"ranks", cell->ranks},
		{"calls", cell->calls},
		{"message_bytes_min", cell->bytes_min},
		{"message_bytes_max", cell->bytes_max},
		{"own_ns", cell->own_ns},
		{"measured_bytes", x->bytes},
		{"used_ns", (uint64_t)x->used_ns},
		{"other_ns", (uint64_t)x->other_ns},
		{"used_launches", x->nused},
		{"other_launches", x->nother},
		{"busy_launches", x->busy},
	};

	_Static_assert(sizeof(list) / sizeof(list[0]) <= ADVICE_NUMBERS_MAX, "too many numbers");
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		d->number[d->nnumber++] = list[i];
}

static void better_advise(struct collectives *c, uint32_t other, uint64_t low_ns)
{
	uint64_t unknown_ns, high_ns;
	uint32_t few, at;
	struct advice d = {.strategy = &strategy_collectives};

	changes_make(c, other, &unknown_ns, &few);
	at = cell_most(c);
	high_ns = gain_of(c, false);
	d.gain = (struct gain){low_ns, high_ns > low_ns ? high_ns : low_ns};
	d.text = text_better(c, other, at);
	d.setting = algorithms_setting(&c->algorithms, other);
	if (strcmp(c->algorithms.item[other].value, MEASURED_DEFAULT))
		d.warning = xasprintf(
			"this applies to each %s of the job; only the sizes and communicators of "
			"this run were measured",
			c->calls.cell[at].function);
	numbers_add(c, at, &d);
	advise_add(c->a, &d);
}

/*
 * Appends the function's cell with the largest own time that was not measured, and the command that
 * measures it. used = UINT32_MAX: takes any cell.
 */
static char *words_unknown(const struct collectives *c, char *text, uint32_t used)
{
	const struct collective_cell **list = cells_sorted(c), *cell = NULL;
	struct algorithms_difference d;

	for (uint32_t i = 0; i < c->calls.ncell && !cell; i++) {
		if (list[i]->collective && !strcmp(list[i]->collective, c->algorithms.collective) &&
		    (used == UINT32_MAX || algorithms_compare(&c->algorithms, list[i], used, used,
							      &d) == ALGORITHMS_UNMEASURED))
			cell = list[i];
	}
	if (cell)
		text = words_command(c, words_cell(c, words(text, ": "), cell), cell);
	free(list);
	return text;
}

struct best {
	uint32_t idx;
	uint64_t low_ns;
	/*
	 * Numbers of algorithms with too few launches, and without measurements at all the sizes.
	 */
	uint32_t few, unknown;
};

static struct best best_find(struct collectives *c)
{
	struct best b = {.idx = UINT32_MAX};
	uint32_t own = UINT32_MAX;
	uint64_t own_ns = 0;

	for (uint32_t i = 0; i < c->algorithms.n; i++) {
		uint64_t unknown_ns, low_ns;
		uint32_t few;
		bool less;

		if (i == c->used)
			continue;
		less = changes_make(c, i, &unknown_ns, &few);
		if (is_much(c, unknown_ns)) {
			b.few += few > 0;
			b.unknown += !few;
			continue;
		}
		low_ns = less ? gain_of(c, true) : 0;
		if (low_ns > b.low_ns) {
			b.idx = i;
			b.low_ns = low_ns;
		}
		if (!strcmp(c->algorithms.item[i].value, MEASURED_DEFAULT)) {
			own = i;
			own_ns = low_ns;
		}
	}
	/*
	 * Prefers the library's own choice if it gains nearly as much, because it adapts to the
	 * size.
	 */
	if (own_ns && own_ns >= b.low_ns / 10 * 9) {
		b.idx = own;
		b.low_ns = own_ns;
	}
	return b;
}

static char *text_no_better(const struct collectives *c, const struct best *b, const char *function)
{
	char *used = algorithms_words(&c->algorithms, c->used), *text;
	double level = ALGORITHMS_LEVEL / (c->algorithms.n > 1 ? c->algorithms.n - 1 : 1);

	text = xasprintf("%s used %s. None of %u other algorithms is sure to be faster", function,
			 used, c->algorithms.n - 1);
	if (b->few)
		text = words(text, ". %u of them have too few launches (%u of each are needed)",
			     b->few, shift_needs(level));
	if (b->unknown)
		text = words_unknown(
			c,
			words(text, ". %u of them were not measured with all that the run did",
			      b->unknown),
			c->used);
	free(used);
	return text;
}

/*
 * Text for a used algorithm that is not in the file, or for a file of another library or setting.
 */
static char *text_not_used(const struct collectives *c, const char *used, const char *function)
{
	char *text = xasprintf(
		"%s used %s%.64s, which was not measured with the run's settings", function,
		strcmp(used, MEASURED_DEFAULT) ? "algorithm " : "the library's own choice",
		strcmp(used, MEASURED_DEFAULT) ? used : "");

	if (c->algorithms.left_out)
		text = words(text, " (left out: %s)", c->algorithms.left_out);
	return words_unknown(c, text, UINT32_MAX);
}

static void function_conclude(struct collectives *c, const struct collective_cell *first)
{
	const char *used;
	struct best b;

	algorithms_init(&c->algorithms, &c->a->measured, c->a->library, first->collective);
	used = algorithms_used(c->a->library, first->collective, c->algorithms.openmpi);
	c->used = algorithms_find(&c->algorithms, used);
	if (c->used == UINT32_MAX) {
		advise_nothing(c->a, &strategy_collectives,
			       text_not_used(c, used, first->function));
	} else {
		b = best_find(c);
		if (b.idx != UINT32_MAX)
			better_advise(c, b.idx, b.low_ns);
		else
			advise_nothing(c->a, &strategy_collectives,
				       text_no_better(c, &b, first->function));
	}
	algorithms_release(&c->algorithms);
}

/* Examines the functions on which the run spends time, largest own time of a cell first. */
static void functions_conclude(struct collectives *c)
{
	const struct collective_cell **list = cells_sorted(c);

	c->change = xcalloc(c->calls.ncell + 1, sizeof(*c->change));
	for (uint32_t i = 0; i < c->calls.ncell; i++) {
		uint64_t own_ns = 0;
		bool before = false;

		for (uint32_t k = 0; k < c->calls.ncell; k++) {
			if (list[k]->function != list[i]->function)
				continue;
			before |= k < i;
			own_ns += list[k]->own_ns;
		}
		if (!before && list[i]->collective && is_much(c, own_ns))
			function_conclude(c, list[i]);
	}
	free(c->change);
	c->change = NULL;
	free(list);
}

static void conclude(void *data, struct advise *a)
{
	struct collectives *c = data;
	uint64_t own_ns = 0;
	bool lost = c->calls.arrivals.lost || c->calls.arrivals.uncertain;

	collective_calls_settle(&c->calls);
	for (uint32_t i = 0; i < c->calls.ncell; i++)
		own_ns += c->calls.cell[i].own_ns;
	if (lost)
		advise_nothing(
			a, &strategy_collectives,
			xstrdup("Calls are missing, so it is unknown which calls of collectives "
				"belong together"));
	else if (!c->calls.ncell)
		advise_nothing(
			a, &strategy_collectives,
			xstrdup(c->calls.unsized ?
					"The message sizes of collectives are unknown" :
					"No blocking collective was recorded on all its members"));
	else if (!is_much(c, own_ns))
		advise_nothing(
			a, &strategy_collectives,
			xasprintf("Collectives took %.2f %% of the run, without waiting for late "
				  "members",
				  share_pct(c, own_ns)));
	else if (!a->measured.npoint)
		advise_nothing(a, &strategy_collectives, text_unmeasured(c));
	else
		functions_conclude(c);
}

const struct strategy strategy_collectives = {
	.name = "collectives",
	.brief = "algorithms of collectives, as povbench measured them (--measured)",
	.source = "selection by measurement: Pjesivac-Grbovic et al. 2007; intervals: Hodges & "
		  "Lehmann 1963",
	.begin = begin,
	.release = release,
	.sink = sink,
	.conclude = conclude,
};
