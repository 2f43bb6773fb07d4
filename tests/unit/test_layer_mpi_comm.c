/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Groups, and communicators created by calls that arrive in any order or not at all. */
#include "unit/test.h"
#include "layers/mpi/mpi_comm_internal.h"

#define RANKS 6
#define JOB 0

static struct mpi_comms *all;
static struct mpi_communicator *world;
static uint32_t joined[RANKS];

static int setup(void **state)
{
	all = mpi_comms_new();
	world = mpi_comms_world(all, mpi_comms_job(all, "job", 1), RANKS);
	memset(joined, 0, sizeof(joined));
	return 0;
}

static int teardown(void **state)
{
	mpi_communicator_unref(world);
	mpi_comms_free(all);
	return 0;
}

static struct mpi_member member(int rank)
{
	return (struct mpi_member){JOB, rank};
}

static struct mpi_making *split_call(int rank, int color, int key, uint64_t begin_ns)
{
	const struct mpi_part part = {.who = member(rank),
				      .parent_rank = rank,
				      .takes_part = color >= 0,
				      .color = color,
				      .key = key};

	return mpi_making_join(world, &joined[rank], "Comm_split", &part, begin_ns, true);
}

static void makings_end(struct mpi_making **m)
{
	for (int i = 0; i < RANKS; i++) {
		mpi_making_returned(m[i], 20);
		mpi_making_unref(m[i]);
	}
}

/* Returns a group of these world ranks, or of all others. */
static struct mpi_group *ranks_of(const int32_t *ranks, int32_t n, bool but)
{
	return mpi_group_of_ranks(mpi_communicator_group(world, false), ranks, n, but);
}

/* Returns the world rank of a communicator's rank, or -why if it is unknown. */
static int peer(struct mpi_communicator *c, int rank)
{
	struct mpi_member who;
	enum peer_unknown why = mpi_communicator_peer(c, rank, &who);

	return why ? -(int)why : who.rank;
}

static int member_of(struct mpi_group *g, int rank)
{
	struct mpi_member who;
	enum peer_unknown why = mpi_group_member(g, rank, &who);

	return why ? -(int)why : who.rank;
}

static void assert_group(struct mpi_group *g, int n, ...)
{
	va_list ap;

	assert_int_equal(mpi_group_size(g), n);
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(member_of(g, i), va_arg(ap, int));
	va_end(ap);
	mpi_group_unref(g);
}

TEST(groups)
{
	static const int32_t some[] = {3, 0, 2}, ranges[] = {4, 0, -2, 5, 5, 1}, bad[] = {6};
	struct mpi_group *w = mpi_communicator_group(world, false), *a, *b;

	a = ranks_of(some, 3, false);
	b = mpi_group_of_ranges(w, ranges, 2, false);
	assert_int_equal(mpi_group_rank(a, member(2)), 2);
	assert_int_equal(mpi_group_rank(a, member(1)), -1);
	assert_int_equal(mpi_group_rank(a, (struct mpi_member){JOB + 1, 2}), -1);
	assert_group(mpi_group_ref(b), 4, 4, 2, 0, 5);
	assert_group(ranks_of(some, 3, true), 3, 1, 4, 5);
	assert_group(mpi_group_of_ranges(w, ranges, 2, true), 2, 1, 3);
	assert_group(mpi_group_of_two(MPI_GROUP_UNION, a, b), 5, 3, 0, 2, 4, 5);
	assert_group(mpi_group_of_two(MPI_GROUP_INTERSECTION, b, a), 2, 2, 0);
	assert_group(mpi_group_of_two(MPI_GROUP_DIFFERENCE, b, a), 2, 4, 5);
	assert_group(mpi_group_of_two(MPI_GROUP_CONCAT, a, b), 7, 3, 0, 2, 4, 2, 0, 5);
	assert_group(mpi_group_first(w, 2), 2, 0, 1);
	assert_group(ranks_of(NULL, 0, false), 0);
	mpi_group_unref(a);
	a = ranks_of(bad, 1, false);
	assert_int_equal(member_of(a, 0), -PEER_UNKNOWN_CONFLICT);
	mpi_group_unref(a);
	a = mpi_group_of_two(MPI_GROUP_UNION, b, NULL);
	assert_int_equal(member_of(a, 0), -PEER_UNKNOWN_COMM);
	mpi_group_unref(a);
	mpi_group_unref(b);
}

