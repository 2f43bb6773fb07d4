/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs the analyses and makes the list of findings. */
#include "analysis/finding.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

static void (*const find[])(struct findings *f) = {
	find_cores,   find_collectives, find_late,	 find_roots,   find_contests,
	find_demand,  find_limits,	find_migrations, find_balance, find_storms,
	find_overlap, find_epochs,	find_queues,	 find_file_io,
};

void findings_init(struct findings *f)
{
	memset(f, 0, sizeof(*f));
	holders_init(&f->holders);
	arrivals_init(&f->arrivals);
	late_init(&f->late);
	epochs_init(&f->epochs);
	locks_init(&f->locks, &f->epochs);
	passive_init(&f->passive, &f->epochs);
	causes_init(&f->causes, &f->late, &f->arrivals, &f->epochs, &f->holders);
	app_time_init(&f->app, &f->holders);
	call_places_init(&f->places, &f->app, &f->causes);
	untraced_init(&f->untraced, &f->app, &f->late, &f->arrivals, &f->holders);
	any_source_init(&f->any_source, &f->late);
	unexpecteds_init(&f->unexpecteds, &f->late);
	contests_init(&f->contests, &f->app.windows);
	demand_init(&f->demand, &f->app.windows);
	allotted_init(&f->allotted, &f->app.windows);
	migrations_init(&f->migrations);
	storms_init(&f->storms);
	overlaps_init(&f->overlaps);
	observers_add(&f->late.matched, overlaps_match, &f->overlaps);
	volumes_init(&f->volumes);
	file_io_init(&f->file_io);
	samples_init(&f->samples, &f->app.windows);
	sleeps_init(&f->sleeps, &f->app.windows);
}

static void finding_free(const struct finding *found)
{
	free(found->text);
	free(found->advice);
	free(found->contest);
}

void findings_release(struct findings *f)
{
	while (f->n)
		finding_free(&f->finding[--f->n]);
	free(f->finding);
	free(f->limited);
	free(f->held);
	untraced_release(&f->untraced);
	app_time_release(&f->app);
	holders_release(&f->holders);
	arrivals_release(&f->arrivals);
	late_release(&f->late);
	locks_release(&f->locks);
	passive_release(&f->passive);
	epochs_release(&f->epochs);
	causes_release(&f->causes);
	call_places_release(&f->places);
	any_source_release(&f->any_source);
	unexpecteds_release(&f->unexpecteds);
	free(f->root);
	for (int how = 0; how < CAUSE_WAITS; how++)
		free(f->direct[how]);
	free(f->contest);
	contests_release(&f->contests);
	demand_release(&f->demand);
	allotted_release(&f->allotted);
	migrations_release(&f->migrations);
	storms_release(&f->storms);
	overlaps_release(&f->overlaps);
	volumes_release(&f->volumes);
	file_io_release(&f->file_io);
	samples_release(&f->samples);
	sleeps_release(&f->sleeps);
}

uint32_t findings_sinks(struct findings *f, const struct model_sink **sinks)
{
	/*
	 * app is before the sinks that query its windows, overlaps before late.matches, which calls
	 * it, and causes after the sinks that it combines.
	 */
	const struct model_sink *const all[] = {
		&f->app.sink,	       &f->holders.sink,  &f->arrivals.sink,   &f->overlaps.sink,
		&f->late.matches.sink, &f->late.probes,	  &f->untraced.sink,   &f->epochs.sink,
		&f->locks.sink,	       &f->passive.sink,  &f->causes.sink,     &f->contests.sink,
		&f->demand.sink,       &f->allotted.sink, &f->migrations.sink, &f->storms.sink,
		&f->volumes.sink,      &f->file_io.sink,  &f->samples.sink,    &f->sleeps.sink,
		&f->places.sink,
	};

	_Static_assert(sizeof(all) / sizeof(all[0]) <= FINDING_SINKS_MAX,
		       "callers have room for no more");
	memcpy(sinks, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}

bool finding_counts(const struct findings *f, const struct model_process *p)
{
	return p->is_rank && (!f->chosen || f->chosen[p->idx]);
}

void finding_add(struct findings *f, const struct finding *found)
{
	if (found->cost_ns < f->least_ns) {
		finding_free(found);
		return;
	}
	*table_append(f->finding, f->n) = *found;
}

TABLE_ORDER(finding_compare, struct finding, u64_compare(b->cost_ns, a->cost_ns),
	    strcmp(a->text, b->text))

static uint64_t least_cost(const struct findings *f)
{
	uint64_t life_ns = 0, ranks = 0, ns;

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (!finding_counts(f, p))
			continue;
		life_ns += p->end_ns - p->start_ns;
		ranks++;
	}
	ns = ranks ? life_ns / ranks / FINDING_PART : 0;
	return ns > FINDING_NS ? ns : FINDING_NS;
}

