/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace record parses --last and --when, chooses the file's name, and prints the totals at the
 * end. recording_common.h makes the recording; timeline/export.h makes the export that -o FILE.json
 * asks for.
 */
#include "cmd/recording/recording_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "record/flight/dump_requests.h"
#include "layers/func_table.h"
#include "timeline/export.h"

/* ---- --last and --when ---- */

#define SPAN_MIN_NS 1000000000ull
#define SPAN_MAX_NS (86400 * 1000000000ull)
#define BYTES_MIN (1u << 20)

static int last_parse(const char *text, struct keep_options *o)
{
	size_t digits = strspn(text, "0123456789.");
	int err = human_parse_ns(text, &o->span_ns);

	if (digits && !strcmp(text + digits, "m")) {
		log_error("record: --last %s: write %.*smin for minutes, %.*sM for mebibytes", text,
			  (int)digits, text, (int)digits, text);
		return -EINVAL;
	}
	if (err == -EINVAL && !human_parse_bytes(text, &o->bytes)) {
		if (o->bytes >= BYTES_MIN)
			return 0;
		log_error("record: --last %s: a size must be at least 1M", text);
		return -EINVAL;
	}
	if (!err && o->span_ns >= SPAN_MIN_NS && o->span_ns <= SPAN_MAX_NS)
		return 0;
	if (err == -EINVAL)
		log_error("record: --last %s: neither a time (10s, 5min) nor a size (64M, 1G)",
			  text);
	else
		log_error("record: --last %s: a time must be from 1 s to 24 h", text);
	return -EINVAL;
}

/* Splits "  MPI_Allreduce  > 50ms " into the glob and the time. Both point into text. */
static int when_split(char *text, char **glob, char **time)
{
	char *sign = strchr(text, '>');

	if (!sign)
		return -EINVAL;
	*sign = 0;
	*glob = text + strspn(text, " ");
	*time = sign + 1 + strspn(sign + 1, " ");
	for (char *end = *glob + strlen(*glob); end > *glob && end[-1] == ' ';)
		*--end = 0;
	for (char *end = *time + strlen(*time); end > *time && end[-1] == ' ';)
		*--end = 0;
	return **glob ? 0 : -EINVAL;
}

/* Sets func for matching rows. Refuses a glob without recorded functions: it could never match. */
static int func_choose(const char *text, const char *glob, const bool *recorded, bool *func)
{
	size_t left = 0;

	if (func_table_match("record: --when", glob, func))
		return -EINVAL;
	for (size_t i = 0; i < func_table_count(); i++) {
		func[i] &= recorded[i];
		left += func[i];
	}
	if (left)
		return 0;
	log_error(
		"record: --when '%s': this function is not recorded; add it by --mpi, --layers or "
		"--functions",
		text);
	return -EINVAL;
}

static int when_parse(const char *text, const bool *recorded, struct trigger_when *out)
{
	char *copy = xstrdup(text), *glob, *time;
	int err = when_split(copy, &glob, &time);

	if (!err)
		err = human_parse_ns(time, &out->over_ns);
	if (err) {
		log_error("record: --when '%s': write a condition like 'MPI_Allreduce > 50ms'",
			  text);
		err = -EINVAL;
	} else {
		out->text = text;
		out->func = xcalloc(func_table_count(), sizeof(*out->func));
		err = func_choose(text, glob, recorded, out->func);
	}
	free(copy);
	return err;
}

int record_last_parse(const char *last, const struct option_list *whens, const bool *recorded,
		      struct keep_options *out)
{
	struct trigger_when *when = xcalloc(whens->cnt + 1, sizeof(*when));
	int err;

	*out = (struct keep_options){.when = when, .when_cnt = whens->cnt};
	err = last_parse(last, out);
	for (size_t i = 0; i < whens->cnt && !err; i++)
		err = when_parse(whens->item[i], recorded, &when[i]);
	return err;
}

void record_last_release(struct keep_options *o)
{
	for (size_t i = 0; i < o->when_cnt; i++)
		free(o->when[i].func);
	free((struct trigger_when *)o->when);
	*o = (struct keep_options){0};
}

/* ---- the command ---- */

/* Returns the path of the recording: run.json → run.pov. The caller frees it. */
static char *trace_path(const char *output)
{
	const char *base = strrchr(output, '/'), *dot;

	if (!export_wants(output))
		return xstrdup(output);
	dot = strchr(base ? base + 2 : output + 1, '.');
	return xasprintf("%.*s.pov", (int)(dot - output), output);
}

