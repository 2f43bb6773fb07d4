/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes sentences about collective calls that members have not made, or made differently. */
#include <stdlib.h>
#include <string.h>

#include "report/hang_text.h"

#define MISSING_NAMED 3 /* up to this many missing ranks, tells where each one is */

static const struct hang_want *joint_want(const struct hang_thread *t, uint64_t joint,
					  uint64_t number)
{
	for (uint32_t i = 0; t->thread && t->func && i < t->nwant; i++)
		if (t->want[i].kind == HANG_TOGETHER && t->want[i].joint == joint && joint &&
		    (!number || t->want[i].number == number))
			return &t->want[i];
	return NULL;
}

/* Members in an open call with that number; number 0: in an open call of the same function. */
static struct hang_members members_in(const struct hang *h, const struct hang_want *w,
				      uint64_t number)
{
	struct hang_members m = {0};

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_want *k = joint_want(&h->thread[i], w->joint, number);

		if (k && (number || k->func == w->func))
			hang_members_add(&m, h->thread[i].thread->proc);
	}
	hang_members_sort(&m);
	return m;
}

/* ---- different calls ---- */

/*
 * Divides the members whose call with that number is known: here, those that called the same
 * function; there, those that called another one. Returns the first such call of another function.
 */
static const struct hang_part *mismatch_find(const struct hang *h, const struct hang_want *w,
					     struct hang_members *here, struct hang_members *there)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);
	const struct hang_part *part, *other = NULL;
	uint64_t idx;

	for (size_t i = 0; (part = map_next(&j->part, &i, &idx));) {
		const struct model_process *p = model_process_get(h->model, (uint32_t)idx);

		if (part->number != w->number || hang_may_miss(h, p))
			continue;
		if (!strcmp(part->func->name, w->func->name)) {
			hang_members_add(here, p);
		} else if (!other || !strcmp(part->func->name, other->func->name)) {
			other = part;
			hang_members_add(there, p);
		}
	}
	hang_members_sort(here);
	hang_members_sort(there);
	return other;
}

/* Reports members that made different calls with the same number. Returns true if any did. */
static bool mismatch_say(struct hang_text *x, const struct hang_thread *t,
			 const struct hang_want *w)
{
	struct hang_members here = {0}, there = {0};
	const struct hang_part *other = mismatch_find(&x->r->hang, w, &here, &there);

	if (here.n && there.n)
		hang_say(x, "mismatch", true,
			 "%s called %s%s, %s %s%s, both as call %llu on %s: all members must "
			 "make the same calls in the same order",
			 hang_of_ranks_text(x, here.p, here.n), w->func->name,
			 hang_at_text(x, &t->site), hang_of_ranks_text(x, there.p, there.n),
			 other->func->name, hang_at_text(x, &other->site),
			 (unsigned long long)w->number, hang_comm_text(x, w));
	free(here.p);
	free(there.p);
	return other;
}

/* ---- missing calls ---- */

/*
 * Members that have not made that call. known: judges by call numbers, else by who is in the call
 * now.
 */
static struct hang_members members_missing(const struct hang *h, const struct hang_thread *t,
					   const struct hang_want *w, bool known,
					   uint32_t *unrecorded)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);
	struct hang_members m = {0}, in = members_in(h, w, 0);

	*unrecorded = 0;
	for (int32_t i = 0; j->member && i < j->size; i++) {
		const struct model_process *p = hang_member(h, t->thread->proc, j->member[i]);

		if (!p)
			++*unrecorded;
		else if (known ? hang_number(j, p) < w->number : !hang_members_have(&in, p))
			hang_members_add(&m, p);
	}
	hang_members_sort(&m);
	free(in.p);
	return m;
}

/* "ranks 2, 3 have not called it. Rank 2: it is …; rank 3: it is …" */
static const char *missing_text(struct hang_text *x, struct hang_members *missing, bool known)
{
	const char *text = known ? hang_members_text(x, missing, "has not called it",
						     "have not called it") :
				   hang_members_text(x, missing, "is not in it", "are not in it");

	if (missing->n == 1)
		return PHRASE(x, "%s: %s", text, hang_where_text(x, missing->p[0]));
	for (uint32_t i = 0; missing->n <= MISSING_NAMED && i < missing->n; i++)
		text = PHRASE(x, "%s%s %s: %s", text, i ? "; rank" : ". Rank",
			      hang_ranks_text(x, &missing->p[i], 1),
			      hang_where_text(x, missing->p[i]));
	return text;
}

static void missing_say(struct hang_text *x, const struct hang_thread *t, const struct hang_want *w)
{
	bool known = w->other == HANG_UNSEEN;
	struct hang_members in = members_in(&x->r->hang, w, known ? w->number : 0), missing;
	const char *call = "", *others = "", *more = "";
	uint32_t unrecorded;

	missing = members_missing(&x->r->hang, t, w, known, &unrecorded);
	if (known)
		call = PHRASE(x, ", call %llu", (unsigned long long)w->number);
	if (missing.n)
		others = PHRASE(x, "; %s", missing_text(x, &missing, known));
	if (unrecorded)
		more = PHRASE(x, "; %u of its members %s not recorded", unrecorded,
			      unrecorded == 1 ? "was" : "were");
	if (missing.n || unrecorded)
		hang_say(x, "missing", false, "%s in %s%s%s on %s%s%s%s",
			 hang_members_text(x, &in, "is", "are"), w->func->name,
			 hang_at_text(x, &t->site), call, hang_comm_text(x, w), others, more,
			 !known && missing.n ? ". Earlier calls of it are unknown" : "");
	free(missing.p);
	free(in.p);
}

void hang_together_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && k < t->nwant; k++) {
			const struct hang_want *w = &t->want[k];
			bool first = true, known;

			if (w->kind != HANG_TOGETHER || !map_get(&h->joints, w->joint))
				continue;
			known = w->number && !hang_may_miss(h, t->thread->proc);
			for (uint32_t b = 0; b < i && first; b++)
				first = !joint_want(&h->thread[b], w->joint, known ? w->number : 0);
			/* reports each collective call once */
			if (!first || (known && mismatch_say(x, t, w)))
				continue;
			if (w->other != HANG_SEEN && hang_said(x, "missing") < SENTENCES_OF_A_KIND)
				missing_say(x, t, w);
		}
	}
}
