/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes title, evidence and action of reasons, and the phrases that they share, and prints them.
 * reasons_cores.c has those about cores, reasons_late.c those about ranks that were late.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/reasons.h"
#include "analysis/reasons_internal.h"
#include "lib/distortion.h"
#include "lib/human.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/u64.h"
#include "lib/text.h"

char *reason_place_text(const struct site_name *name)
{
	char *file = text_printable(text_base_name(name->file), 40);
	char *text = xasprintf("%s:%u", file, name->line);

	free(file);
	return text;
}

/* ---- time of the library, of povtrace, and what is unknown ---- */

static const struct {
	const char *title, *did, *whom, *action;
} plain[REASON_KINDS] = {
	[REASON_MPI_WORK] = {"MPI calls themselves take time", "was in MPI, running, for ",
			     "ranks that were busy in MPI",
			     "See which calls: povtrace report --functions."},
	[REASON_TRANSFER] = {"Messages and collectives take time, no rank known to be late",
			     "was in such calls for ", "ranks that polled",
			     "See which: povtrace report --functions --messages."},
	[REASON_FILE_IO] = {"Ranks read and write files", "was in MPI_File calls for ", "them",
			    "See which calls: povtrace report --functions."},
	[REASON_TRACING] = {"povtrace itself took time", "lost ", "it",
			    "Keep one CPU free of ranks, or record less (-f, --no-functions, "
			    "--sched ranks)."},
	[REASON_OPEN] = {"Calls had not returned when the recording ended",
			 "was in such a call for ", "them",
			 "See whom ranks waited for: povtrace report --hang."},
	[REASON_UNKNOWN] = {"Unknown time", "did for ", "ranks that did something unknown", NULL},
};

/* Time that tracing took from one rank, or from all ranks. */
struct tracing_sum {
	uint64_t recording_ns, switches_ns, taken_ns, room_ns; /* as in struct app_thread */
};

static void tracing_add(struct tracing_sum *sum, const struct app_thread *t)
{
	sum->recording_ns += t->tracing_ns - u64_min(t->tracing_ns, t->taken_ns + t->room_ns);
	sum->switches_ns += t->switches_ns;
	sum->taken_ns += t->taken_ns;
	sum->room_ns += t->room_ns;
}

/*
 * Sets the advice by what took most time: recording calls, recording switches, or the collector. If
 * the report's head names a distorted rank (lib/distortion.c), only that rank's times count, so
 * that both give the same advice.
 */
static void tracing_words(const struct said *s)
{
	struct tracing_sum sum = {0};
	const struct app_thread *most = NULL;
	double share, largest = DISTORTION_PCT / 100;

	for (uint32_t i = 0; i < s->a->nrank; i++) {
		const struct app_thread *t = &s->f->app.thread[s->a->rank[i].thread];

		tracing_add(&sum, t);
		share = t->window_ns ? (double)t->tracing_ns / (double)t->window_ns : 0;
		if (share > largest) {
			largest = share;
			most = t;
		}
	}
	if (most) {
		sum = (struct tracing_sum){0};
		tracing_add(&sum, most);
	}
	if (s->r->kind != REASON_TRACING || sum.taken_ns > sum.recording_ns ||
	    sum.room_ns > sum.recording_ns)
		return;
	free(s->r->action);
	s->r->action = xstrdup(
		sum.switches_ns > sum.recording_ns / 2 ?
			"Record fewer context switches: --sched ranks, or --sched off." :
			"Record fewer calls: leave out what is called most (povtrace report "
			"--functions) with --no-functions, or name groups with --mpi.");
}

#define LITTLE 100 /* waiting below 1 / LITTLE of the cost is not mentioned */

static char *words_wait_for_whom(const struct said *s, char *text, uint32_t late, const char *whom)
{
	uint32_t other = late == FINDING_NOBODY ? late : reason_other_rank(s, late);

	if (s->r->waited_ns * LITTLE < s->r->ns)
		return text;
	text = words(text, "; ");
	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	text = words_round(words(text, " waited "), s->r->waited_ns);
	return words_waited_in(s, words(text, " for %s", whom));
}

