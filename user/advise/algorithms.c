/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See algorithms.h. */
#include "advise/algorithms.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/log.h"
#include "lib/statistics.h"
#include "lib/table.h"
#include "lib/u64.h"

#define NEAR M_SQRT2 /* sizes within this factor are compared */

/* ---- settings ---- */

static char *variable_of(const char *collective, bool openmpi)
{
	char *name;

	if (openmpi)
		return xasprintf("OMPI_MCA_coll_tuned_%s_algorithm", collective);
	name = xasprintf("MPIR_CVAR_%s_INTRA_ALGORITHM", collective);
	for (char *at = name; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return name;
}

static bool is_yes(const char *value)
{
	static const char *const no[] = {"0", "false", "no", "f", "n", "disabled", ""};

	for (size_t i = 0; value && i < sizeof(no) / sizeof(no[0]); i++)
		if (!strcasecmp(value, no[i]))
			return false;
	return value;
}

/* Returns the algorithm that the variables select; get() reads them from a run or from a launch. */
static const char *chosen(const char *(*get)(const void *ctx, const char *name), const void *ctx,
			  const char *collective, bool openmpi)
{
	char *name = variable_of(collective, openmpi);
	const char *value = get(ctx, name);

	free(name);
	if (!value || !*value || !strcasecmp(value, openmpi ? "ignore" : "auto") ||
	    (openmpi && !strcmp(value, "0")))
		return MEASURED_DEFAULT;
	if (openmpi && !is_yes(get(ctx, "OMPI_MCA_coll_tuned_use_dynamic_rules")))
		return MEASURED_DEFAULT;
	return value;
}

static const char *get_of_run(const void *library, const char *name)
{
	return library_environment(library, name);
}

static const char *get_of_launch(const void *environment, const char *name)
{
	return json_string_value(json_object_get(environment, name));
}

const char *algorithms_used(const struct library *l, const char *collective, bool openmpi)
{
	return chosen(get_of_run, l, collective, openmpi);
}

char *algorithms_setting(const struct algorithms *a, uint32_t idx)
{
	const char *value = a->item[idx].value;
	char *name = variable_of(a->collective, a->openmpi), *text;

	if (!strcmp(value, MEASURED_DEFAULT))
		text = xasprintf("leave out %s", a->openmpi ? name + strlen("OMPI_MCA_") : name);
	else if (a->openmpi)
		text = xasprintf(
			"mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_%s_algorithm "
			"%s",
			a->collective, value);
	else
		text = xasprintf("%s=%s", name, value);
	free(name);
	return text;
}

char *algorithms_words(const struct algorithms *a, uint32_t idx)
{
	const struct algorithm *i = &a->item[idx];

	if (!strcmp(i->value, MEASURED_DEFAULT))
		return xstrdup("the library's own choice");
	if (!i->name || !strcmp(i->name, i->value))
		return xasprintf("algorithm %s", i->value);
	return xasprintf("algorithm %s (%s)", i->value, i->name);
}

/* ---- which measurements used this library and these settings ---- */

/*
 * Matches "Open MPI 4.1.4" to "Open MPI v4.1.4, package: …": each word of `known` occurs in
 * `measured`.
 */
static bool same_library(const char *known, const char *measured)
{
	while (*known) {
		size_t n = strcspn(known, " ");
		char *word = xasprintf("%.*s", (int)n, known);
		bool there = strstr(measured, word);

		free(word);
		if (!there)
			return false;
		known += n + strspn(known + n, " ");
	}
	return true;
}

/*
 * True if a variable influences the collective's algorithms, but is not the one that selects them:
 * a segment size or a file of rules.
 */
static bool is_of_collective(const char *name, const char *choosing)
{
	return strcmp(name, choosing) && strcmp(name, "OMPI_MCA_coll_tuned_use_dynamic_rules") &&
	       (!strncmp(name, choosing, strlen(choosing)) || !strcmp(name, "OMPI_MCA_coll") ||
		!strcmp(name, "OMPI_MCA_coll_tuned_dynamic_rules_filename") ||
		!strcmp(name, "MPIR_CVAR_DEVICE_COLLECTIVES") ||
		!strcmp(name, "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"));
}

static bool same_value(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * Returns the name of a variable that differs between the run and a launch; NULL: none does. Caller
 * frees.
 */
static char *setting_differs(const struct algorithms *a, const json_t *environment)
{
	static const char *const behind[] = {"_segmentsize", "_tree_fanout", "_chain_fanout",
					     "_max_requests", "_knomial_radix"};
	char *choosing = variable_of(a->collective, a->openmpi), *name, *found = NULL;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)environment, key, value)
	{
		if (!found && is_of_collective(key, choosing) &&
		    !same_value(json_string_value(value), library_environment(a->library, key)))
			found = xstrdup(key);
	}
	for (size_t i = 0; a->openmpi && !found && i < sizeof(behind) / sizeof(behind[0]); i++) {
		name = xasprintf("%s%s", choosing, behind[i]);
		if (!same_value(get_of_launch(environment, name),
				library_environment(a->library, name)))
			found = name;
		else
			free(name);
	}
	free(choosing);
	return found;
}

