/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A group is a list of members, or an expression that becomes one. The operands of an expression
 * are released once it has been evaluated.
 */
#include "layers/mpi/mpi_comm.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

/*
 * depth of groups made of groups that are not evaluated yet: evaluation and freeing recurse as
 * deeply
 */
#define DEPTH_MAX 64
#define SIZE_MAX_OF_GROUP (1 << 22)
#define STEPS_MAX (1 << 28) /* steps of comparing two groups */

enum form {
	FORM_LIST, /* evaluated */
	FORM_WORLD,
	FORM_UNKNOWN,
	FORM_INCL,
	FORM_EXCL,
	FORM_FIRST,
	FORM_CONCAT, /* from here on as in enum mpi_group_op */
	FORM_UNION,
	FORM_INTERSECTION,
	FORM_DIFFERENCE,
	FORM_SOURCE,
};

struct mpi_group {
	uint32_t refs;
	uint8_t form; /* enum form */
	uint8_t depth;
	uint8_t why;		   /* UNKNOWN: enum peer_unknown */
	int32_t job;		   /* WORLD */
	int32_t size;		   /* LIST, WORLD: members; FIRST: how many of a's members */
	struct mpi_member *member; /* LIST */
	struct mpi_group *a, *b;   /* operands */
	int32_t *rank;		   /* INCL, EXCL: rank_cnt of them */
	uint32_t rank_cnt;
	struct mpi_group_source source;
};

struct mpi_group *mpi_group_ref(struct mpi_group *g)
{
	if (g)
		g->refs++;
	return g;
}

/* Releases what the group was made of. */
static void operands_release(struct mpi_group *g)
{
	mpi_group_unref(g->a);
	mpi_group_unref(g->b);
	free(g->rank);
	if (g->source.unref)
		g->source.unref(g->source.making);
	g->a = g->b = NULL;
	g->rank = NULL;
	g->source = (struct mpi_group_source){0};
}

void mpi_group_unref(struct mpi_group *g)
{
	if (!g || --g->refs)
		return;
	operands_release(g);
	free(g->member);
	free(g);
}

static struct mpi_group *group_new(enum form form)
{
	struct mpi_group *g = xcalloc(1, sizeof(*g));

	g->refs = 1;
	g->form = form;
	return g;
}

struct mpi_group *mpi_group_new(struct mpi_member *member, int32_t size)
{
	struct mpi_group *g = group_new(FORM_LIST);

	g->member = member;
	g->size = size;
	return g;
}

struct mpi_group *mpi_group_world(int32_t job, int32_t size)
{
	struct mpi_group *g;

	if (size < 0 || size > SIZE_MAX_OF_GROUP)
		return mpi_group_unknown(PEER_UNKNOWN_WORLD);
	g = group_new(FORM_WORLD);
	g->job = job;
	g->size = size;
	return g;
}

struct mpi_group *mpi_group_unknown(enum peer_unknown why)
{
	struct mpi_group *g = group_new(FORM_UNKNOWN);

	g->why = why;
	return g;
}

static void become_list(struct mpi_group *g, struct mpi_member *member, int32_t size)
{
	operands_release(g);
	g->form = FORM_LIST;
	g->member = member;
	g->size = size;
}

static void become_unknown(struct mpi_group *g, enum peer_unknown why)
{
	operands_release(g);
	g->form = FORM_UNKNOWN;
	g->why = why;
}

/* ---- evaluation ---- */

static struct mpi_member member_at(const struct mpi_group *g, int32_t rank)
{
	return g->form == FORM_WORLD ? (struct mpi_member){g->job, rank} : g->member[rank];
}

/* Rank of a process in a group; both must be evaluated. */
static int32_t rank_in(const struct mpi_group *g, struct mpi_member who)
{
	if (g->form == FORM_WORLD)
		return who.job == g->job && who.rank >= 0 && who.rank < g->size ? who.rank : -1;
	for (int32_t i = 0; i < g->size; i++)
		if (mpi_member_same(g->member[i], who))
			return i;
	return -1;
}

static bool is_list(const struct mpi_group *g)
{
	return g->form == FORM_LIST || g->form == FORM_WORLD;
}

