/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Mapping of ranks to places (MPI Advisor, Gallardo et al. 2015, section 4.3): ranks that exchange
 * much data should be near each other.
 *
 * Data: the messages by pair of ranks and size; the places where ranks ran and their distances; the
 * median time of messages by size and distance, once both sides are in MPI.
 *
 * Rule: exchange the places of two ranks as long as that lowers the sum over all messages of number
 * × time at that distance. The run keeps the set of places that it had.
 *
 * Gain: the run in which receives take the time that messages take over the new distance
 * (whatif.h). The low end replaces at most the median time of a message's size. The high end gives
 * each message the time of the fastest one of its size. That includes messages over an unchanged
 * distance, because these meet fewer others. If a size was not seen over the new distance, its time
 * lies between those of the next smaller and the next larger size; the low end takes the larger
 * time. Above all sizes seen, the time grows at most in proportion to the size. If no message was
 * seen over a distance, its times are unknown and its messages change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "analysis/find.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "trace/trace_read.h"

/*
 * ---- places ----
 *
 * A rank's place is the CPU on which its threads ran longest. Two places are on different hosts, or
 * within a host by the recorded topology (hwloc: packages and shared caches).
 */

enum place_distance { PLACE_CACHE, PLACE_PACKAGE, PLACE_HOST, PLACE_FAR, PLACE_DISTANCES };

struct place {
	uint32_t host; /* index for model_host_get() */
	uint32_t cpu;  /* the trace's CPU number */
};

struct place_cpu {
	int l3, package; /* -1: unknown */
};

struct places {
	struct model_sink sink;
	const struct model *model;
	struct map ran; /* (process, CPU) → ns run there, plus 1 per stretch, as a pointer */
	struct place_cpu *cpu; /* by the trace's CPU number; owned */
	uint32_t ncpu;
};

#define CPUS_MAX 65536

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct places *p = ctx;
	uint64_t key = map_pair(t->proc->idx, cpu);

	if (t->proc->is_rank && s == THREAD_RUNNING)
		map_set(&p->ran, key,
			(void *)((uintptr_t)map_get(&p->ran, key) + (to_ns - from_ns) + 1));
}

static void topology_read(struct places *p)
{
	const json_t *host = trace_meta_find(model_get_trace(p->model), "host");
	const json_t *list = json_object_get(host, "topology"), *one;
	size_t i;

	p->ncpu = model_get_info(p->model)->nr_cpus;
	p->ncpu = p->ncpu < CPUS_MAX ? p->ncpu : CPUS_MAX;
	p->cpu = xcalloc(p->ncpu + 1, sizeof(*p->cpu));
	for (uint32_t cpu = 0; cpu < p->ncpu; cpu++)
		p->cpu[cpu] = (struct place_cpu){-1, -1};
	json_array_foreach(list, i, one)
	{
		json_int_t cpu = json_integer_value(json_object_get(one, "cpu"));

		if (cpu >= 0 && cpu < p->ncpu)
			p->cpu[cpu] = (struct place_cpu){
				(int)json_integer_value(json_object_get(one, "l3")),
				(int)json_integer_value(json_object_get(one, "package"))};
	}
}

static void places_init(struct places *p, const struct model *m)
{
	*p = (struct places){.sink = {.ctx = p, .state = on_state}, .model = m};
	topology_read(p);
}

static void places_release(struct places *p)
{
	map_release(&p->ran);
	free(p->cpu);
}

static bool places_of(const struct places *p, const struct model_process *process,
		      struct place *out)
{
	const struct model_host *h = model_host_get(p->model, process->host_idx);
	uintptr_t most = 0;

	for (uint32_t cpu = h->cpu_base; cpu < h->cpu_base + h->nr_cpus; cpu++) {
		uintptr_t ran = (uintptr_t)map_get(&p->ran, map_pair(process->idx, cpu));

		if (ran > most) {
			most = ran;
			*out = (struct place){process->host_idx, cpu};
		}
	}
	return most > 0;
}

static enum place_distance places_distance(const struct places *p, struct place a, struct place b)
{
	const struct place_cpu *ca, *cb;

	if (a.host != b.host)
		return PLACE_FAR;
	if (a.cpu >= p->ncpu || b.cpu >= p->ncpu)
		return PLACE_HOST;
	ca = &p->cpu[a.cpu];
	cb = &p->cpu[b.cpu];
	if (ca->package != cb->package)
		return PLACE_HOST;
	return ca->l3 == cb->l3 ? PLACE_CACHE : PLACE_PACKAGE;
}

/* ---- the strategy ---- */

#define RANKS_MAX 512

