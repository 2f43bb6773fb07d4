/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call records and their expected decoding by a layer, in tests/unit/layer/NAME.calls. A line is
 * one of
 *
 *   # comment
 *   layer NAME                    the layer that decodes what follows
 *   test NAME [openmpi|mpich]     starts a new decoder, with that library and process of
 *                                 layer_fixture.c
 *   meta JSON                     passes a meta object; before the first test: to each decoder
 *   left_out GROUP                tells the decoder that calls of such a function are left out
 *   more type=in arg=1 …          a continuation of the next call
 *   FUNCTION args=… in=… …        a call, in povmake's syntax; ts defaults to 1000 ns after the
 *                                 previous call
 *   <tab>post send …              the expected view of that call, as printed below; "none":
 *                                 no posts, requests or similar lines
 *   FUNCTION args=… -> post …     both in one line
 *
 * " ; " separates lines of the expected view. A call without expected lines is not checked. If no
 * expected line begins with "values", the values are not checked; the same holds for "roles". Two
 * tabs continue an expected line. A backslash at the end continues any other line.
 *
 * Each record is also decoded for roles only, which must give the same roles. It is decoded once
 * more in each shorter size, so that AddressSanitizer sees reads past its end.
 */
#include <inttypes.h>

#include "layers/func_table.h"
#include "tool/povmake/maker.h"
#include "unit/layer_fixture.h"
#include "unit/test.h"

/*
 * The decoded call as lines of text:
 *
 *   values count=10 dtype=MPI_INT …     named values in their order; texts with spaces in quotes,
 *                                       lists in brackets
 *   roles send=40 peer=2@2 …            the roles that are set; RANK@WORLD_RANK, or
 *                                       @JOB.WORLD_RANK, or @? and the reason
 *   request start 0xa000 bytes=40 …     one line each
 *   window lock target=2 …
 *   post send eager socket am_short …   one line each: kind, step, carrier, operation
 */

static void text_print(FILE *out, const char *name, const char *text)
{
	if (text)
		fprintf(out, strchr(text, ' ') || !*text ? " %s=\"%s\"" : " %s=%s", name, text);
}

static void bytes_print(FILE *out, const char *name, int64_t bytes)
{
	if (bytes == BYTES_UNKNOWN)
		fprintf(out, " %s=?", name);
	else
		fprintf(out, " %s=%" PRId64, name, bytes);
}

static void value_print(const struct call_value *v, FILE *out)
{
	switch (v->kind) {
	case VALUE_INT:
		fprintf(out, " %s=%" PRId64, v->name, v->i);
		break;
	case VALUE_UINT:
	case VALUE_BOOL:
	case VALUE_US:
		fprintf(out, " %s=%" PRIu64 "%s", v->name, v->u,
			v->kind == VALUE_BOOL ? "b" :
			v->kind == VALUE_US   ? "ns" :
						"");
		break;
	case VALUE_HEX:
		fprintf(out, " %s=%#" PRIx64, v->name, v->u);
		break;
	case VALUE_TEXT:
		text_print(out, v->name, v->text);
		break;
	case VALUE_INTS:
	case VALUE_HEXES:
		fprintf(out, " %s=[", v->name);
		for (uint32_t i = 0; i < v->n; i++) {
			fprintf(out, v->kind == VALUE_INTS ? "%s%" PRId64 : "%s%#" PRIx64,
				i ? "," : "", v->ints[i]);
		}
		if (v->cnt != v->n)
			fprintf(out, " of %u", v->cnt);
		fputc(']', out);
	}
}