static void plain_words(const struct said *s)
{
	const struct reason *r = s->r;
	char *text = xstrdup("");

	s->r->title = xstrdup(plain[r->kind].title);
	if (r->victim != FINDING_NOBODY) {
		text = words(text, "%s", r->kind == REASON_UNKNOWN ? "what " : "");
		text = words(words_who(s, text, r->victim), " %s", plain[r->kind].did);
		text = words_round(text, r->victim_ns);
		text = words(text, "%s", r->kind == REASON_UNKNOWN ? " is unknown" : "");
		text = words_all(s, text);
		text = r->kind == REASON_UNKNOWN ?
			       words_wait_for(s, text, r->victim) :
			       words_wait_for_whom(s, text, FINDING_NOBODY, plain[r->kind].whom);
	} else {
		text = words_round(words(text, "ranks waited "), r->waited_ns);
		text = words_waited_in(s, words(text, " for %s", plain[r->kind].whom));
	}
	s->r->evidence = reason_sentence(text);
	s->r->action = plain[r->kind].action ? xstrdup(plain[r->kind].action) : NULL;
	reason_calls_words(s);
	tracing_words(s);
}

/*
 * How long a rank was not between MPI_Init and MPI_Finalize during its job's span: at its begin,
 * and at its end.
 */
struct apart {
	uint64_t before_ns, after_ns;
};

static struct apart apart_of(const struct said *s, const struct account_rank *rank)
{
	const struct account_job *job = account_job_of(s->a, rank->process);
	const struct app_thread *t = &s->f->app.thread[rank->thread];

	return (struct apart){t->from_ns - job->from_ns, job->to_ns - t->to_ns};
}

/* The others of the rank's job: "rank 1" if there is one, else "others". */
static char *words_others(const struct said *s, char *text, uint32_t who)
{
	uint32_t other = reason_other_rank(s, who);

	return other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
}

static char *apart_title(const struct said *s, uint32_t who, bool after)
{
	bool two = reason_other_rank(s, who) != FINDING_NOBODY;
	char *text = two ? words_who(s, xstrdup(""), who) : xstrdup("some ranks");

	text = words(text, "%s",
		     two   ? after ? " is done before " : " leaves MPI_Init after " :
		     after ? " are done before " :
			     " leave MPI_Init after ");
	return reason_title(words_others(s, text, who));
}

/*
 * Advises to give more work to a rank that is done early. NULL: the rank died before MPI_Finalize.
 */
static char *apart_action(const struct said *s, uint32_t who, bool after)
{
	const struct app_process *p = &s->f->app.process[who];
	uint32_t other = reason_other_rank(s, who);
	char *text = words_who(s, xstrdup(after ? "give " : "see what "), who);

	if (after && !p->finalize_ns) {
		free(text);
		return NULL;
	}
	if (!after)
		return reason_sentence(words(text, " does before MPI_Init, and in it"));
	if (other == FINDING_NOBODY)
		text = words(text, " a part of the others'");
	else
		text = words(words_who(s, words(text, " a part of "), other), "'s");
	return reason_sentence(words(text, " work: it was done first"));
}

static void apart_words(const struct said *s)
{
	uint32_t who = s->r->victim;
	struct apart one = apart_of(s, account_of(s->a, who));
	char *text = words_who(s, xstrdup(""), who);
	bool after = one.after_ns >= one.before_ns;

	s->r->title = apart_title(s, who, after);
	text = words(text, after ? " was in MPI_Finalize, or had ended, for " :
				   " was not past MPI_Init for ");
	text = words_all(s, words_round(text, after ? one.after_ns : one.before_ns));
	text = words_others(s, words(text, " while "), who);
	s->r->evidence = reason_sentence(words(text, after ? " still ran" : " already ran"));
	s->r->action = apart_action(s, who, after);
}

void reason_words(const struct reasons *all, struct findings *f, struct reason *r)
{
	const struct said s = {all, f, all->account, r};

	if (reason_is_held(r->kind))
		reason_held_words(&s);
	else if (r->kind == REASON_COMPUTED && r->process != FINDING_NOBODY)
		reason_computed_one_words(&s);
	else if (r->kind == REASON_COMPUTED)
		reason_computed_all_words(&s);
	else if (r->kind == REASON_SLEPT)
		reason_slept_words(&s);
	else if (r->kind == REASON_APART)
		apart_words(&s);
	else
		plain_words(&s);
}

/* ---- phrases ---- */

#define TOGETHER 1.05 /* mentions other ranks if all lost more than this factor times the victim */

bool reason_has_others(const struct reason *r)
{
	return (double)r->own_ns > TOGETHER * (double)r->victim_ns;
}

char *words_all(const struct said *s, char *text)
{
	if (!reason_has_others(s->r))
		return text;
	return words(words_round(words(text, " (all ranks: "), s->r->own_ns), ")");
}

