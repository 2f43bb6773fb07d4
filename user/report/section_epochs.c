/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows how many epochs of one-sided communication have a matching other side (analysis/epochs.h).
 */
#include "analysis/table.h"
#include "lib/human.h"
#include "report/section.h"

/* Reasons why an epoch has no match: key of the JSON, and text. */
static const struct {
	const char *key, *text;
} unmatched[EPOCH_WHY_CNT] = {
	[EPOCH_WINDOW_UNKNOWN] = {"window_not_recorded",
				  "the creation of their window was not recorded"},
	[EPOCH_GROUP_UNKNOWN] = {"group_unknown", "the members of their group are unknown"},
	[EPOCH_UNCERTAIN] =
		{"uncertain",
		 "the recording began too late, or calls are missing: their other side is "
		 "uncertain"},
	[EPOCH_NO_OTHER] = {"no_other_side",
			    "the other side never began, or not during the recording"},
	[EPOCH_TOO_MANY] = {"too_many", "too many were waiting for their other side"},
};

static void sides_print(struct json_out *j, const char *key, const uint64_t by[EPOCH_WHY_CNT])
{
	json_out_key_object(j, key);
	json_out_key_uint(j, "matched", by[EPOCH_MATCHED]);
	for (int why = EPOCH_MATCHED + 1; why < EPOCH_WHY_CNT; why++)
		json_out_key_uint(j, unmatched[why].key, by[why]);
	json_out_object_end(j);
}

void json_epochs(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct epoch_row *row = epochs_of(&r->findings.epochs, idx);

	json_out_key_object(j, "epochs");
	sides_print(j, "accesses", row->accesses);
	sides_print(j, "exposures", row->exposures);
	json_out_key_uint(j, "locks", row->locks);
	json_out_key_uint(j, "lock_doubtful", row->doubtful);
	json_incomplete(j, r->lost[idx] & LOSS_OF_CALLS);
	json_out_object_end(j);
}

static uint64_t unmatched_count(const struct epoch_row *all)
{
	uint64_t left = 0;

	for (int why = EPOCH_MATCHED + 1; why < EPOCH_WHY_CNT; why++)
		left += all->accesses[why] + all->exposures[why];
	return left;
}

static void unmatched_note(const struct epoch_row *all, FILE *out)
{
	uint64_t left = unmatched_count(all),
		 sides = left + all->accesses[EPOCH_MATCHED] + all->exposures[EPOCH_MATCHED];
	char cnt[HUMAN_BYTES], of[80];

	if (!left)
		return;
	text_note(out, "%s of %s are not matched with their other side:",
		  human_count(cnt, sizeof(cnt), left),
		  human_plural(of, sizeof(of), sides, "access or exposure",
			       "accesses and exposures"));
	for (int why = EPOCH_MATCHED + 1; why < EPOCH_WHY_CNT; why++)
		if (all->accesses[why] + all->exposures[why])
			text_note(out, "  %s: %s",
				  human_count(cnt, sizeof(cnt),
					      all->accesses[why] + all->exposures[why]),
				  unmatched[why].text);
}

/* Notes only the epochs and locks whose lateness is unknown. */
void text_epochs(const struct report *r, FILE *out)
{
	struct epoch_row all = {0};
	char cnt[64];

	for (uint32_t i = 0; i < r->nrows; i++)
		table_row_add(&all, epochs_of(&r->findings.epochs, r->row[i]), accesses);
	if (!unmatched_count(&all) && !all.doubtful)
		return;
	text_section(out, "One-sided communication whose lateness is unknown");
	unmatched_note(&all, out);
	if (all.doubtful)
		text_note(out,
			  "%s may have waited for a lock, but it is unknown whether another rank "
			  "held it.",
			  human_plural(cnt, sizeof(cnt), all.doubtful, "call", "calls"));
}
