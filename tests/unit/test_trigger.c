/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* record --last and --when: accepted arguments, and which calls match. */
#include "unit/test.h"
#include "abi/event.h"
#include "record/flight/dump_requests.h"
#include "layers/func_table.h"
#include "cmd/recording/recording_common.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

#define MS 1000000ull

static int parse(const char *last, const char *when, struct keep_options *out)
{
	struct option_list whens = {.item = &when, .cnt = when != NULL};
	bool *recorded = xcalloc(func_table_count(), sizeof(*recorded));
	int err;

	for (size_t i = 0; i < func_table_count(); i++)
		recorded[i] = strcmp(func_table_get(i)->name, "MPI_Barrier") != 0;
	err = record_last_parse(last, &whens, recorded, out);
	free(recorded);
	return err;
}

/* Runs last TEXT or when TEXT. */
static void play(const struct script *lines, FILE *out)
{
	const char *line = lines->line[0], *text = strchr(line, ' ') + 1;
	bool last = *line == 'l';
	struct keep_options o;
	int err = parse(last ? text : "10s", last ? NULL : text, &o);

	if (err) {
		assert_int_equal(err, -EINVAL);
		fputs("refused", out);
	} else if (last) {
		fprintf(out, "%llu ms, %llu bytes", (unsigned long long)(o.span_ns / MS),
			(unsigned long long)o.bytes);
	} else {
		assert_int_equal(o.when_cnt, 1);
		fprintf(out, "over %llu ms:", (unsigned long long)(o.when[0].over_ns / MS));
		for (size_t i = 0; i < func_table_count(); i++)
			if (o.when[0].func[i] && strncmp(func_table_get(i)->name, "MPI_", 4) == 0)
				fprintf(out, " %s", func_table_get(i)->name);
	}
	record_last_release(&o);
}

TEST(options)
{
	cases_run("trigger", play);
}

static void call(struct trigger *t, int func, uint64_t end_ns, uint64_t dur_ns, unsigned int flags)
{
	trigger_record(t, record_made("call ts=%llu dur=%llu tid=8 tgid=7 func=%d flags=%u",
				      (unsigned long long)end_ns, (unsigned long long)dur_ns, func,
				      flags));
}

TEST(match)
{
	int func = func_table_find("MPI_Allreduce"), other = func_table_find("MPI_Send");
	struct keep_options o;
	struct trigger t;

	assert_int_equal(parse("10s", "MPI_Allreduce > 50ms", &o), 0);
	trigger_init(&t, o.when, o.when_cnt, func_table_count());
	trigger_record(&t, record_made("switch ts=1"));
	call(&t, func, 1000 * MS, 50 * MS, 0); /* exactly the limit, not longer */
	call(&t, other, 1000 * MS, 500 * MS, 0);
	call(&t, func, 1000 * MS, 500 * MS, POV_CALL_END_ONLY);
	call(&t, (int)func_table_count(), 1000 * MS, 500 * MS, 0);
	assert_int_equal(t.matches, 0);
	assert_false(trigger_due(&t, UINT64_MAX));
	call(&t, func, 2000 * MS, 50 * MS + 1, 0);
	call(&t, func, 2010 * MS, 70 * MS, 0);
	assert_int_equal(t.matches, 2);
	assert_int_equal(t.by.begin_ns, 1950 * MS - 1);
	assert_int_equal(t.by.end_ns, 2000 * MS);
	assert_int_equal(t.by.pid, 7);
	assert_ptr_equal(t.by.when, &o.when[0]);
	assert_false(trigger_due(&t, 2010 * MS)); /* calls of others must end first */
	assert_true(trigger_due(&t, 2500 * MS));
	assert_false(trigger_due(&t, 2500 * MS));
	call(&t, func, 3000 * MS, 60 * MS, 0);
	assert_int_equal(t.matches, 3);
	assert_false(trigger_due(&t, UINT64_MAX));
	trigger_rearm(&t);
	assert_false(trigger_due(&t, UINT64_MAX)); /* matches in the meantime are only counted */
	call(&t, func, 4000 * MS, 60 * MS, POV_CALL_OPEN);
	assert_true(trigger_due(&t, 5000 * MS));
	assert_int_equal(t.matches, 4);
	record_last_release(&o);
}
