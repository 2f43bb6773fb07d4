/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Parses signatures and attributes. Knows neither functions nor layers by name: the meaning of a
 * call is derived from the roles of its arguments.
 */
#include "layers/signature.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/layer.h"

static const struct {
	const char *name;
	uint8_t elem; /* type of the element that an argument points to: enum pov_elem or pov_iov */
} types[SIG_UNKNOWN] = {
	[SIG_INT] = {"int", POV_ELEM_INT},	    [SIG_WIDE] = {"wide", POV_ELEM_WIDE},
	[SIG_HANDLE] = {"handle", POV_ELEM_HANDLE}, [SIG_STATUS] = {"status", POV_ELEM_STATUS},
	[SIG_PTR] = {"ptr", POV_ELEM_WIDE},	    [SIG_STRING] = {"string", POV_ELEM_WIDE},
	[SIG_BLOCK] = {"block", POV_ELEM_BLOCK},    [SIG_RANGE] = {"range", POV_ELEM_RANGE},
	[SIG_IOV] = {"iov", POV_IOV_PLAIN},	    [SIG_UCT_IOV] = {"uct_iov", POV_IOV_UCT},
	[SIG_WORK] = {"work", POV_ELEM_WIDE},	    [SIG_IOV_LIST] = {"iov_list", POV_IOV_PLAIN},
};

static const struct func_word common_words[] = {
	{"NONE", 0, 0},		  {"WAIT", FUNC_WAIT, 0}, {"POLL", FUNC_POLL, 0},
	{"LOCAL", FUNC_LOCAL, 0}, {"INIT", FUNC_INIT, 0}, {"FINAL", FUNC_FINAL, 0},
	{"BRIEF", FUNC_BRIEF, 0}, {NULL, 0, 0},
};

static bool is_word(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static bool is_iov(uint8_t type)
{
	return type == SIG_IOV || type == SIG_UCT_IOV;
}

static bool is_struct(uint8_t type)
{
	return type == SIG_BLOCK || type == SIG_WORK || type == SIG_IOV_LIST;
}

static int type_find(const char *name)
{
	for (int i = 0; i < SIG_UNKNOWN; i++)
		if (!strcmp(types[i].name, name))
			return i;
	return -1;
}

/*
 * The role's kind, unless the type's width differs ("info:ptr" is no handle); an address may be
 * followed. role: NULL if it is not in the list.
 */
static uint8_t kind_of(uint8_t type, const struct sig_role *role)
{
	if (role && (type == role->type || (is_struct(type) && role->type == SIG_PTR)))
		return role->kind;
	if (type == SIG_PTR || type == SIG_STRING || is_iov(type))
		return SIG_KIND_ADDR;
	if (type == SIG_STATUS)
		return SIG_KIND_STATUS;
	return role && role->kind == SIG_KIND_UNDEF ? SIG_KIND_UNDEF : SIG_KIND_NUM;
}

/* Parses what follows a type's name: @ offset in the struct, + number of bytes. */
static const char *place_parse(char *type, struct sig_arg *a)
{
	char *at = strpbrk(type, "@+"), *end = at;
	unsigned long off = 0, bytes = 0;

	if (!at)
		return NULL;
	if (*at == '@')
		off = strtoul(at + 1, &end, 10);
	if (*end == '+')
		bytes = strtoul(end + 1, &end, 10);
	*at = '\0';
	if (*end || off > UINT8_MAX || bytes > UINT8_MAX)
		return "a malformed offset or size in a struct";
	a->off = off;
	a->bytes = bytes;
	return NULL;
}

static const char *role_resolve(struct sig_arg *a, char *type, const struct sig_role *roles)
{
	const char *why = type ? place_parse(type, a) : NULL;
	int explicit_type = type ? type_find(type) : -1;
	const struct sig_role *role = roles;

	if (why)
		return why;
	if (type && explicit_type < 0)
		return "unknown type";
	if ((a->off || a->bytes) && (explicit_type < 0 || !is_struct((uint8_t)explicit_type)))
		return "an offset or size, but the type is no struct";
	while (role->name && strcmp(role->name, a->role))
		role++;
	if (!role->name)
		role = NULL;
	a->type = type ? explicit_type : role ? role->type : SIG_UNKNOWN;
	a->kind = kind_of(a->type, role);
	a->role_idx = role ? role - roles : -1;
	return NULL;
}

static char *dir_strip(char *token, struct sig_arg *a)
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

/* Parses one token. *len: content of its brackets, or NULL. */
static const char *token_parse(char *token, const struct sig_role *roles, struct sig_arg *a,
			       const char **len)
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
		if (a->dir == SIG_VALUE && strcmp(open, "root"))
			return "a length without a direction";
	} else if (a->dir == SIG_SUM) {
		return "a sum without a length";
	}
	if (!is_word(rest))
		return "no role name";
	a->role = rest;
	return role_resolve(a, type, roles);
}