/* Messages of one size between two ranks, in both directions. */
struct mapping_pair {
	uint32_t a, b; /* rank numbers, a < b */
	int64_t bytes;
	uint64_t cnt;
};

struct mapping_size {
	int64_t bytes;
	uint64_t ns, least_ns; /* median and least time */
};

/* Times over a distance, sorted by size. */
struct mapping_times {
	struct mapping_size *size; /* owned */
	uint32_t n;
};

struct mapping {
	struct advise *a;
	struct places places;
	const struct model_process **rank; /* nrank ranks; owned */
	uint32_t nrank;
	/* Rank number of a process, by its idx; UINT32_MAX: not a rank. Owned. */
	uint32_t *number;
	/* Place of each rank in the run. Its index is the slot. Owned. */
	struct place *place;
	uint32_t *slot;	    /* slot advised for each rank; owned */
	struct map pairs;   /* hash → struct mapping_pair */
	struct map sampled; /* distance, bytes + 1 → struct mapping_sample */
	struct mapping_times times[PLACE_DISTANCES];
	bool sure;
};

#define SAMPLES_KEPT 31
struct mapping_sample {
	uint64_t ns[SAMPLES_KEPT];
	uint32_t n;
};

static void *begin(struct advise *a)
{
	struct mapping *m = xcalloc(1, sizeof(*m));

	m->a = a;
	places_init(&m->places, a->model);
	return m;
}

static const struct model_sink *sink(void *data)
{
	return &((struct mapping *)data)->places.sink;
}

static void release(void *data)
{
	struct mapping *m = data;

	places_release(&m->places);
	map_free(&m->pairs, free);
	map_free(&m->sampled, free);
	for (int d = 0; d < PLACE_DISTANCES; d++)
		free(m->times[d].size);
	free(m->rank);
	free(m->number);
	free(m->place);
	free(m->slot);
	free(m);
}

/* ---- data ---- */

/* Finds the ranks and their places. Returns false if one of them never ran. */
static bool ranks_find(struct mapping *m)
{
	uint32_t n = model_process_count(m->a->model);

	m->rank = xcalloc(n + 1, sizeof(*m->rank));
	m->number = xcalloc(n + 1, sizeof(*m->number));
	m->place = xcalloc(n + 1, sizeof(*m->place));
	m->slot = xcalloc(n + 1, sizeof(*m->slot));
	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(m->a->model, i);

		m->number[i] = UINT32_MAX;
		if (!p->is_rank)
			continue;
		if (!places_of(&m->places, p, &m->place[m->nrank]))
			return false;
		m->slot[m->nrank] = m->nrank;
		m->number[i] = m->nrank;
		m->rank[m->nrank++] = p;
	}
	return true;
}

static uint32_t number_of(const struct mapping *m, uint32_t thread)
{
	return m->number[model_thread_get(m->a->model, thread)->proc->idx];
}

static enum place_distance distance(const struct mapping *m, uint32_t slot_a, uint32_t slot_b)
{
	return places_distance(&m->places, m->place[slot_a], m->place[slot_b]);
}

static void message_add(void *ctx, const struct whatif_dep *d)
{
	struct mapping *m = ctx;
	uint32_t from = number_of(m, d->on), to = number_of(m, d->thread), a, b;
	struct mapping_pair *p;
	struct mapping_sample *s;
	uint64_t key;

	if (from == UINT32_MAX || to == UINT32_MAX || from == to || d->bytes < 0)
		return;
	a = from < to ? from : to;
	b = from < to ? to : from;
	key = ((uint64_t)a * RANKS_MAX + b) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)d->bytes;
	p = map_make(&m->pairs, key, sizeof(*p));
	if (p->cnt && (p->a != a || p->b != b || p->bytes != d->bytes))
		return; /* hash collision: too rare to matter */
	*p = (struct mapping_pair){a, b, d->bytes, p->cnt + 1};
	if (d->begin_ns > d->both_ns || d->end_ns <= d->both_ns)
		return; /* the receiver was not in its call yet */
	s = map_make(&m->sampled, ((uint64_t)d->bytes + 1) * PLACE_DISTANCES + distance(m, a, b),
		     sizeof(*s));
	s->ns[s->n++ % SAMPLES_KEPT] = d->end_ns - d->both_ns;
}

static int size_compare(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb; /* bytes is the first member */

	return a < b ? -1 : a > b;
}