static void incl_work_out(struct mpi_group *g)
{
	struct mpi_member *list = xcalloc(g->rank_cnt + 1, sizeof(*list));

	for (uint32_t i = 0; i < g->rank_cnt; i++) {
		int32_t rank = g->form == FORM_INCL ? g->rank[i] : (int32_t)i;

		if (rank < 0 || rank >= g->a->size) {
			free(list);
			become_unknown(g, PEER_UNKNOWN_CONFLICT);
			return;
		}
		list[i] = member_at(g->a, rank);
	}
	become_list(g, list, (int32_t)g->rank_cnt);
}

static void excl_work_out(struct mpi_group *g)
{
	struct mpi_member *list = xcalloc((size_t)g->a->size + 1, sizeof(*list));
	bool *out = xcalloc((size_t)g->a->size + 1, sizeof(*out));
	int32_t n = 0;

	for (uint32_t i = 0; i < g->rank_cnt; i++)
		if (g->rank[i] >= 0 && g->rank[i] < g->a->size)
			out[g->rank[i]] = true;
	for (int32_t i = 0; i < g->a->size; i++)
		if (!out[i])
			list[n++] = member_at(g->a, i);
	free(out);
	become_list(g, list, n);
}

/* Members of a that are (not) in b; for a union, followed by those that only b has. */
static void sets_work_out(struct mpi_group *g)
{
	const struct mpi_group *a = g->a, *b = g->b;
	bool adds = g->form == FORM_UNION || g->form == FORM_CONCAT;
	struct mpi_member *list;
	int32_t n = 0;

	if ((int64_t)a->size * b->size > STEPS_MAX || a->size + b->size > SIZE_MAX_OF_GROUP) {
		become_unknown(g, PEER_UNKNOWN_MEMBERS);
		return;
	}
	list = xcalloc((size_t)a->size + (adds ? (size_t)b->size : 0) + 1, sizeof(*list));
	for (int32_t i = 0; i < a->size; i++)
		if (adds || (rank_in(b, member_at(a, i)) >= 0) == (g->form == FORM_INTERSECTION))
			list[n++] = member_at(a, i);
	for (int32_t i = 0; adds && i < b->size; i++)
		if (g->form == FORM_CONCAT || rank_in(a, member_at(b, i)) < 0)
			list[n++] = member_at(b, i);
	become_list(g, list, n);
}

static void source_work_out(struct mpi_group *g)
{
	enum peer_unknown why = PEER_KNOWN;
	int32_t size;
	struct mpi_member *list = g->source.members(g->source.making, g->source.key, &size, &why);

	if (list)
		become_list(g, list, size);
	else if (why != PEER_KNOWN)
		become_unknown(g, why);
}

/* Turns the group into a list if that is possible now. */
static void work_out(struct mpi_group *g)
{
	if (is_list(g) || g->form == FORM_UNKNOWN)
		return;
	if (g->a)
		work_out(g->a);
	if (g->b)
		work_out(g->b);
	if (g->a && g->a->form == FORM_UNKNOWN)
		become_unknown(g, g->a->why);
	else if (g->b && g->b->form == FORM_UNKNOWN)
		become_unknown(g, g->b->why);
	if (g->form == FORM_UNKNOWN || (g->a && !is_list(g->a)) || (g->b && !is_list(g->b)))
		return;
	switch (g->form) {
	case FORM_INCL:
		incl_work_out(g);
		break;
	case FORM_EXCL:
		excl_work_out(g);
		break;
	case FORM_FIRST:
		g->rank_cnt = g->size < g->a->size ? (uint32_t)g->size : (uint32_t)g->a->size;
		incl_work_out(g);
		break;
	case FORM_SOURCE:
		source_work_out(g);
		break;
	default:
		sets_work_out(g);
	}
}

/* ---- groups made of others ---- */

/* Evaluates the new group at once if possible, to avoid long chains. */
static struct mpi_group *group_of(enum form form, struct mpi_group *a, struct mpi_group *b)
{
	struct mpi_group *g;
	uint8_t depth;

	if (!a || (form >= FORM_CONCAT && !b))
		return mpi_group_unknown(PEER_UNKNOWN_COMM);
	depth = a->depth > (b ? b->depth : 0) ? a->depth : b ? b->depth : 0;
	if (depth >= DEPTH_MAX)
		return mpi_group_unknown(PEER_UNKNOWN_MEMBERS);
	g = group_new(form);
	g->a = mpi_group_ref(a);
	g->b = mpi_group_ref(b);
	g->depth = is_list(a) && (!b || is_list(b)) ? 0 : depth + 1;
	return g;
}

