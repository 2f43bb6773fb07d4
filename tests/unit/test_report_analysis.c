/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Histogram, lists of ranks, tables, and the analyses on a trace computed by hand. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "collect/toll.h"
#include "base/text.h"
#include "report/columns.h"
#include "report/report.h"
#include "unit/model_fixture.h"

/* ---- histogram ---- */

static int u64_compare(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

TEST(histogram_quantiles)
{
	static const double pcts[] = {1, 25, 50, 90, 99, 99.9};
	static uint64_t v[10007];
	struct histogram h = {0}, half = {0};
	uint64_t random = 1, truth, got, sum = 0;
	size_t i, n = sizeof(v) / sizeof(v[0]);

	for (i = 0; i < n; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		v[i] = (random >> 20) >> (random % 43);
		sum += v[i];
		histogram_add(i % 2 ? &half : &h, v[i]);
	}
	histogram_merge(&h, &half);
	qsort(v, n, sizeof(v[0]), u64_compare);
	assert_int_equal(h.cnt, n);
	assert_int_equal(h.sum, sum);
	assert_int_equal(histogram_quantile(&h, 0), v[0]);
	assert_int_equal(histogram_quantile(&h, 100), v[n - 1]);
	for (i = 0; i < sizeof(pcts) / sizeof(pcts[0]); i++) {
		truth = v[(size_t)((double)n * pcts[i] / 100.0)];
		got = histogram_quantile(&h, pcts[i]);
		assert_true((double)got <= (double)truth * 1.009 + 1 &&
			    (double)got >= (double)truth / 1.009 - 1);
	}
	histogram_release(&h);
	histogram_release(&half);
}

TEST(histogram_edges)
{
	struct histogram h = {0};
	uint64_t i;

	assert_int_equal(histogram_quantile(&h, 50), 0);
	for (i = 0; i < 64; i++)
		histogram_add(&h, i);
	for (i = 1; i < 64; i++) /* small values are exact */
		assert_int_equal(histogram_quantile(&h, 100.0 * (double)i / 64), i - 1);
	histogram_release(&h);
	histogram_add(&h, UINT64_MAX);
	histogram_add(&h, 64);
	assert_int_equal(histogram_quantile(&h, 50), 64);
	assert_int_equal(histogram_quantile(&h, 100), UINT64_MAX);
	histogram_release(&h);
	histogram_add(&h, 10001); /* a bucket's middle is another value: the minimum is exact */
	histogram_add(&h, 10001);
	histogram_add(&h, 20000);
	assert_int_equal(histogram_quantile(&h, 0), 10001);
	histogram_release(&h);
}

/* ---- losses ---- */

static void lose(struct losses *a, uint64_t from_ns, uint64_t to_ns, uint16_t class)
{
	a->sink.lost(a, &(struct model_lost){
				.since_ns = from_ns, .ts_ns = to_ns, .cnt = 1, .class = class});
}

TEST(losses)
{
	struct losses a;
	uint32_t i;

	losses_init(&a);
	assert_int_equal(losses_in(&a, 0, UINT64_MAX), 0);
	lose(&a, 100, 200, POV_CLASS_CALL);
	lose(&a, 150, 300, POV_CLASS_CALL); /* of another ring */
	lose(&a, 500, 600, POV_CLASS_SPIN);
	assert_int_equal(losses_in(&a, 0, 99), 0);
	assert_int_equal(losses_in(&a, 0, 100), LOSS_CALL);
	assert_int_equal(losses_in(&a, 300, 400), LOSS_CALL);
	assert_int_equal(losses_in(&a, 301, 499), 0);
	assert_int_equal(losses_in(&a, 250, 550), LOSS_CALL | LOSS_SPIN);
	/* too many to be kept one by one: none is forgotten, and what was before stays known */
	for (i = 0; i < 2 * LOSS_SPANS_MAX; i++)
		lose(&a, 1000 + 10 * i, 1001 + 10 * i, POV_CLASS_CALL);
	for (i = 0; i < 2 * LOSS_SPANS_MAX; i++)
		assert_int_equal(losses_in(&a, 1001 + 10 * i, 1002 + 10 * i), LOSS_CALL);
	assert_int_equal(losses_in(&a, 1002, 1009), 0);
	assert_int_equal(losses_in(&a, 1001 + 10 * i, UINT64_MAX), 0);
	lose(&a, 5, 5, POV_CLASS_CNT); /* of a class that is not known: anything, anywhere */
	assert_int_equal(losses_in(&a, 0, 1), LOSS_MISSED);
	assert_int_equal(losses_of_core(&a, 3), LOSS_MISSED);
	losses_release(&a);
}

/* ---- lists of ranks ---- */

TEST(rank_list)
{
	static const char *const bad[] = {"",	",",  "1,", "a",	  "3-1",  "-1",
					  "1-", "1:", "1 ", "4294967296", "1:2:3"};
	struct rank_list l = {0};
	size_t i;

	assert_true(rank_list_has(&l, 0, 5));
	assert_true(rank_list_has(&l, 0, -1));
	assert_int_equal(rank_list_parse("0,2,5-8", &l), 0);
	assert_int_equal(rank_list_parse("1:3", &l), 0);
	assert_true(rank_list_has(&l, 0, 0));
	assert_false(rank_list_has(&l, 0, 1));
	assert_true(rank_list_has(&l, 7, 8));
	assert_false(rank_list_has(&l, 0, 9));
	assert_false(rank_list_has(&l, 0, 3));
	assert_true(rank_list_has(&l, 1, 3));
	assert_false(rank_list_has(&l, 0, -1));
	rank_list_release(&l);
	log_set_level(LOG_QUIET);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(rank_list_parse(bad[i], &l) < 0);
		rank_list_release(&l);
	}
	log_set_level(LOG_INFO);
}

