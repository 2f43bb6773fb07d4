/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the sentences about rank_ends.c's results. They state only recorded facts, and guess no
 * causes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/event.h"
#include "analysis/label.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"
#include "analysis/find.h"
#include "analysis/rank_ends.h"
#include "trace/trace_read.h"

#define NAME_CHARS 24
#define GROUP_CHARS 60
#define LABELS_NAMED 8 /* most ranks of a group that a sentence names */

static char *words_foreign(char *text, const char *foreign, unsigned int max)
{
	char *name = text_printable(foreign, max);

	text = words(text, "%s", name);
	free(name);
	return text;
}

/* "Rank 3 (pid 4711)"; "`app` (pid 4711)" for other processes */
static char *words_rank(const struct rank_ends *e, const struct model_process *p)
{
	bool hosts = model_get_info(e->model)->nhosts > 1;
	char label[RANK_LABEL_BYTES];

	if (!p->is_rank)
		return words(words_foreign(xstrdup("`"), p->name, NAME_CHARS), "` (pid %u%s%s)",
			     p->host_pid, hosts ? " on " : "", hosts ? p->host : "");
	return xasprintf("Rank %s (pid %u%s%s)", rank_label(e->model, p, label), p->host_pid,
			 hosts ? " on " : "", hosts ? p->host : "");
}

static char *words_at(const struct rank_ends *e, char *text, uint64_t ts_ns)
{
	uint64_t start_ns = model_get_info(e->model)->start_ns;

	return words(text, " at %.3f s", (double)(ts_ns > start_ns ? ts_ns - start_ns : 0) / 1e9);
}

/* ---- places ---- */

/* " (app.c:41)", " (solve+0x1f (libapp.so))" */
static char *words_call_site(const struct rank_ends *e, char *text, const struct model_site *site)
{
	const struct site_name *name = sites_find(e->sites, site);
	char *place;

	if (!site->address)
		return text;
	if (!name || !name->file) {
		place = sites_text(e->sites, site);
		text = words(text, " (%s)", place);
		free(place);
		return text;
	}
	text = words_foreign(words(text, " ("), text_base_name(name->file), NAME_CHARS);
	return words(text, ":%u)", name->line);
}

/*
 * sites_find() expects a return address, one past the call. This address is the instruction itself.
 */
char *rank_end_place(const struct rank_ends *e, const struct model_site *at)
{
	const struct model_site behind = {at->address + 1, at->module, at->offset + 1};
	const struct site_name *name = sites_find(e->sites, &behind);
	char *text;

	if (!name)
		return sites_text(e->sites, at);
	if (name->file)
		return xstrdup(name->text);
	text = words_foreign(xstrdup(""), name->function, NAME_CHARS);
	text = words(text, "+0x%llx (", (unsigned long long)name->function_offset - 1);
	return words(words_foreign(text, text_base_name(at->module->path), NAME_CHARS), ")");
}

/* " in solve (app.c:41)" */
static char *words_instruction(const struct rank_ends *e, char *text, const struct model_site *at)
{
	char *place;

	if (!at->address)
		return text;
	place = rank_end_place(e, at);
	text = words(text, at->module ? " in %s" : " at address %s", place);
	free(place);
	return text;
}

static char *words_call(const struct rank_ends *e, char *text, const struct rank_end *end)
{
	const struct last_call *c = &end->call;

	if (!c->func)
		return text;
	text = words(text, end->in_call ? ", in " : ", outside the recorded MPI calls, ");
	if (!end->in_call)
		text = words_ns(text, "", end->at_ns - c->end_ns,
				c->polls ? " after polls that began with " : " after ");
	text = words_call_site(e, words(text, "%s", c->func->name), &c->site);
	if (end->in_call)
		text = words_ns(text, " for ", end->at_ns - c->begin_ns, "");
	if (!c->site.address)
		text = words(text, " (call site unknown)");
	if (end->thread->tid != end->process->pid)
		text = words(text, "; thread %u", trace_host_id(end->thread->tid));
	return text;
}

/* ---- who and what ---- */

/* " from mpirun (pid 44)" */
static char *words_sender(const struct rank_ends *e, char *text, const struct model_process *of)
{
	const struct model_signal *s = of->killed_by;
	char label[RANK_LABEL_BYTES];

	if (s && s->from == POV_SIGNAL_FROM_KERNEL)
		return words(text, " from the kernel%s",
			     of->out_of_memory ? ", for lack of memory," : "");
	if (!s || s->from != POV_SIGNAL_FROM_PROCESS)
		return text;
	if (s->sender == of)
		return words(text, ", which it sent to itself,");
	if (s->sender && s->sender->is_rank)
		return words(text, " from rank %s (pid %u)", rank_label(e->model, s->sender, label),
			     s->sender_pid);
	text = words_foreign(words(text, " from "), s->sender_name, NAME_CHARS);
	return words(text, " (pid %u)", s->sender_pid);
}

/*
 * Returns metadata of the process's control group if the kernel killed processes there for lack of
 * memory.
 */
static const json_t *memory_limit_of(const struct rank_ends *e, const struct model_process *p)
{
	const struct trace *t = model_get_trace((struct model *)e->model);
	const json_t *pid;
	size_t k;

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (!json_is_type(meta, "memory_limit") ||
		    json_get_u64(meta, "ts_ns") > p->end_ns ||
		    json_get_u64(meta, "to_ns") < p->start_ns)
			continue;
		json_array_foreach(json_object_get(meta, "pids"), k, pid)
		{
			if (json_integer_value(pid) == p->pid)
				return meta;
		}
	}
	return NULL;
}

