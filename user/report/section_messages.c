/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows the sizes of messages, and how many of them have an unknown other end or no match; and how
 * many epochs of one-sided communication have a matching other side (analysis/epochs.h).
 */
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

/* ---- messages ---- */

#define BAR_WIDTH 24

/* A reason why something is unknown: key of the JSON, and text. */
struct why {
	const char *key, *text;
};

/* Reasons why a peer is unknown. */
static const struct why unknown_peer[PEER_UNKNOWN_CNT] = {
	[PEER_UNKNOWN_COMM] = {"communicator_not_recorded",
			       "the creation of their communicator was not recorded"},
	[PEER_UNKNOWN_MEMBERS] = {"members_not_recorded",
				  "some ranks that created their communicator were not recorded"},
	[PEER_UNKNOWN_ORDER] = {"reordered", "the library may have reordered the ranks"},
	[PEER_UNKNOWN_OTHER] =
		{"other_program",
		 "in a connected program, or in a spawned job that is uncertain or not "
		 "recorded"},
	[PEER_UNKNOWN_WORLD] = {"no_world_rank", "their own rank in MPI_COMM_WORLD is unknown"},
	[PEER_UNKNOWN_ANY] = {"any_source", "received from any source, without a status"},
	[PEER_UNKNOWN_CONFLICT] = {"contradiction",
				   "the records of their communicator contradict each other"},
};

/* Reasons why a send or receive has no match. */
static const struct why unmatched[MATCH_WHY_CNT] = {
	[MATCH_PEER_UNKNOWN] = {"peer_unknown", "the other rank is unknown (above)"},
	[MATCH_NO_PEER] = {"peer_not_recorded", "the other process was not recorded"},
	[MATCH_NO_OTHER] = {"no_other_end",
			    "no other end was recorded: never sent or received, or outside the "
			    "recording"},
	[MATCH_STATUS] = {"no_status",
			  "any source or any tag without a status, and several messages fit"},
	[MATCH_BEHIND] = {"behind_no_status",
			  "a receive of the line above may have taken their message"},
	[MATCH_CONFLICT] = {"contradiction", "the two ends contradict each other"},
	[MATCH_TOO_MANY] = {"too_many", "too many were waiting for their other end"},
};

/*
 * The first entry of these tables is for known or matched ones, and has no reason. n: number of
 * entries.
 */

static void whys_json(struct json_out *j, const struct why *why, int n, const uint64_t *by)
{
	for (int i = 1; i < n; i++)
		json_out_key_uint(j, why[i].key, by[i]);
}

static void whys_object(struct json_out *j, const char *key, const struct why *why, int n,
			const uint64_t *by)
{
	json_out_key_object(j, key);
	json_out_key_uint(j, "matched", by[0]);
	whys_json(j, why, n, by);
	json_out_object_end(j);
}

/* also: counts to add, or NULL. */
static void whys_note(const struct why *why, int n, const uint64_t *by, const uint64_t *also,
		      FILE *out)
{
	for (int i = 1; i < n; i++) {
		uint64_t sum = by[i] + (also ? also[i] : 0);

		if (sum)
			text_note(out, "  %s: %s", COUNT_TEXT(sum), why[i].text);
	}
}

/* ---- JSON ---- */

/* b: a bucket, or -1 for messages of unknown size. */
static void size_print(struct json_out *j, const struct message_row *m, int class, int b,
		       uint32_t lost)
{
	uint64_t from_bytes = b > 0 ? UINT64_C(1) << (b - 1) : 0;
	bool known = b >= 0;
	uint64_t cnt = known ? m->cnt[class][b] : m->unknown[class];

	if (!cnt)
		return;
	json_out_object_begin(j);
	json_out_key_string(j, "class", message_class_names[class]);
	json_out_known_uint(j, "from_bytes", known, from_bytes);
	json_out_known_uint(j, "to_bytes", known, b > 0 ? from_bytes * 2 - 1 : 0);
	json_out_key_uint(j, "count", cnt);
	json_out_known_uint(j, "bytes", known, known ? m->bytes[class][b] : 0);
	json_incomplete(j, lost & LOSS_OF_BYTES);
	json_out_object_end(j);
}

void json_messages(struct json_out *j, const struct message_row *m, uint32_t lost)
{
	json_out_key_array(j, "message_sizes");
	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		for (int b = 0; b < MESSAGE_BUCKETS; b++)
			size_print(j, m, class, b, lost);
		size_print(j, m, class, -1, lost);
	}
	json_out_array_end(j);
}