static void times_make(struct mapping *m)
{
	struct mapping_sample *s;
	uint64_t key;

	for (size_t at = 0; (s = map_next(&m->sampled, &at, &key));) {
		struct mapping_times *t = &m->times[key % PLACE_DISTANCES];
		struct mapping_size *size = table_append(t->size, t->n);
		uint32_t n = s->n < SAMPLES_KEPT ? s->n : SAMPLES_KEPT;

		qsort(s->ns, n, sizeof(*s->ns), u64_order);
		size->bytes = (int64_t)(key / PLACE_DISTANCES) - 1;
		size->least_ns = s->ns[0];
		size->ns = s->ns[n / 2];
	}
	for (int d = 0; d < PLACE_DISTANCES; d++) {
		table_sort(m->times[d].size, m->times[d].n, size_compare);
	}
}

/*
 * Returns the upper (`most`) or lower bound of a message's time over a distance; UINT64_MAX:
 * unknown.
 */
static uint64_t time_of(const struct mapping *m, int64_t bytes, enum place_distance d, bool most)
{
	const struct mapping_times *t = &m->times[d];
	uint32_t i = 0;

	if (!t->n)
		return UINT64_MAX;
	while (i < t->n && t->size[i].bytes < bytes)
		i++;
	if (i < t->n && (most || t->size[i].bytes == bytes))
		return t->size[i].ns;
	if (!most)
		return i ? t->size[i - 1].ns : 0;
	return (uint64_t)((double)t->size[t->n - 1].ns * (double)bytes /
			  (double)(t->size[t->n - 1].bytes > 0 ? t->size[t->n - 1].bytes : 1));
}

/* Returns the least time of a message of this size over a distance; 0: none was seen. */
static uint64_t least_of(const struct mapping *m, int64_t bytes, enum place_distance d)
{
	const struct mapping_times *t = &m->times[d];

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->size[i].bytes == bytes)
			return t->size[i].least_ns;
	}
	return 0;
}

/* ---- other places ---- */

static double cost_of(const struct mapping *m)
{
	const struct mapping_pair *p;
	double sum = 0;

	for (size_t at = 0; (p = map_next(&m->pairs, &at, NULL));) {
		uint64_t ns = time_of(m, p->bytes, distance(m, m->slot[p->a], m->slot[p->b]), true);

		sum += ns == UINT64_MAX ? 0 : (double)p->cnt * (double)ns;
	}
	return sum;
}

/*
 * Exchanges two ranks' places, the best pair first, while that lowers the cost. Returns whether it
 * exchanged any.
 */
static bool places_exchange(struct mapping *m)
{
	double best = cost_of(m), least = best;
	uint32_t from = 0, to = 0;
	bool any = false;

	for (;;) {
		for (uint32_t a = 0; a < m->nrank; a++) {
			for (uint32_t b = a + 1; b < m->nrank; b++) {
				uint32_t slot = m->slot[a];
				double cost;

				m->slot[a] = m->slot[b];
				m->slot[b] = slot;
				cost = cost_of(m);
				m->slot[b] = m->slot[a];
				m->slot[a] = slot;
				if (cost < least) {
					least = cost;
					from = a;
					to = b;
				}
			}
		}
		if (least >= best)
			return any;
		uint32_t slot = m->slot[from];

		m->slot[from] = m->slot[to];
		m->slot[to] = slot;
		best = least;
		any = true;
	}
}

/* ---- the gain ---- */

/*
 * Returns the change for a message over an unchanged distance. At best it meets no other messages.
 */
static int64_t less_crowded_ns(const struct mapping *m, const struct whatif_dep *d,
			       enum place_distance was)
{
	uint64_t least_ns = least_of(m, d->bytes, was), rest_ns = whatif_rest_ns(d);

	return !m->sure && least_ns && rest_ns > least_ns ? (int64_t)least_ns - (int64_t)rest_ns :
							    0;
}

/*
 * Returns the change for a message over another distance. At best it is as fast as the fastest
 * there.
 */
static int64_t other_way_ns(const struct mapping *m, const struct whatif_dep *d,
			    enum place_distance was, enum place_distance will)
{
	uint64_t was_ns = time_of(m, d->bytes, was, false), rest_ns = whatif_rest_ns(d);
	uint64_t will_ns = time_of(m, d->bytes, will, m->sure);
	uint64_t least_ns = m->sure ? 0 : least_of(m, d->bytes, will);

	if (was_ns == UINT64_MAX || will_ns == UINT64_MAX)
		return 0;
	will_ns = least_ns ? least_ns : will_ns;
	/* Only the usual time of such messages is certainly due to the distance. */
	if (m->sure && rest_ns > was_ns)
		rest_ns = was_ns;
	return rest_ns > will_ns || was < will ? (int64_t)will_ns - (int64_t)rest_ns : 0;
}

