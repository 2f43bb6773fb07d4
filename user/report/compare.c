/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the ranks that are in both runs before it replays either run, so that all sums of the
 * reports cover only these ranks. Then it pairs the rows of both reports.
 */
#include "report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

const char *const compare_run_names[2] = {"before", "after"};

/* ---- figures ---- */

#define ROW struct function_row
const struct figure compare_functions[] = {
	{FIGURE_COUNT, "calls", "calls", AT(calls), .low = LOSS_OF_CALLS},
	{FIGURE_TIME, "total_ns", "total", AT(total_ns), .low = LOSS_OF_CALLS},
	{0},
};
#undef ROW

#define ROW struct compare_finding
const struct figure compare_findings[] = {
	{FIGURE_COUNT, "count", NULL, AT(count), .low = LOSS_OF_ANY},
	{FIGURE_TIME, "cost_ns", "cost", AT(cost_ns), .low = LOSS_OF_ANY},
	{0},
};
#undef ROW

#define ROW struct compare_messages
const struct figure compare_sent[] = {
	{FIGURE_COUNT, "count", "operations", AT(count), .low = LOSS_OF_CALLS},
	{FIGURE_BYTES, "bytes", "bytes", AT(bytes), OF(unknown), .wrong = LOSS_OF_BYTES},
	{FIGURE_COUNT, "of_unknown_size", NULL, AT(unknown), .low = LOSS_OF_CALLS},
	{0},
};

static uint64_t value_of(const struct figure *f, const struct compare_row *row, int run)
{
	return row->at[run] ? *(const uint64_t *)((const char *)row->at[run] + f->at) : 0;
}

struct change compare_change(const struct compare *c, const struct figure *f,
			     const struct compare_row *row)
{
	struct change out = {0};

	for (int run = BEFORE; run <= AFTER; run++) {
		out.known[run] = !(f->known & ~c->run[run].facts);
		out.value[run] = value_of(f, row, run);
	}
	if (out.known[BEFORE] && out.known[AFTER])
		out.by = (int64_t)(out.value[AFTER] - out.value[BEFORE]);
	return out;
}

/* ---- rows ---- */

/* Returns the row with this layer and name. Adds it if there is none. */
static struct compare_row *row_named(struct compare_rows *rows, const char *layer, const char *name)
{
	struct compare_row *row;

	for (uint32_t i = 0; i < rows->n; i++)
		if (!strcmp(rows->row[i].name, name) && !strcmp(rows->row[i].layer, layer))
			return &rows->row[i];
	row = table_append(rows->row, rows->n);
	row->name = name;
	row->layer = layer;
	return row;
}

struct order {
	const struct compare *c;
	const struct figure *figures;
};

/* Largest change among the figures of one kind. */
static uint64_t largest(const struct order *o, const struct compare_row *row, enum figure_kind kind)
{
	uint64_t most = 0, by;

	for (const struct figure *f = o->figures; f->kind; f++) {
		if (f->kind != kind)
			continue;
		by = (uint64_t)llabs(compare_change(o->c, f, row).by);
		most = by > most ? by : most;
	}
	return most;
}

static int row_compare(const void *va, const void *vb, void *ctx)
{
	static const enum figure_kind by[] = {FIGURE_TIME, FIGURE_BYTES, FIGURE_COUNT};
	const struct compare_row *a = va, *b = vb;

	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		uint64_t x = largest(ctx, a, by[i]), y = largest(ctx, b, by[i]);

		if (x != y)
			return x > y ? -1 : 1;
	}
	if (a->name)
		return strcmp(a->name, b->name) ?: strcmp(a->layer, b->layer);
	return (int)a->process[BEFORE]->idx - (int)b->process[BEFORE]->idx;
}

/* Sorts by change, largest first, then by name or rank. */
static void rows_sort(const struct compare *c, struct compare_rows *rows,
		      const struct figure *figures)
{
	struct order o = {c, figures};

	if (rows->n)
		qsort_r(rows->row, rows->n, sizeof(*rows->row), row_compare, &o);
}

/* ---- ranks ---- */

static int rank_compare(const struct model_process *a, const struct model_process *b)
{
	if (a->job_idx != b->job_idx)
		return a->job_idx < b->job_idx ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return 0;
}

TABLE_ORDER(rank_sort, struct model_process *, rank_compare(*a, *b),
	    (int)(*a)->idx - (int)(*b)->idx)

/*
 * Chosen ranks with a known number, sorted by job and rank. *others: chosen ranks without one.
 * Caller frees.
 */
