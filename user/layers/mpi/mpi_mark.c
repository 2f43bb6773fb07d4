/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls of MPI_Pcontrol by which a program marks its phases (abi/mark.h). Other levels are anybody's own, and
 * the words behind them nothing to believe.
 */
#include <string.h>

#include "abi/mark.h"
#include "layers/mpi/mpi_decode.h"

/* A name that fills its words has no end, and probably went on: the character that may be cut makes way for "…". */
static void cut_show(char *text)
{
	size_t n = POV_MARK_NAME_BYTES;

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n && (unsigned char)text[n - 1] >= 0xc0)
		n--;
	strcpy(text + n, "…");
}

/* The name's words as text, without what no terminal or viewer should be sent. */
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

/* What the level says takes the place of its number. */
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