char *words_round(char *text, uint64_t ns)
{
	char buf[HUMAN_BYTES];

	return words(text, "%s", human_round_ns(buf, sizeof(buf), ns));
}

char *words_who(const struct said *s, char *text, uint32_t process)
{
	const struct model_process *p = model_process_get(s->f->model, process);
	char *name;

	if (p->is_rank)
		return words_process(s->f, text, p);
	name = text_printable(p->name, 24);
	text = words(text, "`%s` (pid %u)", name, p->host_pid);
	free(name);
	return text;
}

/* True if the title ends with this call, as by words_waited_in. */
static bool is_in_title(const struct said *s, const char *call)
{
	char *bracketed = xasprintf("(%s)", call);
	bool is = s->r->title && strstr(s->r->title, bracketed);

	free(bracketed);
	return is;
}

char *words_call(const struct said *s, char *text, const struct cause_place *in, const char *before,
		 const char *after)
{
	const struct site_name *name = in->site.module ? sites_find(s->f->sites, &in->site) : NULL;
	char *place;

	if (!name || !name->file) {
		place = words_site(s->f, xstrdup(in->func->name), &in->site);
		text = words(text, "%s", is_in_title(s, place) ? in->func->name : place);
	} else {
		place = reason_place_text(name);
		text = words(text, "%s%s%s%s", in->func->name, before, place, after);
	}
	free(place);
	return text;
}

char *words_waited_in(const struct said *s, char *text)
{
	const struct cause_place *in = s->r->root ? &s->r->root->most_in : NULL;

	if (!in || !in->func)
		return text;
	return words(words_call(s, words(text, " ("), in, ", ", ""), ")");
}

char *words_next_call(const struct said *s, char *text, const char *before)
{
	return words_root_call(s, s->r->root, text, before);
}

char *words_root_call(const struct said *s, const struct cause *root, char *text,
		      const char *before)
{
	const struct cause_place *next = root ? &root->most_before : NULL;

	if (!next || !next->func)
		return text;
	return words_call(s, words(text, "%s", before), next, " (", ")");
}

uint32_t reason_other_rank(const struct said *s, uint32_t process)
{
	const struct account_job *job = account_job_of(s->a, process);
	const struct account_rank *rank = job ? &s->a->rank[job->first] : NULL;

	if (!job || job->n != 2)
		return FINDING_NOBODY;
	return rank[0].process == process ? rank[1].process : rank[0].process;
}

char *words_wait_for(const struct said *s, char *text, uint32_t late)
{
	bool others = reason_has_others(s->r);

	return words_wait_for_whom(s, text, others ? FINDING_NOBODY : late, others ? "them" : "it");
}

char *reason_sentence(char *text)
{
	if (text[0] != '`')
		text[0] = (char)toupper((unsigned char)text[0]);
	return words(text, ".");
}

