/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Parses the signatures of bpf/mpi.def and turns them into recipes. Knows no function by name:
 * what a call means is read from the roles of its arguments.
 */
#include "layer/mpi_sig.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct role {
	const char *name;
	uint8_t type, kind;
};

static const struct role roles[] = {
#define POV_ROLE(role, type, kind) {#role, SIG_##type, SIG_KIND_##kind},
#include "mpi.def"
};

static const struct {
	const char *name;
	uint8_t type;
} types[] = {
	{"int", SIG_INT},	{"wide", SIG_WIDE}, {"handle", SIG_HANDLE},
	{"status", SIG_STATUS}, {"ptr", SIG_PTR},   {"string", SIG_STRING},
};

static const struct {
	const char *word;
	uint32_t flag;
	uint8_t learn;
} attr_words[] = {
	{"NONE", 0, 0},
	{"WAIT", MPI_ATTR_WAIT, 0},
	{"POLL", MPI_ATTR_POLL, 0},
	{"LOCAL", MPI_ATTR_LOCAL, 0},
	{"INIT", MPI_ATTR_INIT, 0},
	{"FINAL", MPI_ATTR_FINAL, 0},
	{"COMM_SIZE", 0, POV_LEARN_COMM_SIZE},
	{"COMM_RANK", 0, POV_LEARN_COMM_RANK},
	{"REMOTE_SIZE", 0, POV_LEARN_REMOTE_SIZE},
	{"CART", 0, POV_LEARN_CART},
	{"DIST_ADJ", 0, POV_LEARN_DIST_ADJ},
	{"DEGREES", 0, POV_LEARN_DEGREES},
	{"GRAPH_DEGREE", 0, POV_LEARN_GRAPH_DEGREE},
	{"COMM_FREE", 0, POV_LEARN_COMM_FREE},
	{"TYPE_FREE", 0, POV_LEARN_TYPE_FREE},
};

#define ARRAY_CNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_word(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static int type_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_CNT(types); i++)
		if (!strcmp(types[i].name, name))
			return types[i].type;
	return -1;
}

/* The kind of an argument whose width is not its role's ("info:ptr" is no handle). */
static uint8_t kind_retyped(uint8_t kind, uint8_t role_type, uint8_t type)
{
	if (type == role_type)
		return kind;
	if (type == SIG_PTR || type == SIG_STRING)
		return SIG_KIND_ADDR;
	if (type == SIG_STATUS)
		return SIG_KIND_STATUS;
	return kind == SIG_KIND_UNDEF ? kind : SIG_KIND_NUM;
}

static const char *role_resolve(struct mpi_sig_arg *a, const char *type)
{
	int explicit_type = type ? type_find(type) : -1;

	if (type && explicit_type < 0)
		return "unknown type";
	a->type = explicit_type < 0 ? SIG_UNKNOWN : explicit_type;
	a->kind = a->type == SIG_PTR || a->type == SIG_STRING ? SIG_KIND_ADDR :
		  a->type == SIG_STATUS			      ? SIG_KIND_STATUS :
								SIG_KIND_NUM;
	for (size_t i = 0; i < ARRAY_CNT(roles); i++) {
		if (strcmp(roles[i].name, a->role))
			continue;
		if (!type)
			a->type = roles[i].type;
		a->kind = kind_retyped(roles[i].kind, roles[i].type, a->type);
		break;
	}
	return NULL;
}

static char *dir_strip(char *token, struct mpi_sig_arg *a)
{
	if (!strncmp(token, "<>", 2)) {
		a->dir = SIG_INOUT;
		return token + 2;
	}
	a->dir = *token == '<' ? SIG_IN :
		 *token == '>' ? SIG_OUT :
		 *token == '+' ? SIG_SUM :
				 SIG_VALUE;
	return token + (a->dir != SIG_VALUE);
}

/* Takes one token apart; *len is its bracket's inside or NULL. */
static const char *token_parse(char *token, struct mpi_sig_arg *a, const char **len)
{
	char *type, *open, *close, *rest = dir_strip(token, a);

	*len = NULL;
	type = strchr(rest, ':');
	if (type)
		*type++ = '\0';
	open = strchr(rest, '[');
	if (open) {
		*open++ = '\0';
		close = strchr(open, ']');
		if (!close || close[1])
			return "bracket not closed";
		*close = '\0';
		*len = open;
		if (a->dir == SIG_VALUE)
			return "a length without a direction";
	} else if (a->dir == SIG_SUM) {
		return "a sum without a length";
	}
	if (!is_word(rest))
		return "no role name";
	a->role = rest;
	return role_resolve(a, type);
}

