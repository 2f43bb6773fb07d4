/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentences of reasons: what it is, what shows it, what to do. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/label.h"
#include "base/human.h"
#include "base/log.h"
#include "base/text.h"
#include "finding/find.h"
#include "finding/reasons.h"

#define ALIKE \
	1.1 /* a rank that computed less than so much of the mean computed as much as others */

struct said {
	const struct reasons *all;
	struct findings *f;
	const struct account *a;
	struct reason *r;
};

#define TOGETHER 1.05 /* times what one rank lost: less is not worth a word */

static bool has_other_victims(const struct reason *r)
{
	return (double)r->own_ns > TOGETHER * (double)r->victim_ns;
}

/* ---- words ---- */

static char *words_round(char *text, uint64_t ns)
{
	char buf[HUMAN_BYTES];

	return words(text, "%s", human_round_ns(buf, sizeof(buf), ns));
}

/* "app.c:21". Caller frees. */
static char *place_text(const struct site_name *name)
{
	const char *slash = strrchr(name->file, '/');
	char *file = text_printable(slash ? slash + 1 : name->file, 40);
	char *text = xasprintf("%s:%u", file, name->line);

	free(file);
	return text;
}

/* "rank 3"; "`bystander` (pid 2745)" */
static char *words_who(const struct said *s, char *text, uint32_t process)
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

/* "MPI_Recv, app.c:21"; "MPI_Recv in app+0x1f"; "MPI_Recv" */
static char *words_call(const struct said *s, char *text, const struct func_info *func,
			const struct model_site *site)
{
	const struct site_name *name = site->module ? sites_find(s->f->sites, site) : NULL;
	char *place;

	text = words(text, "%s", func->name);
	if (!name || !name->file)
		return words_site(s->f, text, site);
	place = place_text(name);
	text = words(text, ", %s", place);
	free(place);
	return text;
}

/* " (MPI_Recv, app.c:21)": where others waited for it most; nothing if that is unknown. */
static char *words_waited_in(const struct said *s, char *text)
{
	const struct cause_worst *w = s->r->root ? &s->r->root->worst : NULL;

	if (!w || !w->waits_in)
		return text;
	return words(words_call(s, words(text, " ("), w->waits_in, &w->waits_at), ")");
}

/* "MPI_Send (app.c:17)": the call that ended the costliest wait; after before, if it is known. */
static char *words_next_call(const struct said *s, char *text, const char *before)
{
	const struct cause_worst *w = s->r->root ? &s->r->root->worst : NULL;
	const struct site_name *name;
	char *place;

	if (!w || !w->after)
		return text;
	text = words(text, "%s%s", before, w->after->name);
	name = w->after_site.module ? sites_find(s->f->sites, &w->after_site) : NULL;
	if (!name || !name->file)
		return words_site(s->f, text, &w->after_site);
	place = place_text(name);
	text = words(text, " (%s)", place);
	free(place);
	return text;
}

/* The only other rank of a job of two, or NOBODY. */
static uint32_t other_rank(const struct said *s, uint32_t process)
{
	if (s->a->nrank != 2)
		return FINDING_NOBODY;
	return s->a->rank[0].process == process ? s->a->rank[1].process : s->a->rank[0].process;
}

/* "; rank 1 waited 0.40 s for it (MPI_Recv, app.c:21)" */
static char *words_wait_for(const struct said *s, char *text, uint32_t late, const char *whom)
{
	uint32_t other = late == FINDING_NOBODY ? late : other_rank(s, late);

	if (!s->r->waited_ns)
		return text;
	text = words(text, "; ");
	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	text = words_round(words(text, " waited "), s->r->waited_ns);
	return words_waited_in(s, words(text, " for %s", whom));
}

/* Takes over text; begins it with a capital and ends it with a point. */
static char *sentence(char *text)
{
	if (text[0] != '`')
		text[0] = (char)toupper((unsigned char)text[0]);
	return words(text, ".");
}

