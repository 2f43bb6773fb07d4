/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Takes a call record apart, and shows its arguments to people. Each field names its argument; an
 * argument has at most one field. A field that the signature does not ask for is ignored.
 */
#include <string.h>

#include "abi/mark.h"
#include "layers/mpi/mpi_decode.h"

static bool field_fits(const struct sig_arg *a, uint8_t type)
{
	switch (type) {
	case POV_FIELD_OUT:
		return a->dir == SIG_OUT;
	case POV_FIELD_IN:
		return a->dir == SIG_IN || a->dir == SIG_INOUT;
	case POV_FIELD_SUM:
		return a->dir == SIG_SUM;
	case POV_FIELD_TYPE_SIZE:
		return a->dir == SIG_VALUE && a->kind == SIG_KIND_DTYPE;
	default:
		return false;
	}
}

static void field_take(struct mpi_call *c, const struct pov_field *head, const uint8_t *data)
{
	struct mpi_field *f;

	if (head->type == POV_FIELD_COMM && head->size >= sizeof(c->comm)) {
		memcpy(&c->comm, data, sizeof(c->comm));
		c->comm_arg = head->arg;
		return;
	}
	if (head->arg >= c->parts.nargs || !field_fits(&c->fn->sig.arg[head->arg], head->type))
		return;
	if ((head->type == POV_FIELD_SUM || head->type == POV_FIELD_TYPE_SIZE) && head->size < 8)
		return;
	f = &c->field[head->arg];
	f->data = data;
	f->bytes = head->size;
	f->cnt = head->cnt;
	f->type = head->type;
}

static void fields_join(struct mpi_call *c, const struct continuations *more)
{
	for (uint32_t i = 0; i < c->parts.nargs; i++) {
		struct mpi_field *f = &c->field[i];

		if (f->type == POV_FIELD_IN || f->type == POV_FIELD_OUT)
			continuations_join(more, c->parts.rec->hdr.tid, c->parts.begin_ns, f->type,
					   i, mpi_call_width(c, i), c->arena, &f->data, &f->bytes);
	}
}

void mpi_call_open(struct mpi_call *c, const struct call_parts *parts, struct mpi_process *process,
		   struct layer_decoder *d)
{
	const struct pov_call *rec = parts->rec;
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct mpi_call){.fn = parts->info->priv,
			       .parts = *parts,
			       .process = process,
			       .arena = &d->arena,
			       .comm_arg = -1};
	c->ok = parts->returned && (!c->fn->returns_error || !(uint32_t)rec->ret);
	while (call_parts_field(parts, &at, &head, &data))
		field_take(c, &head, data);
	if (rec->hdr.flags & POV_CALL_MORE)
		fields_join(c, &d->more);
}

uint32_t mpi_call_width(const struct mpi_call *c, uint32_t arg)
{
	switch (c->fn->sig.arg[arg].type) {
	case SIG_INT:
		return 4;
	case SIG_WIDE:
	case SIG_PTR:
		return 8;
	case SIG_HANDLE:
		return c->process->handle_bytes;
	case SIG_STATUS:
		return c->process->status_bytes;
	case SIG_RANGE:
		return 3 * sizeof(int32_t);
	default:
		return 0;
	}
}

uint32_t mpi_call_kept(const struct mpi_call *c, uint32_t arg)
{
	const struct mpi_field *f = &c->field[arg];
	uint32_t width, kept;

	if (arg >= c->parts.nargs || (f->type != POV_FIELD_IN && f->type != POV_FIELD_OUT))
		return 0;
	width = mpi_call_width(c, arg);
	if (!width)
		return 0;
	kept = f->bytes / width;
	return kept < f->cnt ? kept : f->cnt;
}

bool mpi_call_whole(const struct mpi_call *c, uint32_t arg)
{
	const struct mpi_field *f = &c->field[arg];

	return arg < c->parts.nargs && (f->type == POV_FIELD_IN || f->type == POV_FIELD_OUT) &&
	       mpi_call_kept(c, arg) == f->cnt;
}

int64_t mpi_call_elem(const struct mpi_call *c, uint32_t arg, uint32_t i)
{
	const uint8_t *data = c->field[arg].data;
	uint8_t type = c->fn->sig.arg[arg].type;
	uint32_t width = mpi_call_width(c, arg);
	uint64_t wide = 0;
	int32_t narrow;

	if (type == SIG_INT || type == SIG_RANGE) {
		memcpy(&narrow, data + (size_t)i * sizeof(narrow), sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, data + (size_t)i * width, width < sizeof(wide) ? width : sizeof(wide));
	return wide;
}

bool mpi_call_status(const struct mpi_call *c, uint32_t i, struct mpi_status *out)
{
	int arg = c->fn->at[ROLE_status];

	if (arg < 0 || c->fn->sig.arg[arg].type != SIG_STATUS || i >= mpi_call_kept(c, arg) ||
	    !c->process->flavour->status_decode)
		return false;
	c->process->flavour->status_decode(c->field[arg].data + (size_t)i * mpi_call_width(c, arg),
					   out);
	return true;
}

bool mpi_call_first(const struct mpi_call *c, enum mpi_role role, int64_t *out)
{
	int arg = c->fn->at[role];

	if (arg < 0 || !mpi_call_kept(c, arg))
		return false;
	*out = mpi_call_elem(c, arg, 0);
	return true;
}

bool mpi_call_sum(const struct mpi_call *c, enum mpi_role role, int64_t *out)
{
	int arg = c->fn->at[role];

	if (arg < 0 || (uint32_t)arg >= c->parts.nargs || c->field[arg].type != POV_FIELD_SUM)
		return false;
	memcpy(out, c->field[arg].data, sizeof(*out));
	return true;
}

/* ---- values ---- */

/*
 * Arguments for people: in order, under their roles' names, special values by their MPI names.
 * Values that the record lacks are left out. Statuses are shown by mpi_requests.c and
 * mpi_roles.c, which know whether they are meaningful.
 */

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
