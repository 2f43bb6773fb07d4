/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decisions of the limit on the cost of tracing, from made-up costs: cases/limit.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "collect/limit.h"
#include "layer/func_table.h"
#include "unit/cases.h"

/* Two functions that cost much, a small one, and one that waits for others. */
enum { HOT, WARM, SMALL, WAITS, FUNCS };

static const char *const func_names[FUNCS] = {"HOT", "WARM", "SMALL", "WAITS"};
static const char *const states[] = {[POV_LIMIT_RECORDED] = "recorded",
				     [POV_LIMIT_COUNTED] = "counted",
				     [POV_LIMIT_DETACHED] = "detached"};

static uint16_t func_of(const char *name)
{
	for (uint16_t i = 0; i < FUNCS; i++)
		if (!strcmp(func_names[i], name))
			return i;
	assert_string_equal(name, "ALL");
	return POV_LIMIT_ALL;
}

static size_t costs_read(char *text, struct limit_cost *cost)
{
	char *save = NULL, name[8];
	size_t cnt = 0;
	int n;

	for (char *c = strtok_r(text, ",", &save); c; c = strtok_r(NULL, ",", &save), cnt++) {
		struct limit_cost *to = &cost[cnt];

		n = sscanf(c, " %u %7s %lf/%lf", &to->tgid, name, &to->now_pct, &to->full_pct);
		assert_true(n >= 3);
		to->func = func_of(name);
		if (n == 3)
			to->full_pct = to->now_pct;
	}
	return cnt;
}

/* look COSTS, or sampled COSTS, where what detached functions would cost is known. */
static void look(struct limit *limit, char *line, FILE *out)
{
	struct limit_change change[FUNCS];
	struct limit_excess excess;
	struct limit_cost cost[16];
	char *costs = line + strcspn(line, " ");
	size_t n = costs_read(costs, cost);

	n = limit_decide(limit, cost, n, *line == 's', change, &excess);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s %s, %u costs %.2f", i ? ", " : "", func_names[change[i].func],
			states[change[i].state], change[i].tgid, change[i].pct);
	if (excess.pct > 0)
		fprintf(out, "%sexcess %u %.2f", n ? ", " : "", excess.tgid, excess.pct);
	fputs(n || excess.pct > 0 ? "\n" : "-\n", out);
}

static void play(const struct script *lines, FILE *out)
{
	static const bool may_shed[FUNCS] = {[HOT] = true, [WARM] = true, [SMALL] = true};
	char name[64];
	struct limit limit;

	if (sscanf(lines->line[0], "shed %63s", name) == 1) {
		int row = func_table_find(name);

		assert_true(row >= 0);
		fputs(func_table_may_shed((size_t)row) ? "yes" : "no", out);
		return;
	}
	limit_init(&limit, 5, 0.8, may_shed, FUNCS);
	for (size_t i = 0; i < lines->cnt; i++)
		look(&limit, lines->line[i], out);
	fputs("now", out);
	for (int i = 0; i < FUNCS; i++)
		fprintf(out, " %s", states[limit.func[i].state]);
	fprintf(out, ", %u detached\n", limit.detached);
	limit_release(&limit);
}

TEST(limit)
{
	cases_run("limit", play);
}
