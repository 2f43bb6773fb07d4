/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Signatures: every row of the table compiles, some recipes are checked exactly, bad grammar is
 * refused.
 */
#include "unit/test.h"
#include "layers/func_table.h"
#include "layers/signature.h"
#include "unit/cases.h"

extern const struct layer layer_mpi;

static const char *const lens[] = {"1",	     "arg",    "comm", "root",	"indeg",
				   "outdeg", "outarg", "dims", "return"};

static void row_load(const char *name, struct signature *sig, struct func_attrs *attrs,
		     struct pov_fn *fn)
{
	int i = func_table_find(name);
	const struct func_row *row = func_table_get((size_t)i);
	const struct layer *layer = func_table_layer((size_t)i);
	char *text = func_table_signature((size_t)i);
	const char *why;

	assert_true(i >= 0);
	if (signature_parse(text, layer->roles, sig, &why))
		fail_msg("%s: %s", name, why);
	if (func_attrs_parse(row->attrs, layer->words, attrs))
		fail_msg("%s: attributes '%s'", name, row->attrs);
	if (layer_recipe(layer, sig, attrs, fn))
		fail_msg("%s: does not compile", name);
	free(text);
}

TEST(all_rows)
{
	struct func_attrs attrs;
	struct signature sig;
	struct pov_fn fn;

	assert_true(func_table_count() > 700);
	for (size_t i = 0; i < func_table_count(); i++) {
		const char *name = func_table_get(i)->name;

		assert_int_equal(func_table_find(name), i);
		row_load(name, &sig, &attrs, &fn);
		assert_int_equal(fn.nargs, sig.nargs);
		for (uint32_t k = 0; k < sig.nargs; k++)
			if (sig.arg[k].type == SIG_UNKNOWN)
				fail_msg("%s: unknown role %s", name, sig.arg[k].role);
	}
}

static const char *one_text(uint8_t fetch)
{
	static const char *const text[] = {"0", "1", "2", "3"};

	return fetch == POV_FETCH_MAX ? "-" : text[fetch];
}

static void recipe_print(const struct pov_fn *fn, FILE *out)
{
	static const char *const ops[] = {"-",
					  "in",
					  "out",
					  "sum",
					  "size",
					  "work",
					  "iov",
					  "accepted",
					  "message",
					  [POV_FETCH_MEMBER] = "member",
					  [POV_FETCH_IOV_LIST] = "list"};
	static const char *const iovs[] = {[POV_IOV_PLAIN] = "plain", [POV_IOV_UCT] = "uct"};
	static const char *const elems[] = {"int", "wide", "handle", "status", "block", "range"};

	fprintf(out, "%u", fn->nargs);
	if (fn->comm_arg != POV_ARG_NONE)
		fprintf(out, " comm=%u", fn->comm_arg);
	if (fn->flags & POV_FN_POLL)
		fprintf(out, " %s=%u spin=%d",
			fn->flags & POV_FN_BY_COUNT  ? "pollcount" :
			fn->flags & POV_FN_BY_RETURN ? "pollreturn" :
						       "poll",
			fn->poll_arg, (int8_t)fn->spin_arg);
	if (fn->learn)
		fprintf(out, " learn=%u/%u", fn->learn, fn->learn_arg);
	for (uint32_t i = 0; i < fn->nfetch; i++) {
		const struct pov_fetch *f = &fn->fetch[i];

		fprintf(out, " %s%u", ops[f->op], f->arg);
		if (f->bytes)
			fprintf(out, ":%u+%u*%s", f->off, f->bytes, lens[f->len]);
		else if (f->op == POV_FETCH_TYPE_SIZE && f->len != POV_LEN_ONE)
			fprintf(out, "*%s", lens[f->len]);
		else if (f->op != POV_FETCH_TYPE_SIZE)
			fprintf(out, ":%s*%s",
				f->op == POV_FETCH_IOV ? iovs[f->elem] : elems[f->elem],
				lens[f->len]);
		if (f->len == POV_LEN_ARG || f->len == POV_LEN_OUT_ARG)
			fprintf(out, "%u", f->len_arg);
		if (f->len == POV_LEN_ROOT_SIZE)
			fprintf(out, "%u", f->len_arg);
		if (f->op == POV_FETCH_TYPE_SIZE && f->len == POV_LEN_ONE &&
		    f->len_arg != POV_ARG_NONE)
			fprintf(out, "@%u", f->len_arg);
		if (f->buf_arg != POV_ARG_NONE)
			fprintf(out, "/%u", f->buf_arg);
	}
	if (fn->entry_one != POV_FETCH_MAX || fn->return_one != POV_FETCH_MAX)
		fprintf(out, " one %s/%s", one_text(fn->entry_one), one_text(fn->return_one));
	if (fn->count_bytes)
		fprintf(out, " moves %d:%u*%u>%d", (int8_t)fn->count_arg, fn->count_bytes,
			fn->type_arg, (int8_t)fn->peer_arg);
}

