/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The tracing overhead of each process (cases/overhead.txt), the sentence about it, and the limit
 * on it (cases/throttle.txt).
 */
#include "unit/test.h"
#include "abi/config.h"
#include "record/overhead.h"
#include "record/probes/throttle.h"
#include "layers/func_table.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

static const struct probe_cost prices = {.call_ns = 10,
					 .spin_ns = 5,
					 .counted_ns = 8,
					 .stepped_ns = 30,
					 .preload_ns = 2,
					 .preload_counted_ns = 1,
					 .samples = 1};

static void window_print(struct overhead *o, uint64_t now_ns, FILE *out)
{
	struct overhead_shares shares = {0};

	overhead_window(o, &prices, now_ns, &shares);
	fprintf(out, "window %u", shares.cnt);
	for (size_t i = 0; i < shares.cnt; i++)
		fprintf(out, " | %u %s %.2f/%.2f", shares.v[i].tgid,
			func_table_get(shares.v[i].func)->name, shares.v[i].pct,
			shares.v[i].counted_pct);
	fputc('\n', out);
	overhead_shares_release(&shares);
}

static void find(const struct overhead *o, const struct probe_cost *with, uint64_t end_ns,
		 FILE *out)
{
	struct distortion d;
	uint32_t pid;

	overhead_find(o, with, 0, end_ns, &d, &pid);
	fprintf(out, "%u %.2f %%, %u above, %s:", pid, d.pct, d.above,
		distortion_matters(&d) ? "matters" : "does not matter");
	for (size_t i = 0; i < distortion_func_cnt(&d); i++)
		fprintf(out, " %s", d.func[i].name);
	fputc('\n', out);
}

static void overhead_line(struct overhead *o, const char *line, FILE *out)
{
	unsigned long long n;
	json_t *lib;

	if (sscanf(line, "find %llu", &n) == 1) {
		find(o, &prices, n, out);
	} else if (sscanf(line, "uncalibrated %llu", &n) == 1) {
		find(o, &(struct probe_cost){0}, n, out);
	} else if (sscanf(line, "window %llu", &n) == 1) {
		window_print(o, n, out);
	} else if (sscanf(line, "prune %llu", &n) == 1) {
		overhead_prune(o, n);
		fprintf(out, "%zu hits, %zu begin, %zu end\n", o->hits.cnt, o->begin.cnt,
			o->end.cnt);
	} else if (*line == '{') {
		lib = json_loads(line, 0, NULL);
		assert_non_null(lib);
		overhead_library(o, lib);
		json_decref(lib);
	} else {
		assert_int_equal(sscanf(line, "%llu", &n), 1);
		while (n--)
			overhead_record(o, record_made("%s", strchr(line, ' ') + 1));
	}
}

static void overhead_play(const struct script *lines, FILE *out)
{
	struct overhead o = {0};

	for (size_t i = 0; i < lines->cnt; i++)
		overhead_line(&o, lines->line[i], out);
	overhead_release(&o);
}

TEST(overhead)
{
	cases_run("overhead", overhead_play);
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
		"tracing took 25 % of rank 3's time (7 ranks above 5 %), mostly while povtrace had its core "
		"(21 %): "
		"keep one CPU free of ranks, or record less (-f, --no-functions, "
		"--sched ranks)");
	free(text);
	d.room_pct = 21.5;
	text = distortion_text(&d);
	assert_non_null(strstr(text, ", mostly while it waited for room to record (22 %): keep"));
	free(text);
	d = (struct distortion){.run_pct = 6.5, .by_cores = true, .pct = 0.9, .who = "rank 0"};
	distortion_add_func(&d, "MPI_Isend", 10);
	text = distortion_text(&d);
	assert_string_equal(text,
			    "perhaps 6.5 % of the run is due to tracing, which used cores that "
			    "ranks waited for: keep one CPU free of ranks, or record less (-f, "
			    "--no-functions, --sched ranks)");
	free(text);
}

/* ---- the limit ---- */

/* Two functions, one whose probes cannot be detached, and one that waits for others. */
enum { HOT, WARM, FIXED, WAITS, FUNCS };

static const char *const func_names[FUNCS] = {"HOT", "WARM", "FIXED", "WAITS"};
static const char *const states[] = {
	[POV_LIMIT_COUNTED] = "counted", [POV_LIMIT_DETACHED] = "detached"};

static uint16_t func_of(const char *name)
{
	for (uint16_t i = 0; i < FUNCS; i++)
		if (!strcmp(func_names[i], name))
			return i;
	assert_string_equal(name, "NONE");
	return UINT16_MAX;
}

static size_t shares_read(char *text, struct overhead_share *share)
{
	char *save = NULL, name[8];
	size_t cnt = 0;
	int n;

	for (char *c = strtok_r(text, ",", &save); c; c = strtok_r(NULL, ",", &save), cnt++) {
		struct overhead_share *to = &share[cnt];

		n = sscanf(c, " %u %7s %lf>%lf", &to->tgid, name, &to->pct, &to->counted_pct);
		assert_true(n >= 3);
		to->func = func_of(name);
		if (n == 3)
			to->counted_pct = to->pct;
	}
	return cnt;
}

static void decision_print(struct throttle *t, char *line, FILE *out)
{
	struct throttle_change change[FUNCS];
	struct overhead_share share[16];
	size_t n = throttle_decide(t, share, shares_read(line, share), change);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s %s, %u costs %.2f", i ? ", " : "", func_names[change[i].func],
			states[change[i].state], change[i].tgid, change[i].pct);
	fputs(n ? "\n" : "-\n", out);
}

static void throttle_play(const struct script *lines, FILE *out)
{
	static const bool may_throttle[FUNCS] = {[HOT] = true, [WARM] = true, [FIXED] = true};
	struct throttle t;
	char name[64];

	if (sscanf(lines->line[0], "may_throttle %63s", name) == 1) {
		int row = func_table_find(name);

		assert_true(row >= 0);
		fputs(func_table_may_throttle((size_t)row) ? "yes" : "no", out);
		return;
	}
	throttle_init(&t, 5, may_throttle, FUNCS);
	t.func[HOT].may_detach = t.func[WARM].may_detach = true;
	for (size_t i = 0; i < lines->cnt; i++)
		decision_print(&t, lines->line[i], out);
	throttle_release(&t);
}

TEST(throttle)
{
	cases_run("throttle", throttle_play);
}