static void peer_print(FILE *out, const char *name, int32_t peer, int32_t world, int32_t job,
		       uint8_t why)
{
	static const char *const reasons[PEER_UNKNOWN_CNT] = {
		"", "comm", "members", "order", "other", "world", "any", "conflict"};
	static const char *const special[] = {"root", "null", "any"};

	if (peer < 0 && peer >= PEER_ROOT)
		fprintf(out, " %s=%s", name, special[peer - PEER_ROOT]);
	else
		fprintf(out, " %s=%d", name, peer);
	if (why)
		fprintf(out, "@?%s", reasons[why]);
	else if (world >= 0 && job)
		fprintf(out, "@%d.%d", job, world);
	else if (world >= 0)
		fprintf(out, "@%d", world);
}

static void roles_print(const struct call_roles *r, FILE *out)
{
	if (r->sends || r->send_bytes)
		bytes_print(out, r->sends ? "send" : "send_bytes", r->send_bytes);
	if (r->receives || r->recv_bytes)
		bytes_print(out, r->receives ? "recv" : "recv_bytes", r->recv_bytes);
	if (r->has_peer)
		peer_print(out, "peer", r->peer, r->peer_world, r->peer_job, r->peer_why);
	if (r->has_peer && r->sends && r->receives)
		peer_print(out, "recv_peer", r->recv_peer, r->recv_peer_world, r->recv_peer_job,
			   r->recv_peer_why);
	if (r->has_tag)
		fprintf(out, " tag=%d", r->tag);
	if (r->has_tag && r->sends && r->receives)
		fprintf(out, " recv_tag=%d", r->recv_tag);
	if (r->has_root)
		peer_print(out, "root", r->root, r->root_world, 0, r->root_why);
	if (r->has_comm)
		fprintf(out, " comm=%#" PRIx64, r->comm);
	if (r->comm_id)
		fprintf(out, " comm_id=%u comm_size=%d", r->comm_id, r->comm_size);
	if (r->matched_ns)
		fprintf(out, " matched=%" PRIu64, r->matched_ns);
	if (r->mark)
		fprintf(out, " mark=%s:%u", r->mark == MARK_BEGIN ? "begin" : "end", r->mark_level);
	if (r->mark == MARK_BEGIN)
		text_print(out, "name", r->mark_name);
	fprintf(out, "%s%s%s", r->any_source ? " any_source" : "", r->poll_found ? " found" : "",
		r->requests_forgotten ? " forgotten" : "");
	if (r->error)
		fprintf(out, " error=%d", r->error);
}

static void request_print(const struct call_request *r, FILE *out)
{
	static const char *const events[] = {"none",	 "start", "init",   "restart",
					     "complete", "free",  "cancel", "pending"};

	fprintf(out, "request %s %#" PRIx64, events[r->event], r->handle);
	if (r->event == REQUEST_START || r->event == REQUEST_INIT || r->event == REQUEST_COMPLETE)
		bytes_print(out, "bytes", r->bytes);
	if (r->in_flight_bytes)
		bytes_print(out, "in_flight", r->in_flight_bytes);
	if (r->has_status)
		fprintf(out, " status=%d,%d", r->source, r->tag);
	if (r->error)
		fprintf(out, " error=%d", r->error);
	if (r->op && r->event >= REQUEST_RESTART) {
		fprintf(out, " op=%s", r->op->func->name);
		roles_print(&r->op->roles, out);
	}
	fputc('\n', out);
}

static void window_print(const struct call_window *w, FILE *out)
{
	static const char *const events[] = {"none",	 "together",	"post",	 "start",
					     "complete", "wait",	"lock",	 "unlock",
					     "flush",	 "flush_local", "access"};

	fprintf(out, "window %s number=%u", events[w->event], w->number);
	if (w->event == WIN_POST || w->event == WIN_START || w->event == WIN_LOCK)
		fprintf(out, " rank=%d", w->rank);
	if (w->event >= WIN_LOCK)
		peer_print(out, "target", w->target, -1, 0, 0);
	if (w->event == WIN_LOCK && w->exclusive)
		fputs(" exclusive", out);
	if ((w->event == WIN_POST || w->event == WIN_START) && w->group) {
		fputs(" group=", out);
		for (uint32_t i = 0; i < w->ngroup; i++)
			fprintf(out, "%s%d", i ? "," : "", w->group[i]);
	}
	fputc('\n', out);
}