/* A split's communicators are complete as soon as all ranks have called it. */
TEST(split_late)
{
	static const int32_t last[] = {1};
	struct mpi_making *m[RANKS];
	struct mpi_communicator *odd, *same;
	struct mpi_group *second;

	for (int i = 0; i < RANKS - 1; i++)
		m[i] = split_call(i, i % 2, -i, 10);
	odd = mpi_making_get(m[1], 1, NULL, NULL);
	second = mpi_group_of_ranks(mpi_communicator_group(odd, false), last, 1, false);
	assert_int_equal(peer(odd, 0), -PEER_UNKNOWN_MEMBERS);
	assert_int_equal(mpi_group_size(second), -1);
	m[RANKS - 1] = split_call(RANKS - 1, 1, -(RANKS - 1), 11);
	assert_int_equal(peer(odd, 0), 5);
	assert_group(second, 1, 3);
	same = mpi_making_get(m[3], 1, NULL, NULL);
	assert_ptr_equal(same, odd);
	assert_group(mpi_group_ref(mpi_communicator_group(odd, false)), 3, 5, 3, 1);
	mpi_communicator_unref(same);
	mpi_communicator_unref(odd);
	makings_end(m);
}

/*
 * Ranks create communicators in random order and some calls are lost. No rank may be mistaken for
 * another.
 */
TEST(random)
{
	uint64_t random = 1, ns = 0;

	for (int round = 0; round < 400; round++) {
		struct mpi_communicator *made[RANKS] = {NULL};
		int color[RANKS], lost = -1, first;
		struct mpi_making *m[RANKS] = {NULL};

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		first = (int)(random >> 33) % RANKS;
		if (round % 7 == 3)
			lost = (int)(random >> 40) % RANKS;
		for (int i = 0; i < RANKS; i++) {
			color[i] = random >> (20 + i) & 1;
			ns++;
		}
		for (int k = 0; k < RANKS; k++) {
			int i = (first + k) % RANKS;

			if (i != lost)
				m[i] = split_call(i, color[i], i, ns + (uint64_t)k);
		}
		ns += RANKS;
		for (int i = 0; i < RANKS; i++) {
			if (!m[i])
				continue;
			made[i] = mpi_making_get(m[i], color[i], NULL, NULL);
			mpi_making_returned(m[i], ns++);
			mpi_making_unref(m[i]);
		}
		for (int i = 0; i < RANKS; i++) {
			int32_t at = 0;

			for (int k = 0; made[i] && k < RANKS; k++) {
				if (color[k] == color[i])
					assert_int_equal(peer(made[i], at++),
							 lost < 0 ? k : -PEER_UNKNOWN_MEMBERS);
			}
			mpi_communicator_unref(made[i]);
		}
	}
}

/*
 * Members' reports about themselves fill in what the calls do not show, and must agree with the
 * calls.
 */
TEST(reports)
{
	struct mpi_communicator *c =
		mpi_communicator_new(all, mpi_group_unknown(PEER_UNKNOWN_ORDER), NULL);

	mpi_communicator_report(c, member(4), 0, 2);
	assert_int_equal(peer(c, 0), 4);
	assert_int_equal(peer(c, 1), -PEER_UNKNOWN_ORDER);
	mpi_communicator_report(c, member(1), 1, 2);
	assert_int_equal(peer(c, 1), 1);
	mpi_communicator_report(c, member(2), 1, 2);
	assert_int_equal(peer(c, 1), -PEER_UNKNOWN_CONFLICT);
	mpi_communicator_unref(c);
	mpi_communicator_report(world, member(3), 3, RANKS);
	assert_int_equal(peer(world, 3), 3);
	mpi_communicator_context(world, 7);
	mpi_communicator_context(world, 7);
	assert_int_equal(peer(world, 3), 3);
	mpi_communicator_report(world, member(2), 3, RANKS);
	assert_int_equal(peer(world, 3), -PEER_UNKNOWN_CONFLICT);
}