static bool leave_out(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	const struct mapping *m = ctx;
	uint32_t a = number_of(m, d->on), b = number_of(m, d->thread);
	enum place_distance was, will;

	if (d->kind != WHATIF_SEND_POSTED || a == UINT32_MAX || b == UINT32_MAX || d->bytes < 0)
		return false;
	was = distance(m, a, b);
	will = distance(m, m->slot[a], m->slot[b]);
	instead->extra_ns = was == will ? less_crowded_ns(m, d, was) :
					  other_way_ns(m, d, was, will);
	return false;
}

/* ---- text ---- */

static const char *const distance_names[] = {
	[PLACE_CACHE] = "within a cache",
	[PLACE_PACKAGE] = "within a package",
	[PLACE_HOST] = "between packages",
	[PLACE_FAR] = "between hosts",
};

/* Returns the bytes of all messages over a distance, in the run's places or in the advised ones. */
static uint64_t bytes_over(const struct mapping *m, enum place_distance d, bool advised)
{
	const struct mapping_pair *p;
	uint64_t sum = 0;

	for (size_t at = 0; (p = map_next(&m->pairs, &at, NULL));) {
		uint32_t a = advised ? m->slot[p->a] : p->a, b = advised ? m->slot[p->b] : p->b;

		sum += distance(m, a, b) == d ? p->cnt * (uint64_t)p->bytes : 0;
	}
	return sum;
}

static enum place_distance farthest(const struct mapping *m)
{
	int d = PLACE_FAR;

	while (d > 0 && bytes_over(m, (enum place_distance)d, false) ==
				bytes_over(m, (enum place_distance)d, true))
		d--;
	return (enum place_distance)d;
}

static char *text_of(const struct mapping *m)
{
	enum place_distance d = farthest(m);
	char was[HUMAN_BYTES], will[HUMAN_BYTES];

	return xasprintf("Ranks sent %s %s. With other places for some ranks, it would be %s",
			 human_bytes(was, sizeof(was), bytes_over(m, d, false)), distance_names[d],
			 human_bytes(will, sizeof(will), bytes_over(m, d, true)));
}

/* Returns the place of each rank that moves: "… rank 0 on node1 CPU 1; …". */
static char *setting_of(const struct mapping *m)
{
	char *text = xstrdup("place ranks (mpirun --rankfile, mpiexec -hosts or taskset -c):");

	for (uint32_t i = 0; i < m->nrank; i++) {
		struct place to = m->place[m->slot[i]];
		uint32_t local;
		const struct model_host *h = model_host_of_cpu(m->a->model, to.cpu, &local);

		if (m->slot[i] == i)
			continue;
		text = words_process(&m->a->findings, words(text, " "), m->rank[i]);
		text = words(text, " on %s CPU %u;", h->label, local);
	}
	return words(text, " the others as they were");
}

extern const struct strategy strategy_mapping;

static void look_at(struct mapping *m)
{
	whatif_messages(m->a->whatif, message_add, m);
	times_make(m);
	if (!m->pairs.cnt) {
		advise_nothing(
			m->a, &strategy_mapping,
			xstrdup("No message between two ranks was sent, or none was matched"));
	} else if (!places_exchange(m)) {
		advise_nothing(
			m->a, &strategy_mapping,
			xstrdup("Exchanging the places of two ranks would not make the matched "
				"messages faster, judging by the times of messages over these "
				"distances"));
	} else {
		advise_add(
			m->a,
			&(struct advice){
				.strategy = &strategy_mapping,
				.gain = advise_gain(m->a, leave_out, m, &m->sure),
				.text = text_of(m),
				.setting = setting_of(m),
				.number = {{"bytes_far", bytes_over(m, farthest(m), false)},
					   {"bytes_far_advised", bytes_over(m, farthest(m), true)}},
				.nnumber = 2,
			});
	}
}

static void conclude(void *data, struct advise *a)
{
	struct mapping *m = data;

	if (!ranks_find(m))
		advise_nothing(a, &strategy_mapping, xstrdup("Where ranks ran was not recorded"));
	else if (m->nrank < 3)
		advise_nothing(
			a, &strategy_mapping,
			xstrdup("With fewer than three ranks, exchanging their places changes "
				"nothing"));
	else if (m->nrank > RANKS_MAX)
		advise_nothing(a, &strategy_mapping,
			       xasprintf("%u ranks are too many: at most %d can be examined",
					 m->nrank, RANKS_MAX));
	else
		look_at(m);
}

const struct strategy strategy_mapping = {
	.name = "mapping",
	.brief = "places of ranks, against who sends how much to whom",
	.source = "Gallardo et al. 2015 (MPI Advisor), 4.3",
	.begin = begin,
	.release = release,
	.sink = sink,
	.conclude = conclude,
};
