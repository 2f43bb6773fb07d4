/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Builds the sentences of findings piece by piece (find.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "analysis/find.h"
#include "analysis/label.h"

#define NAME_CHARS 24

char *words(char *text, const char *fmt, ...)
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