static void signature_print(const struct signature *sig, FILE *out)
{
	static const char *const dirs[] = {"", ">", "<", "<>", "+"};

	for (uint32_t i = 0; i < sig->nargs; i++) {
		const struct sig_arg *a = &sig->arg[i];

		fprintf(out, "%s%s type %u kind %u, ", dirs[a->dir], a->role, a->type, a->kind);
		if (a->len == POV_LEN_ARG || a->len == POV_LEN_OUT_ARG)
			fprintf(out, "%s%u, ", lens[a->len], a->len_arg);
	}
}

static void attrs_print(const char *text, FILE *out)
{
	struct func_attrs a;
	int err = func_attrs_parse(text, layer_mpi.words, &a);

	fprintf(out, "%s flags %#x learn %u", err ? strerrorname_np(-err) : "taken", a.flags,
		a.learn);
}

static void polls_print(FILE *out)
{
	struct func_attrs a;

	fputs("all", out);
	for (size_t i = 0; i < layer_mpi.row_cnt; i++)
		if (!func_attrs_parse(layer_mpi.rows[i].attrs, layer_mpi.words, &a) &&
		    a.flags & FUNC_POLL)
			fprintf(out, " %s", layer_mpi.rows[i].name);
}

/*
 * Runs "recipe FUNCTION", "attrs TEXT", "polls of MPI", or "parse SIGNATURE" or "poll SIGNATURE"
 * for an MPI function with that signature, with the attribute POLL or without.
 */
static void play(const struct script *lines, FILE *out)
{
	char *word = lines->line[0], *text = strchr(word, ' ');
	struct pov_fn fn = {.nargs = 77};
	struct func_attrs attrs = {0};
	struct signature sig;
	const char *why = NULL;
	int err;

	*text++ = '\0';
	if (!strcmp(word, "recipe")) {
		row_load(text, &sig, &attrs, &fn);
		recipe_print(&fn, out);
		return;
	}
	if (!strcmp(word, "attrs")) {
		attrs_print(text, out);
		return;
	}
	if (!strcmp(word, "polls")) {
		polls_print(out);
		return;
	}
	if (!strcmp(word, "poll"))
		attrs.flags = FUNC_POLL;
	err = signature_parse(text, layer_mpi.roles, &sig, &why);
	if (err) {
		assert_int_equal(err, -EINVAL);
		assert_non_null(why);
		fputs("refused", out);
		return;
	}
	signature_print(&sig, out);
	err = layer_recipe(&layer_mpi, &sig, &attrs, &fn);
	if (!err) {
		recipe_print(&fn, out);
		return;
	}
	assert_int_equal(fn.nargs, 77); /* only written on success */
	fputs(strerrorname_np(-err), out);
}

TEST(recipes)
{
	cases_run("signature", play);
}

/* Counts the functions whose bytes readers take as outgoing, incoming, or both. */
TEST(moved_ways)
{
	uint32_t cnt[4] = {0};

	for (size_t i = 0; i < layer_mpi.row_cnt; i++) {
		const struct func_row *row = &layer_mpi.rows[i];
		char *text = func_table_signature((size_t)func_table_find(row->name));
		json_t *meta = json_pack("{s:i,s:s,s:s,s:s,s:s}", "id", 1, "name", row->name,
					 "group", row->group, "attrs", row->attrs, "sig", text);
		bool single = !strcmp(row->name, "MPI_Fetch_and_op") ||
			      !strcmp(row->name, "MPI_Compare_and_swap");
		struct func_info info = {0};
		struct func_attrs attrs;
		struct signature sig;
		struct pov_fn fn;

		assert_int_equal(layer_func_parse(&layer_mpi, meta, &info), 0);
		assert_true(info.moves <= (MOVES_OUT | MOVES_IN));
		row_load(row->name, &sig, &attrs, &fn);
		if (fn.count_bytes) {
			cnt[info.moves]++;
			assert_int_equal(info.moves == (MOVES_OUT | MOVES_IN), single);
			assert_true(info.moves || strstr(row->name, "_init"));
		}
		layer_func_release(&info);
		json_decref(meta);
		free(text);
	}
	assert_true(cnt[0] && cnt[MOVES_OUT] > 20 && cnt[MOVES_IN] > 20);
}

TEST(find)
{
	char longer[SIG_TEXT_MAX + 8];
	struct signature sig;
	const char *why;

	assert_int_equal(signature_parse("n >outcount", layer_mpi.roles, &sig, &why), 0);
	assert_int_equal(signature_find(&sig, "outcount"), 1);
	assert_int_equal(signature_find(&sig, "buf"), -1);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(signature_parse(longer, layer_mpi.roles, &sig, &why), -EINVAL);
}