static bool is_usable(struct algorithms *a, const struct measured_point *p)
{
	char *name;

	if (!same_library(library_name(a->library), p->launch->library)) {
		free(a->left_out);
		a->left_out = xasprintf("another library (%.60s)", p->launch->library);
		return false;
	}
	name = setting_differs(a, p->launch->environment);
	if (name) {
		free(a->left_out);
		a->left_out = xasprintf("another %s", name);
		free(name);
		return false;
	}
	return true;
}

static const char *value_of(const struct algorithms *a, const struct measured_point *p)
{
	if (p->algorithm)
		return p->algorithm;
	return chosen(get_of_launch, p->launch->environment, a->collective, a->openmpi);
}

uint32_t algorithms_find(const struct algorithms *a, const char *value)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (!strcmp(a->item[i].value, value) ||
		    (a->item[i].name && !strcmp(a->item[i].name, value)))
			return i;
	}
	return UINT32_MAX;
}

void algorithms_init(struct algorithms *a, const struct measured *m, const struct library *l,
		     const char *collective)
{
	*a = (struct algorithms){.measured = m, .library = l, .collective = collective};
	a->point = xcalloc(m->npoint + 1, sizeof(struct measured_point *));
	for (size_t i = 0; i < m->npoint; i++) {
		const struct measured_point *p = &m->point[i];
		const char *value;

		if (strcmp(p->collective, collective))
			continue;
		a->openmpi = !strncmp(p->launch->library, "Open MPI", strlen("Open MPI"));
		if (!is_usable(a, p))
			continue;
		a->point[a->npoint++] = p;
		value = value_of(a, p);
		if (algorithms_find(a, value) != UINT32_MAX)
			continue;
		*table_append(a->item, a->n) = (struct algorithm){value, p->name};
	}
}

void algorithms_release(struct algorithms *a)
{
	free(a->item);
	free(a->point);
	free(a->left_out);
}

/* ---- times ---- */

static bool is_of(const struct algorithms *a, const struct measured_point *p,
		  const struct collective_cell *cell, uint32_t idx)
{
	const char *value = value_of(a, p);

	return p->ranks == cell->ranks && p->launch->several_hosts == cell->several_hosts &&
	       (!strcmp(value, a->item[idx].value) ||
		(a->item[idx].name && !strcmp(value, a->item[idx].name)));
}

/* Returns the ratio of the larger to the smaller size. Size 0 is near to itself only. */
static double far_of(double a, double b)
{
	if (a <= 0 || b <= 0)
		return a == b ? 1 : INFINITY;
	return a > b ? a / b : b / a;
}

/*
 * Finds the measured size of an algorithm that is nearest to the cell's mean. Returns false if none
 * is near.
 */
static bool size_find(const struct algorithms *a, const struct collective_cell *cell, uint32_t idx,
		      uint64_t *bytes)
{
	double mean = cell->bytes_sum / (double)cell->calls, least = INFINITY;

	for (size_t i = 0; i < a->npoint; i++) {
		double far = far_of((double)a->point[i]->bytes, mean);

		if (far < least && is_of(a, a->point[i], cell, idx)) {
			least = far;
			*bytes = a->point[i]->bytes;
		}
	}
	return least <= NEAR * 1.001;
}

/*
 * Returns the median of each launch. Leaves out busy launches if enough others remain; *busy is the
 * number of busy ones included. Caller frees.
 */
static double *times_of(const struct algorithms *a, const struct collective_cell *cell,
			uint32_t idx, uint64_t bytes, uint32_t *n, uint32_t *busy)
{
	double *ns = xcalloc(a->npoint + 1, sizeof(*ns));
	uint32_t quiet = 0;

	*n = *busy = 0;
	for (int with_busy = 0; with_busy < 2; with_busy++) {
		if (with_busy && quiet >= ALGORITHMS_QUIET)
			break;
		for (size_t i = 0; i < a->npoint; i++) {
			const struct measured_point *p = a->point[i];

			if (p->bytes != bytes || p->busy != with_busy || !is_of(a, p, cell, idx))
				continue;
			ns[(*n)++] = p->median_ns;
			quiet += !with_busy;
			*busy += with_busy;
		}
	}
	return ns;
}

