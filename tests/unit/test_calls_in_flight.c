/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is in flight when a file is cut must be in it once, whatever ends while it is read, and
 * whenever its record comes. The cut is at 1000. Spins and counts are read for the second time at
 * 1100.
 */
#include "unit/test.h"
#include "abi/event.h"
#include "record/flight/calls_in_flight.h"

#define CUT 1000
#define TID 7

union any {
	struct pov_hdr hdr;
	struct pov_call call;
	struct pov_spin spin;
	struct pov_counted counted;
};

/* "spin 500..900", "call 300..900", "count3 400..900": the count of function 3. */
static union any record(const char *text)
{
	unsigned int begin_ns, end_ns, func = 0;
	union any r = {.hdr = {.tid = TID}};

	if (sscanf(text, "spin %u..%u", &begin_ns, &end_ns) == 2) {
		r.hdr.kind = POV_KIND_SPIN;
		r.hdr.size = sizeof(struct pov_spin);
	} else if (sscanf(text, "call %u..%u", &begin_ns, &end_ns) == 2) {
		r.hdr.kind = POV_KIND_CALL;
		r.hdr.size = sizeof(struct pov_call);
	} else if (sscanf(text, "count%u %u..%u", &func, &begin_ns, &end_ns) == 3) {
		r.hdr.kind = POV_KIND_COUNTED;
		r.hdr.size = sizeof(struct pov_counted);
	} else {
		fail_msg("%s", text);
	}
	r.hdr.ts_ns = end_ns;
	r.call.dur_ns = end_ns - begin_ns;
	if (r.hdr.kind == POV_KIND_COUNTED)
		r.counted.func = (uint16_t)func;
	return r;
}

static void on_told(void *ctx, const struct pov_hdr *rec)
{
	const union any *r = (const union any *)rec;
	const char *kind = rec->kind == POV_KIND_SPIN ? "spin" :
			   rec->kind == POV_KIND_CALL ? "call" :
							"count";
	bool open = rec->flags & (rec->kind == POV_KIND_SPIN ? POV_SPIN_OPEN : POV_CALL_OPEN);

	fprintf(ctx, "%s %d..%d%s", kind, (int)(rec->ts_ns - r->call.dur_ns), (int)rec->ts_ns,
		open && rec->kind != POV_KIND_COUNTED ? " open" : "");
}

/*
 * Cases: what is there at each of two readings, and records that come before and after. told:
 * contents of the file.
 */
static const struct {
	const char *before, *first, *second, *after, *told;
} cases[] = {
	/* Still in flight. */
	{.first = "spin 500..1100", .second = "spin 500..1100", .told = "spin 500..1000 open"},
	{.first = "count3 400..1100", .second = "count3 400..1100", .told = "count 400..1000"},
	{.first = "call 300..1000", .second = "call 300..1000", .told = "call 300..1000"},
	/*
	 * The last poll was before the cut. The spin's record comes with the next event. Another
	 * function's count is separate.
	 */
	{.first = "spin 500..900", .second = "spin 500..900", .after = "spin 500..900", .told = ""},
	{.first = "count3 400..900",
	 .second = "count3 400..900",
	 .after = "count3 400..900",
	 .told = ""},
	{.first = "count3 400..900",
	 .second = "count3 400..900",
	 .after = "count4 400..900",
	 .told = "count 400..900"},
	/*
	 * It ends between the cut and the reading. Its record belongs to the next file, so this
	 * file has the state at the cut.
	 */
	{.second = "spin 1060..1100", .before = "spin 500..1050", .told = "spin 500..1000 open"},
	{.after = "count3 400..1050", .told = "count 400..1000"},
	{.after = "call 300..1050", .told = "call 300..1000 open"},
	/* At other times. */
	{.before = "call 300..900", .after = "call 1010..1050", .told = ""},
	{.second = "spin 1010..1050", .after = "spin 1010..1050", .told = ""},
};

static void reads(struct calls_in_flight *u, const char *text)
{
	union any r;

	if (!text)
		return;
	r = record(text);
	calls_in_flight_open(u, &r.hdr);
}

static void comes(struct calls_in_flight *u, const char *text)
{
	union any r;

	if (!text)
		return;
	r = record(text);
	calls_in_flight_record(u, &r.hdr);
}

TEST(cut)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		char told[64] = "";
		FILE *out = fmemopen(told, sizeof(told), "w");
		struct calls_in_flight u;

		calls_in_flight_init(&u, CUT);
		comes(&u, cases[i].before);
		reads(&u, cases[i].first);
		calls_in_flight_read_again(&u);
		reads(&u, cases[i].second);
		comes(&u, cases[i].after);
		assert_int_equal(calls_in_flight_write(&u, on_told, out),
				 !strncmp(cases[i].told, "call", 4));
		fclose(out);
		assert_string_equal(told, cases[i].told);
	}
}