void json_peers(struct json_out *j, const struct peers_row *row, uint32_t lost)
{
	json_out_key_object(j, "peers");
	json_out_key_uint(j, "messages", row->messages);
	json_out_key_uint(j, "known", row->by[PEER_KNOWN]);
	json_out_key_object(j, "unknown");
	whys_json(j, unknown_peer, PEER_UNKNOWN_CNT, row->by);
	json_out_object_end(j);
	json_incomplete(j, lost & LOSS_OF_CALLS);
	json_out_object_end(j);
}

void json_matching(struct json_out *j, const struct match_row *row, uint32_t lost)
{
	json_out_key_object(j, "matching");
	whys_object(j, "sends", unmatched, MATCH_WHY_CNT, row->sends);
	whys_object(j, "receives", unmatched, MATCH_WHY_CNT, row->recvs);
	json_out_key_uint(j, "assumed", row->assumed);
	json_incomplete(j, lost & LOSS_OF_CALLS);
	json_out_object_end(j);
}

void json_sent_to(struct json_out *j, const struct report *r, uint32_t idx)
{
	json_out_key_array(j, "sent_to");
	for (uint32_t to = 0; to < r->nranks; to++) {
		const struct pair *p = messages_pair(&r->messages, idx, to);
		const struct model_process *peer = model_process_get(r->model, to);

		if (!p)
			continue;
		json_out_object_begin(j);
		json_rank(j, peer);
		json_out_key_uint(j, "pid", peer->host_pid);
		json_out_key_uint(j, "messages", p->messages);
		json_out_key_uint(j, "bytes", p->bytes);
		json_out_key_uint(j, "of_unknown_size", p->unknown);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* ---- text ---- */

static void bucket_name(struct columns *c, int b)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	if (b <= 1) {
		columns_cell(c, "%d B", b);
		return;
	}
	human_bytes(from, sizeof(from), UINT64_C(1) << (b - 1));
	human_bytes(to, sizeof(to), b < 64 ? UINT64_C(1) << b : UINT64_MAX);
	columns_cell(c, "%s - <%s", from, to);
}

static uint64_t bucket_cnt(const struct message_row *m, int b)
{
	uint64_t cnt = 0;

	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++)
		cnt += m->cnt[class][b];
	return cnt;
}

static void bucket_row(struct columns *c, const struct message_row *m, const bool *used, int b,
		       uint64_t most, const char *mark)
{
	uint64_t bytes = 0;
	double share = (double)bucket_cnt(m, b) / (double)most;

	bucket_name(c, b);
	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		bytes += m->bytes[class][b];
		if (!used[class])
			continue;
		columns_mark(c, mark);
		if (m->cnt[class][b])
			cell_count(c, m->cnt[class][b]);
		else
			columns_cell(c, ".");
	}
	columns_mark(c, mark);
	cell_bytes(c, bytes);
	columns_cell(c, "%.*s", share > 0 ? 1 + (int)(share * (BAR_WIDTH - 1)) : 0,
		     "########################");
}

static void gap_row(struct columns *c, const bool *used)
{
	columns_cell(c, "...");
	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		if (used[class])
			columns_cell(c, ".");
	}
	cell_empty(c);
	cell_empty(c);
}

/* Sets used for each class that has messages of known size. False if there is none. */
static bool classes_used(const struct message_row *m, bool *used)
{
	bool any = false;

	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		used[class] = false;
		for (int b = 0; b < MESSAGE_BUCKETS; b++)
			used[class] |= m->cnt[class][b] != 0;
		any |= used[class];
	}
	return any;
}

static bool has_collectives(const struct message_row *m)
{
	bool used[MESSAGE_CLASS_CNT];

	return classes_used(m, used) && used[MESSAGE_COLL];
}

struct columns *table_message_sizes(const struct report *r)
{
	const char *mark = text_mark(r->lost_shown, 0, LOSS_OF_BYTES);
	const struct message_row *m = &r->sum.messages;
	bool used[MESSAGE_CLASS_CNT];
	int first = MESSAGE_BUCKETS, last = -1;
	struct columns *c;
	uint64_t most = 1;

	if (!classes_used(m, used))
		return NULL;
	c = columns_new();
	for (int b = 0; b < MESSAGE_BUCKETS; b++) {
		if (!bucket_cnt(m, b))
			continue;
		first = b < first ? b : first;
		last = b;
		most = bucket_cnt(m, b) > most ? bucket_cnt(m, b) : most;
	}
	columns_add(c, "bytes each", COLUMNS_RIGHT);
	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		if (used[class])
			columns_add(c, message_class_names[class], COLUMNS_RIGHT);
	}
	columns_add(c, "total", COLUMNS_RIGHT);
	columns_add(c, "", COLUMNS_BAR);
	for (int b = first; b <= last; b++) {
		if (bucket_cnt(m, b))
			bucket_row(c, m, used, b, most, mark);
		else if (bucket_cnt(m, b - 1)) /* one line for adjacent empty buckets */
			gap_row(c, used);
	}
	return c;
}

