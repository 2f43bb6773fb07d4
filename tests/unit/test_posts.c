/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Traffic and when data began to move: posts and nonblocking operations as text (cases.h). Threads
 * 0, 1 and 2 are the main threads of three ranks with pids 100, 200 and 300. Thread 3 is a second
 * thread of rank 0. The layers are upper, middle and lowest.
 *
 *   THREAD LAYER KIND CARRIER BYTES at NS [WORD…]
 *       BYTES ?: unknown. Words: from END, to END, in FUNCTION (the MPI call around it), inside (an
 *       unknown one), step STEP, message N, source RANK TAG, dest TEXT, failed. In texts "_" is a
 *       space
 *   isend|irecv REQUEST BEGIN..POSTED WAIT..END PEER BYTES TAG
 *       of rank 0; END 0: it never ends
 *   THREAD begin|end NS LEVEL [NAME]                            a phase
 *   THREAD enter|leave|unwind NS DEPTH NAME                     a region
 *   lossy                                       calls are missing from 5000 to 6000
 *   THREAD visits FUNCTION PLACE BEGIN..[END] [nested]
 *       a call from PLACE: FILE+OFFSET, or an address. FILE: app of two hosts, app1 and app2, or
 *       another one, new. Without END it is open
 *   THREAD tests CNT NS                         polls of MPI_Test from app1+5
 *   THREAD messages NS BYTES [receives|unknown]
 *       to or from rank 1, by a call of 100 ns; unknown: the other side is unknown
 *   places N                                    prints the first N ranks' times by place
 *   show storms|flows|pairs|received|phases|csv|text|starts
 */
#include "unit/test.h"
#include "analysis/functions.h"
#include "analysis/queues.h"
#include "analysis/finding.h"
#include "report/report.h"
#include "unit/cases.h"
#include "unit/model_fixture.h"

#define U(n) ((unsigned long long)(n))
#define THREADS 4

static const struct layer layers_made[] = {{.name = "upper", .nearness = 1},
					   {.name = "middle", .nearness = 2},
					   {.name = "lowest", .nearness = 4}};
static const struct func_info posting[] = {
	{.id = 900, .name = "upper_post", .layer_name = "upper", .layer = &layers_made[0]},
	{.id = 901, .name = "middle_post", .layer_name = "middle", .layer = &layers_made[1]},
	{.id = 902, .name = "lowest_post", .layer_name = "lowest", .layer = &layers_made[2]},
};
static const struct func_info of_mpi[] = {
	{.id = 1,
	 .name = "MPI_Bcast",
	 .group = "coll",
	 .group_bit = GROUP_COLL,
	 .layer_name = "mpi",
	 .waits = true},
	{.id = 2, .name = "MPI_Isend", .group = "p2p", .group_bit = GROUP_P2P, .layer_name = "mpi"},
	{.id = 3,
	 .name = "MPI_Wait",
	 .group = "req",
	 .group_bit = GROUP_REQ,
	 .layer_name = "mpi",
	 .waits = true},
	{.id = 4, .name = "MPI_Irecv", .group = "p2p", .group_bit = GROUP_P2P, .layer_name = "mpi"},
	{.id = 5, .name = "MPI_Pcontrol", .group = "tool", .layer_name = "mpi"},
	{.id = 6, .name = "MPI_Test", .layer_name = "mpi", .polls = true},
	{.id = 7, .name = "ucp_put", .layer_name = "ucp"},
};
enum { BCAST, ISEND, WAIT, IRECV, PCONTROL, TEST_FUNC, UCP_PUT, FUNCS };
static const char *const files[] = {"app1", "app2", "new"};
static const struct model_module modules[] = {
	{"/bin/app", "aa", 1}, {"/bin/app", "aa", 2}, {"/bin/app", "bb", 3}};

struct play {
	struct mfix f;
	struct trace_source source;
	struct report_options opt;
	struct report r;
	struct model_thread *thread[THREADS];
	struct site_times sites;
	struct storms storms;
	struct volumes volumes;
	struct script texts; /* names in posts */
	FILE *out;
};

/* ---- lines ---- */