/* ---- tables ---- */

TEST(columns)
{
	struct columns *c = columns_new();
	char *text = NULL, *clean;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	columns_add(c, "name", COLUMNS_LEFT);
	columns_add(c, "n", COLUMNS_RIGHT);
	columns_add(c, "%", COLUMNS_TIGHT);
	columns_text(c, "z\xc3\xbcrich\n\xff", 20);
	columns_cell(c, "%d", 12345);
	columns_cell(c, "1.5");
	columns_rule(c);
	columns_text(c, "all of them", 6);
	columns_cell(c, "%d", 7);
	columns_cell(c, "%s", "");
	columns_print(c, out);
	fclose(out);
	assert_string_equal(text, "  name          n   %\n"
				  "  z\xc3\xbcrich??  12345 1.5\n"
				  "  -------------------\n"
				  "  all o\xe2\x80\xa6        7\n");
	free(text);
	columns_free(c);
	clean = text_printable("a\x1b[31mb\xe2\x80\xa8\xc0\xaf", 40);
	assert_null(strchr(clean, '\x1b'));
	free(clean);
}

/* ---- analyses ---- */

#define FIELD_BYTES 16

/* A field of one 8-byte element. */
static void field(char *at, uint8_t type, uint8_t arg, uint64_t value)
{
	struct pov_field head = {.type = type, .arg = arg, .size = 8, .cnt = 1};

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), &value, 8);
}

static void put_send(struct mfix *f, uint64_t begin, uint64_t end, uint32_t tid, uint64_t count)
{
	uint64_t args[] = {0x7f0000000000, count, 0x1000, 1, 5, 0x2000};
	char fields[FIELD_BYTES];

	field(fields, POV_FIELD_TYPE_SIZE, 2, 4);
	put_call_args(f, begin, end, tid, tid, "MPI_Send", args, 6, fields, sizeof(fields));
}

/* Send_init of 10 × 4 bytes, started twice, then freed. */
static void put_persistent(struct mfix *f, uint64_t ts, uint32_t tid)
{
	uint64_t init[] = {0x7f0000000000, 10, 0x1000, 1, 5, 0x2000, 0x7ffc0000},
		 req[] = {0x7ffc0000};
	char fields[2 * FIELD_BYTES];

	field(fields, POV_FIELD_TYPE_SIZE, 2, 4);
	field(fields + FIELD_BYTES, POV_FIELD_OUT, 6, 0xabc0);
	put_call_args(f, ts, ts + 1, tid, tid, "MPI_Send_init", init, 7, fields, sizeof(fields));
	field(fields, POV_FIELD_IN, 0, 0xabc0);
	put_call_args(f, ts + 2, ts + 3, tid, tid, "MPI_Start", req, 1, fields, FIELD_BYTES);
	put_call_args(f, ts + 4, ts + 5, tid, tid, "MPI_Start", req, 1, fields, FIELD_BYTES);
}

