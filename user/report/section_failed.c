/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows MPI calls that returned an error (analysis/failed.h). */
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

#define FAILED_SHOWN 8
#define RANKS_NAMED 4

/* Returns the number of rows like row i, from i on. *cnt, *first_ns: only calls of ranks shown. */
static uint32_t alike(const struct report *r, uint32_t i, uint64_t *cnt, uint64_t *first_ns)
{
	const struct failed *a = &r->failed;
	uint32_t n = 0;

	*cnt = 0;
	*first_ns = UINT64_MAX;
	for (; i + n < a->nrow && failed_alike(&a->row[i], &a->row[i + n]); n++) {
		const struct failed_row *row = &a->row[i + n];

		if (!r->chosen[row->process->idx])
			continue;
		*cnt += row->cnt;
		*first_ns = row->first_ns < *first_ns ? row->first_ns : *first_ns;
	}
	return n;
}

static char *appended(char *text, char *more)
{
	char *both = xasprintf("%s%s", text, more);

	free(text);
	free(more);
	return both;
}

/* ": rank 0 22, rank 1 22 and 3 more" */
static char *ranks_text(const struct report *r, uint32_t i, uint32_t n)
{
	char *text = xstrdup(""), label[RANK_LABEL_BYTES], cnt[HUMAN_BYTES];
	uint32_t named = 0, more = 0;

	for (uint32_t k = i; k < i + n; k++) {
		const struct failed_row *row = &r->failed.row[k];

		if (!r->chosen[row->process->idx])
			continue;
		if (named++ < RANKS_NAMED)
			text = appended(text, xasprintf("%srank %s %s", named == 1 ? ": " : ", ",
							rank_label(r->model, row->process, label),
							human_count(cnt, sizeof(cnt), row->cnt)));
		else
			more++;
	}
	if (more)
		text = appended(text, xasprintf(" and %u more", more));
	return text;
}

static void alike_print(const struct report *r, uint32_t i, uint32_t n, uint64_t cnt,
			uint64_t first_ns, FILE *out)
{
	const struct failed_row *row = &r->failed.row[i];
	char *site = sites_text(r->sites, &row->site), *ranks = ranks_text(r, i, n);
	char calls[64], code[32];

	snprintf(code, sizeof(code), "error %d", row->code);
	text_note(out, "! %s of %s%s%s returned %s%s; the first at %.3f s",
		  human_plural(calls, sizeof(calls), cnt, "call", "calls"), row->func->name,
		  row->site.module ? " in " : "", row->site.module ? site : "",
		  row->error ? row->error : code, ranks,
		  (double)json_since_start(r, first_ns) / 1e9);
	free(ranks);
	free(site);
}

void text_failed(const struct report *r, FILE *out)
{
	uint64_t cnt, first_ns, all = 0, shown_cnt = 0;
	uint32_t shown = 0, n;
	char calls[64];

	for (uint32_t i = 0; i < r->failed.nrow; i += n) {
		n = alike(r, i, &cnt, &first_ns);
		if (!cnt)
			continue;
		if (!all)
			text_section(out, "MPI calls that failed");
		all += cnt;
		if (r->opt->top && shown == FAILED_SHOWN)
			continue;
		alike_print(r, i, n, cnt, first_ns, out);
		shown_cnt += cnt;
		shown++;
	}
	if (all > shown_cnt)
		text_note(out, "%s more: --top 0 shows all.",
			  human_plural(calls, sizeof(calls), all - shown_cnt, "call", "calls"));
	if (r->failed.left_out)
		text_note(out, "%s that failed, too, are not listed.",
			  human_plural(calls, sizeof(calls), r->failed.left_out, "further call",
				       "further calls"));
}

void json_failed(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "failed_calls");
	for (uint32_t i = 0; i < r->failed.nrow; i++) {
		const struct failed_row *row = &r->failed.row[i];
		const struct model_process *p = row->process;
		char *site;

		if (!r->chosen[p->idx])
			continue;
		site = sites_text(r->sites, &row->site);
		json_out_object_begin(j);
		json_out_key_string(j, "function", row->func->name);
		json_out_key_string(j, "error", row->error);
		json_out_key_int(j, "code", row->code);
		json_out_key_string(j, "called_from", site);
		json_out_key_uint(j, "pid", p->host_pid);
		json_known_uint(j, "rank", p->is_rank && p->rank >= 0, (uint64_t)p->rank);
		json_out_key_uint(j, "calls", row->cnt);
		json_out_key_uint(j, "first_ns", json_since_start(r, row->first_ns));
		json_out_object_end(j);
		free(site);
	}
	json_out_array_end(j);
}