static void peers_note(const struct peers_row *all, FILE *out)
{
	uint64_t unknown = all->messages - all->by[PEER_KNOWN];

	if (!unknown)
		return;
	text_note(out, "The other end of %s of %s is unknown as a rank of MPI_COMM_WORLD:",
		  COUNT_TEXT(unknown), PLURAL_TEXT(all->messages, "message", "messages"));
	whys_note(unknown_peer, PEER_UNKNOWN_CNT, all->by, NULL, out);
}

struct match_ends match_ends_of(const struct match_row *row)
{
	struct match_ends ends = {0};

	for (int why = 0; why < MATCH_WHY_CNT; why++) {
		ends.all += row->sends[why] + row->recvs[why];
		ends.unmatched += why == MATCHED ? 0 : row->sends[why] + row->recvs[why];
	}
	return ends;
}

static void matching_note(const struct match_row *all, FILE *out)
{
	struct match_ends ends = match_ends_of(all);

	if (!ends.unmatched)
		return;
	text_note(out,
		  "%s of %s are not matched with their other end, so their lateness is "
		  "unknown:",
		  COUNT_TEXT(ends.unmatched),
		  PLURAL_TEXT(ends.all, "send or receive", "sends and receives"));
	whys_note(unmatched, MATCH_WHY_CNT, all->sends, all->recvs, out);
}

struct columns *table_sent_to(const struct report *r, const char **unit)
{
	struct pair *cell = xcalloc((size_t)r->nrows * r->nrows, sizeof(*cell));
	struct columns *c = NULL;
	bool any = false;

	for (uint32_t i = 0; i < r->nrows; i++) {
		for (uint32_t k = 0; k < r->nrows; k++) {
			const struct pair *p = messages_pair(&r->messages, r->row[i], r->row[k]);

			if (p)
				cell[i * r->nrows + k] = *p;
			any |= p != NULL;
		}
	}
	if (any)
		c = table_matrix_of(r, cell, LOSS_OF_CALLS, unit);
	free(cell);
	return c;
}

static void matrix_text(const struct report *r, FILE *out)
{
	const char *unit;
	struct columns *c = table_sent_to(r, &unit);

	if (c)
		text_matrix_print(c, "messages", unit, out);
}

static uint64_t unknown_sizes(const struct report *r)
{
	uint64_t unknown = 0;

	for (int class = 0; class < MESSAGE_CLASS_CNT; class ++)
		unknown += r->sum.messages.unknown[class];
	return unknown;
}

void text_messages_notes(const struct report *r, FILE *out)
{
	const char *mark = text_mark(r->lost_shown, 0, LOSS_OF_BYTES);
	uint64_t unknown = unknown_sizes(r);

	if (unknown)
		text_note(out,
			  "%s%s more have an unknown size (their datatype or communicator was not "
			  "recorded).",
			  mark ? mark : "", COUNT_TEXT(unknown));
}

void text_peers_notes(const struct report *r, FILE *out)
{
	peers_note(&r->sum.peers, out);
	matching_note(&r->sum.matching, out);
}

void text_messages(const struct report *r, FILE *out)
{
	struct columns *c = table_message_sizes(r);

	if (!c && !unknown_sizes(r))
		return;
	text_section(out, "Message sizes: operations that send, by bytes");
	if (c)
		text_columns(c, out);
	text_messages_notes(r, out);
	if (has_collectives(&r->sum.messages))
		text_explain(r, out, "coll: what each rank contributes to a collective.");
	text_peers_notes(r, out);
	if (r->nranks && r->nrows <= MATRIX_RANKS_MAX)
		matrix_text(r, out);
}

/* ---- epochs ---- */

/* Reasons why an epoch has no match. */
static const struct why unmatched_side[EPOCH_WHY_CNT] = {
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

void json_epochs(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct epoch_row *row = epochs_of(&r->findings.epochs, idx);

	json_out_key_object(j, "epochs");
	whys_object(j, "accesses", unmatched_side, EPOCH_WHY_CNT, row->accesses);
	whys_object(j, "exposures", unmatched_side, EPOCH_WHY_CNT, row->exposures);
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

	if (!left)
		return;
	text_note(out, "%s of %s are not matched with their other side:", COUNT_TEXT(left),
		  PLURAL_TEXT(sides, "access or exposure", "accesses and exposures"));
	whys_note(unmatched_side, EPOCH_WHY_CNT, all->accesses, all->exposures, out);
}

/* Notes only the epochs and locks whose lateness is unknown. */
void text_epochs(const struct report *r, FILE *out)
{
	struct epoch_row all = {0};

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
			  PLURAL_TEXT(all.doubtful, "call", "calls"));
}
