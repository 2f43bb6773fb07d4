/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Takes a call record apart. Each field names its argument; an argument has at most one field. A
 * field that the signature does not ask for is ignored.
 */
#include "layers/mpi/mpi_decode.h"

#include <string.h>

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
