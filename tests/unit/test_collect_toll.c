/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The tracing overhead of each process (cases/toll.txt), the sentence about it, and the limit on it
 * (cases/limit.txt).
 */
#include "unit/test.h"
#include "abi/config.h"
#include "abi/thread.h"
#include "record/probes/limit.h"
#include "record/toll_window.h"
#include "layers/func_table.h"
#include "unit/cases.h"

static const struct probe_cost prices = {.call_ns = 10,
					 .spin_ns = 5,
					 .counted_ns = 8,
					 .stepped_ns = 30,
					 .preload_ns = 2,
					 .preload_counted_ns = 1,
					 .samples = 1};

/* Adds a thread of process 30 that polls and has made calls that were counted but not reported. */
static void gathered(struct toll *t, uint64_t polls, uint64_t counted)
{
	struct pov_thread thread = {.tid = 31, .tgid = 30, .spinning = 1};
	struct pov_spin *s = (struct pov_spin *)thread.spin[0].rec;

	s->nfuncs = 1;
	s->func[0].func = (uint16_t)func_table_find("MPI_Test");
	s->func[0].cnt = polls;
	thread.counting[0].calls = counted;
	thread.counting[0].func = (uint16_t)func_table_find("MPI_Isend");
	toll_open_thread(t, &thread);
}

static void toll_look_print(struct toll *t, uint64_t elapsed_ns, FILE *out)
{
	struct toll_costs costs = {0};

	toll_look(t, &prices, elapsed_ns, &costs);
	toll_open_begin(t);
	fprintf(out, "look %zu", costs.cnt);
	for (size_t i = 0; i < costs.cnt; i++)
		fprintf(out, " | %u %s %.2f/%.2f", costs.v[i].tgid,
			func_table_get(costs.v[i].func)->name, costs.v[i].now_pct,
			costs.v[i].full_pct);
	fputc('\n', out);
	toll_costs_release(&costs);
}

static void find(const struct toll *t, const struct probe_cost *with, uint64_t end_ns, FILE *out)
{
	struct distortion d;
	uint32_t pid;

	toll_find(t, with, 0, end_ns, &d, &pid);
	fprintf(out, "%u %.2f %%, %u above, %s:", pid, d.pct, d.above,
		distortion_matters(&d) ? "matters" : "does not matter");
	for (size_t i = 0; i < distortion_func_cnt(&d); i++)
		fprintf(out, " %s", d.func[i].name);
	fputc('\n', out);
}

static void toll_line(struct toll *t, const char *line, FILE *out)
{
	unsigned long long n, more;
	json_t *lib;

	if (sscanf(line, "find %llu", &n) == 1) {
		find(t, &prices, n, out);
	} else if (sscanf(line, "uncalibrated %llu", &n) == 1) {
		find(t, &(struct probe_cost){0}, n, out);
	} else if (sscanf(line, "look %llu", &n) == 1) {
		toll_look_print(t, n, out);
	} else if (sscanf(line, "gathered %llu %llu", &n, &more) == 2) {
		gathered(t, n, more);
	} else if (!strncmp(line, "open ", 5)) {
		toll_open_preloaded(t, cases_record(line + 5));
	} else if (sscanf(line, "prune %llu", &n) == 1) {
		toll_prune(t, n);
		fprintf(out, "%zu hits, %zu begin, %zu end\n", t->hits.cnt, t->begin.cnt,
			t->end.cnt);
	} else if (*line == '{') {
		lib = json_loads(line, 0, NULL);
		assert_non_null(lib);
		toll_library(t, lib);
		json_decref(lib);
	} else {
		assert_int_equal(sscanf(line, "%llu", &n), 1);
		while (n--)
			toll_record(t, cases_record(strchr(line, ' ') + 1));
	}
}

static void toll_play(const struct script *lines, FILE *out)
{
	struct toll t = {0};

	toll_open_begin(&t);
	for (size_t i = 0; i < lines->cnt; i++)
		toll_line(&t, lines->line[i], out);
	toll_release(&t);
}

TEST(toll)
{
	cases_run("toll", toll_play);
}

TEST(text)
{
	struct distortion d = {.pct = 58.4, .who = "rank 3", .above = 1};
	char *text;

	text = distortion_text(&d);
	assert_string_equal(text, "tracing took 58 % of rank 3's time");
	free(text);
	distortion_add_func(&d, "MPI_Send", 10);
	distortion_add_func(&d, "MPI_Test", 45);
	distortion_add_func(&d, "MPI_Init", 1);
	distortion_add_func(&d, "MPI_Iprobe", 44);
	distortion_add_func(&d, "MPI_Wtime", 3);
	d.above = 7;
	d.pct = 6.04;
	text = distortion_text(&d);
	assert_string_equal(
		text,
		"tracing took 6.0 % of rank 3's time (7 ranks above 5 %), mostly by MPI_Test, "
		"MPI_Iprobe: leave these out with --no-functions MPI_Test --no-functions MPI_Iprobe, or "
		"whole groups with --mpi");
	free(text);
	d.pct = 25.2;
	d.core_pct = 21.4;
	d.room_pct = 0.5;
	text = distortion_text(&d);
	assert_string_equal(
		text,
		"tracing took 25 % of rank 3's time (7 ranks above 5 %); povtrace had its core for 21 %: "
		"leave one CPU to povtrace, without ranks, or record less (-f, --no-functions, "
		"--sched ranks)");
	free(text);
	d.room_pct = 21.5;
	text = distortion_text(&d);
	assert_non_null(strstr(text, "; it waited for room to record for 22 %: leave"));
	free(text);
}

/* ---- the limit ---- */

/* Two expensive functions, a cheap one, and one that waits for others. */
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

/* Runs look COSTS, or sampled COSTS, in which the cost of detached functions is known. */
static void limit_look(struct limit *limit, char *line, FILE *out)
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

static void limit_play(const struct script *lines, FILE *out)
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
		limit_look(&limit, lines->line[i], out);
	fputs("now", out);
	for (int i = 0; i < FUNCS; i++)
		fprintf(out, " %s", states[limit.func[i].state]);
	fprintf(out, ", %u detached\n", limit.detached);
	limit_release(&limit);
}

TEST(limit)
{
	cases_run("limit", limit_play);
}