TABLE_ORDER(time_compare, double, table_compare(*a, *b))

static double median_of(double *ns, uint32_t n)
{
	qsort(ns, n, sizeof(*ns), time_compare);
	return (ns[(n - 1) / 2] + ns[n / 2]) / 2;
}

enum algorithms_verdict algorithms_compare(const struct algorithms *a,
					   const struct collective_cell *cell, uint32_t used,
					   uint32_t other, struct algorithms_difference *out)
{
	enum algorithms_verdict verdict = ALGORITHMS_UNMEASURED;
	struct algorithms_difference d = {0};
	double level = ALGORITHMS_LEVEL / (a->n > 1 ? a->n - 1 : 1), *ns, *other_ns;
	uint32_t busy;

	if (!size_find(a, cell, used, &d.bytes))
		return ALGORITHMS_UNMEASURED;
	ns = times_of(a, cell, used, d.bytes, &d.nused, &d.busy);
	other_ns = times_of(a, cell, other, d.bytes, &d.nother, &busy);
	d.busy += busy;
	if (d.nused && d.nother) {
		d.used_ns = median_of(ns, d.nused);
		d.other_ns = median_of(other_ns, d.nother);
		verdict = shift_of(ns, d.nused, other_ns, d.nother, false, level, &d.ns) &&
					  shift_of(other_ns, d.nother, ns, d.nused, true, level,
						   &d.ratio) ?
				  ALGORITHMS_KNOWN :
				  ALGORITHMS_FEW;
		*out = d;
	}
	free(ns);
	free(other_ns);
	return verdict;
}

/* ---- shift ---- */

bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out)
{
	size_t tail;
	uint32_t n = 0;
	double *pair;

	na = na < SHIFT_MOST ? na : SHIFT_MOST;
	nb = nb < SHIFT_MOST ? nb : SHIFT_MOST;
	tail = rank_interval(na, nb, level / 2);
	if (!tail)
		return false;
	pair = xcalloc((size_t)na * nb, sizeof(*pair));
	for (uint32_t i = 0; i < na; i++)
		for (uint32_t k = 0; k < nb; k++)
			pair[n++] = ratio ? a[i] / b[k] : a[i] - b[k];
	qsort(pair, n, sizeof(*pair), time_compare);
	*out = (struct shift){
		.median = (pair[(n - 1) / 2] + pair[n / 2]) / 2,
		.low = pair[tail - 1],
		.high = pair[n - tail],
	};
	free(pair);
	return true;
}

uint32_t shift_needs(double level)
{
	for (uint32_t n = 1; n <= SHIFT_MOST; n++) {
		if (rank_interval(n, n, level / 2))
			return n;
	}
	return 0;
}

/* ---- collective calls of a run ---- */

/*
 * Each member of a call reports what it sends and receives. The function's size rule derives the
 * message size from that.
 */

enum size_rule {
	SIZE_LARGEST, /* the most that a member sends or receives */
	/*
	 * A member's own block as sent. If all members pass MPI_IN_PLACE, their receive size
	 * divided by their number.
	 */
	SIZE_SENT,
	SIZE_GOT,  /* like SIZE_SENT, with send and receive exchanged */
	SIZE_PART, /* one block per member */
	SIZE_NONE, /* no data, or their sizes are not compared */
};

/* The functions that povbench measures. */
static const struct function {
	const char *name, *collective;
	enum size_rule rule;
} functions[] = {
	{"MPI_Bcast", "bcast", SIZE_LARGEST},	      {"MPI_Reduce", "reduce", SIZE_LARGEST},
	{"MPI_Allreduce", "allreduce", SIZE_LARGEST}, {"MPI_Allgather", "allgather", SIZE_SENT},
	{"MPI_Gather", "gather", SIZE_SENT},	      {"MPI_Scatter", "scatter", SIZE_GOT},
	{"MPI_Alltoall", "alltoall", SIZE_PART},      {"MPI_Alltoallv", "alltoallv", SIZE_PART},
};

/*
 * Finds the size rule of a blocking function. All functions that povbench does not measure share
 * one. The name comes from the table of functions. on_joint() drops other functions than blocking
 * collectives.
 */
