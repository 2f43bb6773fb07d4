/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arguments for people: in order, under their roles' names, special values by their MPI names.
 * Values that the record lacks are left out. Statuses are shown by mpi_requests.c and
 * mpi_roles.c, which know whether they are meaningful.
 */
#include <string.h>

#include "abi/mark.h"
#include "layers/mpi/mpi_decode.h"

#define NAMES_MAX 16 /* most datatypes of an array shown by name */

static const char *rank_name(const struct mpi_flavour_info *fl, int64_t v)
{
	if (v == fl->any_source)
		return "MPI_ANY_SOURCE";
	if (v == fl->proc_null)
		return "MPI_PROC_NULL";
	return v == fl->root ? "MPI_ROOT" : NULL;
}

static const char *null_name(const struct mpi_process *s, uint8_t kind, uint64_t v)
{
	if (kind == SIG_KIND_REQ && v == s->request_null)
		return "MPI_REQUEST_NULL";
	if (kind == SIG_KIND_COMM && v == s->comm_null)
		return "MPI_COMM_NULL";
	return kind == SIG_KIND_DTYPE && v == s->type_null ? "MPI_DATATYPE_NULL" : NULL;
}

/* The name of a special value, or NULL. */
static const char *name_of(const struct mpi_call *c, const struct sig_arg *a, int64_t v)
{
	const struct mpi_flavour_info *fl = c->process->flavour;
	const char *name;

	switch (a->kind) {
	case SIG_KIND_UNDEF:
		return v == fl->undefined ? "MPI_UNDEFINED" : NULL;
	case SIG_KIND_RANK:
	case SIG_KIND_ROOT:
		return rank_name(fl, v);
	case SIG_KIND_TAG:
		return v == fl->any_tag ? "MPI_ANY_TAG" : NULL;
	case SIG_KIND_LEVEL:
		return mpi_flavour_level_name(fl, v);
	case SIG_KIND_COMM:
	case SIG_KIND_HANDLE:
	case SIG_KIND_REQ:
	case SIG_KIND_DTYPE:
		name = a->kind == SIG_KIND_DTYPE ? mpi_process_type_text(c->process, v) :
						   mpi_process_name(c->process, v);
		return name ? name : null_name(c->process, a->kind, v);
	case SIG_KIND_ADDR:
		return (uint64_t)v == fl->in_place && (!strcmp(a->role, "sendbuf") ||
						       !strcmp(a->role, "recvbuf")) ?
			       "MPI_IN_PLACE" :
			       NULL;
	default:
		return NULL;
	}
}

static void scalar_show(const struct mpi_call *c, const struct sig_arg *a, int64_t v,
			struct call_view *out)
{
	const char *name = name_of(c, a, v);

	if (name)
		call_view_add(out, a->role, VALUE_TEXT)->text = name;
	else if (a->type == SIG_INT || a->type == SIG_WIDE)
		call_view_add(out, a->role, VALUE_INT)->i = v;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = v;
}

/* "MPI_INT, MPI_DOUBLE, …" */
static void types_show(const struct mpi_call *c, uint32_t arg, struct call_view *out)
{
	uint32_t kept = mpi_call_kept(c, arg), n = kept < NAMES_MAX ? kept : NAMES_MAX;
	const char *text = "", *sep = "";

	for (uint32_t i = 0; i < n; i++) {
		text = arena_printf(c->arena, "%s%s%s", text, sep,
				    mpi_call_type_text(c, mpi_call_elem(c, arg, i)));
		sep = ", ";
	}
	if (n < c->field[arg].cnt)
		text = arena_printf(c->arena, "%s%s... (%u)", text, sep, c->field[arg].cnt);
	call_view_add(out, c->fn->sig.arg[arg].role, VALUE_TEXT)->text = text;
}

static void array_show(const struct mpi_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];
	bool range = a->type == SIG_RANGE;
	bool number = range || a->type == SIG_INT || a->type == SIG_WIDE;
	uint32_t each = range ? 3 : 1, n = mpi_call_kept(c, arg) * each;
	struct call_value *v;
	int64_t *ints;

	if (a->kind == SIG_KIND_DTYPE) {
		types_show(c, arg, out);
		return;
	}
	ints = arena_alloc(c->arena, (n ? n : 1) * sizeof(*ints));
	for (uint32_t i = 0; i < n; i++)
		ints[i] = mpi_call_elem(c, arg, i);
	v = call_view_add(out, a->role, number ? VALUE_INTS : VALUE_HEXES);
	v->n = n;
	v->cnt = c->field[arg].cnt > UINT32_MAX / each ? UINT32_MAX : c->field[arg].cnt * each;
	v->ints = ints;
}