static void post_print(const struct call_post *p, FILE *out)
{
	fprintf(out, "post %s", post_kind_name(p->kind));
	if (p->step)
		fprintf(out, " %s", post_step_name(p->step));
	if (p->carrier)
		fprintf(out, " %s", post_carrier_name(p->carrier));
	text_print(out, "op", p->op);
	text_print(out, "transport", p->transport);
	text_print(out, "device", p->device);
	text_print(out, "dest", p->dest);
	text_print(out, "local", p->local_end);
	text_print(out, "remote", p->remote_end);
	bytes_print(out, "bytes", p->bytes);
	if (p->queue)
		fprintf(out, " queue=%#" PRIx64, p->queue);
	if (p->has_id)
		fprintf(out, " id=%#" PRIx64, p->id);
	if (p->message)
		fprintf(out, " message=%#" PRIx64, p->message);
	if (p->has_envelope)
		fprintf(out, " envelope=%d,%d", p->source, p->tag);
	fputs(p->failed ? " failed\n" : "\n", out);
}

static void view_print(const struct layer *layer, const struct call_view *v, FILE *out)
{
	fputs("values", out);
	for (uint32_t i = 0; i < v->nvalues; i++)
		value_print(&v->values[i], out);
	fputs("\nroles", out);
	roles_print(&v->roles, out);
	fputc('\n', out);
	for (uint32_t i = 0; i < v->roles.nrequests; i++)
		request_print(&v->roles.requests[i], out);
	if (v->roles.window)
		window_print(v->roles.window, out);
	for (uint32_t i = 0; layer->nearness && i < v->nposts; i++)
		post_print(&v->posts[i], out);
}

/* ---- scripts ---- */

struct layer_script {
	char *path;
	struct maker m;
	struct fixture f;
	/* Decoders of the shortened records, and of roles only. */
	struct layer_decoder *cut, *terse;
	const struct layer *layer;
	json_t *prelude;   /* meta objects for each test */
	bool open;	   /* a test has begun */
	char *call, *view; /* the last call's line and its view */
	size_t call_line, wrong;
	char expected[65536];
};

static struct layer_script script;