TEST(merge)
{
	static const int32_t low[] = {0, 1}, high[] = {2, 3, 4};
	struct mpi_group *a = ranks_of(low, 2, false);
	struct mpi_group *b = ranks_of(high, 3, false);
	struct mpi_communicator *c =
		mpi_communicator_new(all, mpi_group_unknown(PEER_UNKNOWN_ORDER), NULL);

	mpi_communicator_merged(c, a, b);
	assert_int_equal(peer(c, 4), -PEER_UNKNOWN_ORDER);
	mpi_communicator_report(c, member(1), 4, -1);
	assert_int_equal(peer(c, 0), 2);
	mpi_communicator_unref(c);
	mpi_group_unref(a);
	mpi_group_unref(b);
}

/* Creations that stay incomplete are given up, and so are the communicators made by them. */
TEST(given_up)
{
	struct mpi_communicator *first = NULL, *c;
	struct mpi_making *m;

	for (int i = 0; i < 200; i++) {
		m = split_call(0, 0, 0, 10);
		c = mpi_making_get(m, 0, NULL, NULL);
		if (i)
			mpi_communicator_unref(c);
		else
			first = c;
		mpi_making_returned(m, 20);
		mpi_making_unref(m);
	}
	assert_int_equal(peer(first, 0), -PEER_UNKNOWN_MEMBERS);
	mpi_communicator_unref(first);
}

/* Copies of copies and parts of parts, with only one member in the trace: any number of them. */
TEST(long_chain)
{
	const struct mpi_part part = {.who = {JOB, 0}, .takes_part = true};

	for (int split = 0; split < 2; split++) {
		struct mpi_communicator *c = mpi_communicator_ref(world), *made;

		for (int i = 0; i < 100000; i++) {
			uint32_t before = 0;
			struct mpi_making *m = mpi_making_join(
				c, &before, split ? "Comm_split" : "Comm_dup", &part, 10, true);

			made = mpi_making_get(
				m, 0,
				split ? NULL : mpi_group_ref(mpi_communicator_group(c, false)),
				NULL);
			mpi_making_returned(m, 20);
			mpi_making_unref(m);
			mpi_communicator_unref(c);
			c = made;
		}
		assert_int_equal(peer(c, 0), split ? -PEER_UNKNOWN_MEMBERS : 0);
		mpi_communicator_unref(c);
	}
}

/*
 * Two sides that name each other's leaders. One side may consist of the other's members, which must
 * not cause a cycle.
 */
TEST(leaders)
{
	static const int32_t low[] = {0, 1}, high[] = {2, 3};
	struct mpi_group *remote;
	struct mpi_communicator *side[2], *round;
	struct mpi_part part = {.takes_part = true};
	struct mpi_making *m[2], *loop[2];
	uint32_t before[3] = {0};

	side[0] = mpi_communicator_new(all, ranks_of(low, 2, false), NULL);
	side[1] = mpi_communicator_new(all, ranks_of(high, 2, false), NULL);
	for (int i = 0; i < 2; i++) {
		part.who = member(2 * i);
		m[i] = mpi_making_join(side[i], &before[i], "Intercomm_create", &part, 10, true);
	}
	remote = mpi_making_remote(m[0]);
	assert_int_equal(member_of(remote, 0), -PEER_UNKNOWN_MEMBERS);
	round = mpi_communicator_new(all, remote, NULL); /* not known yet; depends on m[0] */
	loop[0] = mpi_making_join(round, &before[2], "Intercomm_create", &part, 10, true);
	loop[1] = m[0];
	mpi_making_lead(loop[0], member(5), member(0), 7);
	mpi_making_lead(loop[1], member(0), member(5), 7);
	assert_int_equal(member_of(remote, 0), -PEER_UNKNOWN_MEMBERS);
	mpi_making_lead(m[0], member(0), member(2), 11);
	mpi_making_lead(m[1], member(2), member(0), 11);
	assert_int_equal(member_of(remote, 1), 3);
	mpi_making_unref(loop[0]);
	mpi_communicator_unref(round);
	for (int i = 0; i < 2; i++) {
		mpi_making_unref(m[i]);
		mpi_communicator_unref(side[i]);
	}
}

