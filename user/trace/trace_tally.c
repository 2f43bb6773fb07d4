/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace/trace_tally.h"

void trace_tally_sum(struct trace_tally *to, const struct trace_tally *t)
{
	to->records += t->records;
	to->calls += t->calls;
	to->spins += t->spins;
	to->polls += t->polls;
	to->counted += t->counted;
	to->switches += t->switches;
}

void trace_tally_add_other(struct trace_tally *t, const struct pov_hdr *rec)
{
	const struct pov_spin *spin = (const struct pov_spin *)rec;

	switch (rec->kind) {
	case POV_KIND_SWITCH:
		t->switches++;
		break;
	case POV_KIND_COUNTED:
		t->counted += ((const struct pov_counted *)rec)->calls;
		break;
	case POV_KIND_SPIN:
		t->spins++;
		for (size_t i = 0;
		     sizeof(*spin) + (i + 1) * sizeof(*spin->func) <= rec->size && i < spin->nfuncs;
		     i++)
			t->polls += spin->func[i].cnt;
		break;
	}
}
