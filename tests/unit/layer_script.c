/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "unit/layer_script.h"

#include "layers/func_table.h"
#include "tool/povmake/maker.h"
#include "unit/layer_fixture.h"
#include "unit/test.h"
#include "unit/view_print.h"

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

static void call_check(struct layer_script *s)
{
	if (s->call && *s->expected) {
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
	const struct func_info f = {.group = group};

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

void layer_script_run(const char *name)
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