/* Reports a post: LAYER KIND CARRIER BYTES at NS, and words. */
static void post_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const char *const *word = l->word + 1;
	struct call_post post = {.kind = cases_index(word[1], POST_KIND_CNT, post_kind_name(i)),
				 .carrier = cases_index(word[2], CARRIER_CNT, post_carrier_name(i)),
				 .bytes = *word[3] == '?' ? BYTES_UNKNOWN :
							    (int64_t)cases_number(l, word[3])};
	struct model_call call = {.func = &posting[cases_index(word[0], 3, layers_made[i].name)],
				  .thread = thread,
				  .begin_ns = cases_number(l, word[5]),
				  .end_ns = cases_number(l, word[5]) + 1};
	struct model_within in = {0};
	struct model_post m = {.post = &post, .call = &call};

	for (word += 6; *word; word++) {
		if (word_is(*word, "from"))
			post.local_end = cases_text_kept(&p->texts, *++word);
		else if (word_is(*word, "to"))
			post.remote_end = cases_text_kept(&p->texts, *++word);
		else if (word_is(*word, "dest"))
			post.dest = cases_text_kept(&p->texts, *++word);
		else if (word_is(*word, "in"))
			in.func = &of_mpi[cases_index(*++word, FUNCS, of_mpi[i].name)];
		else if (word_is(*word, "step"))
			post.step = cases_index(*++word, STEP_CNT, post_step_name(i));
		else if (word_is(*word, "message"))
			post.message = cases_number(l, *++word);
		else if (word_is(*word, "failed"))
			post.failed = true;
		else if (word_is(*word, "inside"))
			m.within_unknown = true;
		else if (word_is(*word, "source")) {
			post.has_envelope = true;
			post.source = atoi(word[1]);
			post.tag = atoi(word[2]);
			word += 2;
		} else
			fail_msg("no %s", *word);
	}
	if (post.local_end || post.remote_end) {
		post.transport = "t";
		post.device = "dev:1";
		post.dest = post.dest ? post.dest : "somewhere";
	}
	m.within = in.func ? &in : NULL;
	p->r.traffic.sink.post(&p->r.traffic, &m);
	p->r.transfers.sink.post(&p->r.transfers, &m);
}

/* Reports the start and the end of a nonblocking operation as calls, and the operation. */
static void operation_tell(struct play *p, const struct cases_line *l)
{
	const char *const *word = l->word + 1;
	const bool sends = word_is(l->word[0], "isend");
	const struct func_info *func = &of_mpi[sends ? ISEND : IRECV];
	const uint64_t request = cases_number(l, word[0]);
	const int peer = atoi(word[3]);
	const int64_t bytes = atoi(word[4]);
	const struct call_request started = {.handle = request, .event = REQUEST_START};
	const struct call_view view = {.roles = {.sends = sends,
						 .receives = !sends,
						 .has_peer = true,
						 .peer = peer,
						 .recv_peer = peer,
						 .recv_tag = atoi(word[5]),
						 .peer_world = peer,
						 .recv_peer_world = peer,
						 .send_bytes = bytes,
						 .recv_bytes = bytes,
						 .requests = &started,
						 .nrequests = 1}};
	const struct call_operation described = {.func = func, .roles = view.roles};
	const struct call_request over = {
		.handle = request, .event = REQUEST_COMPLETE, .bytes = bytes, .op = &described};
	const struct call_view end_view = {.roles = {.requests = &over, .nrequests = 1}};
	struct model_call start = {.func = func, .thread = p->thread[0], .view = &view};
	struct model_call end = {.func = &of_mpi[WAIT], .thread = p->thread[0], .view = &end_view};
	struct transfer_start *a = &p->r.transfers;

	cases_span(l, word[1], &start.begin_ns, &start.end_ns);
	cases_span(l, word[2], &end.begin_ns, &end.end_ns);
	a->sink.call(a, &start);
	if (!end.end_ns)
		return;
	a->sink.call(a, &end);
	a->sink.operation(a, &(struct model_operation){.thread = p->thread[0],
						       .func = func,
						       .roles = &view.roles,
						       .begin_ns = start.begin_ns,
						       .posted_ns = start.end_ns,
						       .completing_ns = end.begin_ns,
						       .waiting_ns = end.begin_ns,
						       .end_ns = end.end_ns,
						       .completion = &over});
}