static const char *len_resolve(const struct signature *sig, struct sig_arg *a, const char *len)
{
	bool out = *len == '>';
	int i;

	if (!strcmp(len, "comm") || !strcmp(len, "root") || !strcmp(len, "local")) {
		if (signature_find(sig, "comm") < 0)
			return "this length needs an argument comm";
		a->len = *len == 'l' ? POV_LEN_LOCAL_SIZE : POV_LEN_COMM_SIZE;
		if (*len != 'r')
			return NULL;
		i = signature_find(sig, "root");
		if (i < 0)
			return "the length root needs an argument root";
		a->len = POV_LEN_ROOT_SIZE;
		a->len_arg = i;
		return NULL;
	}
	if (!strcmp(len, "indeg") || !strcmp(len, "outdeg")) {
		a->len = *len == 'i' ? POV_LEN_IN_DEGREE : POV_LEN_OUT_DEGREE;
		return NULL;
	}
	if (!strcmp(len, "dims") || !strcmp(len, "return")) {
		a->len = *len == 'd' ? POV_LEN_DIMS : POV_LEN_RETURN;
		return a->len == POV_LEN_RETURN && a->dir != SIG_OUT ?
			       "the length return, for an argument that is read before the return" :
			       NULL;
	}
	i = signature_find(sig, len + out);
	if (i < 0)
		return "a length that names no argument";
	if (sig->arg[i].dir != (a->type == SIG_WORK && a->dir == SIG_OUT ? SIG_IN :
				out					 ? SIG_OUT :
									   SIG_VALUE))
		return "a length whose argument is passed in another way";
	a->len = out ? POV_LEN_OUT_ARG : POV_LEN_ARG;
	a->len_arg = i;
	return NULL;
}