static const struct model_process **ranks_of(const struct model *m, const struct rank_list *chosen,
					     uint32_t *n, uint32_t *others)
{
	uint32_t cnt = model_process_count(m);
	const struct model_process **list = xcalloc(cnt + 1, sizeof(*list));

	*n = *others = 0;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!p->is_rank || !rank_list_has(chosen, p->job_idx, p->rank))
			continue;
		if (p->rank < 0)
			++*others;
		else
			list[(*n)++] = p;
	}
	qsort(list, *n, sizeof(*list), rank_sort);
	return list;
}

static void list_add(struct rank_list *l, int32_t job, int32_t rank)
{
	struct rank_range *last = l->n ? &l->range[l->n - 1] : NULL;

	if (last && last->job == job && last->last + 1 == rank) {
		last->last = rank;
		return;
	}
	*table_append(l->range, l->n) = (struct rank_range){job, rank, rank};
}

/* Adds a row for each rank in both runs, and chooses these ranks in the options of both reports. */
static void ranks_pair(struct compare *c, const struct rank_list *chosen)
{
	const struct model_process **p[2];
	uint32_t n[2], at[2] = {0};

	for (int run = BEFORE; run <= AFTER; run++)
		p[run] = ranks_of(c->run[run].model, chosen, &n[run], &c->only[run]);
	while (at[BEFORE] < n[BEFORE] && at[AFTER] < n[AFTER]) {
		const struct model_process *a = p[BEFORE][at[BEFORE]], *b = p[AFTER][at[AFTER]];
		int order = rank_compare(a, b);

		if (order) {
			int less = order < 0 ? BEFORE : AFTER;

			c->only[less]++;
			at[less]++;
			continue;
		}
		memcpy(table_append(c->ranks.row, c->ranks.n)->process, (const void *[]){a, b},
		       sizeof(a) * 2);
		for (int run = BEFORE; run <= AFTER; run++) {
			list_add(&c->opt[run].ranks, a->job_idx, a->rank);
			at[run]++;
		}
	}
	for (int run = BEFORE; run <= AFTER; run++) {
		c->only[run] += n[run] - at[run];
		free(p[run]);
	}
}

static bool has_ranks(const struct model *m)
{
	return model_process_count(m) && model_process_get(m, 0)->is_rank;
}

/*
 * Chooses the ranks in both runs. If neither run has ranks, compares the sum of all recorded
 * processes.
 */
static int ranks_choose(struct compare *c, const struct rank_list *chosen)
{
	bool before = has_ranks(c->run[BEFORE].model), after = has_ranks(c->run[AFTER].model);

	ranks_pair(c, chosen);
	if (c->ranks.n || (!before && !after && !chosen->n))
		return 0;
	log_error("diff: %s is in both runs: %u only in %s, %u only in %s",
		  chosen->n ? "none of the ranks of --rank" : "no rank", c->only[BEFORE],
		  c->run[BEFORE].source->path, c->only[AFTER], c->run[AFTER].source->path);
	return -ENOENT;
}

static void ranks_fill(struct compare *c)
{
	struct compare_row *all = table_append(c->all.row, c->all.n);

	for (int run = BEFORE; run <= AFTER; run++) {
		const struct report *r = &c->run[run];

		all->at[run] = &r->sum.time;
		all->lost[run] = r->lost_shown;
		for (uint32_t i = 0; i < c->ranks.n; i++) {
			uint32_t idx = c->ranks.row[i].process[run]->idx;

			c->ranks.row[i].at[run] = &r->time.process[idx];
			c->ranks.row[i].lost[run] = r->lost[idx];
		}
	}
}

/*
 * Fills the rows of main threads of the same ranks. A run's pointer stays NULL if its main thread
 * is unknown.
 */
static void app_fill(struct compare *c)
{
	struct compare_row *all = table_append(c->app_all.row, c->app_all.n);

	for (uint32_t i = 0; i < c->ranks.n; i++)
		*table_append(c->app_ranks.row, c->app_ranks.n) = c->ranks.row[i];
	for (int run = BEFORE; run <= AFTER; run++) {
		const struct report *r = &c->run[run];

		all->at[run] = &c->app_sum[run];
		all->lost[run] = r->lost_shown;
		for (uint32_t i = 0; i < c->app_ranks.n; i++) {
			struct compare_row *row = &c->app_ranks.row[i];
			const struct app_process *p =
				&r->findings.app.process[row->process[run]->idx];

			row->at[run] = p->has_main ? &r->findings.app.thread[p->main] : NULL;
			if (p->has_main)
				table_row_add(&c->app_sum[run], &r->findings.app.thread[p->main],
					      window_ns);
		}
	}
}

