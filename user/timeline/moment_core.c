/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who had each CPU, by columns. What ran on a CPU is told in order of time, so that only the column that is under way needs more than
 * the one who had most of it.
 */
#include <stdlib.h>

#include "analysis/table.h"
#include "timeline/moment.h"

static struct moment_core *core_of(struct moment *mo, uint32_t cpu)
{
	struct moment_core *c = table_row(mo->core, mo->ncore, cpu);

	if (!c->who)
		c->who = xcalloc(MOMENT_COLUMNS, sizeof(*c->who));
	return c;
}

/* The column that is under way is over: whoever had most of it has it, or nobody knows. */
static void core_settle(const struct moment *mo, struct moment_core *c)
{
	uint64_t rest_ns = moment_column_ns(mo, c->column + 1) - moment_column_ns(mo, c->column);
	uint64_t most_ns = 0;
	uint32_t most = MOMENT_NOT_RECORDED;

	for (uint32_t i = 0; i < c->nparts; i++) {
		rest_ns -= c->part[i].ns < rest_ns ? c->part[i].ns : rest_ns;
		if (c->part[i].ns > most_ns) {
			most = c->part[i].who;
			most_ns = c->part[i].ns;
		}
	}
	c->who[c->column] = rest_ns > most_ns ? MOMENT_NOT_RECORDED : most;
	c->nparts = 0;
}

static void part_add(const struct moment *mo, struct moment_core *c, uint32_t column, uint32_t who,
		     uint64_t ns)
{
	uint32_t i;

	if (column < c->column)
		return; /* contradicts what was told before */
	if (column > c->column && c->nparts)
		core_settle(mo, c);
	c->column = column;
	for (i = 0; i < c->nparts && c->part[i].who != who;)
		i++;
	if (i == MOMENT_PARTS_MAX)
		return;
	if (i == c->nparts)
		c->part[c->nparts++] = (struct moment_part){.who = who};
	c->part[i].ns += ns;
}

static bool is_main(const struct moment *mo, const struct model_thread *t)
{
	uint32_t p = t->proc->idx;

	return t->proc->is_rank && p < mo->app->nprocess && mo->app->process[p].has_main &&
	       mo->app->process[p].main == t->idx;
}

static uint32_t who_of(const struct moment *mo, const struct model_thread *t)
{
	if (t->idle)
		return MOMENT_IDLE;
	return MOMENT_WHO + 2 * t->proc->idx + !is_main(mo, t);
}

const struct model_process *moment_who(const struct moment *mo, uint32_t who, bool *others)
{
	if (who < MOMENT_WHO)
		return NULL;
	*others = (who - MOMENT_WHO) & 1;
	return model_process_get(mo->model, (who - MOMENT_WHO) / 2);
}

void moment_core_ran(struct moment *mo, const struct model_thread *t, uint64_t from_ns,
		     uint64_t to_ns, uint16_t cpu, bool rank_shown)
{
	struct moment_core *c = core_of(mo, cpu);
	uint32_t who = who_of(mo, t), column;
	struct moment_share *share = map_make(&mo->shares, (uint64_t)cpu << 32 | who,
					      sizeof(*share));

	if (!share->thread)
		*share = (struct moment_share){.cpu = cpu, .who = who, .thread = t};
	share->ns += to_ns - from_ns;
	c->by_rank |= rank_shown;
	for (column = moment_column(mo, from_ns); from_ns < to_ns; column++) {
		uint64_t end_ns = moment_column_ns(mo, column + 1);

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		part_add(mo, c, column, who, end_ns - from_ns);
		from_ns = end_ns;
	}
}

bool moment_core_shown(const struct moment *mo, uint32_t cpu)
{
	return cpu < mo->ncore && mo->core[cpu].who &&
	       (mo->core[cpu].by_rank || !mo->nband ||
		model_get_info(mo->model)->nr_cpus <= MOMENT_CPUS_ALL);
}

void moment_cores_finish(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->ncore; i++)
		if (mo->core[i].nparts)
			core_settle(mo, &mo->core[i]);
}

void moment_cores_release(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->ncore; i++)
		free(mo->core[i].who);
	free(mo->core);
	map_free(&mo->shares, free);
}
