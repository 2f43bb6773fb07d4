/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints what a written timeline contains, what it lacks, and how to make it smaller. */
#include <string.h>

#include "abi/event.h"
#include "lib/human.h"
#include "lib/log.h"
#include "timeline/export.h"
#include "timeline/timeline.h"

#define LARGE_BYTES 100000000
#define BROWSER_BYTES 700000000

/* "20 us" rather than "20.000 us". */
static void resolution_text(char *buf, size_t bytes, uint64_t ns)
{
	if (ns % 1000)
		human_ns(buf, bytes, ns);
	else if (ns % 1000000)
		snprintf(buf, bytes, "%llu us", (unsigned long long)ns / 1000);
	else
		snprintf(buf, bytes, "%llu ms", (unsigned long long)ns / 1000000);
}

static void posts_report(const struct writer_totals *t)
{
	if (t->posts + t->completions + t->arrivals)
		log_info("below MPI: %s, %s, %s, %s", PLURAL_TEXT(t->posts, "post", "posts"),
			 PLURAL_TEXT(t->completions, "completion", "completions"),
			 PLURAL_TEXT(t->arrivals, "arrival", "arrivals"),
			 PLURAL_TEXT(t->messages, "message", "messages"));
	if (t->messages_hidden)
		log_warn("%s messages are not shown: more than %d of a rank overlap",
			 COUNT_TEXT(t->messages_hidden), TIMELINE_LANES_MAX);
}

static const char *hint_for_smaller(const struct writer_totals *t)
{
	if (t->resolution_ns)
		return "a longer --resolution draws more calls together";
	return "without --detail all, short calls are drawn together";
}

/* format: as for export_timeline(). */
static void large_report(const char *out, const char *format, const struct writer_totals *t)
{
	const char *browser = "ui.perfetto.dev is quick with some 200 MB";
	bool gzip;
	const struct writer *w = writer_find(format ?: out, &gzip);

	if (t->raw_bytes < LARGE_BYTES)
		return;
	if (t->raw_bytes > BROWSER_BYTES)
		browser = "more than ui.perfetto.dev can load: it has 2 GB of memory and needs two "
			  "to four times the file; \"trace_processor_shell server http FILE\" can "
			  "use all memory";
	if (w && !strcmp(w->name, "json"))
		log_info("this is large: %s. Perfetto's own format shows the same in a fraction of "
			 "it (-o FILE.pftrace, or --format pftrace); --from and --to choose a "
			 "part of the time",
			 browser);
	else
		log_info("this is large: %s. --from and --to choose a part of the time, --rank "
			 "and --function a part of the calls; %s",
			 browser, hint_for_smaller(t));
}

/* Reports what is drawn together or left out because the recording is large. */
static void resolution_report(const struct writer_totals *t)
{
	char ns[HUMAN_BYTES];

	if (!t->groups)
		return;
	resolution_text(ns, sizeof(ns), t->resolution_ns);
	log_info("calls shorter than %s that follow each other are drawn as one slice, with their "
		 "number, time and bytes: %s calls in %s slices; --detail all draws each",
		 ns, COUNT_TEXT(t->grouped), COUNT_TEXT(t->groups));
	if (t->arrows_hidden || t->counters_hidden)
		log_info("%s arrows between such calls and %s values of counters are left out",
			 COUNT_TEXT(t->arrows_hidden), COUNT_TEXT(t->counters_hidden));
}

static void picture_report(const char *where, const struct writer_totals *t)
{
	log_info("wrote %s: a picture with %s and %s, %s", where,
		 PLURAL_TEXT(t->arrows, "arrow", "arrows"),
		 PLURAL_TEXT(t->findings, "finding", "findings"), BYTES_TEXT(t->bytes));
}

static void stacks_report(const char *where, const struct writer_totals *t)
{
	log_info("wrote %s: %s of code outside MPI (%s of CPU time each) in %s", where,
		 PLURAL_TEXT(t->samples, "sample", "samples"),
		 ROUND_NS_TEXT(1000000000 / POV_SAMPLES_HZ),
		 PLURAL_TEXT(t->stacks, "stack", "stacks"));
}

void export_report(const char *out, const char *format, const struct writer_totals *t)
{
	bool gzip;
	const struct writer *w = writer_find(format ?: out, &gzip);
	const char *where = strcmp(out, "-") ? out : "to stdout";

	if (w && w->kind == WRITER_PICTURE) {
		picture_report(where, t);
		return;
	}
	if (w && w->kind == WRITER_STACKS) {
		stacks_report(where, t);
		return;
	}
	log_info("wrote %s: %s, %s, %s, %s, %s, %s", where,
		 PLURAL_TEXT(t->slices, "slice", "slices"),
		 PLURAL_TEXT(t->flows, "arrow", "arrows"),
		 PLURAL_TEXT(t->counters, "counter value", "counter values"),
		 PLURAL_TEXT(t->switches, "switch", "switches"),
		 PLURAL_TEXT(t->wakings, "wake-up", "wake-ups"), BYTES_TEXT(t->bytes));
	if (t->samples)
		log_info("with the stacks of %s of code outside MPI",
			 PLURAL_TEXT(t->samples, "sample", "samples"));
	resolution_report(t);
	large_report(out, format, t);
	if (t->merged)
		log_info("%s more switches of threads that wait busily are merged into these "
			 "(--every-switch shows them)",
			 COUNT_TEXT(t->merged));
	posts_report(t);
	if (t->misplaced)
		log_warn("%s slices would overlap others on their track and became instants "
			 "(argument \"misplaced\"): the recording is damaged",
			 COUNT_TEXT(t->misplaced));
	if (t->early)
		log_warn("%s slices began before the recording and are cut at its start",
			 COUNT_TEXT(t->early));
	if (t->arrows_reversed)
		log_warn("%s messages are without arrow: by the clocks of their hosts they were "
			 "received before they were sent",
			 COUNT_TEXT(t->arrows_reversed));
	if (t->findings_hidden)
		log_info("%s findings are not shown: more than %d of a kind overlap; the report "
			 "has all",
			 COUNT_TEXT(t->findings_hidden), TIMELINE_FINDINGS_MAX);
	if (t->undecided)
		log_warn("%s wake-ups are without arrow: they were too many to wait for the calls "
			 "around them",
			 COUNT_TEXT(t->undecided));
}