static void trace_write(struct mfix *f)
{
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1");
	mfix_functions(f);
	mfix_rank(f, 1000, 100, 0, "app");
	mfix_rank(f, 1000, 200, 1, "app");
	mfix_meta(f, "{\"type\":\"target\",\"ts_ns\":1000,\"pid\":50,\"cmdline\":[\"mpirun\"]}");
	mfix_meta(
		f,
		"{\"type\":\"library\",\"id\":0,\"path\":\"/lib/libmpi.so\",\"flavour\":\"openmpi\","
		"\"version\":\"4.1.4\",\"layout\":{\"handle_bytes\":8,\"status_bytes\":24},\"named\":[],"
		"\"link\":\"uprobe_multi\",\"attached\":400,\"missing\":[\"MPI_X\"],\"failed\":[],"
		"\"stepped_names\":[\"MPI_Test\",\"MPI_Barrier\"]}");
	mfix_meta(
		f,
		"{\"type\":\"library\",\"id\":1,\"path\":\"/lib/other.so\",\"stepped_names\":[\"MPI_Send\"]}");
	mfix_meta(
		f,
		"{\"type\":\"probe_cost\",\"call_ns\":2.5,\"spin_ns\":1.0,\"stepped_ns\":4.5,\"samples\":9}");
	put_task(f, 1000, 50, 50, 1, 0, 0, "mpirun");
	put_task(f, 1000, 100, 100, 0, 1, 0, "app");
	put_task(f, 1000, 200, 200, 0, 1, 1, "app");
	/* Rank 0 on CPU 0: sends 1010..1030, sleeps in Recv 1050..1100 from 1060 to 1090. */
	put_send(f, 1010, 1020, 100, 5);
	put_send(f, 1020, 1030, 100, 0);
	put_call_begin(f, 1060, 0, 100, 1050, 0);
	put_switch(f, 1060, 0, 100, SLEEPS, 50);
	put_waking(f, 1085, 0, 50, 100, 0);
	put_switch(f, 1090, 0, 50, SLEEPS, 100);
	put_call(f, 1050, 1100, 0, 100, 100, "MPI_Recv", 0, 0);
	put_persistent(f, 1110, 100);
	/* Rank 1 on CPU 1: 40 polls of 20 ns together, a barrier with a nested send, preempted outside, moved. */
	put_spin(f, 1010, 1060, 1, 200, 200, "MPI_Test", 0, 40, 20);
	put_call(f, 1072, 1074, 1, 200, 200, "MPI_Send", 1, 0);
	put_call(f, 1070, 1080, 1, 200, 200, "MPI_Barrier", 0, 0);
	put_switch(f, 1120, 1, 200, PREEMPTED, 77);
	put_migrate(f, 1130, 200, 1, 0);
	put_switch(f, 1140, 1, 77, SLEEPS, 0);
	put_switch(f, 1150, 0, 100, PREEMPTED, 200);
	put_lost(f, 1150, 1160, 0, POV_CLASS_CALL, 3);
	put_call(f, 1160, 1200, 0, 200, 200, "MPI_Wait", 0, POV_CALL_OPEN);
	mfix_meta(
		f,
		"{\"type\":\"end\",\"ts_ns\":1200,\"reason\":\"test\",\"own_cpu_ns\":7,"
		"\"drops\":[{\"ring\":0,\"class\":0,\"cnt\":3}],\"misses\":{\"depth\":2},\"stats\":{}}");
}

static const struct function_row *function(struct function_row **row, uint32_t n, const char *name)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!strcmp(row[i]->func->name, name))
			return row[i];
	}
	fail_msg("no %s", name);
	return NULL;
}

static void check_times(const struct report *r)
{
	const struct time_row *t = &r->time.process[r->row[0]];

	assert_int_equal(t->wall_ns, 200);
	assert_int_equal(t->thread_ns, 200);
	assert_int_equal(t->times.ns[THREAD_RUNNING], 60 + 60);
	assert_int_equal(t->times.ns[THREAD_RUNNABLE], 5 + 50);
	assert_int_equal(t->times.ns[THREAD_BLOCKED], 25);
	assert_int_equal(t->call_ns, 20 + 50 + 3);
	assert_int_equal(t->calls, 6);
	assert_int_equal(t->call_split.ns[THREAD_BLOCKED], 25);
	/* Send and Recv wait, Send_init and Start do not. */
	assert_int_equal(t->polling_ns, 20 + 20);
	t = &r->time.process[r->row[1]];
	assert_int_equal(t->times.ns[THREAD_RUNNING], 120 + 50);
	assert_int_equal(t->times.ns[THREAD_RUNNABLE], 30);
	assert_int_equal(t->call_ns, 10 + 40);
	assert_int_equal(t->spin_ns, 20);
	assert_int_equal(t->polls, 40);
	assert_int_equal(t->nested_calls, 1);
	assert_int_equal(t->open_calls, 1);
	assert_int_equal(t->polling_ns, 20 + 10 + 40);
}