static void phase_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const char *const *word = l->word + 1;
	const struct call_view view = {
		.roles = {.mark = word_is(word[0], "begin") ? MARK_BEGIN : MARK_END,
			  .mark_level = (uint8_t)cases_number(l, word[2]),
			  .mark_name = cases_text_kept(&p->texts, word[3])}};
	const struct model_call c = {.func = &of_mpi[PCONTROL],
				     .thread = thread,
				     .begin_ns = cases_time(l, word[1]),
				     .end_ns = cases_time(l, word[1]),
				     .view = &view};

	p->r.traffic.sink.call(&p->r.traffic, &c);
}

static bool region_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const char *const *word = l->word + 1;
	const bool enters = word_is(word[0], "enter"), leaves = word_is(word[0], "leave");
	struct model_region r = {.thread = thread,
				 .ended = enters ? REGION_UNDER_WAY :
					  leaves ? REGION_RETURNED :
						   REGION_UNWOUND};

	if (!enters && !leaves && !word_is(word[0], "unwind"))
		return false;
	r.begin_ns = r.end_ns = cases_number(l, word[1]);
	r.depth = (uint32_t)cases_number(l, word[2]);
	r.name = cases_text_kept(&p->texts, word[3]);
	p->r.traffic.sink.region(&p->r.traffic, &r);
	return true;
}

/* Reports a call: FUNCTION PLACE SPAN. */
static void visit_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const char *place = l->word[3], *offset = strchr(place, '+');
	struct model_call c = {.thread = thread,
			       .func = &of_mpi[cases_index(l->word[2], FUNCS, of_mpi[i].name)],
			       .nested = word_is(l->word[5], "nested")};

	cases_span(l, l->word[4], &c.begin_ns, &c.end_ns);
	c.open = !c.end_ns;
	c.end_ns = c.open ? c.begin_ns + 500 : c.end_ns;
	if (offset) {
		c.site.module = &modules[cases_index(
			place, COUNT(files),
			strncmp(place, files[i], strlen(files[i])) ? NULL : place)];
		c.site.offset = cases_number(l, offset + 1);
		c.site.address = 0x1000 * thread->idx + c.site.offset;
	} else {
		c.site.address = cases_number(l, place);
	}
	p->sites.sink.call(&p->sites, &c);
}

static void tests_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const struct model_spin s = {
		.thread = thread,
		.nfuncs = 1,
		.func = {{.func = &of_mpi[TEST_FUNC],
			  .cnt = cases_number(l, l->word[2]),
			  .busy_ns = cases_number(l, l->word[3])}},
		.site = {.address = 5, .module = &modules[0], .offset = 5},
	};

	p->sites.sink.spin(&p->sites, &s);
}

static void message_tell(struct play *p, const struct cases_line *l, struct model_thread *thread)
{
	const struct call_roles roles = {.has_peer = true};
	const struct model_operation o = {.thread = thread,
					  .func = &of_mpi[ISEND],
					  .roles = &roles,
					  .begin_ns = cases_time(l, l->word[2]),
					  .posted_ns = cases_time(l, l->word[2]) + 100};
	const struct model_message m = {
		.operation = &o,
		.sends = !word_is(l->word[4], "receives"),
		.peer_world = 1,
		.peer_job = thread->proc->job_idx,
		.why = word_is(l->word[4], "unknown") ? PEER_UNKNOWN_COMM : PEER_KNOWN,
		.bytes = *l->word[3] == '?' ? BYTES_UNKNOWN : (int64_t)cases_number(l, l->word[3])};

	p->storms.sink.message(&p->storms, &m);
	p->volumes.sink.message(&p->volumes, &m);
}

/* Prints the places with most time, of the first ranks. */
static void places_print(struct play *p, uint32_t ranks)
{
	static const bool all[] = {true, true, true};
	uint32_t n;
	struct site_total *t = site_times_sum(&p->sites, all, ranks, &n);

	fprintf(p->out, "places of %u: %u", ranks, n);
	cases_figures(p->out, {"left_out", p->sites.left_out});
	for (uint32_t i = 0; i < n && i < 4; i++) {
		const struct model_site *site = &t[i].site;

		fprintf(p->out, "%s at %s+%llu", t[i].func->name,
			site->module ? site->module->build_id : "?",
			U(site->module ? site->offset : site->address));
		cases_figures(p->out, {"calls", t[i].sums.calls}, {"polls", t[i].sums.polls},
			      {"total", t[i].sums.total_ns}, {"max", t[i].sums.max_ns},
			      {"ranks", t[i].processes}, {"least", t[i].least_ns},
			      {"mean", t[i].mean_ns}, {"most", t[i].most_ns},
			      {"by", t[i].most_idx});
	}
	free(t);
}

