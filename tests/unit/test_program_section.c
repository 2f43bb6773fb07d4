/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sections: their names, and the time of ranks and cores in them, compared with a simulation in
 * steps of 1 ns.
 */
#include "unit/test.h"
#include "analysis/program_section.h"
#include "unit/model_fixture.h"

/* ---- names ---- */

TEST(parse)
{
	static const char *const bad[] = {
		"",	 "..",	  "...",    "1.5..1", "1..1", "a..b..c", "a#0..b",
		"a#..b", "-1..2", "a b..c", "1x..",   "..#2", "0x1..2",
	};
	struct section s;

	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(section_parse(bad[i], &s), -EINVAL);
	assert_int_equal(section_parse("solve", &s), 0);
	assert_true(s.is_name);
	assert_int_equal(section_parse("MPI_Barrier#2..MPI_Send", &s), 0);
	assert_false(s.is_name);
	assert_int_equal(s.from.kind, EDGE_CALL);
	assert_string_equal(s.from.func, "MPI_Barrier");
	assert_int_equal(s.from.number, 2);
	assert_string_equal(s.to.func, "MPI_Send");
	assert_int_equal(s.to.number, 1);
	assert_int_equal(section_parse("1.5..10m", &s), 0);
	assert_int_equal(s.from.at_ns, 1500000000);
	assert_int_equal(s.to.kind, EDGE_TIME);
	assert_int_equal(s.to.at_ns, 600000000000);
	assert_int_equal(section_parse("1..2", &s), 0);
	assert_int_equal(s.from.at_ns, 1000000000);
	assert_int_equal(section_parse("..MPI_Init", &s), 0);
	assert_int_equal(s.from.kind, EDGE_NONE);
	assert_int_equal(s.to.kind, EDGE_CALL);
}

/* ---- against a simulation ---- */

#define SIM_THREADS 5 /* ranks 0 and 1, another thread of rank 0, and two strangers */
#define SIM_RANKS 3
#define SIM_CPUS 2
#define SIM_NS 4000
#define SIM_FROM 500
#define SIM_TO 3300

struct sim {
	uint64_t random;
	enum thread_state state[SIM_THREADS];
	uint16_t cpu[SIM_THREADS];
	int runs[SIM_CPUS];			   /* thread, -1: none */
	struct section_core_row core[2][SIM_CPUS]; /* by rank */
	uint64_t split[2][THREAD_STATE_CNT];
};

static const uint32_t sim_tid[SIM_THREADS] = {100, 200, 101, 50, 51};
static const int sim_rank[SIM_THREADS] = {0, 1, 0, -1, -1};

static uint64_t sim_random(struct sim *s, uint64_t below)
{
	s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (s->random >> 33) % below;
}

static uint32_t sim_tid_on(const struct sim *s, int cpu)
{
	return s->runs[cpu] < 0 ? 0 : sim_tid[s->runs[cpu]];
}

static void sim_switch(struct sim *s, struct mfix *f, uint64_t ts, int cpu)
{
	int prev = s->runs[cpu], next = (int)sim_random(s, SIM_THREADS);
	uint32_t prev_tid = sim_tid_on(s, cpu);
	bool sleeps = sim_random(s, 2);

	if (s->state[next] != THREAD_RUNNABLE || s->cpu[next] != cpu)
		next = -1;
	if (next == prev)
		return;
	s->runs[cpu] = next;
	if (prev >= 0)
		s->state[prev] = sleeps ? THREAD_BLOCKED : THREAD_RUNNABLE;
	if (next >= 0)
		s->state[next] = THREAD_RUNNING;
	put_switch(f, ts, (uint16_t)cpu, prev_tid, sleeps ? SLEEPS : PREEMPTED, sim_tid_on(s, cpu));
}

static void sim_step(struct sim *s, struct mfix *f, uint64_t ts)
{
	int cpu = (int)sim_random(s, SIM_CPUS), t = (int)sim_random(s, SIM_THREADS);
	uint16_t to = (uint16_t)sim_random(s, SIM_CPUS);

	if (sim_random(s, 2)) {
		sim_switch(s, f, ts, cpu);
	} else if (s->state[t] == THREAD_BLOCKED) {
		put_waking(f, ts, (uint16_t)cpu, sim_tid_on(s, cpu), sim_tid[t], to);
		s->state[t] = THREAD_RUNNABLE;
		s->cpu[t] = to;
	} else if (s->state[t] == THREAD_RUNNABLE && s->cpu[t] != to) {
		put_migrate(f, ts, sim_tid[t], s->cpu[t], to);
		s->cpu[t] = to;
	}
}

/* Counts 1 ns of the ranks' threads. */
static void sim_count(struct sim *s)
{
	for (int t = 0; t < SIM_RANKS; t++) {
		int rank = sim_rank[t], runs = s->runs[s->cpu[t]];
		struct section_core_row *c = &s->core[rank][s->cpu[t]];

		s->split[rank][s->state[t]]++;
		c->here_ns++;
		if (runs == t)
			c->running_ns++;
		else if (runs < 0)
			c->idle_ns++;
		else if (sim_rank[runs] == rank)
			c->own_ns++;
		else if (sim_rank[runs] >= 0)
			c->ranks_ns++;
		else
			c->other_ns++;
	}
}

static void sim_begin(struct sim *s, struct mfix *f, uint64_t seed)
{
	*s = (struct sim){.random = seed, .cpu = {0, 1, 0, 1, 0}, .runs = {0, 1}};
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1");
	mfix_rank(f, 1000, 100, 0, "app");
	mfix_rank(f, 1000, 200, 1, "app");
	for (int t = 0; t < SIM_THREADS; t++) {
		bool runs = t < 2;

		s->state[t] = runs ? THREAD_RUNNING : THREAD_BLOCKED;
		put_task(f, 1000, sim_tid[t], t == 2 ? 100 : sim_tid[t], !runs, runs, s->cpu[t],
			 "app");
	}
}

TEST(simulated)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct program_section pov;
		const struct model_sink *sink = &pov.sink;
		struct section section;
		struct mfix f;
		struct sim s;

		sim_begin(&s, &f, seed);
		for (uint64_t now = 1; now <= SIM_NS; now++) {
			if (now > SIM_FROM && now <= SIM_TO)
				sim_count(&s); /* from now - 1 to now */
			if (!sim_random(&s, 7))
				sim_step(&s, &f, 1000 + now);
		}
		mfix_end(&f, 1000 + SIM_NS);
		mfix_open(&f, false);
		assert_int_equal(section_parse("500ns..3300ns", &section), 0);
		program_section_init(&pov, &section);
		assert_int_equal(model_run(f.model, &sink, 1), 0);
		for (uint32_t rank = 0; rank < 2; rank++) {
			const struct section_row *r = program_section_row(&pov, rank);

			assert_int_equal(r->entered, rank ? 1 : 2);
			assert_int_equal(r->wall_ns, (SIM_TO - SIM_FROM) * (rank ? 1 : 2));
			assert_int_equal(r->open + r->other_threads_ns, 0);
			assert_memory_equal(r->split.ns, s.split[rank], sizeof(s.split[rank]));
			for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++)
				assert_memory_equal(program_section_core(&pov, rank, cpu),
						    &s.core[rank][cpu], sizeof(s.core[rank][cpu]));
		}
		program_section_release(&pov);
		mfix_release(&f);
	}
}
