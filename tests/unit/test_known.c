/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that begins in the middle repeats what came before: mappings, masks, regions, calls about communicators; through
 * fork, exec and exit. And calls that are under way at a moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "abi/event.h"
#include "base/log.h"
#include "collect/known.h"
#include "collect/under_way.h"
#include "tool/povmake/maker.h"

static const struct pov_fn fns[2] = {[1] = {.learn = POV_LEARN_MEMBERS}};

static struct known *known;
static char *told; /* one line for each record */
static size_t told_bytes;
static FILE *told_out;

/* The members that matter here. */
static void on_told(void *ctx, const struct pov_hdr *rec)
{
	const struct pov_image *i = (const struct pov_image *)rec;
	const struct pov_affinity *a = (const struct pov_affinity *)rec;
	const struct pov_region *r = (const struct pov_region *)rec;
	const struct pov_more *m = (const struct pov_more *)rec;
	const struct pov_call *c = (const struct pov_call *)rec;
	const struct pov_spin *s = (const struct pov_spin *)rec;
	unsigned long long ts = rec->ts_ns;

	(void)ctx;
	if (rec->kind == POV_KIND_IMAGE) {
		assert_int_equal(rec->tid, i->tgid);
		fprintf(told_out, "image %llu %u ino %llu\n", ts, rec->tid,
			(unsigned long long)i->ino);
	} else if (rec->kind == POV_KIND_AFFINITY) {
		fprintf(told_out, "mask %llu %u %llx\n", ts, rec->tid,
			(unsigned long long)a->mask[0]);
	} else if (rec->kind == POV_KIND_REGION) {
		fprintf(told_out, "region %llu %u%s\n", ts, r->region,
			rec->flags & POV_REGION_EARLIER ? " earlier" : "");
	} else if (rec->kind == POV_KIND_MORE) {
		fprintf(told_out, "more %u begin %llu\n", rec->tid,
			(unsigned long long)m->begin_ns);
	} else if (rec->kind == POV_KIND_SPIN) {
		fprintf(told_out, "spin %llu %u dur %llu cnt %llu%s\n", ts, rec->tid,
			(unsigned long long)s->dur_ns, (unsigned long long)s->func[0].cnt,
			rec->flags == POV_SPIN_OPEN ? " open" : "");
	} else {
		assert_true(rec->kind == POV_KIND_UNSHOWN || rec->kind == POV_KIND_CALL);
		fprintf(told_out, "%s %llu %u dur %llu ret %llu%s%s\n",
			rec->kind == POV_KIND_CALL ? "call" : "unshown", ts, rec->tid,
			(unsigned long long)c->dur_ns, (unsigned long long)c->ret,
			rec->flags & POV_CALL_EARLIER ? " earlier" : "",
			rec->flags & POV_CALL_OPEN ? " open" : "");
	}
}

static int setup(void **state)
{
	(void)state;
	known = known_new(fns, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	known_free(known);
	return 0;
}

/* Records as povmake writes them; their tgid is their tid, unless it is given. */
static void records_each(const char *text, void (*f)(void *ctx, const struct pov_hdr *rec),
			 void *ctx)
{
	static struct maker m;
	char *all = xstrdup(text), *save = NULL;

	m.brief = true;
	for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const struct text_kind *k = text_kinds;
		size_t len = strcspn(line, " ");

		while (strncmp(k->name, line, len) != 0 || k->name[len])
			k++;
		record_fill(&m, k, line + len);
		f(ctx, &m.rec.hdr);
	}
	free(all);
}

static void known_take(void *ctx, const struct pov_hdr *rec)
{
	known_record(ctx, rec);
}

static void takes(const char *text)
{
	records_each(text, known_take, known);
}

static void tells(uint64_t begin_ns, const char *wanted)
{
	told_out = open_memstream(&told, &told_bytes);
	known_tell(known, begin_ns, on_told, NULL);
	fclose(told_out);
	assert_string_equal(told, wanted);
	free(told);
}

TEST(processes)
{
	takes("image ts=100 tid=10 start=0x1000 ino=1\n"
	      "image ts=110 tid=10 start=0x2000 ino=2\n"
	      "image ts=120 tid=10 start=0x1000 ino=3\n" /* replaces the first */
	      "affinity ts=130 tid=11 tgid=10 cpus=1-2\n"
	      "affinity ts=140 tid=11 tgid=10 cpus=0-2\n"
	      "image ts=900 tid=10 start=0x9000 ino=9\n"); /* not before 500 */
	tells(500, "image 500 10 ino 2\nimage 500 10 ino 3\nmask 500 11 7\n");
	takes("fork ts=400 tid=10 child=20 tgid=20 parent_tgid=10\n"
	      "rename ts=450 tid=10\n"
	      "image ts=460 tid=10 start=0x4000 ino=4\n"
	      "exec ts=470 tid=10\n");
	/* the child has its parent's images, the parent the new program's */
	tells(500, "image 500 20 ino 2\nimage 500 20 ino 3\nimage 500 10 ino 4\n");
}