static void pointed_show(const struct mpi_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];

	if (!c->field[arg].type || a->type == SIG_STATUS || !mpi_call_width(c, arg))
		return;
	if (a->len != POV_LEN_ONE)
		array_show(c, arg, out);
	else if (mpi_call_kept(c, arg))
		scalar_show(c, a, mpi_call_elem(c, arg, 0), out);
}

static void arg_show(const struct mpi_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];
	struct call_value *v;

	switch (a->dir) {
	case SIG_VALUE:
		if (call_parts_known(&c->parts, arg) && a->type != SIG_STRING &&
		    a->type != SIG_STATUS && a->kind != SIG_KIND_MARK)
			scalar_show(c, a, mpi_call_typed(c, arg), out);
		break;
	case SIG_SUM:
		if (c->field[arg].type != POV_FIELD_SUM)
			break;
		v = call_view_add(out, arena_printf(c->arena, "%s_sum", a->role), VALUE_INT);
		memcpy(&v->i, c->field[arg].data, sizeof(v->i));
		break;
	default:
		pointed_show(c, arg, out);
	}
}

void mpi_status_show(const struct mpi_call *c, const struct mpi_status *st, bool message,
		     struct call_view *out)
{
	static const struct sig_arg source = {.role = "status_source", .kind = SIG_KIND_RANK};
	static const struct sig_arg tag = {.role = "status_tag", .kind = SIG_KIND_TAG};

	if (out->roles_only)
		return;
	if (message) {
		scalar_show(c, &source, st->source, out);
		scalar_show(c, &tag, st->tag, out);
	}
	if (st->bytes >= 0)
		call_view_add(out, "status_bytes", VALUE_INT)->i = st->bytes;
}

void mpi_values(struct mpi_call *c, struct call_view *out)
{
	const char *error;

	for (uint32_t i = 0; i < c->parts.nargs; i++)
		arg_show(c, i, out);
	if (!c->parts.returned || !c->fn->returns_error || !(uint32_t)c->parts.rec->ret)
		return;
	error = mpi_flavour_error_name(c->process->flavour, (int32_t)c->parts.rec->ret);
	if (error)
		call_view_add(out, "error_class", VALUE_TEXT)->text = error;
}

/* ---- marks ---- */

/*
 * Calls of MPI_Pcontrol by which a program marks its phases (abi/mark.h). Other levels belong to
 * the program or other tools; the words after them are not trusted.
 */

/*
 * A name that fills its words was probably longer: its last, perhaps partial character is replaced
 * by "…".
 */
static void cut_show(char *text)
{
	size_t n = POV_MARK_NAME_BYTES;

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n && (unsigned char)text[n - 1] >= 0xc0)
		n--;
	strcpy(text + n, "…");
}

/* The name's words as text, without characters that must not reach a terminal or viewer. */
static const char *name_text(const struct mpi_call *c, int first)
{
	char text[MARK_TEXT_BYTES] = "";
	uint64_t word[POV_MARK_WORDS];

	for (int i = 0; i < POV_MARK_WORDS; i++)
		word[i] = call_parts_word(&c->parts, first + i);
	memcpy(text, word, POV_MARK_NAME_BYTES);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	if (strlen(text) == POV_MARK_NAME_BYTES)
		cut_show(text);
	return arena_printf(c->arena, "%s", text);
}

/* Shows the level's meaning instead of its number. */
static void mark_show(const struct mpi_call *c, const char *what, struct call_view *out)
{
	const char *role = c->fn->sig.arg[0].role;
	struct call_value *v = NULL;

	for (uint32_t i = 0; i < out->nvalues && !v; i++)
		if (out->values[i].name == role)
			v = &out->values[i];
	if (!v)
		v = call_view_add(out, "mark", VALUE_TEXT);
	*v = (struct call_value){.name = "mark", .kind = VALUE_TEXT, .text = what};
	call_view_add(out, "level", VALUE_INT)->i = out->roles.mark_level;
	if (out->roles.mark_name)
		call_view_add(out, "phase", VALUE_TEXT)->text = out->roles.mark_name;
}

void mpi_mark(const struct mpi_call *c, struct call_view *out)
{
	int first = c->fn->at[ROLE_mark];
	struct call_roles *r = &out->roles;
	uint32_t level;

	if (first < 1 || c->parts.nargs < (uint32_t)first + POV_MARK_WORDS)
		return;
	level = call_parts_word(&c->parts, 0);
	if (level - POV_MARK_BEGIN < POV_MARK_LEVELS) {
		r->mark = MARK_BEGIN;
		r->mark_level = level - POV_MARK_BEGIN;
		r->mark_name = name_text(c, first);
		mark_show(c, "begin", out);
	} else if (level - POV_MARK_END < POV_MARK_LEVELS) {
		r->mark = MARK_END;
		r->mark_level = level - POV_MARK_END;
		mark_show(c, "end", out);
	}
}