static char *words_memory(const struct rank_ends *e, char *text, const struct model_process *p)
{
	const struct model_signal *s = p->killed_by;
	bool by_kernel = s && s->signo == SIGKILL && s->from == POV_SIGNAL_FROM_KERNEL;
	const json_t *meta = by_kernel ? memory_limit_of(e, p) : NULL;
	char n[64], bytes[HUMAN_BYTES];
	uint64_t limit;

	if (!meta)
		return text;
	limit = json_get_u64(meta, "limit_bytes");
	text = words(text, "; for lack of memory the kernel killed %s of its control group ",
		     human_plural(n, sizeof(n), json_get_u64(meta, "oom_kills"), "process",
				  "processes"));
	text = words_foreign(text, json_get_text(meta, "cgroup"), GROUP_CHARS);
	return limit ? words(text, ", which may use %s", human_bytes(bytes, sizeof(bytes), limit)) :
		       words(text, ", which has no limit of memory");
}

static int32_t signo_of(const struct model_process *p)
{
	return p->killed_by ? p->killed_by->signo : WTERMSIG(p->exit_code);
}

/* "killed by SIGKILL (signal 9)" */
static char *words_killed(char *text, const struct model_process *p)
{
	char signal[SIGNAL_LABEL_BYTES];

	return words(text, p->ended_ns ? "killed by %s" : "sent %s",
		     signal_label(signo_of(p), signal));
}

static char *words_status(char *text, const struct model_process *p)
{
	return words(text, "exited with status %d", WEXITSTATUS(p->exit_code));
}

/* Appends how a rank ended after it had called MPI_Abort. */
static char *words_after_abort(const struct rank_ends *e, char *text, const struct model_process *p)
{
	if (p->killed_by || (p->ended_ns && WIFSIGNALED(p->exit_code)))
		return words_sender(e, words_killed(words(text, ", and was "), p), p);
	if (p->ended_ns)
		return words_status(words(text, ", and "), p);
	return words(text, ", and was still running when the recording ended");
}

/* ---- sentences ---- */

char *rank_end_text(const struct rank_ends *e, const struct rank_end *end)
{
	const struct model_process *p = end->process;
	char *text = words_rank(e, p);

	switch (end->kind) {
	case RANK_END_ABORT:
		text = words_call_site(e, words(text, " called MPI_Abort"), &end->call.site);
		return words_after_abort(e, words_at(e, text, end->at_ns), p);
	case RANK_END_SIGNAL:
		text = words_sender(e, words_killed(words(text, " was "), p), p);
		text = words_instruction(e, words_at(e, text, end->at_ns), &end->at);
		text = words_memory(e, words_call(e, text, end), p);
		return p->ended_ns ? text : words(text, "; its end was not recorded");
	case RANK_END_STATUS:
		text = words_at(e, words_status(words(text, " "), p), end->at_ns);
		return words_call(e, text, end);
	case RANK_END_UNFINISHED:
		text = words(words_status(words(text, " "), p), " without MPI_Finalize");
		return words_call(e, words_at(e, text, end->at_ns), end);
	case RANK_END_RUNNING:
		text = words(text, " was still running when the recording ended");
		break;
	}
	return words_call(e, text, end);
}

char *rank_end_short(const struct rank_end *end)
{
	const struct model_process *p = end->process;

	switch (end->kind) {
	case RANK_END_ABORT:
		return xstrdup("MPI_Abort");
	case RANK_END_SIGNAL:
		return words_killed(xstrdup(""), p);
	case RANK_END_STATUS:
		return words_status(xstrdup(""), p);
	case RANK_END_UNFINISHED:
		return xstrdup("exited without MPI_Finalize");
	case RANK_END_RUNNING:
		break;
	}
	return xstrdup("not ended");
}

static bool same_group(const struct rank_end *a, const struct rank_end *b)
{
	const struct model_signal *x = a->process->killed_by, *y = b->process->killed_by;

	if (a->by_launcher && b->by_launcher)
		return x->sender == y->sender && x->signo == y->signo &&
		       !a->process->ended_ns == !b->process->ended_ns;
	return a->kind == RANK_END_RUNNING && b->kind == RANK_END_RUNNING;
}

/* "3 ranks (0, 2, 3)" */
static char *words_group(const struct rank_ends *e, uint32_t i, uint32_t n)
{
	char label[RANK_LABEL_BYTES], buf[64];
	char *text = xasprintf("%s (", human_plural(buf, sizeof(buf), n, "rank", "ranks"));
	uint32_t named = 0;

	for (uint32_t k = i; k < e->n && named < LABELS_NAMED; k++)
		if (k == i || same_group(&e->end[i], &e->end[k]))
			text = words(text, "%s%s", named++ ? ", " : "",
				     rank_label(e->model, e->end[k].process, label));
	return words(text, n > named ? " …)" : ")");
}

char *rank_ends_text(const struct rank_ends *e, uint32_t i)
{
	const struct rank_end *end = &e->end[i];
	uint32_t n = 1;
	char *text;

	for (uint32_t k = 0; k < i; k++)
		if (same_group(end, &e->end[k]))
			return NULL;
	for (uint32_t k = i + 1; k < e->n; k++)
		n += same_group(end, &e->end[k]);
	if (n == 1 && !end->by_launcher)
		return rank_end_text(e, end);
	text = n > 1 ? words_group(e, i, n) : words_rank(e, end->process);
	if (end->kind == RANK_END_RUNNING)
		return words(text, " %s still running when the recording ended",
			     n > 1 ? "were" : "was");
	text = words_killed(words(text, n > 1 ? " were " : " was "), end->process);
	text = words_sender(e, text, end->process);
	return words_at(e, words(text, n > 1 ? ", the first" : ""), end->at_ns);
}
