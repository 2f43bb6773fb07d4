/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the strategy collectives is made of: intervals over launches, own time and message sizes of collectives that are told by hand, calls made
 * shorter in the run gone through once more, and result files of povbench, damaged ones among them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/test.h"
#include "advise/collective_calls.h"
#include "advise/measured.h"
#include "advise/shift.h"
#include "advise/whatif.h"
#include "base/log.h"
#include "unit/model_fixture.h"

#define RANKS 4
#define START 1000

/* ---- intervals ---- */

/* The tails of Mann and Whitney's distribution are tabulated: 5 and 5 values, 5 %: 2; 7 and 7: 8; 8 and 6: 8; 10 and 10: 23. */
TEST(shift_of_tables)
{
	static const struct {
		uint32_t na, nb, tail;
	} known[] = {{4, 4, 0}, {5, 5, 2}, {7, 7, 8}, {8, 6, 8}, {10, 10, 23}, {3, 5, 0}};
	double a[16], b[16];
	struct shift s;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		/* All pairs' differences are different whole numbers: 0, 1, 2 … */
		for (uint32_t k = 0; k < known[i].na; k++)
			a[k] = (double)(k * known[i].nb);
		for (uint32_t k = 0; k < known[i].nb; k++)
			b[k] = -(double)k;
		assert_true(shift_of(a, known[i].na, b, known[i].nb, false, 0.05, &s));
		assert_int_equal((int)s.low, known[i].tail);
		assert_int_equal((int)s.high, known[i].na * known[i].nb - 1 - known[i].tail);
		assert_true(s.median * 2 == known[i].na * known[i].nb - 1);
	}
}

TEST(shift_needs)
{
	double a[3] = {1, 2, 3}, b[3] = {1, 2, 3};
	struct shift s;

	assert_false(shift_of(a, 3, b, 3, false, 0.05, &s));
	assert_true(shift_of(a, 3, b, 3, false, 0.1, &s));
	assert_false(shift_of(a, 0, b, 3, false, 0.1, &s));
	assert_int_equal(shift_needs(0.05), 4);
	assert_int_equal(shift_needs(0.05 / 8), 6); /* 2 of 924 */
	assert_int_equal(shift_needs(0), 0);
}

/* Of equal ones no more than the level says are told apart. */
TEST(shift_of_equal_ones)
{
	uint64_t random = 7;
	uint32_t apart = 0, i, k;
	struct shift s;

	for (i = 0; i < 2000; i++) {
		double v[14];

		for (k = 0; k < 14; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			v[k] = 1 + (double)(random >> 40);
		}
		assert_true(shift_of(v, 7, v + 7, 7, true, 0.05, &s));
		apart += s.low > 1 || s.high < 1;
	}
	assert_in_range(apart, 40, 110);
}

/* ---- a run ---- */