struct mpi_group *mpi_group_of_ranks(struct mpi_group *a, const int32_t *rank, uint32_t cnt,
				     bool exclude)
{
	struct mpi_group *g = group_of(exclude ? FORM_EXCL : FORM_INCL, a, NULL);

	if (g->form == FORM_UNKNOWN)
		return g;
	g->rank = xcalloc((size_t)cnt + 1, sizeof(*rank));
	if (cnt)
		memcpy(g->rank, rank, cnt * sizeof(*rank));
	g->rank_cnt = cnt;
	work_out(g);
	return g;
}

struct mpi_group *mpi_group_of_ranges(struct mpi_group *g, const int32_t *range, uint32_t cnt,
				      bool exclude)
{
	struct mpi_group *made;
	int32_t *rank = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		int64_t first = range[3 * i], last = range[3 * i + 1], stride = range[3 * i + 2];

		for (int64_t r = first; stride && (stride > 0 ? r <= last : r >= last);
		     r += stride) {
			if (r < 0 || n == SIZE_MAX_OF_GROUP) {
				free(rank);
				return mpi_group_unknown(PEER_UNKNOWN_CONFLICT);
			}
			*table_append(rank, n) = (int32_t)r;
		}
	}
	made = mpi_group_of_ranks(g, rank, n, exclude);
	free(rank);
	return made;
}

struct mpi_group *mpi_group_first(struct mpi_group *a, int32_t cnt)
{
	struct mpi_group *g;

	if (cnt < 0)
		return mpi_group_unknown(PEER_UNKNOWN_COMM);
	g = group_of(FORM_FIRST, a, NULL);
	g->size = cnt;
	work_out(g);
	return g;
}

struct mpi_group *mpi_group_of_two(enum mpi_group_op op, struct mpi_group *a, struct mpi_group *b)
{
	struct mpi_group *g = group_of(FORM_CONCAT + op, a, b);

	work_out(g);
	return g;
}

struct mpi_group *mpi_group_from(struct mpi_group_source source, struct mpi_group *parent)
{
	struct mpi_group *g = group_new(FORM_SOURCE);

	g->source = source;
	if (parent)
		work_out(parent);
	if (!parent)
		become_unknown(g, PEER_UNKNOWN_COMM);
	else if (parent->form == FORM_UNKNOWN)
		become_unknown(g, parent->why);
	else if (!is_list(parent) && parent->depth + 1 >= DEPTH_MAX)
		become_unknown(g, PEER_UNKNOWN_MEMBERS);
	else
		g->depth = is_list(parent) ? 0 : parent->depth + 1;
	return g;
}

/* ---- queries ---- */

int32_t mpi_group_size(struct mpi_group *g)
{
	if (!g)
		return -1;
	work_out(g);
	return is_list(g) ? g->size : -1;
}

enum peer_unknown mpi_group_member(struct mpi_group *g, int32_t rank, struct mpi_member *out)
{
	if (!g)
		return PEER_UNKNOWN_COMM;
	work_out(g);
	if (g->form == FORM_UNKNOWN)
		return g->why;
	if (!is_list(g))
		return PEER_UNKNOWN_MEMBERS;
	if (rank < 0 || rank >= g->size)
		return PEER_UNKNOWN_CONFLICT;
	*out = member_at(g, rank);
	return out->rank < 0 ? PEER_UNKNOWN_WORLD : PEER_KNOWN;
}

int32_t mpi_group_rank(struct mpi_group *g, struct mpi_member who)
{
	if (!g)
		return -1;
	work_out(g);
	return is_list(g) && who.rank >= 0 ? rank_in(g, who) : -1;
}

bool mpi_group_equal(struct mpi_group *a, struct mpi_group *b)
{
	int32_t size = mpi_group_size(a);

	if (a == b)
		return a != NULL;
	if (size < 0 || size != mpi_group_size(b))
		return false;
	for (int32_t i = 0; i < size; i++)
		if (!mpi_member_same(member_at(a, i), member_at(b, i)))
			return false;
	return true;
}