static void totals_print(const char *path, const struct session_result *r)
{
	char wall[HUMAN_BYTES], cpu[HUMAN_BYTES], size[HUMAN_BYTES];
	char lost[HUMAN_BYTES], unstored[HUMAN_BYTES];
	char ranks[64], calls[64], polls[64], switches[64];

	if (log_get_level() < LOG_WARN)
		return;
	fprintf(stderr, "povtrace: %s: %s: %s, %s, %s, %s, %s lost, %s%s%s, own CPU %s (%s)\n",
		path, human_ns(wall, HUMAN_BYTES, r->wall_ns),
		human_plural(ranks, sizeof(ranks), r->ranks, "MPI process", "MPI processes"),
		human_plural(calls, sizeof(calls), r->stored.calls + r->stored.counted, "call",
			     "calls"),
		human_plural(polls, sizeof(polls), r->stored.polls, "empty poll", "empty polls"),
		human_plural(switches, sizeof(switches), r->stored.switches, "switch", "switches"),
		human_count(lost, HUMAN_BYTES, r->lost),
		r->unstored ? human_count(unstored, HUMAN_BYTES, r->unstored) : "",
		r->unstored ? " not stored, " : "", human_bytes(size, HUMAN_BYTES, r->file_bytes),
		human_ns(cpu, HUMAN_BYTES, r->own_cpu_ns), r->reason);
}

/* Warns that tracing has changed the program's behaviour. It comes last so that users see it. */
static void distortion_print(const struct session_result *r, double limit_pct)
{
	char *text;

	if (!distortion_matters(&r->distortion) &&
	    !(limit_pct > 0 && r->distortion.pct > limit_pct))
		return;
	text = distortion_text(&r->distortion);
	log_warn("%s", text);
	free(text);
}

static int record_and_export(struct recording *r, const char *path, const char *output)
{
	int err = record_run(r, path, 0), rc;

	if (r->result.stored.records || r->result.unstored || !err)
		totals_print(path, &r->result);
	record_hints(r, err, "give -o a place with more room");
	rc = err || (strcmp(path, output) && export_file(path, output, r->watch.owner));
	record_wait(r);
	if (!rc)
		rc = record_status(r);
	distortion_print(&r->result, r->max_overhead_pct);
	return rc;
}

/* Prepares --last and --when. 0 or the exit status (printed). */
static int last_prepare(const struct record_command_options *o, struct recording *r,
			struct keep_options *keep)
{
	*keep = (struct keep_options){0};
	if (o->last && o->record.max_bytes)
		log_error("record: --last keeps the newest part, --max-size the oldest: give only "
			  "one of them");
	else if (!o->last && o->whens.cnt)
		log_error("record: --when needs --last, which sets how much is written");
	else if (!o->last || !record_last_parse(o->last, &o->whens, r->recorded, keep))
		return 0;
	log_error("record: see `povtrace help record`");
	return 2;
}

/* True if --stacks can be done, or is not asked for; else prints why not. */
static bool stacks_possible(const struct record_command_options *o)
{
#if defined(__x86_64__)
	if (!o->record.stacks || o->record.sched != POV_SCHED_OFF)
		return true;
	log_error("record: --stacks needs the scheduler's events: leave out --sched off");
#else
	if (!o->record.stacks)
		return true;
	log_error("record: --stacks: stacks are followed on x86-64 only");
#endif
	return false;
}

int record_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct record_command_options *o = opts;
	struct keep_options keep;
	struct recording r;
	char *path;
	int rc;

	if (!o->output[0] || !strcmp(o->output, "-")) {
		log_error(
			"record: cannot record to standard output: give a file, then use `povtrace "
			"export -o -`; see `povtrace help record`");
		return 2;
	}
	if (!stacks_possible(o))
		return 2;
	rc = record_prepare("record", &o->record, argc, argv, dashdash, &r);
	if (rc)
		return rc;
	rc = last_prepare(o, &r, &keep);
	if (o->last)
		r.keep = &keep;
	if (!rc) {
		path = trace_path(o->output);
		rc = record_and_export(&r, path, o->output);
		free(path);
	}
	record_last_release(&keep);
	record_release(&r);
	return rc;
}
