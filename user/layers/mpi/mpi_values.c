/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arguments as people read them: in order, under their roles' names, special values by their MPI names.
 * What the record does not hold is left out. Statuses are shown by who knows whether they mean anything.
 */
#include <string.h>

#include "layers/mpi/mpi_decode.h"

#define NAMES_MAX 16 /* datatypes of an array shown by name */

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