static const char *len_resolve(const struct mpi_sig *sig, struct mpi_sig_arg *a, const char *len)
{
	bool out = *len == '>';
	int i;

	if (!strcmp(len, "comm") || !strcmp(len, "root")) {
		if (mpi_sig_find(sig, "comm") < 0)
			return "a length by communicator without one";
		a->len = POV_LEN_COMM_SIZE;
		if (!strcmp(len, "comm"))
			return NULL;
		i = mpi_sig_find(sig, "root");
		if (i < 0)
			return "a length by root without one";
		a->len = POV_LEN_ROOT_SIZE;
		a->root_arg = i;
		return NULL;
	}
	if (!strcmp(len, "indeg") || !strcmp(len, "outdeg")) {
		a->len = *len == 'i' ? POV_LEN_IN_DEGREE : POV_LEN_OUT_DEGREE;
		return NULL;
	}
	i = mpi_sig_find(sig, len + out);
	if (i < 0)
		return "a length that is no argument";
	if (sig->arg[i].dir != (out ? SIG_OUT : SIG_VALUE))
		return "a length that is not passed so";
	a->len = out ? POV_LEN_OUT_ARG : POV_LEN_ARG;
	a->len_arg = i;
	return NULL;
}

static const char *sig_parse(struct mpi_sig *out)
{
	const char *lens[POV_CALL_ARGS_MAX], *why;
	char *save, *token;

	for (token = strtok_r(out->text, " ", &save); token; token = strtok_r(NULL, " ", &save)) {
		if (out->nargs == POV_CALL_ARGS_MAX)
			return "too many arguments";
		why = token_parse(token, &out->arg[out->nargs], &lens[out->nargs]);
		if (why)
			return why;
		if (mpi_sig_find(out, out->arg[out->nargs].role) >= 0)
			return "a role twice";
		out->nargs++;
	}
	for (uint32_t i = 0; i < out->nargs; i++) {
		why = lens[i] ? len_resolve(out, &out->arg[i], lens[i]) : NULL;
		if (why)
			return why;
	}
	return NULL;
}

int mpi_sig_parse(const char *text, struct mpi_sig *out, const char **why)
{
	size_t len = strlen(text);

	memset(out, 0, sizeof(*out));
	*why = "too long";
	if (len >= sizeof(out->text))
		return -EINVAL;
	memcpy(out->text, text, len + 1);
	*why = sig_parse(out);
	return *why ? -EINVAL : 0;
}

int mpi_sig_find(const struct mpi_sig *sig, const char *role)
{
	for (uint32_t i = 0; i < sig->nargs; i++)
		if (!strcmp(sig->arg[i].role, role))
			return i;
	return -1;
}

int mpi_attrs_parse(const char *text, struct mpi_attrs *out)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (*(text += strspn(text, " |"))) {
		size_t len = strcspn(text, " |"), i;

		for (i = 0; i < ARRAY_CNT(attr_words); i++)
			if (strlen(attr_words[i].word) == len &&
			    !strncmp(attr_words[i].word, text, len))
				break;
		if (i == ARRAY_CNT(attr_words)) {
			err = -EINVAL;
		} else {
			out->flags |= attr_words[i].flag;
			if (attr_words[i].learn)
				out->learn = attr_words[i].learn;
		}
		text += len;
	}
	return err;
}

static int by_value(const struct mpi_sig *sig, const char *role)
{
	int i = mpi_sig_find(sig, role);

	return i >= 0 && sig->arg[i].dir == SIG_VALUE ? i : -1;
}

int mpi_sig_spin_arg(const struct mpi_sig *sig)
{
	static const char *const names[] = {"req", "comm", "win"};

	for (size_t i = 0; i < ARRAY_CNT(names); i++) {
		int arg = mpi_sig_find(sig, names[i]);

		if (arg >= 0)
			return arg;
	}
	return -1;
}

/* A datatype's size is of use where a buffer of it is moved; the target's is not needed then. */
static bool wants_type_size(const struct mpi_sig *sig, const struct mpi_sig_arg *a)
{
	static const char *const buffers[] = {"buf", "sendbuf", "inbuf", "origin"};

	if (a->kind != SIG_KIND_DTYPE || a->dir != SIG_VALUE || !strcmp(a->role, "tdtype"))
		return false;
	for (size_t i = 0; i < ARRAY_CNT(buffers); i++)
		if (by_value(sig, buffers[i]) >= 0)
			return true;
	return false;
}