static void line_tell(void *ctx, const struct cases_line *l)
{
	struct play *p = ctx;
	struct model_thread *thread = p->thread[atoi(l->word[0]) % THREADS];

	if (word_is(l->word[0], "lossy"))
		return;
	if (word_is(l->word[0], "isend") || word_is(l->word[0], "irecv"))
		operation_tell(p, l);
	else if (word_is(l->word[0], "places"))
		places_print(p, (uint32_t)cases_number(l, l->word[1]));
	else if (word_is(l->word[1], "visits"))
		visit_tell(p, l, thread);
	else if (word_is(l->word[1], "tests"))
		tests_tell(p, l, thread);
	else if (word_is(l->word[1], "messages"))
		message_tell(p, l, thread);
	else if (word_is(l->word[1], "begin") || word_is(l->word[1], "end"))
		phase_tell(p, l, thread);
	else if (!region_tell(p, l, thread))
		post_tell(p, l, thread);
}

/* ---- results ---- */

static struct traffic_group *groups(struct play *p, unsigned int by, uint32_t *n)
{
	return traffic_by(&p->r.traffic, p->r.chosen, p->r.nprocesses, by, n);
}

static void flows_print(struct play *p)
{
	uint32_t n;
	struct traffic_group *g = groups(p, TRAFFIC_BY_PROCESS, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct traffic_flow *f = &g[i].flow;

		fprintf(p->out, "flow of %u posts=%llu", g[i].key.process, U(f->posts));
		cases_figures(p->out, {"sent", f->sent}, {"sent_bytes", f->sent_bytes},
			      {"sent_unknown", f->sent_unknown}, {"read", f->read},
			      {"read_bytes", f->read_bytes}, {"failed", f->failed});
	}
	free(g);
}

static void pairs_print(struct play *p)
{
	uint32_t n;
	struct pair *l = pairs_find(&p->r.traffic, p->r.chosen, p->r.nprocesses, false, &n);

	for (uint32_t i = 0; i < n; i++)
		fprintf(p->out, "pair %u>%u messages=%llu bytes=%llu\n", l[i].from, l[i].to,
			U(l[i].messages), U(l[i].bytes));
	free(l);
}

static void received_print(struct play *p)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct traffic_received *g = &p->r.traffic.received[i];

		if (!g->total_bytes)
			continue;
		fprintf(p->out, "received by %u total=%llu", i, U(g->total_bytes));
		cases_figures(p->out, {"sent", g->sent_bytes}, {"written", g->written_bytes},
			      {"read", g->read_bytes}, {"arrived", g->arrived_bytes},
			      {"unknown", g->unknown});
	}
}

static void phases_print(struct play *p)
{
	uint32_t n;
	struct traffic_group *g = groups(p, TRAFFIC_BY_PHASE, &n);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = names_text(&p->r.traffic.names, g[i].key.phase);

		fprintf(p->out, "phase %s sent_bytes=%llu\n", name ? name : "none",
			U(g[i].flow.sent_bytes));
	}
	free(g);
}

static const char *func_name(uint32_t id)
{
	for (int i = 0; i < FUNCS; i++)
		if (of_mpi[i].id == id)
			return of_mpi[i].name;
	return "none";
}

static void starts_print(struct play *p)
{
	static const char *const when[TRANSFER_WHEN_CNT] = {"in_start", "between", "in_end",
							    "unseen", "doubtful"};
	const struct transfer_start *a = &p->r.transfers;

	for (uint32_t i = 0; i < a->nrow; i++) {
		const struct transfer_row *r = &a->row[i];

		fprintf(p->out, "%s of %u", func_name(r->func), r->process);
		for (int k = 0; k < TRANSFER_WHEN_CNT; k++)
			cases_figures_part(p->out, {when[k], r->cnt[k]});
		cases_figures(p->out, {"come", r->come}, {"early", r->early},
			      {"early_ns", r->early_ns});
	}
	for (uint32_t i = 0; i < a->nby; i++) {
		const struct transfer_by *b = &a->by[i];
		const char *thread = names_text(&p->r.traffic.names, b->thread);

		fprintf(p->out, "moved for %s in %s by %s cnt=%llu\n", func_name(b->func),
			b->in_func ? func_name(b->in_func - 1) : "no call",
			thread ? thread : "itself", U(b->cnt));
	}
}