/* ---- functions, findings, messages ---- */

static void functions_fill(struct compare *c)
{
	for (int run = BEFORE; run <= AFTER; run++) {
		const struct report *r = &c->run[run];

		c->function[run] = functions_sum(&r->functions, r->chosen, r->nprocesses,
						 &c->nfunction[run]);
		for (uint32_t i = 0; i < c->nfunction[run]; i++) {
			const struct function_row *f = c->function[run][i];
			struct compare_row *row = row_named(&c->functions, f->func->layer_name,
							    f->func->name);

			row->at[run] = f;
			row->lost[run] = function_row_lost(f, r->lost_shown);
			/* A run that did not call the function did not leave it out, either. */
			if (!row->at[!run])
				row->lost[!run] = function_row_lost(f, c->run[!run].lost_shown &
									       ~LOSS_LEFT_OUT);
		}
	}
}

/* Sums the findings of each kind. Findings are sorted, so the first of a kind is its costliest. */
static void findings_fill(struct compare *c)
{
	for (int run = BEFORE; run <= AFTER; run++) {
		const struct findings *list = &c->run[run].findings;
		struct compare_finding *kinds = xcalloc(list->n + 1, sizeof(*kinds));
		uint32_t n = 0;

		c->finding[run] = kinds;
		for (uint32_t i = 0; i < list->n; i++) {
			struct compare_row *row = row_named(&c->findings, "",
							    list->finding[i].kind);
			struct compare_finding *kind = (struct compare_finding *)row->at[run];

			if (!kind) {
				kind = &kinds[n++];
				row->at[run] = kind;
				row->text[run] = list->finding[i].text;
			}
			kind->count++;
			kind->cost_ns += list->finding[i].cost_ns;
		}
	}
	for (uint32_t i = 0; i < c->findings.n; i++)
		for (int run = BEFORE; run <= AFTER; run++)
			c->findings.row[i].lost[run] = c->run[run].lost_shown;
}

static void messages_fill(struct compare *c)
{
	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		struct compare_row *row;

		for (int run = BEFORE; run <= AFTER; run++) {
			const struct message_row *m = &c->run[run].sum.messages;
			struct compare_messages *sent = &c->sent[run][class];

			sent->count = sent->unknown = m->unknown[class];
			for (int b = 0; b < MESSAGE_BUCKETS; b++) {
				sent->count += m->cnt[class][b];
				sent->bytes += m->bytes[class][b];
			}
		}
		if (!c->sent[BEFORE][class].count && !c->sent[AFTER][class].count)
			continue;
		row = row_named(&c->messages, "", message_class_names[class]);
		for (int run = BEFORE; run <= AFTER; run++) {
			row->at[run] = &c->sent[run][class];
			row->lost[run] = c->run[run].lost_shown;
		}
	}
}

/* ---- both runs ---- */

int compare_open(const struct trace_source *const source[2], const size_t nsources[2],
		 const struct rank_list *chosen, struct compare *c)
{
	int err = 0;

	memset(c, 0, sizeof(*c));
	for (int run = BEFORE; run <= AFTER && !err; run++)
		err = report_identify(source[run], nsources[run], &c->opt[run], &c->run[run]);
	if (!err)
		err = ranks_choose(c, chosen);
	for (int run = BEFORE; run <= AFTER && !err; run++)
		err = report_replay(&c->run[run]);
	if (err) {
		compare_close(c);
		return err;
	}
	ranks_fill(c);
	app_fill(c);
	functions_fill(c);
	findings_fill(c);
	messages_fill(c);
	rows_sort(c, &c->ranks, time_figures);
	rows_sort(c, &c->app_ranks, app_figures);
	rows_sort(c, &c->functions, compare_functions);
	rows_sort(c, &c->findings, compare_findings);
	rows_sort(c, &c->messages, compare_sent);
	return 0;
}

void compare_close(struct compare *c)
{
	struct compare_rows *const rows[] = {&c->all,	    &c->ranks,	   &c->app_all,
					     &c->app_ranks, &c->functions, &c->findings,
					     &c->messages};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		free(rows[i]->row);
	for (int run = BEFORE; run <= AFTER; run++) {
		functions_sum_free(c->function[run], c->nfunction[run]);
		free(c->finding[run]);
		rank_list_release(&c->opt[run].ranks);
		report_close(&c->run[run]);
	}
}