/* Removes the view's lines that the expected text does not cover. */
static void view_select(char *view, const char *expected)
{
	char *to = view, *next;

	for (char *line = view; *line; line = next) {
		next = strchr(line, '\n') + 1;
		if ((!strncmp(line, "values", 6) && !strstr(expected, "values")) ||
		    (!strncmp(line, "roles", 5) && !strstr(expected, "roles")))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	strcpy(to, to == view ? "none\n" : "");
}

/* Puts each part of the expected text into a line of its own. */
static void expected_split(char *expected)
{
	for (char *at = expected; (at = strstr(at, " ; "));) {
		*at = '\n';
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
	}
}

static void call_check(struct layer_script *s)
{
	if (s->call && *s->expected) {
		expected_split(s->expected);
		view_select(s->view, s->expected);
		if (strcmp(s->view, s->expected) != 0) {
			print_error("%s:%zu: %s\nexpected:\n%sbut:\n%s", s->path, s->call_line,
				    s->call, s->expected, s->view);
			s->wrong++;
		}
	}
	free(s->call);
	free(s->view);
	s->call = s->view = NULL;
	s->expected[0] = '\0';
}

static void test_end(struct layer_script *s)
{
	call_check(s);
	if (s->open) {
		layer_decoder_free(s->layer, s->cut);
		layer_decoder_free(s->layer, s->terse);
		fixture_release(&s->f);
	}
	s->open = false;
}

static void meta_hand(struct layer_script *s, const json_t *meta)
{
	layer_decoder_meta(s->layer, s->f.d, meta);
	layer_decoder_meta(s->layer, s->cut, meta);
	layer_decoder_meta(s->layer, s->terse, meta);
}

static void meta_take(struct layer_script *s, const char *text)
{
	json_t *meta = json_loads(text, 0, NULL);

	if (!meta)
		bad(&s->m, "no JSON: %s", text);
	if (s->open)
		meta_hand(s, meta);
	else
		json_array_append(s->prelude, meta);
	json_decref(meta);
}

static void test_begin(struct layer_script *s, const char *name)
{
	const char *const *library = strstr(name, " openmpi") ? fixture_openmpi :
				     strstr(name, " mpich")   ? fixture_mpich :
								NULL;
	json_t *meta;
	size_t i;

	test_end(s);
	s->cut = layer_decoder_new(s->layer);
	s->terse = layer_decoder_new(s->layer);
	fixture_init_layer(&s->f, s->layer);
	s->open = true;
	json_array_foreach(s->prelude, i, meta) meta_hand(s, meta);
	for (i = 0; library && i < 2; i++)
		meta_take(s, library[i]);
}

static void layer_choose(struct layer_script *s, const char *name)
{
	test_end(s);
	json_array_clear(s->prelude);
	for (size_t i = 0; layers[i]; i++)
		if (!strcmp(layers[i]->name, name))
			s->layer = layers[i];
}

static void left_out(struct layer_script *s, const char *group)
{
	const struct func_info f = {.group = group, .group_bit = func_group_bit(group)};

	s->layer->decoder_left_out(s->f.d, &f);
	s->layer->decoder_left_out(s->terse, &f);
}

/* Makes a record from pairs. Missing ones are taken from defaults. */
static void record_make(struct layer_script *s, uint8_t kind, const char *defaults,
			const char *pairs)
{
	char *all = xasprintf("%s %s", defaults, pairs);

	record_fill(&s->m, record_kind_find(kind), all);
	free(all);
}

static void more_hand(struct layer_script *s, const char *pairs)
{
	char *defaults = xasprintf("ts=%llu tid=101 begin=%llu",
				   (unsigned long long)s->f.now + 1000,
				   (unsigned long long)s->f.now + 300);

	record_make(s, POV_KIND_MORE, defaults, pairs);
	layer_decoder_more(s->layer, s->f.d, (const struct pov_more *)s->m.rec.bytes);
	layer_decoder_more(s->layer, s->cut, (const struct pov_more *)s->m.rec.bytes);
	layer_decoder_more(s->layer, s->terse, (const struct pov_more *)s->m.rec.bytes);
	free(defaults);
}

/* Returns the view as text; caller frees. */
static char *call_decode(struct layer_script *s, struct layer_decoder *d,
			 const struct pov_call *call, bool roles_only)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	memset(&s->f.view, 0xa5, sizeof(s->f.view)); /* decoding must not read old contents */
	s->f.view.roles_only = roles_only;
	layer_decode(s->layer, d, &s->f.funcs[call->func], call, &s->f.view);
	view_print(s->layer, &s->f.view, out);
	fclose(out);
	return text;
}

static void call_decode_cut(struct layer_script *s, const struct pov_call *call)
{
	for (uint16_t size = sizeof(*call); size < call->hdr.size; size++) {
		struct pov_call *exact = xmalloc(size);

		memcpy(exact, call, size);
		exact->hdr.size = size;
		free(call_decode(s, s->cut, exact, false));
		free(exact);
	}
}