char *reason_title(char *text)
{
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

/* ---- as on the report's first screen, and as JSON (kmod-docs/REPORT.md, "reasons") ---- */

#define WIDTH 100
#define TITLE_CHARS 68 /* width of the title column, left of the numbers */

char *reason_gain_text(const struct reason *r)
{
	char low[HUMAN_BYTES], high[HUMAN_BYTES], *unit;

	human_round_ns(low, sizeof(low), r->low_ns);
	human_round_ns(high, sizeof(high), r->high_ns);
	if (r->known == GAIN_UNKNOWN)
		return xstrdup("–");
	if (r->known == GAIN_AT_MOST)
		return xasprintf("≤ %s", high);
	if (!strcmp(low, high))
		return xstrdup(high);
	unit = strchr(low, ' ');
	if (unit && strchr(high, ' ') && (!r->low_ns || !strcmp(unit, strchr(high, ' '))))
		*unit = '\0';
	return xasprintf("%s–%s", low, high);
}

char *reason_cost_text(const struct reasons *r, const struct reason *reason, const char *mark)
{
	struct account_unit unit = account_unit(r->account);

	return xasprintf("%s%.*f", mark, unit.digits, (double)reason->ns / unit.ns);
}

static void padded_print(FILE *out, const char *text, unsigned int width)
{
	unsigned int n = text_chars(text);

	fprintf(out, "%*s%s", n < width ? (int)(width - n) : 0, "", text);
}

void reasons_head_print(const struct reasons *r, const char *title, bool numbers, FILE *out)
{
	fprintf(out, "\n%s", title);
	if (numbers) {
		fprintf(out, "%*s", (int)(TITLE_CHARS + 5 - text_chars(title)), "");
		padded_print(out, account_unit(r->account).brief, 12);
		padded_print(out, "shorter by", 15);
	}
	fputc('\n', out);
}

void reason_print(const struct reasons *r, const struct reason *reason, uint32_t number,
		  const char *mark, bool evidence, FILE *out)
{
	char *gain = reason_gain_text(reason), *ns = reason_cost_text(r, reason, mark);
	int bytes;
	const char *rest = text_line_cut(reason->title, TITLE_CHARS, &bytes);

	fprintf(out, "%3u  %.*s", number, bytes, reason->title);
	fprintf(out, "%*s",
		(int)(TITLE_CHARS - text_chars(reason->title) + text_chars(rest) + (*rest ? 1 : 0)),
		"");
	padded_print(out, ns, 12);
	padded_print(out, gain, 15);
	fputc('\n', out);
	if (*rest)
		text_wrapped_print(out, "     ", rest, TITLE_CHARS);
	if (evidence)
		text_wrapped_print(out, "     ", reason->evidence, WIDTH - 5);
	if (reason->action)
		text_wrapped_print(out, "     → ", reason->action, WIDTH - 7);
	free(gain);
	free(ns);
}

/* "computed_in"; null if unknown */
static void function_json(struct json_out *j, const struct samples_function *in)
{
	json_out_key(j, "computed_in");
	if (!in->name) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	samples_function_json(j, in);
	json_out_object_end(j);
}

/* "mostly_in"; null if unknown */
static void calls_json(struct json_out *j, const struct reason *r)
{
	const struct site_name *from = r->calls_from;

	json_out_key(j, "mostly_in");
	if (!r->calls) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	json_out_key_string(j, "function", r->calls->at.func->name);
	json_out_key_string(j, "file", from ? from->file : NULL);
	json_out_known_uint(j, "line", from && from->file, from ? from->line : 0);
	json_out_key_uint(j, "calls", r->calls->calls);
	json_out_key_uint(j, "ns", call_place_own_ns(r->calls));
	json_out_known_uint(j, "bytes", r->calls->sized == r->calls->calls, r->calls->bytes);
	json_out_object_end(j);
}

/* "programs": those that share the reason; none: one program is to blame */
static void programs_json(struct json_out *j, const struct model *m, const struct reason *reason)
{
	json_out_key_array(j, "programs");
	for (uint32_t i = 0; i < reason->programs && i < REASON_PROGRAMS; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "name",
				    model_process_get(m, reason->program[i].process)->name);
		json_out_key_uint(j, "cost_ns", reason->program[i].ns);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

void reason_json(struct json_out *j, const struct model *m, const struct reason *reason)
{
	const struct model_process *p = reason->process == FINDING_NOBODY ?
						NULL :
						model_process_get(m, reason->process);
	bool replayed = reason->known == GAIN_REPLAYED;

	json_out_key_string(j, "kind", reason_names[reason->kind]);
	json_out_known_uint(j, "pid", p && reason_is_one(reason), p ? p->host_pid : 0);
	if (reason->kind == REASON_HELD_BY_OTHER) {
		json_out_known_uint(j, "processes", p, reason->processes);
		programs_json(j, m, reason);
	}
	json_out_known_uint(j, "rank", p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
	json_out_key_uint(j, "cost_ns", reason->ns);
	json_out_key_uint(j, "own_ns", reason->own_ns);
	json_out_key_uint(j, "waited_ns", reason->waited_ns);
	json_out_key_string(j, "shorter_by",
			    replayed			  ? "replay" :
			    reason->known == GAIN_AT_MOST ? "limit" :
							    NULL);
	json_out_known_uint(j, "shorter_low_ns", replayed, reason->low_ns);
	json_out_known_uint(j, "shorter_high_ns", reason->known != GAIN_UNKNOWN, reason->high_ns);
	if (reason->kind == REASON_COMPUTED)
		function_json(j, &reason->in);
	if (reason->kind == REASON_SLEPT)
		json_out_key_string(j, "slept_mostly", sleep_names[reason->slept]);
	if (reason_is_of_calls(reason->kind))
		calls_json(j, reason);
	json_out_key_string(j, "text", reason->title);
	json_out_key_string(j, "evidence", reason->evidence);
	json_out_key_string(j, "action", reason->action);
	json_out_key_bool(j, "by_setting", reason->by_setting);
}
