/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Phrases shared by the sentences of reasons (reasons_internal.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "finding/reasons_internal.h"

#define TOGETHER 1.05 /* mentions other ranks if all lost more than this factor times the victim */

bool reason_has_others(const struct reason *r)
{
	return (double)r->own_ns > TOGETHER * (double)r->victim_ns;
}

char *words_round(char *text, uint64_t ns)
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

char *words_waited_in(const struct said *s, char *text)
{
	const struct cause_place *in = s->r->root ? &s->r->root->most_in : NULL;

	if (!in || !in->func)
		return text;
	return words(words_call(s, words(text, " ("), in->func, &in->site), ")");
}

char *words_next_call(const struct said *s, char *text, const char *before)
{
	const struct cause_place *next = s->r->root ? &s->r->root->most_before : NULL;
	const struct site_name *name;
	char *place;

	if (!next || !next->func)
		return text;
	text = words(text, "%s%s", before, next->func->name);
	name = next->site.module ? sites_find(s->f->sites, &next->site) : NULL;
	if (!name || !name->file)
		return words_site(s->f, text, &next->site);
	place = place_text(name);
	text = words(text, " (%s)", place);
	free(place);
	return text;
}

uint32_t reason_other_rank(const struct said *s, uint32_t process)
{
	if (s->a->nrank != 2)
		return FINDING_NOBODY;
	return s->a->rank[0].process == process ? s->a->rank[1].process : s->a->rank[0].process;
}

char *words_wait_for(const struct said *s, char *text, uint32_t late, const char *whom)
{
	uint32_t other = late == FINDING_NOBODY ? late : reason_other_rank(s, late);

	if (!s->r->waited_ns)
		return text;
	text = words(text, "; ");
	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	text = words_round(words(text, " waited "), s->r->waited_ns);
	return words_waited_in(s, words(text, " for %s", whom));
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

char *reason_advice(const struct said *s, const char *kind, uint32_t process)
{
	for (uint32_t i = 0; i < s->f->n; i++) {
		const struct finding *found = &s->f->finding[i];

		if (found->advice && found->process == process && !strcmp(found->kind, kind))
			return reason_sentence(xstrdup(found->advice));
	}
	return NULL;
}
