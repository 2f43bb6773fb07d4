/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What tracing cost each process, counted from records, and the sentence made of it. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "collect/toll_window.h"
#include "layer/func_table.h"

static const struct probe_cost cost = {.call_ns = 10, .spin_ns = 5, .stepped_ns = 30, .samples = 1};

static uint16_t func(const char *name)
{
	for (size_t i = 0; i < func_table_count(); i++) {
		if (!strcmp(func_table_get(i)->name, name))
			return (uint16_t)i;
	}
	fail_msg("no %s", name);
	return 0;
}

static void calls(struct toll *t, uint32_t tgid, const char *name, uint16_t lib, int n)
{
	struct pov_call c = {.hdr = {.size = sizeof(c), .kind = POV_KIND_CALL, .tid = tgid + 1},
			     .tgid = tgid,
			     .func = func(name),
			     .lib = lib};

	while (n--)
		toll_record(t, &c.hdr);
}

static void spin(struct toll *t, uint32_t tgid, const char *name, uint64_t cnt)
{
	uint64_t words[(sizeof(struct pov_spin) + sizeof(struct pov_spin_func)) / 8] = {0};
	struct pov_spin *s = (struct pov_spin *)words;

	s->hdr = (struct pov_hdr){.size = sizeof(words), .kind = POV_KIND_SPIN, .tid = tgid};
	s->tgid = tgid;
	s->nfuncs = 1;
	s->func[0] = (struct pov_spin_func){.func = func(name), .cnt = cnt};
	toll_record(t, &s->hdr);
}

static void region(struct toll *t, uint32_t tgid)
{
	struct pov_region r = {.hdr = {.size = sizeof(r), .kind = POV_KIND_REGION, .tid = tgid},
			       .tgid = tgid};

	toll_record(t, &r.hdr);
	r.hdr.flags = POV_REGION_END;
	toll_record(t, &r.hdr);
}

static void life(struct toll *t, uint32_t tgid, uint64_t begin_ns, uint64_t end_ns)
{
	struct pov_fork f = {
		.hdr = {.size = sizeof(f), .kind = POV_KIND_FORK, .ts_ns = begin_ns, .tid = 1},
		.child_tid = tgid,
		.child_tgid = tgid};
	struct pov_exit e = {
		.hdr = {.size = sizeof(e), .kind = POV_KIND_EXIT, .ts_ns = end_ns, .tid = tgid},
		.tgid = tgid};

	toll_record(t, &f.hdr);
	toll_record(t, &e.hdr);
	f.child_tid = e.hdr.tid = tgid + 1; /* a thread: no life of its own */
	f.hdr.ts_ns = e.hdr.ts_ns = begin_ns + 1;
	toll_record(t, &f.hdr);
	toll_record(t, &e.hdr);
}

TEST(worst)
{
	struct toll t = {0};
	struct distortion d;
	uint32_t pid;

	calls(&t, 100, "MPI_Send", 0, 10);
	spin(&t, 100, "MPI_Test", 100);
	calls(&t, 200, "MPI_Send", 1, 7);
	calls(&t, 200, "tcp_sendmsg", POV_LIB_KERNEL, 1000); /* no probes */
	toll_find(&t, &cost, 0, 10000, &d, &pid);
	assert_int_equal(pid, 100);
	assert_true(d.pct > 5.99 && d.pct < 6.01); /* 100 + 500 of 10000 */
	assert_int_equal(d.above, 1);
	assert_true(distortion_matters(&d));
	assert_string_equal(d.func[0].name, "MPI_Test");
	assert_int_equal(distortion_func_cnt(&d), 1);
	/* the other one lived for a short time */
	life(&t, 200, 5000, 5700);
	toll_find(&t, &cost, 0, 10000, &d, &pid);
	assert_int_equal(pid, 200);
	assert_true(d.pct > 9.99 && d.pct < 10.01);
	assert_int_equal(d.above, 2);
	toll_release(&t);
}

/* Of process 100. */
static struct pov_call preloaded_send(void)
{
	return (struct pov_call){.hdr = {.size = sizeof(struct pov_call),
					 .kind = POV_KIND_CALL,
					 .flags = POV_CALL_PRELOADED,
					 .tid = 100},
				 .tgid = 100,
				 .func = func("MPI_Send")};
}

/* What processes have recorded themselves costs what that costs, in the same library and function. */
TEST(preloaded)
{
	uint64_t words[(sizeof(struct pov_spin) + sizeof(struct pov_spin_func)) / 8] = {0};
	struct pov_spin *s = (struct pov_spin *)words;
	struct pov_call c = preloaded_send();
	struct probe_cost with = cost;
	struct toll t = {0};
	struct distortion d;
	uint32_t pid;

	with.preload_ns = 2;
	s->hdr = (struct pov_hdr){.size = sizeof(words),
				  .kind = POV_KIND_SPIN,
				  .flags = POV_SPIN_PRELOADED,
				  .tid = 100};
	s->tgid = 100;
	s->nfuncs = 1;
	s->func[0] = (struct pov_spin_func){.func = func("MPI_Test"), .cnt = 90};
	toll_record(&t, &s->hdr);
	for (int i = 0; i < 10; i++)
		toll_record(&t, &c.hdr);
	toll_find(&t, &with, 0, 10000, &d, &pid);
	assert_int_equal(pid, 100);
	assert_true(d.pct > 1.99 && d.pct < 2.01); /* 100 × 2 of 10000 */
	calls(&t, 100, "MPI_Send", 0, 10);	   /* by probes, 10 ns each */
	toll_find(&t, &with, 0, 10000, &d, &pid);
	assert_true(d.pct > 2.99 && d.pct < 3.01);
	toll_release(&t);
}

