/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls of MPI_Pcontrol by which a program marks its phases (abi/mark.h). Other levels are anybody's own, and
 * the words behind them nothing to believe.
 */
#include <string.h>

#include "abi/mark.h"
#include "layer/mpi_decode.h"

/* The name's words as text: it is cut at what no terminal or viewer should be sent. */
static const char *name_text(const struct mpi_call *c, int first)
{
	char text[POV_MARK_NAME_BYTES + 1] = "";
	uint64_t word[POV_MARK_WORDS];

	for (int i = 0; i < POV_MARK_WORDS; i++)
		word[i] = mpi_call_word(c, first + i);
	memcpy(text, word, POV_MARK_NAME_BYTES);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return arena_printf(c->arena, "%s", text);
}

void mpi_mark(const struct mpi_call *c, struct call_view *out)
{
	int first = c->fn->at[ROLE_MARK];
	struct call_roles *r = &out->roles;
	uint32_t level;

	if (first < 1 || c->nargs < (uint32_t)first + POV_MARK_WORDS)
		return;
	level = mpi_call_word(c, 0);
	if (level - POV_MARK_BEGIN < POV_MARK_LEVELS) {
		r->mark = MARK_BEGIN;
		r->mark_level = level - POV_MARK_BEGIN;
		r->mark_name = name_text(c, first);
		mpi_value_new(out, "phase", VALUE_TEXT)->text = r->mark_name;
	} else if (level - POV_MARK_END < POV_MARK_LEVELS) {
		r->mark = MARK_END;
		r->mark_level = level - POV_MARK_END;
	}
}
