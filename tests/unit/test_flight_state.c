/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that begins in the middle repeats earlier facts: mappings, masks, regions, calls about
 * communicators, through fork, exec and exit. It also has the calls in flight at that moment.
 * cases/flight_state.txt
 */
#include "unit/test.h"
#include "abi/config.h"
#include "abi/event.h"
#include "record/flight/flight_state.h"
#include "record/open_calls.h"
#include "trace/record_kinds.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

/* Calls of function 1 are repeated, those of function 0 are not. */
static const struct pov_fn fns[2] = {[1] = {.learn = POV_LEARN_MEMBERS}};

static void record_write(void *ctx, const struct pov_hdr *rec)
{
	trace_record_print(rec, ctx);
	fputc('\n', ctx);
}

/*
 * A line is a RECORD, or "tell NS", which prints what a file that begins then must repeat. The
 * lines from "calls_in_flight NS" to "end" print the calls in flight at that moment: a RECORD
 * arrived later, "read RECORD" was found open, and "again" begins the second search for open calls.
 */
static void play(const struct script *lines, FILE *out)
{
	struct flight_state *flight = flight_state_new(fns, 2);
	unsigned long long ns, calls_in_flight_ns = 0;
	struct calls_in_flight u;

	for (size_t i = 0; i < lines->cnt; i++) {
		const char *line = lines->line[i];

		if (sscanf(line, "tell %llu", &ns) == 1)
			flight_state_write(flight, ns, record_write, out);
		else if (sscanf(line, "calls_in_flight %llu", &calls_in_flight_ns) == 1)
			calls_in_flight_init(&u, calls_in_flight_ns);
		else if (!strcmp(line, "end"))
			fprintf(out, "%llu calls\n",
				(unsigned long long)calls_in_flight_write(&u, record_write, out));
		else if (!strcmp(line, "again"))
			calls_in_flight_read_again(&u);
		else if (words_after(line, "read"))
			calls_in_flight_open(&u, record_made("%s", words_after(line, "read")));
		else if (calls_in_flight_ns)
			calls_in_flight_record(&u, record_made("%s", line));
		else
			flight_state_record(flight, record_made("%s", line));
	}
	flight_state_free(flight);
}

TEST(flight)
{
	cases_run("flight_state", play);
}

static bool is_ten(void *ctx, uint32_t pid)
{
	return pid == 10;
}

static void split_call(struct flight_state *flight, uint64_t begin_ns, uint32_t pid)
{
	struct pov_call c = {.dur_ns = 1, .tgid = pid, .func = 1};

	c.hdr = (struct pov_hdr){
		.size = sizeof(c), .kind = POV_KIND_CALL, .tid = pid, .ts_ns = begin_ns + 1};
	flight_state_record(flight, &c.hdr);
}

TEST(bounded)
{
	uint64_t n = (16u << 20) / sizeof(struct pov_call) + 1;
	struct flight_state *flight = flight_state_new(fns, 2);

	flight_state_record(flight, record_made("image ts=1 tid=10 start=0x1000 ino=1"));
	flight_state_record(flight, record_made("image ts=1 tid=12 start=0x1000 ino=1"));
	for (uint64_t i = 0; i < n; i++)
		split_call(flight, 10 * i, 10);
	assert_int_equal(flight_state_forgotten(flight), 0);
	split_call(flight, 10 * n, 12);
	assert_int_equal(flight_state_forgotten(flight), n);
	split_call(flight, 10 * n + 2, 10);
	flight_state_prune(flight, is_ten, NULL);
	assert_prints("image ts=1000000000 tid=12 tgid=12 dev=0x0 ino=1 start=0x1000 len=0x0 "
		      "off=0x0 stamp=0x0\n"
		      "unshown ts=1000000002 tid=12 dur=1 tgid=12 func=1 depth=0 ret=0x0 "
		      "site=0x0 cpu=0 lib=0 flags=earlier\n",
		      out, flight_state_write(flight, 1000000000, record_write, out));
	flight_state_free(flight);
}