/* Between two looks, with what threads have not told yet: it is told once, by then or later. */
TEST(preloaded_window)
{
	struct pov_call c = preloaded_send();
	struct pov_counted n = {.hdr = {.size = sizeof(n),
					.kind = POV_KIND_COUNTED,
					.flags = POV_COUNTED_PRELOADED,
					.tid = 100},
				.calls = 40,
				.tgid = 100,
				.func = func("MPI_Send")};
	struct probe_cost with = cost;
	struct toll_costs out = {0};
	struct toll t = {0};

	with.preload_ns = 2;
	with.preload_counted_ns = 1;
	for (int i = 0; i < 10; i++)
		toll_record(&t, &c.hdr);
	toll_open_begin(&t);
	toll_open_preloaded(&t, &n.hdr);
	toll_look(&t, &with, 1000, &out);
	assert_int_equal(out.cnt, 1);
	assert_int_equal(out.v[0].tgid, 100);
	assert_true(out.v[0].now_pct > 5.99 && out.v[0].now_pct < 6.01); /* 10 × 2 + 40 × 1 */
	assert_true(out.v[0].full_pct > 9.99 && out.v[0].full_pct < 10.01);
	out.cnt = 0;
	n.calls = 41;
	toll_record(&t, &n.hdr); /* told by now: one more */
	toll_open_begin(&t);
	toll_look(&t, &with, 1000, &out);
	assert_int_equal(out.cnt, 1);
	assert_true(out.v[0].now_pct > 0.09 && out.v[0].now_pct < 0.11);
	toll_costs_release(&out);
	toll_release(&t);
}

/* A process is forgotten when it ended before, but not one that lives, nor a later one of its number. */
TEST(prune)
{
	struct toll t = {0};
	struct distortion d;
	uint32_t pid;

	calls(&t, 100, "MPI_Send", 0, 30);
	calls(&t, 200, "MPI_Send", 0, 20);
	calls(&t, 300, "MPI_Send", 0, 10);
	life(&t, 100, 1000, 2000);
	life(&t, 200, 1000, 3000);
	toll_prune(&t, 2000);
	assert_int_equal(t.hits.cnt, 3);
	toll_prune(&t, 2001);
	assert_int_equal(t.hits.cnt, 2);
	assert_int_equal(t.begin.cnt, 1);
	assert_int_equal(t.end.cnt, 1);
	toll_find(&t, &cost, 0, 10000, &d, &pid);
	assert_int_equal(pid, 200);
	life(&t, 200, 4000, 9000); /* another one */
	toll_prune(&t, 5000);
	assert_int_equal(t.hits.cnt, 2);
	calls(&t, 300, "MPI_Send", 0, 1);
	toll_prune(&t, UINT64_MAX);
	assert_int_equal(t.hits.cnt, 1);
	toll_find(&t, &cost, 0, 1100, &d, &pid);
	assert_int_equal(pid, 300);
	assert_true(d.pct > 9.99 && d.pct < 10.01);
	toll_release(&t);
}

/* Regions cost, too, though they are no functions of the table. */
TEST(regions)
{
	struct toll t = {0};
	struct distortion d;
	uint32_t pid;

	for (int i = 0; i < 7; i++)
		region(&t, 100);
	toll_find(&t, &cost, 0, 1000, &d, &pid);
	assert_int_equal(pid, 100);
	assert_true(d.pct > 6.99 && d.pct < 7.01);
	assert_int_equal(distortion_func_cnt(&d), 0);
	toll_release(&t);
}

TEST(stepped)
{
	json_t *lib = json_pack("{s:i,s:[s,s]}", "id", 1, "stepped_names", "MPI_Send", "MPI_Recv");
	struct toll t = {0};
	struct distortion d;
	uint32_t pid;

	calls(&t, 100, "MPI_Send", 0, 10);
	calls(&t, 200, "MPI_Send", 1, 10);
	calls(&t, 200, "MPI_Barrier", 1, 1);
	toll_library(&t, lib);
	toll_find(&t, &cost, 0, 1000, &d, &pid);
	assert_int_equal(pid, 200);
	assert_true(d.pct > 30.99 && d.pct < 31.01);		   /* 10 x 30 + 10 of 1000 */
	toll_find(&t, &(struct probe_cost){0}, 0, 1000, &d, &pid); /* not calibrated */
	assert_int_equal(pid, 0);
	assert_false(distortion_matters(&d));
	toll_release(&t);
	json_decref(lib);
}

TEST(text)
{
	struct distortion d = {.pct = 58.4, .who = "rank 3", .above = 1};
	char *text;

	text = distortion_text(&d);
	assert_string_equal(text, "tracing took 58 % of rank 3's wall time");
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
		"tracing took 6.0 % of rank 3's wall time (7 ranks above 5 %), mostly by MPI_Test, "
		"MPI_Iprobe: leave these out with --no-functions MPI_Test --no-functions MPI_Iprobe, or "
		"whole groups with --mpi");
	free(text);
}
