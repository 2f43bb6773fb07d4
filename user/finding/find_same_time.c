/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Marks findings about time that other findings explain better. Example: a rank is preempted in MPI
 * by a process, and another finding covers all time that this process took. The kinds below are in
 * order of how much they say about the cause. If earlier kinds cover nearly all time of a finding,
 * short outputs leave it out.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "finding/find.h"

#define NEARLY_ALL 0.8

static const char *const kinds[] = {
	"polling_starves_peer", "communication_starved", "core_held_by_others",
	"oversubscribed",	"ranks_share_cores",	 "threads_share_cores",
	"preempted_in_mpi",	"polling_holds_core",
};

/*
 * Returns the kind that covers most of a finding's time, if earlier kinds cover nearly all. teller:
 * kind that covers each contest, or NULL.
 */
static const char *told_by(const struct findings *f, const struct finding *found,
			   const char *const *teller)
{
	uint64_t all_ns = 0, told_ns = 0, ns[sizeof(kinds) / sizeof(kinds[0])] = {0}, most_ns = 0;
	const char *most = NULL;

	for (uint32_t i = 0; i < found->ncontest; i++) {
		const char *kind = teller[found->contest[i]];
		size_t k = 0;

		all_ns += f->contest[found->contest[i]].ns;
		if (!kind)
			continue;
		told_ns += f->contest[found->contest[i]].ns;
		while (kinds[k] != kind)
			k++;
		ns[k] += f->contest[found->contest[i]].ns;
		if (ns[k] <= most_ns)
			continue;
		most_ns = ns[k];
		most = kind;
	}
	return (double)told_ns >= NEARLY_ALL * (double)all_ns ? most : NULL;
}

void find_same_time(struct findings *f)
{
	const char **teller = xcalloc(f->ncontest + 1, sizeof(*teller));

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint32_t i = 0; i < f->n; i++)
			if (!strcmp(f->finding[i].kind, kinds[k]))
				f->finding[i].told_by = told_by(f, &f->finding[i], teller);
		for (uint32_t i = 0; i < f->n; i++) {
			const struct finding *found = &f->finding[i];

			if (strcmp(found->kind, kinds[k]) != 0 || found->told_by)
				continue;
			for (uint32_t c = 0; c < found->ncontest; c++)
				teller[found->contest[c]] = kinds[k];
		}
	}
	free(teller);
}
