/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Names of ranks, CPUs and hosts (label.h), and the sentences of findings, piece by piece
 * (find.h).
 */
#include "analysis/find.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/label.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"

/* ---- labels ---- */

const char *rank_label(const struct model *m, const struct model_process *p, char *buf)
{
	if (!p->is_rank)
		return "-";
	if (p->rank < 0)
		return "?";
	if (model_get_info(m)->njobs > 1)
		snprintf(buf, RANK_LABEL_BYTES, "%d:%d", p->job_idx, p->rank);
	else
		snprintf(buf, RANK_LABEL_BYTES, "%d", p->rank);
	return buf;
}

const char *signal_label(int32_t signo, char *buf)
{
	const char *name = sigabbrev_np(signo);

	snprintf(buf, SIGNAL_LABEL_BYTES, name ? "SIG%s (signal %d)" : "%ssignal %d", name ?: "",
		 signo);
	return buf;
}

const char *end_label(const struct model_process *p, char *buf)
{
	char signal[SIGNAL_LABEL_BYTES];

	if (!p->ended_ns)
		return strcpy(buf, "not ended");
	if (WIFSIGNALED(p->exit_code))
		snprintf(buf, END_LABEL_BYTES, "killed by %s",
			 signal_label(WTERMSIG(p->exit_code), signal));
	else
		snprintf(buf, END_LABEL_BYTES, "exited with status %d", WEXITSTATUS(p->exit_code));
	return buf;
}

const char *cpu_label(const struct model *m, uint32_t cpu, char *buf)
{
	const struct model_host *h;
	uint32_t local;

	if (model_get_info(m)->nhosts < 2) {
		snprintf(buf, CPU_LABEL_BYTES, "%u", cpu);
		return buf;
	}
	h = model_host_of_cpu(m, cpu, &local);
	snprintf(buf, CPU_LABEL_BYTES, "%.32s:%u", h->label, local);
	return buf;
}

static bool has_cpu(const struct model_mask *cpus, uint32_t cpu)
{
	return cpu < MODEL_MASK_WORDS * 64 && cpus->word[cpu / 64] >> cpu % 64 & 1;
}

char *cpus_label(const struct model *m, uint32_t host_idx, const struct model_mask *cpus,
		 uint32_t most)
{
	bool many = model_get_info(m)->nhosts > 1;
	char *text = xasprintf("%s%s", many ? model_host_get(m, host_idx)->label : "",
			       many ? ":" : "");
	uint32_t cnt = 0, end;

	for (uint32_t cpu = 0; cpu < MODEL_MASK_WORDS * 64; cpu = end) {
		char *longer;

		for (end = cpu; has_cpu(cpus, end);)
			end++;
		if (end == cpu) {
			end++;
			continue;
		}
		if (cnt++ == most) {
			longer = xasprintf("%s …", text);
			free(text);
			return longer;
		}
		longer = end == cpu + 1 ?
				 xasprintf("%s%s%u", text, cnt > 1 ? "," : "", cpu) :
				 xasprintf("%s%s%u-%u", text, cnt > 1 ? "," : "", cpu, end - 1);
		free(text);
		text = longer;
	}
	return text;
}

/* ---- sentences ---- */

#define NAME_CHARS 24

char *words(char *text, const char *fmt, ...)
{
	char *more, *both;
	va_list ap;

	va_start(ap, fmt);
	more = xvasprintf(fmt, ap);
	va_end(ap);
	both = xasprintf("%s%s", text, more);
	free(text);
	free(more);
	return both;
}

struct phrase phrase_ns(uint64_t ns)
{
	struct phrase p = {""};

	human_ns(p.text, sizeof(p.text), ns);
	return p;
}

struct phrase phrase_bytes(uint64_t bytes)
{
	struct phrase p = {""};

	human_bytes(p.text, sizeof(p.text), bytes);
	return p;
}

struct phrase phrase_count(uint64_t n, const char *one, const char *many)
{
	struct phrase p = {""};

	human_plural(p.text, sizeof(p.text), n, one, many);
	return p;
}

struct phrase phrase_process(const struct findings *f, const struct model_process *p)
{
	struct phrase out = {""};
	char label[RANK_LABEL_BYTES], *name;

	if (p->is_rank) {
		snprintf(out.text, sizeof(out.text), "rank %s", rank_label(f->model, p, label));
		return out;
	}
	name = text_printable(p->name, NAME_CHARS);
	snprintf(out.text, sizeof(out.text), "%s (pid %u)", name, p->host_pid);
	free(name);
	return out;
}

struct phrase phrase_when(const struct findings *f, uint64_t ts_ns)
{
	struct phrase p = {""};

	snprintf(p.text, sizeof(p.text), " at %.3f s",
		 (double)(ts_ns - model_get_info(f->model)->start_ns) / 1e9);
	return p;
}

struct phrase phrase_cpu(const struct findings *f, uint32_t cpu)
{
	struct phrase p = {""};

	cpu_label(f->model, cpu, p.text);
	return p;
}

char *words_process(const struct findings *f, char *text, const struct model_process *p)
{
	return words(text, "%s", phrase_process(f, p).text);
}

char *words_ns(char *text, const char *before, uint64_t ns, const char *behind)
{
	return words(text, "%s%s%s", before, phrase_ns(ns).text, behind);
}

char *words_count(char *text, uint64_t n, const char *one, const char *many)
{
	return words(text, "%s", phrase_count(n, one, many).text);
}

char *words_site(const struct findings *f, char *text, const struct model_site *site)
{
	char *place;

	if (!site->module)
		return text;
	place = sites_text(f->sites, site);
	text = words(text, " in %s", place);
	free(place);
	return text;
}

char *words_more(char *text, uint32_t n)
{
	return n > NAMED ? words(text, "; and %u more", n - NAMED) : text;
}