static void call_hand(struct layer_script *s, const char *line)
{
	int len = (int)strcspn(line, " "), func;
	char *name = xasprintf("%.*s", len, line), *defaults, *terse;
	const struct pov_call *call = (const struct pov_call *)s->m.rec.bytes;

	call_check(s);
	func = func_table_find(name);
	free(name);
	if (func < 0 || !s->open)
		bad(&s->m, "no such function, or no test: %s", line);
	defaults = xasprintf("ts=%llu func=%d dur=700 tid=101 tgid=%d lib=%d ret=0xdead00000000",
			     (unsigned long long)s->f.now + 1000, func, FIXTURE_PID, FIXTURE_LIB);
	record_make(s, POV_KIND_CALL, defaults, line + len);
	free(defaults);
	s->f.now = call->hdr.ts_ns;
	s->call = xstrdup(line);
	s->call_line = s->m.lineno + 1;
	s->view = call_decode(s, s->f.d, call, false);
	terse = call_decode(s, s->terse, call, true);
	if (s->layer->is_top)
		assert_memory_equal(terse, "values\n", 7);
	assert_string_equal(strchr(terse, '\n'), strchr(s->view, '\n'));
	free(terse);
	call_decode_cut(s, call);
}

static void expected_add(struct layer_script *s, const char *line)
{
	size_t len = strlen(s->expected);

	if (snprintf(s->expected + len, sizeof(s->expected) - len, "%s\n", line) >=
	    (int)(sizeof(s->expected) - len))
		bad(&s->m, "too long");
}

static void line_do(struct layer_script *s, char *line)
{
	static const struct {
		const char *word;
		void (*f)(struct layer_script *s, const char *rest);
	} rows[] = {
		{"layer ", layer_choose}, {"test ", test_begin},   {"meta ", meta_take},
		{"more ", more_hand},	  {"left_out ", left_out},
	};
	char *expected;

	if (*line == '\t') {
		if (line[1] == '\t')
			s->expected[strlen(s->expected) - 1] = ' ';
		expected_add(s, line + strspn(line, "\t"));
		return;
	}
	if (!*line || *line == '#')
		return;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!strncmp(line, rows[i].word, strlen(rows[i].word))) {
			call_check(s);
			rows[i].f(s, line + strlen(rows[i].word));
			return;
		}
	}
	expected = strstr(line, " -> ");
	if (expected)
		*expected = '\0';
	call_hand(s, line);
	if (expected)
		expected_add(s, expected + strlen(" -> "));
}

/* Joins lines that end with a backslash and runs them. */
static void lines_do(struct layer_script *s)
{
	char text[65536];
	size_t at = 0, len;

	for (s->m.lineno = 0; s->m.lineno < s->m.script.cnt; s->m.lineno++) {
		const char *line = s->m.script.line[s->m.lineno];

		len = strlen(line);
		assert_true(at + len < sizeof(text));
		memcpy(text + at, line, len + 1);
		at += len;
		if (len && line[len - 1] == '\\') {
			at--;
			continue;
		}
		at = 0;
		line_do(s, text);
	}
	s->m.lineno--;
}

static void script_run(const char *name)
{
	struct layer_script *s = &script;
	char *line = NULL;
	size_t cap = 0;
	FILE *in;

	memset(s, 0, sizeof(*s));
	s->path = xasprintf("tests/unit/layer/%s.calls", name);
	s->prelude = json_array();
	in = fopen(s->path, "re");
	assert_non_null(in);
	while (getline(&line, &cap, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		script_add(&s->m.script, line);
	}
	fclose(in);
	free(line);
	lines_do(s);
	test_end(s);
	json_decref(s->prelude);
	script_release(&s->m.script);
	free(s->path);
	if (s->wrong)
		fail_msg("%zu calls are decoded to something else", s->wrong);
}

#define SCRIPT(name)               \
	TEST(name)                 \
	{                          \
		script_run(#name); \
	}

SCRIPT(mpi)
SCRIPT(mpi_coll)
SCRIPT(mpi_requests)
SCRIPT(mpi_space)
SCRIPT(mpi_window)
SCRIPT(ob1)
SCRIPT(ofi)
SCRIPT(os)
SCRIPT(ucp)
SCRIPT(uct)
SCRIPT(verbs)
SCRIPT(verbs_note)