void findings_make(struct findings *f, const struct model *m, const bool *chosen)
{
	f->model = m;
	f->chosen = chosen;
	f->held = holders_list(&f->holders, m, &f->nheld);
	f->root = causes_list(&f->causes.roots, &f->nroot);
	for (int how = 0; how < CAUSE_WAITS; how++)
		f->direct[how] = causes_list(&f->causes.direct[how], &f->ndirect[how]);
	f->contest = contests_list(&f->contests, &f->ncontest);
	overlaps_settle(&f->overlaps);
	f->least_ns = least_cost(f);
	for (size_t i = 0; i < sizeof(find) / sizeof(find[0]); i++)
		find[i](f);
	find_same_time(f);
	table_sort(f->finding, f->n, finding_compare);
}

/*
 * Marks findings about time that other findings explain better. Example: a process preempts a rank
 * in MPI, and another finding covers all time that this process took. The kinds below are sorted by
 * how well they explain the cause, best first. If earlier kinds cover nearly all time of a finding,
 * short outputs leave the finding out.
 */

#define NEARLY_ALL 0.8

static const char *const kinds[] = {
	"polling_starves_peer", "communication_starved", "core_held_by_others",
	"oversubscribed",	"ranks_share_cores",	 "threads_share_cores",
	"preempted_in_mpi",	"polling_holds_core",
};

/*
 * Returns the kind that covers most of a finding's time, if earlier kinds cover nearly all.
 * explainer: kind that covers each contest, or NULL.
 */
static const char *explained_by(const struct findings *f, const struct finding *found,
				const char *const *explainer)
{
	uint64_t all_ns = 0, explained_ns = 0, ns[sizeof(kinds) / sizeof(kinds[0])] = {0},
		 most_ns = 0;
	const char *most = NULL;

	for (uint32_t i = 0; i < found->ncontest; i++) {
		const char *kind = explainer[found->contest[i]];
		size_t k = 0;

		all_ns += f->contest[found->contest[i]].ns;
		if (!kind)
			continue;
		explained_ns += f->contest[found->contest[i]].ns;
		while (kinds[k] != kind)
			k++;
		ns[k] += f->contest[found->contest[i]].ns;
		if (ns[k] <= most_ns)
			continue;
		most_ns = ns[k];
		most = kind;
	}
	return (double)explained_ns >= NEARLY_ALL * (double)all_ns ? most : NULL;
}

void find_same_time(struct findings *f)
{
	const char **explainer = xcalloc(f->ncontest + 1, sizeof(*explainer));

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint32_t i = 0; i < f->n; i++)
			if (!strcmp(f->finding[i].kind, kinds[k]))
				f->finding[i].explained_by = explained_by(f, &f->finding[i],
									  explainer);
		for (uint32_t i = 0; i < f->n; i++) {
			const struct finding *found = &f->finding[i];

			if (strcmp(found->kind, kinds[k]) != 0 || found->explained_by)
				continue;
			for (uint32_t c = 0; c < found->ncontest; c++)
				explainer[found->contest[c]] = kinds[k];
		}
	}
	free(explainer);
}
