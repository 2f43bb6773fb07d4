/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What cost most, and who was the cause: cores that others held, and ranks that others waited for. Each finding says what ranks lost
 * by it, added up; what is below FINDING_NS, or below one part in FINDING_PART of a rank's life, is none. Costs of different
 * findings may be of the same time: a rank is late because somebody held its core.
 */
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/log.h"
#include "report/section.h"

#define FINDING_NS 1000000
#define FINDING_PART 200
#define FINDINGS_SHOWN 8
#define NAMED 3 /* of those who lost by it */

struct finding {
	const char *kind; /* as in JSON */
	uint64_t cost_ns;
	char *text; /* owned */
};

struct findings {
	const struct report *r;
	struct finding *finding; /* owned */
	uint32_t n;
	uint64_t least_ns;
};

/* ---- words ---- */

static char *append(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static char *append(char *text, const char *fmt, ...)
{
	char *more, *both;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&more, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	both = xasprintf("%s%s", text, more);
	free(text);
	free(more);
	return both;
}

/* "rank 3", "sh (pid 4711)", "ksoftirqd/1". Caller frees. */
static char *process_text(const struct report *r, const struct model_process *p)
{
	char label[REPORT_LABEL_BYTES], *name, *text;

	if (p->is_rank)
		return xasprintf("rank %s", report_label(r, p, label));
	name = columns_printable(p->name, 24);
	text = xasprintf("%s (pid %u)", name, p->host_pid);
	free(name);
	return text;
}

static char *ns_text(char *text, const char *before, uint64_t ns, const char *behind)
{
	char buf[HUMAN_BYTES];

	return append(text, "%s%s%s", before, human_ns(buf, sizeof(buf), ns), behind);
}

static char *when_text(const struct report *r, char *text, uint64_t ts_ns)
{
	return append(text, " at %.3f s",
		      (double)(ts_ns - model_get_info(r->model)->start_ns) / 1e9);
}

/* ---- the list ---- */

/* Takes over text. */
static void finding_add(struct findings *f, const char *kind, uint64_t cost_ns, char *text)
{
	if (cost_ns < f->least_ns) {
		free(text);
		return;
	}
	f->finding = xrealloc(f->finding, (f->n + 1) * sizeof(*f->finding));
	f->finding[f->n++] = (struct finding){kind, cost_ns, text};
}

static int finding_compare(const void *va, const void *vb)
{
	const struct finding *a = va, *b = vb;

	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* ---- cores ---- */

enum core_kind { CORE_OTHERS, CORE_RANKS, CORE_OWN };

/* What one process lost to another one. */
struct loser {
	enum core_kind kind;
	uint32_t culprit, waiter;		    /* idx; culprit 0 but for CORE_OTHERS */
	const struct model_thread *holder, *thread; /* of the longest part */
	uint64_t ns, part_ns;
};

static bool loser_is(const struct loser *l, enum core_kind kind, const struct model_thread *waiter,
		     const struct model_thread *holder)
{
	if (l->kind != kind || l->waiter != waiter->proc->idx)
		return false;
	return kind == CORE_OWN || l->holder->proc == holder->proc;
}

static int loser_compare(const void *va, const void *vb)
{
	const struct loser *a = va, *b = vb;

	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->waiter < b->waiter ? -1 : a->waiter > b->waiter;
}

static struct loser *losers_find(const struct report *r, uint32_t *n)
{
	struct loser *list = xmalloc((r->nheld + 1) * sizeof(*list));
	uint32_t first = 0; /* of the same waiting process */

	*n = 0;
	for (uint32_t i = 0; i < r->nheld; i++) {
		const struct model_thread *w = model_thread_get(r->model, r->held[i].waiter);
		const struct model_thread *h = model_thread_get(r->model, r->held[i].thread);
		enum core_kind kind = h->proc == w->proc ? CORE_OWN :
				      h->proc->is_rank	 ? CORE_RANKS :
							   CORE_OTHERS;
		uint32_t k = first;

		if (!w->proc->is_rank || !r->chosen[w->proc->idx])
			continue;
		if (*n && list[*n - 1].waiter != w->proc->idx)
			k = first = *n;
		while (k < *n && !loser_is(&list[k], kind, w, h))
			k++;
		if (k == *n)
			list[(*n)++] = (struct loser){
				.kind = kind,
				.culprit = kind == CORE_OTHERS ? h->proc->idx : 0,
				.waiter = w->proc->idx,
				.holder = h,
			};
		list[k].ns += r->held[i].ns;
		if (r->held[i].ns <= list[k].part_ns)
			continue;
		list[k].part_ns = r->held[i].ns;
		list[k].holder = h;
		list[k].thread = w;
	}
	qsort(list, *n, sizeof(*list), loser_compare);
	return list;
}

static char *loser_text(const struct report *r, char *text, const struct loser *l)
{
	char label[REPORT_LABEL_BYTES], ns[HUMAN_BYTES];
	const struct model_process *p = model_process_get(r->model, l->waiter);

	report_label(r, p, label);
	human_ns(ns, sizeof(ns), l->ns);
	if (l->kind == CORE_OTHERS)
		return append(text, "rank %s %s", label, ns);
	if (l->kind == CORE_OWN)
		return append(text, "rank %s %s, most thread %u for thread %u", label, ns,
			      l->thread->tid, l->holder->tid);
	text = append(text, "rank %s had none for %s", label, ns);
	return append(text, " while rank %s ran", report_label(r, l->holder->proc, label));
}

static char *losers_text(const struct report *r, char *text, const struct loser *l, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = append(text, "%s", i ? "; " : ": ");
		text = loser_text(r, text, &l[i]);
	}
	return n > NAMED ? append(text, "; and %u more", n - NAMED) : text;
}

static void cores_find(struct findings *f)
{
	static const char *const kind[] = {"core_held_by_others", "ranks_share_cores",
					   "threads_share_cores"};
	const struct report *r = f->r;
	uint32_t n, end;
	struct loser *l = losers_find(r, &n);

	for (uint32_t i = 0; i < n; i = end) {
		uint64_t ns = 0;
		char *text;

		for (end = i; end < n && l[end].kind == l[i].kind && l[end].culprit == l[i].culprit;
		     end++)
			ns += l[end].ns;
		if (l[i].kind == CORE_OTHERS) {
			char *who = process_text(r, l[i].holder->proc);

			text = xasprintf("%s held cores that ranks wanted, for ", who);
			free(who);
		} else {
			text = xstrdup(l[i].kind == CORE_RANKS ?
					       "ranks wanted the same cores, for " :
					       "threads of one rank wanted the same cores, for ");
		}
		text = ns_text(text, "", ns, "");
		finding_add(f, kind[l[i].kind], ns, losers_text(r, text, &l[i], end - i));
	}
	free(l);
}

/* ---- other ranks ---- */

static void collectives_find(struct findings *f)
{
	const struct report *r = f->r;

	for (uint32_t i = 0; i < r->arrivals.nprocess && i < r->nprocesses; i++) {
		const struct arrival_row *a = &r->arrivals.process[i];
		const struct model_process *p = model_process_get(r->model, i);
		char label[REPORT_LABEL_BYTES], *text;

		if (!a->waited_ns || !r->chosen[i])
			continue;
		text = xasprintf("rank %s was late to collective calls", report_label(r, p, label));
		text = ns_text(text, "; others waited ", a->waited_ns, " for it");
		text = append(text, ", most for %s", a->worst.func->name);
		text = when_text(r, text, a->worst.begin_ns);
		text = ns_text(text, ": ", a->worst.waited_ns, "");
		text = ns_text(text, ", as it came ", a->worst.late_ns, " behind the first one");
		text = append(text, " (last to %llu of %llu)", (unsigned long long)a->last,
			      (unsigned long long)a->calls);
		finding_add(f, "late_in_collective", a->waited_ns, text);
	}
}

/* Those who waited for one process, n of them. */
static void late_add(struct findings *f, const struct late *l, uint32_t n)
{
	bool sender = l->kind == LATE_SENDER;
	const struct late *worst = l;
	char *late = process_text(f->r, model_process_get(f->r->model, l->late)), *text;
	uint64_t ns = 0, cnt = 0;

	for (uint32_t i = 0; i < n; i++) {
		ns += l[i].ns;
		cnt += l[i].cnt;
		worst = l[i].worst_ns > worst->worst_ns ? &l[i] : worst;
	}
	text = ns_text(xstrdup("ranks waited "), "", ns, " for ");
	text = append(text, "%s that %s had not %s yet", sender ? "messages" : "receives", late,
		      sender ? "sent" : "posted");
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		char *who = process_text(f->r, model_process_get(f->r->model, l[i].waiter));

		text = append(text, "%s%s ", i ? "; " : ": ", who);
		text = ns_text(text, "", l[i].ns, "");
		free(who);
	}
	if (n > NAMED)
		text = append(text, "; and %u more", n - NAMED);
	text = append(text, " (%llu times", (unsigned long long)cnt);
	text = ns_text(text, ", most ", worst->worst_ns, "");
	text = when_text(f->r, text,
			 sender ? worst->worst.recv.completing_ns :
				  worst->worst.send.completing_ns);
	finding_add(f, sender ? "late_sender" : "late_receiver", ns, append(text, ")"));
	free(late);
}