static struct function function_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t n = strlen(functions[i].name);

		/* MPI_Bcast_c has larger counts. */
		if (!strncmp(name, functions[i].name, n) && (!name[n] || !strcmp(name + n, "_c")))
			return functions[i];
	}
	return (struct function){name, NULL, SIZE_NONE};
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns BYTES_UNKNOWN, which is below 0, if no member's size is known. */
static int64_t bytes_of(const struct arrival_joint *j, enum size_rule rule)
{
	int64_t sent = BYTES_UNKNOWN, got = BYTES_UNKNOWN, n = j->calls;

	for (uint32_t i = 0; i < j->calls; i++) {
		sent = larger(sent, j->call[i].send_bytes);
		got = larger(got, j->call[i].recv_bytes);
	}
	switch (rule) {
	case SIZE_LARGEST:
		return larger(sent, got);
	case SIZE_SENT:
		return sent > 0 ? sent : got > 0 ? got / n : larger(sent, got);
	case SIZE_GOT:
		return got > 0 ? got : sent > 0 ? sent / n : larger(sent, got);
	case SIZE_PART:
		sent = larger(sent, got);
		return sent > 0 ? sent / n : sent;
	default:
		return 0;
	}
}

static uint32_t bits_of(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static struct collective_cell *cell_of(struct collective_calls *c, const struct arrival_joint *j,
				       const struct function *f, uint64_t bytes, bool hosts)
{
	uint64_t key = (uint64_t)j->call[0].func->id << 40 | (uint64_t)bits_of(bytes) << 33 |
		       (uint64_t)hosts << 32 | j->calls;
	uintptr_t idx = (uintptr_t)map_get(&c->by_key, key);

	if (!idx) {
		*table_append(c->cell, c->ncell) = (struct collective_cell){
			.function = f->name,
			.collective = f->collective,
			.ranks = j->calls,
			.several_hosts = hosts,
			.bytes_min = bytes,
			.bytes_max = bytes,
		};
		idx = c->ncell;
		map_set(&c->by_key, key, (void *)idx);
	}
	return &c->cell[idx - 1];
}

static void member_add(struct collective_calls *c, const struct arrival_call *call, uint32_t cell)
{
	*table_append(c->member, c->nmember) = (struct collective_member){call->begin_ns,
									  call->thread->idx, cell};
}

/* Calls are sorted by begin. */
static uint64_t own_ns_of(const struct arrival_joint *j, uint32_t i)
{
	uint64_t ready_ns = j->call[i].begin_ns;

	for (uint32_t k = i + 1; k < j->calls && j->call[k].begin_ns <= j->call[i].end_ns; k++)
		ready_ns = j->call[k].begin_ns;
	return j->call[i].end_ns - ready_ns;
}

static void on_joint(void *ctx, const void *event)
{
	const struct arrival_joint *j = event;
	struct collective_calls *c = ctx;
	struct function f = function_of(j->call[0].func->name);
	int64_t bytes = bytes_of(j, f.rule);
	struct collective_cell *cell;
	bool hosts = false, waits = false;

	for (uint32_t i = 0; i < j->calls; i++) {
		hosts |= j->call[i].thread->proc->host_idx != j->call[0].thread->proc->host_idx;
		waits |= j->call[i].waits && !j->call[i].wait_ns;
	}
	if (!waits || !(j->call[0].func->group_bit & GROUP_COLL))
		return;
	if (bytes < 0) {
		c->unsized = true;
		return;
	}
	cell = cell_of(c, j, &f, (uint64_t)bytes, hosts);
	cell->calls++;
	cell->bytes_sum += (double)bytes;
	cell->bytes_min = (uint64_t)bytes < cell->bytes_min ? (uint64_t)bytes : cell->bytes_min;
	cell->bytes_max = (uint64_t)bytes > cell->bytes_max ? (uint64_t)bytes : cell->bytes_max;
	for (uint32_t i = 0; i < j->calls; i++) {
		cell->own_ns += own_ns_of(j, i);
		member_add(c, &j->call[i], (uint32_t)(cell - c->cell));
	}
}

TABLE_ORDER(member_compare, struct collective_member, u64_compare(a->thread, b->thread),
	    u64_compare(a->begin_ns, b->begin_ns))

void collective_calls_settle(struct collective_calls *c)
{
	table_sort(c->member, c->nmember, member_compare);
}

const struct collective_cell *collective_calls_of(const struct collective_calls *c, uint32_t thread,
						  uint64_t begin_ns)
{
	const struct collective_member key = {begin_ns, thread, 0}, *m;

	if (!c->nmember)
		return NULL;
	m = bsearch(&key, c->member, c->nmember, sizeof(*c->member), member_compare);
	return m ? &c->cell[m->cell] : NULL;
}

void collective_calls_init(struct collective_calls *c)
{
	*c = (struct collective_calls){0};
	arrivals_init(&c->arrivals);
	observers_add(&c->arrivals.joints, on_joint, c);
}

void collective_calls_release(struct collective_calls *c)
{
	arrivals_release(&c->arrivals);
	map_release(&c->by_key);
	free(c->cell);
	free(c->member);
}