static void storms_print(struct play *p)
{
	const struct storm *s;

	for (size_t at = 0; (s = map_next(&p->storms.pairs, &at, NULL));) {
		fprintf(p->out, "storms");
		cases_figures(p->out, {"cnt", s->storms}, {"messages", s->messages},
			      {"bytes", s->bytes}, {"ns", s->ns}, {"worst", s->worst},
			      {"from", s->worst_from_ns}, {"to", s->worst_to_ns});
	}
	for (uint32_t i = 0; i < 3; i++)
		fprintf(p->out, "volume of %u: %llu\n", i, U(p->volumes.bytes[i]));
}

static void csv_print(struct play *p)
{
	char *text = NULL, *line, *rest;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(report_traffic_csv(&p->r, out), 0);
	fclose(out);
	for (line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
		fprintf(p->out, "%s\n", line);
	free(text);
}

/* Prints the report's posts, and the traffic by MPI function. */
static void text_print(struct play *p)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	report_traffic(&p->r, out);
	fclose(out);
	cases_text(p->out, strstr(text, "Posts: "), "Traffic by destination", NULL);
	free(text);
}

/* ---- a case ---- */

static void posts_open(struct play *p, bool lossy)
{
	static const uint32_t tids[THREADS] = {100, 200, 300, 101};

	p->opt.top = 15;
	mfix_begin(&p->f, "\"sched\":\"off\",\"rings\":1");
	mfix_functions(&p->f);
	for (uint32_t i = 0; i < 3; i++) {
		mfix_rank(&p->f, 1000, tids[i], (int)i, "app");
		mfix_put(&p->f, "task ts=1000 tid=%u on_cpu=1 comm=app", tids[i]);
	}
	mfix_put(&p->f, "task ts=1000 tid=101 tgid=100 on_cpu=1 comm=progress");
	if (lossy)
		mfix_put(&p->f, "lost ts=6000 since=5000 class=call cnt=3");
	mfix_end(&p->f, 9000);
	mfix_open(&p->f, false);
	p->source.path = p->f.path;
	assert_int_equal(report_open(&p->source, 1, &p->opt, &p->r), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		for (uint32_t k = 0; k < model_thread_count(p->r.model); k++)
			if (model_thread_get(p->r.model, k)->tid == tids[i])
				p->thread[i] = model_thread_get(p->r.model, k);
	p->r.transfers.on = true;
	site_times_init(&p->sites);
	storms_init(&p->storms);
	volumes_init(&p->volumes);
	mfix_sink_start(&p->storms.sink, p->r.model);
	mfix_sink_start(&p->volumes.sink, p->r.model);
}

/* Ends the input. */
static void posts_settle(struct play *p)
{
	free(p->r.traffic.received);
	mfix_sink_finish(&p->r.traffic.sink, p->r.model);
	mfix_sink_finish(&p->r.transfers.sink, p->r.model);
	mfix_sink_finish(&p->storms.sink, p->r.model);
}

static void posts_play(const struct script *lines, FILE *out)
{
	static const struct {
		const char *word;
		void (*print)(struct play *p);
	} results[] = {
		{"flows", flows_print},	  {"pairs", pairs_print}, {"received", received_print},
		{"phases", phases_print}, {"csv", csv_print},	  {"starts", starts_print},
		{"storms", storms_print}, {"text", text_print},
	};
	struct play p = {.out = out};

	posts_open(&p, lines->cnt && word_is(lines->line[0], "lossy"));
	cases_each(lines, line_tell, &p);
	posts_settle(&p);
	for (size_t i = 0; i < COUNT(results); i++)
		if (cases_shows(lines, results[i].word))
			results[i].print(&p);
	site_times_release(&p.sites);
	storms_release(&p.storms);
	volumes_release(&p.volumes);
	report_close(&p.r);
	mfix_release(&p.f);
	script_release(&p.texts);
}

TEST(posts)
{
	cases_run("posts", posts_play);
}