static const struct func_info bcast = {
	.id = 1, .name = "MPI_Bcast", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info alltoall = {
	.id = 2, .name = "MPI_Alltoall", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info gather = {
	.id = 3, .name = "MPI_Gather_c", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info barrier = {
	.id = 4, .name = "MPI_Barrier", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info comm_dup = {
	.id = 5, .name = "MPI_Comm_dup", .group = "comm", .layer_name = "mpi", .waits = true};

struct world {
	struct mfix f;
	struct model_thread thread[RANKS];
	struct collective_calls calls;
	struct findings findings;
	struct whatif *whatif;
};

static void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	mfix_begin(&w->f, "\"sched\":\"all\",\"rings\":1");
	for (uint32_t i = 0; i < RANKS; i++) {
		mfix_rank(&w->f, START, 100 + i, (int)i, "app");
		put_task(&w->f, START, 100 + i, 100 + i, 0, 1, 0, "app");
	}
	mfix_end(&w->f, 900000);
	mfix_open(&w->f, false);
	for (uint32_t i = 0; i < RANKS; i++) {
		w->thread[i].proc = model_process_get(w->f.model, i);
		w->thread[i].idx = i;
	}
	collective_calls_init(&w->calls);
	w->whatif = whatif_new(w->f.model);
	whatif_attach(w->whatif, &w->findings);
}

static void world_close(struct world *w)
{
	whatif_free(w->whatif);
	collective_calls_release(&w->calls);
	mfix_release(&w->f);
}

struct part {
	uint64_t begin_ns, end_ns;
	int64_t send_bytes, recv_bytes;
};

static void told(struct world *w, const struct func_info *func, const struct part *part)
{
	const struct model_sink *s = whatif_sink(w->whatif);
	struct arrival_call call[RANKS];
	struct arrival_joint j = {.call = call, .calls = RANKS};
	struct arrival_step *step;

	for (uint32_t i = 0; i < RANKS; i++) {
		const struct model_call c = {.func = func,
					     .thread = &w->thread[i],
					     .begin_ns = part[i].begin_ns,
					     .end_ns = part[i].end_ns};

		s->call(s->ctx, &c);
		call[i] = (struct arrival_call){.thread = &w->thread[i],
						.func = func,
						.begin_ns = part[i].begin_ns,
						.end_ns = part[i].end_ns,
						.send_bytes = part[i].send_bytes,
						.recv_bytes = part[i].recv_bytes,
						.waits = true};
	}
	step = arrival_steps(call, RANKS, &j.steps);
	j.step = step;
	w->findings.arrivals.tell(w->findings.arrivals.ctx, &j);
	w->calls.arrivals.tell(w->calls.arrivals.ctx, &j);
	free(step);
}

/* Who leaves before the last one has come waited for those who came before its end. */
TEST(own_time)
{
	static const struct part part[RANKS] = {
		{2000, 2100, 4096, 0}, /* the root sends and goes */
		{1500, 2500, 0, 4096}, /* 500 behind the root */
		{2700, 3000, 0, 4096},
		{4000, 4050, 0, 4096},
	};
	struct world w;

	world_open(&w);
	told(&w, &bcast, part);
	collective_calls_settle(&w.calls);
	assert_int_equal(w.calls.ncell, 1);
	assert_string_equal(w.calls.cell[0].collective, "bcast");
	assert_int_equal(w.calls.cell[0].own_ns, 100 + 500 + 300 + 50);
	assert_int_equal(w.calls.cell[0].calls, 1);
	assert_int_equal(w.calls.cell[0].ranks, RANKS);
	assert_ptr_equal(collective_calls_of(&w.calls, 2, 2700), &w.calls.cell[0]);
	assert_null(collective_calls_of(&w.calls, 2, 2701));
	assert_null(collective_calls_of(&w.calls, 3, 2700));
	world_close(&w);
}

static void told_alike(struct world *w, const struct func_info *func, uint64_t at_ns, int64_t send,
		       int64_t recv)
{
	struct part part[RANKS];

	for (uint32_t i = 0; i < RANKS; i++)
		part[i] = (struct part){at_ns + i, at_ns + 100, send, recv};
	told(w, func, part);
}

TEST(cells)
{
	struct world w;

	world_open(&w);
	told_alike(&w, &bcast, 2000, 1024, 1024);
	told_alike(&w, &bcast, 3000, 2047, 2047); /* the same power of two */
	told_alike(&w, &bcast, 4000, 2048, 2048);
	told_alike(&w, &alltoall, 5000, 4096, 4096); /* a block for each */
	told_alike(&w, &gather, 6000, 512, 0);
	told_alike(&w, &gather, 7000, 0, 2048); /* in place */
	told_alike(&w, &barrier, 8000, 0, 0);
	told_alike(&w, &comm_dup, 9000, 0, 0); /* no collective of which time is told */
	told_alike(&w, &bcast, 10000, BYTES_UNKNOWN, BYTES_UNKNOWN);
	collective_calls_settle(&w.calls);
	assert_int_equal(w.calls.ncell, 5);
	assert_true(w.calls.unsized);
	assert_int_equal(w.calls.cell[0].calls, 2);
	assert_int_equal(w.calls.cell[0].bytes_min, 1024);
	assert_int_equal(w.calls.cell[0].bytes_max, 2047);
	assert_int_equal(w.calls.cell[1].bytes_min, 2048);
	assert_int_equal(w.calls.cell[2].bytes_min, 1024);
	assert_string_equal(w.calls.cell[3].collective, "gather");
	assert_int_equal(w.calls.cell[3].bytes_max, 512);
	assert_int_equal(w.calls.cell[3].calls, 2);
	assert_null(w.calls.cell[4].collective);
	assert_string_equal(w.calls.cell[4].function, "MPI_Barrier");
	world_close(&w);
}

/* ---- shorter calls ---- */

static int64_t by_thread(void *ctx, uint32_t thread, uint64_t begin_ns, int64_t own_ns)
{
	const int64_t *by = ctx;

	assert_true(begin_ns >= 2000 && own_ns >= 0 && own_ns <= 1000);
	return by[thread] < own_ns ? by[thread] : own_ns;
}

static uint64_t gain_of(struct world *w, const int64_t *by)
{
	const struct whatif_change change = {.shorten = by_thread, .ctx = (void *)by};

	return whatif_run(w->whatif, &change);
}

/* Two calls; rank 3 is the last to both, and has computed in between. */
TEST(shorten)
{
	static const struct part first[RANKS] = {
		{2000, 3000, 8, 8}, {2000, 3000, 8, 8}, {2000, 3000, 8, 8}, {2000, 3000, 8, 8}};
	static const struct part second[RANKS] = {
		{3100, 9000, 8, 8}, {3100, 9000, 8, 8}, {3100, 9000, 8, 8}, {8000, 9000, 8, 8}};
	static const int64_t none[RANKS] = {0}, all[RANKS] = {400, 400, 400, 400},
			     three[RANKS] = {400, 400, 400, 0}, last[RANKS] = {0, 0, 0, 400},
			     longer[RANKS] = {-400, -400, -400, -400},
			     most[RANKS] = {5000, 5000, 5000, 5000};
	struct world w;

	world_open(&w);
	told(&w, &bcast, first);
	told(&w, &bcast, second);
	assert_int_equal(gain_of(&w, none), 0);
	assert_int_equal(gain_of(&w, all), 800);
	/* Three ranks gain nothing by being faster to where they wait for the fourth, which itself takes as long as before. */
	assert_int_equal(gain_of(&w, three), 0);
	/* The fourth comes 400 earlier, and is done 800 earlier; the others 400. */
	assert_int_equal(gain_of(&w, last), 400);
	assert_int_equal(gain_of(&w, longer), 0);
	assert_int_equal(gain_of(&w, most), 2000);
	world_close(&w);
}

/* ---- result files ---- */

#define LAUNCH(results)                                                                                       \
	"{\"factors\":{\"host\":\"n1\",\"mpi\":{\"library\":\"Open MPI v4.1.4\"},\"environment\":{"           \
	"\"OMPI_MCA_coll\":\"tuned\"},\"ranks\":[{\"host\":\"n1\"},{\"host\":\"n2\"}]},\"results\":[" results \
	"]}"
#define RESULT(name, ranks, algorithm, points)                                                  \
	"{\"benchmark\":\"" name "\",\"kind\":\"curve\",\"ranks\":" ranks                       \
	",\"took_ns\":1000,\"core_wait_ns\":41,\"options\":{" algorithm "},\"points\":[" points \
	"]}"
#define POINT(bytes, ns) "{\"bytes\":" bytes ",\"times\":{\"measured\":{\"median\":" ns "}}}"
#define FILE_OF(launches) "{\"format\":\"povbench\",\"version\":2,\"launches\":[" launches "]}"

static int text_read(const char *text, struct measured *m)
{
	char path[] = "/tmp/povtest.XXXXXX";
	const char *list[] = {path};
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = measured_read(list, 1, m);
	unlink(path);
	return err;
}

TEST(measured)
{
	struct measured m;

	assert_int_equal(text_read(FILE_OF(LAUNCH(RESULT(
					   "allreduce_latency:ring", "2",
					   "\"algorithm\":\"4\",\"algorithm_name\":\"ring\"",
					   POINT("8", "1234.5") "," POINT(
						   "64", "2000")) "," RESULT("latency", "2", "",
									     POINT("8", "1")))),
				   &m),
			 0);
	assert_int_equal(m.npoint, 2);
	assert_string_equal(m.point[0].collective, "allreduce");
	assert_string_equal(m.point[0].algorithm, "4");
	assert_string_equal(m.point[0].name, "ring");
	assert_int_equal(m.point[1].bytes, 64);
	assert_true(m.point[0].median_ns == 1234.5);
	assert_true(m.point[0].busy); /* 41 of 2 × 1000 */
	assert_true(m.point[0].launch->several_hosts);
	assert_string_equal(m.point[0].launch->library, "Open MPI v4.1.4");
	measured_release(&m);
	assert_int_equal(measured_read(NULL, 0, &m), 0);
	assert_int_equal(m.npoint, 0);
	measured_release(&m);
}

/* A file is unusable, or only some of it is. */
TEST(measured_hostile)
{
	static const char *const unusable[] = {
		"",
		"{",
		"[]",
		"null",
		"7",
		"\"povbench\"",
		"{\"format\":7}",
		FILE_OF(""),
		FILE_OF("7,null,[],{}"),
		"{\"format\":\"povbench\",\"version\":2,\"launches\":7}",
		FILE_OF("{\"results\":{}}"),
		FILE_OF("{\"factors\":7,\"results\":[7,null,[],\"x\",{}]}"),
		FILE_OF(LAUNCH(RESULT("_latency", "2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latencyx", "2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "1", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "-2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "4294967298", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "\"2\"", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("-8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "0")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "-1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "1e300")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8.5", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", "7,null,[],{\"bytes\":8}"))),
		/* would be typed */
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "\"algorithm\":\"1; rm x\"",
				      POINT("8", "1")))),
		FILE_OF(LAUNCH(
			RESULT("allreduce_latency", "2", "\"algorithm\":\"\"", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("all$(x)_latency", "2", "", POINT("8", "1")))),
	};
	struct measured m;

	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++)
		assert_true(text_read(unusable[i], &m) < 0);
	assert_true(measured_read((const char *[]){"/nowhere"}, 1, &m) < 0);
	assert_int_equal(
		text_read(FILE_OF("7," LAUNCH(RESULT("bcast_latency", "2", "\"algorithm\":7",
						     "7," POINT("8", "1")))),
			  &m),
		0);
	assert_int_equal(m.npoint, 1);
	assert_null(m.point[0].algorithm);
	measured_release(&m);
}

/* Every byte of a good file in turn becomes another one. */
TEST(measured_spoiled)
{
	static const char good[] = FILE_OF(
		LAUNCH(RESULT("allreduce_latency:ring", "2", "\"algorithm\":\"4\"",
			      POINT("8", "1234.5") "," POINT("64", "2000"))));
	static const char with[] = "\"{}[],:7\\\x80 ";
	char text[sizeof(good)];
	struct measured m;

	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < sizeof(good) - 1; i += 1) {
		memcpy(text, good, sizeof(good));
		text[i] = with[i % (sizeof(with) - 1)];
		if (!text_read(text, &m))
			measured_release(&m);
	}
}