static const char *sig_parse(const struct sig_role *roles, struct signature *out)
{
	const char *lens[POV_CALL_ARGS_MAX], *why;
	char *save;

	for (char *token = strtok_r(out->text, " ", &save); token;
	     token = strtok_r(NULL, " ", &save)) {
		if (out->nargs == POV_CALL_ARGS_MAX)
			return "too many arguments";
		why = token_parse(token, roles, &out->arg[out->nargs], &lens[out->nargs]);
		if (why)
			return why;
		if (signature_find(out, out->arg[out->nargs].role) >= 0)
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

int signature_parse(const char *text, const struct sig_role *roles, struct signature *out,
		    const char **why)
{
	size_t len = strlen(text);

	memset(out, 0, sizeof(*out));
	*why = "too long";
	if (len >= sizeof(out->text))
		return -EINVAL;
	memcpy(out->text, text, len + 1);
	*why = sig_parse(roles, out);
	return *why ? -EINVAL : 0;
}

int signature_find(const struct signature *sig, const char *role)
{
	for (uint32_t i = 0; i < sig->nargs; i++)
		if (!strcmp(sig->arg[i].role, role))
			return i;
	return -1;
}

int signature_find_value(const struct signature *sig, const char *role)
{
	int i = signature_find(sig, role);

	return i >= 0 && sig->arg[i].dir == SIG_VALUE ? i : -1;
}

static const struct func_word *word_find(const struct func_word *words, const char *text,
					 size_t len)
{
	for (; words->word; words++)
		if (strlen(words->word) == len && !strncmp(words->word, text, len))
			return words;
	return NULL;
}

int func_attrs_parse(const char *text, const struct func_word *own, struct func_attrs *out)
{
	const struct func_word *word;
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (*(text += strspn(text, " |"))) {
		size_t len = strcspn(text, " |");

		word = word_find(common_words, text, len) ?: word_find(own, text, len);
		if (word) {
			out->flags |= word->flag;
			out->learn = word->learn ?: out->learn;
		} else {
			err = -EINVAL;
		}
		text += len;
	}
	return err;
}

int func_row_parse(const json_t *row, const char *layer, const struct sig_role *roles,
		   const struct func_word *own, struct signature *sig, struct func_attrs *attrs,
		   struct func_info *out)
{
	const char *words = json_string_value(json_object_get(row, "attrs"));
	const char *text = json_string_value(json_object_get(row, "sig")), *why;

	if (!words || !text || !*json_get_text(row, "name") || !*json_get_text(row, "group")) {
		log_error("%s: a row of the function table lacks name, group, attrs or sig", layer);
		return -EINVAL;
	}
	if (signature_parse(text, roles, sig, &why)) {
		log_error("%s: signature of %s: %s: '%s'", layer, json_get_text(row, "name"), why,
			  text);
		return -EINVAL;
	}
	func_attrs_parse(words, own, attrs);
	out->waits = attrs->flags & FUNC_WAIT;
	out->polls = attrs->flags & FUNC_POLL;
	out->setup = attrs->flags & FUNC_INIT  ? FUNC_BEGINS :
		     attrs->flags & FUNC_FINAL ? FUNC_ENDS :
						 FUNC_NO_SETUP;
	return 0;
}

void recipe_init(const struct signature *sig, struct pov_fn *fn)
{
	*fn = (struct pov_fn){
		.nargs = sig->nargs,
		.poll_arg = POV_ARG_NONE,
		.comm_arg = POV_ARG_NONE,
		.spin_arg = POV_ARG_NONE,
		.made_arg = POV_ARG_NONE,
		.old_arg = POV_ARG_NONE,
		.entry_one = POV_FETCH_MAX,
		.return_one = POV_FETCH_MAX,
	};
}

static int fetch_add(struct pov_fn *fn, uint8_t op, uint32_t arg, const struct sig_arg *a)
{
	if (fn->nfetch == POV_FETCH_MAX)
		return -E2BIG;
	fn->fetch[fn->nfetch] = (struct pov_fetch){
		.op = op,
		.arg = arg,
		.elem = types[a->type].elem,
		.len = a->len,
		.len_arg = a->len == POV_LEN_ONE ? POV_ARG_NONE : a->len_arg,
		.buf_arg = POV_ARG_NONE,
		.off = a->off,
		.bytes = a->bytes,
	};
	fn->flags |= pov_fetch_at_return(&fn->fetch[fn->nfetch]) ? POV_FN_FETCH_RETURN :
								   POV_FN_FETCH_ENTRY;
	fn->nfetch++;
	return 0;
}

/* Adds the struct itself and its list. */
static int list_add(struct pov_fn *fn, uint32_t arg, const struct sig_arg *a)
{
	struct sig_arg block = *a;

	block.type = SIG_BLOCK;
	return fetch_add(fn, POV_FETCH_IN, arg, &block) ?:
							  fetch_add(fn, POV_FETCH_IOV_LIST, arg, a);
}

/* Index of the sole fetch of its phase if it reads one element, else POV_FETCH_MAX. */
static uint8_t fetch_only(const struct pov_fn *fn, bool at_return)
{
	uint8_t only = POV_FETCH_MAX, cnt = 0;

	for (uint8_t i = 0; i < fn->nfetch; i++) {
		if (pov_fetch_at_return(&fn->fetch[i]) != at_return)
			continue;
		cnt++;
		if (pov_fetch_is_one(&fn->fetch[i]))
			only = i;
	}
	return cnt == 1 ? only : POV_FETCH_MAX;
}

int recipe_add_fetches(const struct signature *sig,
		       bool (*wants_size)(const struct signature *sig, const struct sig_arg *a),
		       struct pov_fn *fn)
{
	static const uint8_t ops[] = {
		[SIG_OUT] = POV_FETCH_OUT,
		[SIG_IN] = POV_FETCH_IN,
		[SIG_INOUT] = POV_FETCH_IN,
		[SIG_SUM] = POV_FETCH_SUM,
	};
	int err;

	for (uint32_t i = 0; i < sig->nargs; i++) {
		const struct sig_arg *a = &sig->arg[i];

		bool sized = wants_size && wants_size(sig, a);

		if (a->dir == SIG_VALUE && !sized)
			continue;
		if (a->type == SIG_UNKNOWN || (is_iov(a->type) && a->dir != SIG_SUM) ||
		    (a->type == SIG_IOV_LIST && a->dir != SIG_IN))
			err = -EINVAL;
		else if (sized)
			err = fetch_add(fn, POV_FETCH_TYPE_SIZE, i, a);
		else if (is_iov(a->type))
			err = fetch_add(fn, POV_FETCH_IOV, i, a);
		else if (a->type == SIG_IOV_LIST)
			err = list_add(fn, i, a);
		else if (a->type == SIG_WORK)
			err = fetch_add(fn, a->dir == SIG_IN ? POV_FETCH_WORK : POV_FETCH_ACCEPTED,
					i, a);
		else
			err = fetch_add(fn, ops[a->dir], i, a);
		if (err)
			return err;
	}
	fn->entry_one = fetch_only(fn, false);
	fn->return_one = fetch_only(fn, true);
	return 0;
}

int recipe_add_message(uint8_t arg, struct pov_fn *fn)
{
	if (fn->nfetch == POV_FETCH_MAX)
		return -E2BIG;
	fn->flags |= POV_FN_FETCH_ENTRY;
	fn->entry_one = POV_FETCH_MAX;
	fn->fetch[fn->nfetch++] =
		(struct pov_fetch){.op = POV_FETCH_MESSAGE, .arg = arg, .buf_arg = POV_ARG_NONE};
	return 0;
}

int recipe_add_member(uint8_t arg, uint8_t off, uint8_t bytes, struct pov_fn *fn)
{
	if (fn->nfetch == POV_FETCH_MAX)
		return -E2BIG;
	fn->flags |= POV_FN_FETCH_RETURN;
	fn->return_one = POV_FETCH_MAX;
	fn->fetch[fn->nfetch++] = (struct pov_fetch){.op = POV_FETCH_MEMBER,
						     .arg = arg,
						     .buf_arg = POV_ARG_NONE,
						     .off = off,
						     .bytes = bytes};
	return 0;
}