static void check_functions(const struct report *r)
{
	uint32_t n;
	struct function_row **row = functions_sum(&r->functions, r->chosen, r->nprocesses, &n);
	const struct function_row *f = function(row, n, "MPI_Send");

	assert_int_equal(f->calls, 2);
	assert_int_equal(f->nested_calls, 1);
	assert_int_equal(f->send_bytes, 20);
	assert_int_equal(f->total_ns, 20);
	f = function(row, n, "MPI_Send_init");
	assert_int_equal(f->send_bytes, 0);
	f = function(row, n, "MPI_Start");
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->send_bytes, 80);
	f = function(row, n, "MPI_Test");
	assert_int_equal(f->calls, 40);
	assert_int_equal(f->polls, 40);
	assert_int_equal(f->durations.cnt, 0);
	f = function(row, n, "MPI_Wait");
	assert_int_equal(f->open, 1);
	assert_int_equal(f->durations.cnt, 0);
	f = function(row, n, "MPI_Recv");
	assert_int_equal(f->unknown_recvs, 1);
	assert_int_equal(row[0]->total_ns, 50);
	functions_sum_free(row, n);
}

static void check_rest(const struct report *r)
{
	const struct message_row *m = r->messages.process[r->row[0]];
	const struct switch_row *s = &r->switches.process[r->row[1]];
	const struct coverage *v = &r->coverage;

	assert_int_equal(m->cnt[MESSAGE_P2P][0], 1);
	assert_int_equal(m->cnt[MESSAGE_P2P][5], 1); /* 16…31 */
	assert_int_equal(m->cnt[MESSAGE_P2P][6], 2); /* 32…63, at each start */
	assert_int_equal(m->bytes[MESSAGE_P2P][6], 80);
	assert_int_equal(s->involuntary, 1);
	assert_int_equal(s->migrations, 1);
	assert_int_equal(r->switches.process[r->row[0]].voluntary, 1);
	assert_int_equal(r->switches.process[r->row[0]].wakeups, 1);
	assert_int_equal(cores_share_ns(&r->cores, r->row[1], 0), 50);
	assert_int_equal(cores_share_ns(&r->cores, r->row[1], 1), 120);
	assert_int_equal(r->cores.core[0].rank_ns, 120 + 50);
	assert_int_equal(r->cores.core[0].target_ns, 30);
	assert_int_equal(r->cores.core[1].other_ns, 20);
	assert_int_equal(r->cores.core[1].idle_ns, 60);
	assert_int_equal(r->cores.core[1].unknown_ns, 0);
	assert_int_equal(v->lost_cnt[POV_CLASS_CALL], 3);
	assert_int_equal(v->loss[POV_CLASS_CALL].first_ns, 1150);
	assert_int_equal(v->open_calls, 1);
	assert_int_equal(v->process[r->row[1]].calls, 3);
	assert_int_equal(v->process[r->row[1]].stepped, 40 + 1); /* of library 0: no Send */
	assert_int_equal(v->process[r->row[1]].cost_ns, 7 + 40 + 41 * 2);
	assert_int_equal(v->process[r->row[0]].stepped, 0);
	assert_int_equal(v->own_cpu_ns, 7);
	assert_int_equal(v->library[0].attached, 400);
	assert_int_equal(v->library[0].missing, 1);
}

TEST(analyses)
{
	const struct report_options opt = {.top = 15};
	struct report r;
	struct mfix f;

	trace_write(&f);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	assert_int_equal(r.nranks, 2);
	assert_int_equal(r.nrows, 2);
	check_times(&r);
	check_functions(&r);
	check_rest(&r);
	report_close(&r);
	mfix_release(&f);
}

