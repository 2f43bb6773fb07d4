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

char *words_process(const struct findings *f, char *text, const struct model_process *p)
{
	char label[RANK_LABEL_BYTES], *name;

	if (p->is_rank)
		return words(text, "rank %s", rank_label(f->model, p, label));
	name = text_printable(p->name, NAME_CHARS);
	text = words(text, "%s (pid %u)", name, p->host_pid);
	free(name);
	return text;
}

char *words_ns(char *text, const char *before, uint64_t ns, const char *behind)
{
	char buf[HUMAN_BYTES];

	return words(text, "%s%s%s", before, human_ns(buf, sizeof(buf), ns), behind);
}

char *words_count(char *text, uint64_t n, const char *one, const char *many)
{
	char buf[HUMAN_BYTES * 2];

	return words(text, "%s", human_plural(buf, sizeof(buf), n, one, many));
}

char *words_when(const struct findings *f, char *text, uint64_t ts_ns)
{
	return words(text, " at %.3f s",
		     (double)(ts_ns - model_get_info(f->model)->start_ns) / 1e9);
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