static void late_find(struct findings *f)
{
	uint32_t n, kept = 0, end;
	struct late *l = late_list(&f->r->late, &n);

	for (uint32_t i = 0; i < n; i++)
		if (f->r->chosen[l[i].waiter])
			l[kept++] = l[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && l[end].kind == l[i].kind && l[end].late == l[i].late;)
			end++;
		late_add(f, &l[i], end - i);
	}
	free(l);
}

/* ---- both forms ---- */

static struct findings findings_make(const struct report *r)
{
	struct findings f = {.r = r};
	uint64_t life_ns = 0, ranks = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct model_process *p = model_process_get(r->model, r->row[i]);

		life_ns += p->is_rank ? p->end_ns - p->start_ns : 0;
		ranks += p->is_rank;
	}
	f.least_ns = ranks ? life_ns / ranks / FINDING_PART : 0;
	if (f.least_ns < FINDING_NS)
		f.least_ns = FINDING_NS;
	cores_find(&f);
	collectives_find(&f);
	late_find(&f);
	if (f.n)
		qsort(f.finding, f.n, sizeof(*f.finding), finding_compare);
	return f;
}

static void findings_free(struct findings *f)
{
	while (f->n)
		free(f->finding[--f->n].text);
	free(f->finding);
}

static void uncertain_note(const struct report *r, FILE *out)
{
	char messages[64], calls[64];

	if (!r->late.uncertain && !r->arrivals.uncertain)
		return;
	text_note(
		out,
		"Not looked at for lateness: %s and %s of collectives, of ranks that ran before the recording began "
		"or after records of calls were lost, for which of them belong together is not certain.",
		human_plural(messages, sizeof(messages), r->late.uncertain, "message", "messages"),
		human_plural(calls, sizeof(calls), r->arrivals.uncertain, "call", "calls"));
}

void text_findings(const struct report *r, FILE *out)
{
	struct findings f;
	uint32_t shown;

	if (!r->nranks)
		return;
	f = findings_make(r);
	shown = text_rows_shown(r, f.n, FINDINGS_SHOWN);
	text_section(out, "Findings: what ranks lost by waiting, and for whom");
	for (uint32_t i = 0; i < shown; i++)
		text_note(out, "! %s", f.finding[i].text);
	if (shown < f.n)
		text_note(out, "%u of %u shown; --top 0 shows all.", shown, f.n);
	if (!f.n) {
		char least[HUMAN_BYTES];

		text_note(out, "none of %s or more", human_ns(least, sizeof(least), f.least_ns));
	}
	uncertain_note(r, out);
	findings_free(&f);
}

void json_findings(struct json_out *j, const struct report *r)
{
	struct findings f = findings_make(r);

	json_out_key_array(j, "findings");
	for (uint32_t i = 0; i < f.n; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "kind", f.finding[i].kind);
		json_out_key_uint(j, "cost_ns", f.finding[i].cost_ns);
		json_out_key_string(j, "text", f.finding[i].text);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	findings_free(&f);
}