/* --sort and --rank choose and order. */
TEST(chosen)
{
	struct report_options opt = {.sort = REPORT_SORT_RUNNABLE};
	struct report r;
	struct mfix f;

	trace_write(&f);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	assert_int_equal(model_process_get(r.model, r.row[0])->rank, 0);
	report_close(&r);
	opt.sort = REPORT_SORT_RUNNING;
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	assert_int_equal(model_process_get(r.model, r.row[0])->rank, 1);
	report_close(&r);
	assert_int_equal(rank_list_parse("1", &opt.ranks), 0);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	assert_int_equal(r.nrows, 1);
	assert_int_equal(r.nranks, 2);
	report_close(&r);
	rank_list_release(&opt.ranks);
	assert_int_equal(rank_list_parse("7", &opt.ranks), 0);
	log_set_level(LOG_QUIET);
	assert_true(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r) < 0);
	log_set_level(LOG_INFO);
	rank_list_release(&opt.ranks);
	mfix_release(&f);
}

/* A damaged block may have held anything of anybody. */
TEST(damage)
{
	const struct report_options opt = {.top = 15};
	char *text = NULL;
	struct report r;
	size_t bytes;
	struct mfix f;
	FILE *out;

	trace_write(&f);
	f.spoil = 1;
	log_set_level(LOG_QUIET);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	log_set_level(LOG_INFO);
	assert_true(r.lost[r.row[0]] & LOSS_DAMAGED);
	assert_true(losses_of_core(&r.losses, 0) & LOSS_DAMAGED);
	out = open_memstream(&text, &bytes);
	report_text(&r, out);
	fclose(out);
	assert_non_null(strstr(text, "  LOST       records are missing"));
	assert_non_null(strstr(text, " ~0.200 ")); /* a wall time, in us */
	free(text);
	report_close(&r);
	mfix_release(&f);
}

/* What the recorder counted as it stored records is what the report finds in the file. */
TEST(toll)
{
	const struct probe_cost cost = {
		.call_ns = 2.5, .spin_ns = 1, .stepped_ns = 4.5, .samples = 9};
	const struct report_options opt = {.top = 15};
	const struct trace_merge_options all = {0};
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	struct toll toll = {0};
	struct distortion d;
	struct report r;
	struct mfix f;
	uint32_t pid;
	size_t i;

	trace_write(&f);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_int_equal(report_open(&(struct trace_source){.path = f.path}, 1, &opt, &r), 0);
	assert_int_equal(trace_merge_open(f.trace, &all, &merge), 0);
	while (trace_merge_next(merge, &rec) == 1)
		toll_record(&toll, rec);
	trace_merge_close(merge);
	for (i = 0; i < trace_meta_count(f.trace); i++)
		toll_library(&toll, trace_meta_get(f.trace, i));
	toll_find(&toll, &cost, 1000, 1200, &d, &pid);
	assert_int_equal(pid, 200);
	assert_int_equal(r.distorted->pid, 200);
	/* 3 calls, 40 polls, 41 of these single-stepped, in 200 ns; the report cuts off a fraction of a ns */
	assert_true(d.pct > 64.74 && d.pct < 64.76);
	assert_true(r.distortion.pct > 64.49 && r.distortion.pct < 64.51);
	assert_int_equal(d.above, r.distortion.above);
	assert_string_equal(d.func[0].name, "MPI_Test");
	assert_string_equal(r.distortion.func[0].name, "MPI_Test");
	assert_string_equal(r.distortion.who, "rank 1");
	assert_true(d.funcs_ns == r.distortion.funcs_ns);
	toll_release(&toll);
	report_close(&r);
	mfix_release(&f);
}

/* A function that was not counted lacks nothing; of layers below MPI bytes are not counted. */
TEST(counted_losses)
{
	struct func_info mpi = {.layer_name = "mpi"}, ucp = {.layer_name = "ucp"};
	struct function_row f = {.func = &mpi, .left_out = LOSS_COUNTED};

	assert_int_equal(function_row_lost(&f, LOSS_COUNTED | LOSS_CALL), LOSS_COUNTED | LOSS_CALL);
	f.func = &ucp;
	assert_int_equal(function_row_lost(&f, LOSS_COUNTED), LOSS_COUNTED | LOSS_COUNTED_BYTES);
	f.left_out = 0;
	assert_int_equal(function_row_lost(&f, LOSS_COUNTED), 0);
}