static uint8_t elem_of(uint8_t type)
{
	switch (type) {
	case SIG_INT:
		return POV_ELEM_INT;
	case SIG_HANDLE:
		return POV_ELEM_HANDLE;
	case SIG_STATUS:
		return POV_ELEM_STATUS;
	default:
		return POV_ELEM_WIDE;
	}
}

static int fetch_add(struct pov_fn *fn, uint8_t op, uint32_t arg, const struct mpi_sig_arg *a)
{
	struct pov_fetch *f;

	if (fn->nfetch == POV_FETCH_MAX)
		return -E2BIG;
	fn->flags |= op == POV_FETCH_OUT ? POV_FN_FETCH_RETURN : POV_FN_FETCH_ENTRY;
	f = &fn->fetch[fn->nfetch++];
	f->op = op;
	f->arg = arg;
	f->elem = elem_of(a->type);
	f->len = a->len;
	f->len_arg = a->len_arg;
	f->root_arg = a->root_arg;
	return 0;
}

/* Index of the only fetch of its phase if that is of one element, else POV_FETCH_MAX. */
static uint8_t fetch_only(const struct pov_fn *fn, bool at_return)
{
	uint8_t only = POV_FETCH_MAX, cnt = 0;

	for (uint8_t i = 0; i < fn->nfetch; i++) {
		if ((fn->fetch[i].op == POV_FETCH_OUT) != at_return)
			continue;
		cnt++;
		if (fn->fetch[i].op != POV_FETCH_SUM && fn->fetch[i].len == POV_LEN_ONE)
			only = i;
	}
	return cnt == 1 ? only : POV_FETCH_MAX;
}

static int fetches_compile(const struct mpi_sig *sig, struct pov_fn *fn)
{
	static const uint8_t ops[] = {
		[SIG_OUT] = POV_FETCH_OUT,
		[SIG_IN] = POV_FETCH_IN,
		[SIG_INOUT] = POV_FETCH_IN,
		[SIG_SUM] = POV_FETCH_SUM,
	};
	int err;

	for (uint32_t i = 0; i < sig->nargs; i++) {
		const struct mpi_sig_arg *a = &sig->arg[i];

		if (wants_type_size(sig, a))
			err = fetch_add(fn, POV_FETCH_TYPE_SIZE, i, a);
		else if (a->dir == SIG_VALUE)
			continue;
		else if (a->type == SIG_UNKNOWN)
			err = -EINVAL;
		else
			err = fetch_add(fn, ops[a->dir], i, a);
		if (err)
			return err;
	}
	fn->entry_one = fetch_only(fn, false);
	fn->return_one = fetch_only(fn, true);
	return 0;
}

static int poll_compile(const struct mpi_sig *sig, struct pov_fn *fn)
{
	int flag = mpi_sig_find(sig, "flag"), cnt = mpi_sig_find(sig, "outcount");
	int spin = mpi_sig_spin_arg(sig);

	if (flag < 0 && cnt < 0)
		return -EINVAL;
	fn->flags |= flag >= 0 ? POV_FN_POLL : POV_FN_POLL | POV_FN_BY_COUNT;
	fn->poll_arg = flag >= 0 ? flag : cnt;
	fn->spin_arg = spin >= 0 ? spin : POV_ARG_NONE;
	return 0;
}

int mpi_sig_compile(const struct mpi_sig *sig, const struct mpi_attrs *attrs, struct pov_fn *out)
{
	struct pov_fn fn = {.poll_arg = POV_ARG_NONE, .spin_arg = POV_ARG_NONE};
	int comm = by_value(sig, "comm"), newcomm = mpi_sig_find(sig, "newcomm"), err;

	fn.nargs = sig->nargs;
	fn.comm_arg = comm >= 0 ? comm : POV_ARG_NONE;
	fn.learn = attrs->learn;
	if (newcomm >= 0)
		fn.learn_arg = newcomm;
	if (attrs->flags & MPI_ATTR_POLL) {
		err = poll_compile(sig, &fn);
		if (err)
			return err;
	}
	err = fetches_compile(sig, &fn);
	if (err)
		return err;
	*out = fn;
	return 0;
}