/* A call by which only the members of a group create a communicator. */
static struct mpi_communicator *group_call(struct mpi_group *g, int rank, int tag, uint64_t ns)
{
	const struct mpi_group_call call = {
		.parent = world,
		.tag = tag,
		.group = g,
		.who = member(rank),
		.begin_ns = ns,
		.end_ns = ns + 5,
		.one_clock = true,
	};

	return mpi_group_makings_join(mpi_comms_of_groups(all), all, &call);
}

/*
 * Two groups at once, one of them twice and also with another tag; then again, after one member's
 * call was lost.
 */
TEST(of_group)
{
	static const int32_t low[] = {1, 0}, high[] = {4, 5};
	struct mpi_group *g = ranks_of(low, 2, false);
	struct mpi_group *h = ranks_of(high, 2, false);
	struct mpi_communicator *c[10];

	c[0] = group_call(g, 0, 7, 10);
	c[1] = group_call(h, 4, 7, 10);
	c[2] = group_call(g, 0, 7, 13); /* apparently before the first one was over */
	c[3] = group_call(g, 0, 8, 14);
	c[4] = group_call(h, 5, 7, 11);
	c[5] = group_call(g, 1, 7, 11);
	c[6] = group_call(g, 1, 8, 12);
	c[7] = group_call(g, 1, 7, 13);
	assert_ptr_equal(c[5], c[0]);
	assert_ptr_equal(c[4], c[1]);
	assert_ptr_equal(c[6], c[3]);
	assert_ptr_equal(c[7], c[2]);
	for (int i = 0; i < 3; i++)
		for (int k = i + 1; k < 4; k++)
			assert_int_not_equal(mpi_communicator_id(c[i]), mpi_communicator_id(c[k]));
	assert_group(mpi_group_ref(mpi_communicator_group(c[0], false)), 2, 1, 0);
	c[8] = group_call(g, 0, 7, 100);
	c[9] = group_call(g, 1, 7, 200);
	assert_ptr_not_equal(c[9], c[8]);
	for (int i = 0; i < 10; i++)
		mpi_communicator_unref(c[i]);
	mpi_group_unref(g);
	mpi_group_unref(h);
}

/*
 * A topology whose ranks the library chose. It is known once all its members have reported their
 * ranks, and so are communicators made from it before.
 */
TEST(placed)
{
	static const int32_t last[] = {RANKS - 2};
	struct mpi_communicator *made = NULL, *same;
	struct mpi_making *m[RANKS];
	struct mpi_group *part;

	for (int i = 0; i < RANKS; i++)
		m[i] = split_call(i, 0, 0, 10);
	for (int i = 1; i < RANKS; i++) {
		same = mpi_making_get_placed(m[i]);
		assert_true(!made || same == made);
		made = same;
		if (i > 1)
			mpi_communicator_unref(same);
	}
	part = mpi_group_of_ranks(mpi_communicator_group(made, false), last, 1, false);
	mpi_making_place(m[0], member(0), -1);
	for (int i = 1; i < RANKS; i++) {
		assert_int_equal(peer(made, RANKS - 2), i == 1 ? -PEER_UNKNOWN_ORDER : 1);
		assert_int_equal(mpi_group_size(part), -1);
		mpi_communicator_report(made, member(i), RANKS - 1 - i, RANKS - 1);
	}
	assert_group(part, 1, 1);
	assert_group(mpi_group_ref(mpi_communicator_group(made, false)), 5, 5, 4, 3, 2, 1);
	mpi_communicator_unref(made);
	makings_end(m);
}

EACH_TEST(setup, teardown);