TEST(regions)
{
	takes("region ts=100 tid=10 sp=0x900 region=0\n"
	      "region ts=110 tid=10 sp=0x800 region=1\n"
	      "region ts=120 tid=10 sp=0x700 region=2\n"
	      "region ts=130 tid=10 sp=0x700 region=2 flags=end\n"
	      "region ts=140 tid=10 sp=0x700 region=3\n"
	      "region ts=150 tid=10 sp=0x600 region=4\n"
	      /* 4 was left without a return; 3 was not */
	      "region ts=160 tid=10 sp=0x700 region=5 flags=chained\n"
	      "region ts=600 tid=10 sp=0x500 region=6\n");
	tells(500, "region 500 0 earlier\nregion 500 1 earlier\nregion 500 3 earlier\n"
		   "region 500 5 earlier\n");
	takes("exit ts=700 tid=10\n");
	tells(800, "");
}

#define PLAIN " func=0\n"
#define SPLIT " func=1\n"

/* Calls that teach something are told in their order, with their continuations, on moments past the begin. */
TEST(calls)
{
	takes("call ts=300 dur=200 tid=10 ret=5" SPLIT "call ts=160 dur=10 tid=10 ret=5" PLAIN
	      "more ts=240 tid=11 begin=210\n"
	      "call ts=250 dur=40 tid=11 ret=5" SPLIT
	      "more ts=240 tid=11 begin=260\n" /* of a call that teaches nothing */
	      "call ts=270 dur=10 tid=11 ret=5" PLAIN
	      "call ts=900 dur=590 tid=11 ret=5" SPLIT); /* ends later */
	/* moments: 100 210 250 300 */
	tells(500, "unshown 504 10 dur 3 ret 5 earlier\nmore 11 begin 502\n"
		   "unshown 503 11 dur 1 ret 5 earlier\n");
	takes("exec ts=600 tid=10\n");
	tells(800, "more 11 begin 801\nunshown 802 11 dur 1 ret 5 earlier\n");
}

static bool is_ten(void *ctx, uint32_t pid)
{
	(void)ctx;
	return pid == 10;
}

static void split_call(uint64_t begin_ns, uint32_t pid)
{
	const struct pov_call c = {
		.hdr = {.size = sizeof(c), .kind = POV_KIND_CALL, .tid = pid, .ts_ns = begin_ns + 1},
		.dur_ns = 1,
		.tgid = pid,
		.func = 1};

	known_record(known, &c.hdr);
}

TEST(bounded)
{
	uint64_t n = (16u << 20) / sizeof(struct pov_call) + 1;

	takes("image ts=1 tid=10 start=0x1000 ino=1\nimage ts=1 tid=12 start=0x1000 ino=1\n");
	for (uint64_t i = 0; i < n; i++)
		split_call(10 * i, 10);
	assert_int_equal(known_forgotten(known), 0);
	split_call(10 * n, 12);
	assert_int_equal(known_forgotten(known), n);
	split_call(10 * n + 2, 10);
	known_prune(known, is_ten, NULL);
	/* the mapping and the call of process 12 */
	tells(1000000000, "image 1000000000 12 ino 1\nunshown 1000000002 12 dur 1 ret 0 earlier\n");
}

static void under_way_take(void *ctx, const struct pov_hdr *rec)
{
	under_way_record(ctx, rec);
}

/* What lay across a moment is told once; not what had returned before, and what began later. */
TEST(under_way)
{
	struct under_way u;

	under_way_init(&u, 100);
	records_each("call ts=90 dur=80 tid=1 ret=5" PLAIN "call ts=120 dur=10 tid=1 ret=5" PLAIN
		     "call ts=130 dur=50 tid=2 ret=5" PLAIN "call ts=130 dur=50 tid=2 ret=5" PLAIN
		     "call ts=140 dur=40 tid=3 ret=5" PLAIN
		     "call ts=150 dur=90 tid=4 ret=5 flags=0x20" PLAIN
		     "spin ts=160 dur=90 tid=5 funcs=0:7:0\n",
		     under_way_take, &u);
	told_out = open_memstream(&told, &told_bytes);
	assert_int_equal(under_way_tell(&u, on_told, NULL), 1);
	fclose(told_out);
	assert_string_equal(told, "call 100 2 dur 20 ret 0 open\n"
				  "spin 100 5 dur 30 cnt 7 open\n");
	free(told);
}

EACH_TEST(setup, teardown);