static char *title(char *text)
{
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

/* What a finding of that kind advises; NULL: nothing. process: that it must blame, or NOBODY. */
static char *advice_of(const struct said *s, const char *kind, uint32_t process)
{
	for (uint32_t i = 0; i < s->f->n; i++) {
		const struct finding *found = &s->f->finding[i];

		if (found->advice && !strcmp(found->kind, kind) &&
		    (process == FINDING_NOBODY || found->process == process))
			return sentence(xstrdup(found->advice));
	}
	return NULL;
}

/* ---- cores ---- */

static bool is_contest(const struct said *s, const struct contest *c)
{
	const struct model_process *own = c->waiter->proc, *by = c->holder->proc;

	if (!own->is_rank || (s->r->victim != FINDING_NOBODY && own->idx != s->r->victim))
		return false;
	switch (s->r->kind) {
	case REASON_HELD_BY_OTHER:
		return s->r->process == FINDING_NOBODY ? reason_is_small(s->all, by->idx) :
							 by->idx == s->r->process;
	case REASON_HELD_BY_SELF:
		return by == own;
	case REASON_HELD_BY_RANK:
		return by->is_rank && by != own;
	case REASON_HELD_BY_KERNEL:
		return c->holder->kthread;
	default:
		return false;
	}
}

/* Of contests of this reason, of the rank that lost most by it, the one that cost most; NULL: none is kept. */
static const struct contest *contest_find(const struct said *s)
{
	const struct contest *most = NULL;

	for (uint32_t i = 0; i < s->f->ncontest; i++) {
		const struct contest *c = &s->f->contest[i];

		if (is_contest(s, c) && (!most || c->ns > most->ns))
			most = c;
	}
	return most;
}

static char *words_cpu_of(const struct said *s, char *text, const struct contest *c)
{
	char label[CPU_LABEL_BYTES];

	return words(text, "CPU %s", cpu_label(s->f->model, c->cpu, label));
}

static bool is_bound(const struct said *s, const struct contest *c)
{
	const struct demand_mask *mask = demand_mask_of(&s->f->demand, c->waiter);

	return mask && mask->nr == 1;
}

static char *held_title(const struct said *s, const struct contest *c)
{
	char *text = xstrdup("");

	switch (s->r->kind) {
	case REASON_HELD_BY_OTHER:
		if (s->r->process == FINDING_NOBODY)
			return words(text, "Other processes ran on cores that ranks needed");
		text = words_who(s, text, s->r->process);
		if (!c)
			return words(text, " had cores that ranks needed");
		text = words_cpu_of(s, words(text, " ran on "), c);
		text = words(text, is_bound(s, c) ? ", to which " : ", which ");
		text = words_who(s, text, c->waiter->proc->idx);
		return words(text, is_bound(s, c) ? " is bound" : " needed");
	case REASON_HELD_BY_RANK:
		return words(text, "Ranks took cores from each other");
	case REASON_HELD_BY_SELF:
		return words(text, "Other threads of a rank took its main thread's core");
	case REASON_HELD_BY_KERNEL:
		return words(text, "Kernel threads ran on cores that ranks needed");
	case REASON_HELD_BY_NOBODY:
		return words(text, "Ranks got their core late, though it was idle");
	default:
		return words(text, "Ranks had no core; who had it is unknown");
	}
}

static char *held_evidence(const struct said *s, const struct contest *c)
{
	char *text;

	if (s->r->victim == FINDING_NOBODY) {
		text = words_round(xstrdup("ranks waited "), s->r->waited_ns);
		return sentence(words_waited_in(s, words(text, " for ranks without a core")));
	}
	text = words_who(s, xstrdup(""), s->r->victim);
	text = words_round(words(text, " had no core for "), s->r->victim_ns);
	if (c && (s->r->kind == REASON_HELD_BY_RANK || s->r->process == FINDING_NOBODY) &&
	    s->r->kind != REASON_HELD_BY_SELF) {
		text = words_who(s, words(text, ", most while "), c->holder->proc->idx);
		text = words_cpu_of(s, words(text, " ran on "), c);
	} else if (c && s->r->kind == REASON_HELD_BY_SELF) {
		text = words_cpu_of(
			s, words(text, ", most while thread %u ran on ", c->holder->tid), c);
	}
	if (has_other_victims(s->r))
		text = words_round(words(text, ", all ranks together for "), s->r->own_ns);
	return sentence(words_wait_for(
		s, text, has_other_victims(s->r) ? FINDING_NOBODY : s->r->victim, "it"));
}

/* All CPUs of a host but one; NULL: there is no other. Caller frees. */
static char *other_cpus(const struct said *s, const struct contest *c)
{
	const struct model_host *h = model_host_get(s->f->model, c->waiter->proc->host_idx);
	struct model_mask *others = xcalloc(1, sizeof(*others));
	char *text = NULL;

	for (uint32_t cpu = 0; cpu < h->nr_cpus; cpu++)
		if (h->cpu_base + cpu != c->cpu && cpu / 64 < MODEL_MASK_WORDS)
			others->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
	if (h->nr_cpus > 1)
		text = cpus_label(s->f->model, c->waiter->proc->host_idx, others, 3);
	free(others);
	return text;
}

/* Where nothing more particular is known than that it should be kept away. */
static char *off_action(const struct said *s, const struct contest *c)
{
	char *cpus = other_cpus(s, c);
	char *text = words(words_cpu_of(s, xstrdup("keep it off "), c), ": ");

	if (cpus)
		text = words(text, "taskset -cp %s %u, or ", cpus, c->holder->proc->host_pid);
	free(cpus);
	return sentence(words(text, "a cpuset (AllowedCPUs= of systemd's units)"));
}

static char *held_action(const struct said *s, const struct contest *c)
{
	char *text = NULL, *plain = NULL;

	if (s->r->kind == REASON_HELD_BY_SELF)
		return advice_of(s, "threads_share_cores", FINDING_NOBODY);
	if (s->r->kind == REASON_HELD_BY_RANK)
		text = advice_of(s, "ranks_share_cores", FINDING_NOBODY);
	if (c && !text)
		plain = sentence(advice_against(s->f, c->waiter, c->holder));
	if (s->r->kind != REASON_HELD_BY_OTHER || s->r->process == FINDING_NOBODY || !c)
		return text ? text : plain;
	text = advice_of(s, "core_held_by_others", s->r->process);
	if (!text || !strcmp(text, plain)) {
		free(text);
		text = off_action(s, c);
	}
	free(plain);
	return text;
}

static void held_words(const struct said *s)
{
	const struct contest *c = contest_find(s);

	s->r->title = title(held_title(s, c));
	s->r->evidence = held_evidence(s, c);
	s->r->action = held_action(s, c);
}

/* ---- a rank that others wait for ---- */

static uint64_t class_ns(const struct account_rank *r, enum account_class class)
{
	return r ? r->row.ns[class] : 0;
}

static uint64_t computed_ns(const struct account_rank *r)
{
	return class_ns(r, ACCOUNT_COMPUTING) + class_ns(r, ACCOUNT_OUTSIDE);
}

/* Of all ranks but one. */
static uint64_t mean_computed_ns(const struct said *s, uint32_t but)
{
	uint64_t sum_ns = 0, n = 0;

	for (uint32_t i = 0; i < s->a->nrank; i++) {
		if (s->a->rank[i].process == but)
			continue;
		sum_ns += computed_ns(&s->a->rank[i]);
		n++;
	}
	return n ? sum_ns / n : 0;
}

static bool is_late_sender(const struct said *s)
{
	return s->r->root && s->r->root->worst.how == CAUSE_LATE_SENDER;
}

/* What is sent late could be sent in parts; what all meet after could be shared. */
static char *computed_action(const struct said *s, bool more)
{
	char *text;

	if (more || !is_late_sender(s)) {
		text = words_next_call(s, xstrdup("share the work"), " before ");
		return sentence(words(text, " among the ranks"));
	}
	text = words_next_call(s, xstrdup("send in parts"), " what goes by ");
	return sentence(
		words(text, ", each as soon as it is ready, so that ranks compute at once"));
}

/* "rank 1 0.20 s" of two; "the others 0.20 s on average" */
static char *words_others_computed(const struct said *s, char *text, uint32_t who)
{
	uint32_t other = other_rank(s, who);

	text = other == FINDING_NOBODY ? words(text, ", the others ") :
					 words(words_who(s, words(text, ", "), other), " ");
	text = words_round(text, mean_computed_ns(s, who));
	return words(text, "%s", other == FINDING_NOBODY ? " on average" : "");
}

static void computed_one_words(const struct said *s)
{
	uint32_t who = s->r->process, other = other_rank(s, who);
	uint64_t own_ns = computed_ns(account_of(s->a, who));
	bool more = (double)own_ns > ALIKE * (double)mean_computed_ns(s, who);
	char *text = words(words_who(s, xstrdup(""), who), " computes while ");

	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	s->r->title = title(
		words_waited_in(s, words(text, other == FINDING_NOBODY ? " wait" : " waits")));
	text = words_round(words(words_who(s, xstrdup(""), who), " computed "), own_ns);
	text = words_others_computed(s, text, who);
	s->r->evidence = sentence(
		words_next_call(s, text, ". The costliest wait ended when it called "));
	s->r->action = computed_action(s, more);
}

/* The rank that computed most; NULL: none did. */
static const struct account_rank *most_computed(const struct said *s)
{
	const struct account_rank *most = NULL;

	for (uint32_t i = 0; i < s->a->nrank; i++)
		if (!most || computed_ns(&s->a->rank[i]) > computed_ns(most))
			most = &s->a->rank[i];
	return most;
}

static void computed_all_words(const struct said *s)
{
	const struct account_rank *most = most_computed(s);
	uint64_t most_ns = computed_ns(most),
		 mean_ns = most ? mean_computed_ns(s, most->process) : 0;
	char *text = xstrdup("");

	s->r->title = words_waited_in(s, xstrdup("Ranks wait for each other while they compute"));
	if (most) {
		text = words_round(words(words_who(s, text, most->process), " computed most, "),
				   most_ns);
		text = words_others_computed(s, text, most->process);
	}
	if (s->r->root)
		text = words_who(s, words(text, ". The costliest wait was for "),
				 s->r->root->process);
	s->r->evidence = sentence(words_next_call(s, text, " and ended when it called "));
	s->r->action = computed_action(s, (double)most_ns > ALIKE * (double)mean_ns);
}

static void slept_words(const struct said *s)
{
	uint32_t who = s->r->process != FINDING_NOBODY ? s->r->process : s->r->victim;
	char *text;

	if (s->r->process != FINDING_NOBODY)
		text = title(words(words_who(s, xstrdup(""), who), " sleeps outside MPI"));
	else
		text = xstrdup("Ranks sleep outside MPI");
	s->r->title = text;
	text = who != FINDING_NOBODY ? words_who(s, xstrdup(""), who) : xstrdup("a rank");
	text = words_round(words(text, " slept "),
			   who != FINDING_NOBODY ? s->r->victim_ns : s->r->own_ns);
	if (has_other_victims(s->r))
		text = words_round(words(text, ", all together "), s->r->own_ns);
	s->r->evidence = sentence(words_wait_for(s, text, who, "it"));
	s->r->action = sentence(words_next_call(
		s, xstrdup("look for sleeps, file I/O, locks or page faults"), " before "));
}

/* ---- time of the library, of povtrace, and what is unknown ---- */

static const struct {
	const char *title, *did, *whom, *action;
} plain[REASON_KINDS] = {
	[REASON_MPI_WORK] = {"MPI calls take time, though nobody waits in them",
			     "was in MPI, running, for ", "ranks in MPI",
			     "See which calls: povtrace report --functions."},
	[REASON_TRANSFER] = {"Messages and collectives take time, with nobody late",
			     "was in such calls for ", "them",
			     "See which: povtrace report --functions --messages; povtrace advise "
			     "looks for settings."},
	[REASON_FILE_IO] = {"Ranks read and write files", "was in MPI_File calls for ", "them",
			    "See which calls: povtrace report --functions."},
	[REASON_APART] = {"Ranks do not start and end together",
			  "was in MPI_Init or MPI_Finalize, or had ended, for ", "them", NULL},
	[REASON_TRACING] =
		{"povtrace itself took time", "lost ", "it",
		 "Leave one CPU to povtrace, without ranks, or record less (-f, --no-functions, "
		 "--sched ranks)."},
	[REASON_UNKNOWN] = {"Not known: records are missing, or calls never returned", "did for ",
			    "them", NULL},
};

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
		if (has_other_victims(r))
			text = words_round(words(text, ", all together "), r->own_ns);
		text = words_wait_for(s, text, FINDING_NOBODY, plain[r->kind].whom);
	} else {
		text = words_round(words(text, "ranks waited "), r->waited_ns);
		text = words_waited_in(s, words(text, " for %s", plain[r->kind].whom));
	}
	s->r->evidence = sentence(text);
	s->r->action = plain[r->kind].action ? xstrdup(plain[r->kind].action) : NULL;
}

void reason_words(const struct reasons *all, struct findings *f, struct reason *r)
{
	const struct said s = {all, f, all->account, r};

	if (r->kind >= REASON_HELD_BY_OTHER && r->kind <= REASON_HELD_UNKNOWN)
		held_words(&s);
	else if (r->kind == REASON_COMPUTED && r->process != FINDING_NOBODY)
		computed_one_words(&s);
	else if (r->kind == REASON_COMPUTED)
		computed_all_words(&s);
	else if (r->kind == REASON_SLEPT)
		slept_words(&s);
	else
		plain_words(&s);
}
