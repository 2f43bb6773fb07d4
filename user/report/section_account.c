/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows where rank time went (analysis/account.h): bars of the first screen and of a page; JSON. */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

#define BAR_CHARS 24  /* length of a 100 % bar */
#define SHOWN_PCT 0.5 /* merges classes below this share of rank time */

/* In order of output. */
static const struct {
	const char *key, *name;
} classes[ACCOUNT_CLASSES] = {
	[ACCOUNT_COMPUTING] = {"computing_ns", "computing"},
	[ACCOUNT_OUTSIDE] = {"outside_ns", "outside MPI"},
	[ACCOUNT_NO_CORE] = {"no_core_ns", "no core"},
	[ACCOUNT_ASLEEP] = {"asleep_ns", "asleep"},
	[ACCOUNT_MPI_WORK] = {"mpi_work_ns", "MPI work"},
	[ACCOUNT_MPI_NO_CORE] = {"mpi_no_core_ns", "no core, in MPI"},
	[ACCOUNT_WAITING] = {"waiting_ns", "waiting for a rank"},
	[ACCOUNT_TRANSFER] = {"transfer_ns", "transfer"},
	[ACCOUNT_FILE_IO] = {"file_io_ns", "file I/O"},
	[ACCOUNT_TRACING] = {"tracing_ns", "tracing"},
	[ACCOUNT_OPEN] = {"open_ns", "call not returned"},
	[ACCOUNT_UNKNOWN] = {"unknown_ns", "unknown"},
	[ACCOUNT_APART] = {"apart_ns", "start and end apart"},
};

static double pct_of(uint64_t ns, uint64_t total_ns)
{
	return total_ns ? 100 * (double)ns / (double)total_ns : 0;
}

/* Considers all ranks of the account, not only those shown. */
const char *account_mark(const struct report *r)
{
	uint32_t lost = 0;

	for (uint32_t i = 0; i < r->account.nrank; i++)
		lost |= r->lost[r->account.rank[i].process];
	return lost & LOSS_OF_ACCOUNT ? "~" : "";
}

/* ---- where it went ---- */

static void bar_print(const struct account_bar *b, const struct report *r, FILE *out)
{
	struct account_unit unit = account_unit(&r->account);
	int chars = (int)(b->pct * BAR_CHARS / 100 + 0.5);
	int pad = 10 - snprintf(NULL, 0, "%.*f", unit.digits, (double)b->ns / unit.ns);

	fprintf(out, "  %-22s %*s%.*f  %3.0f %%%s", b->name, pad, account_mark(r), unit.digits,
		(double)b->ns / unit.ns, b->pct, chars ? "  " : "");
	while (chars-- > 0)
		fputs("█", out);
	fputc('\n', out);
}

uint32_t account_bars(const struct report *r, struct account_bar bar[ACCOUNT_CLASSES + 1])
{
	const struct account *a = &r->account;
	uint64_t rest_ns = 0;
	uint32_t n = 0;

	for (int c = 0; c < ACCOUNT_CLASSES; c++) {
		double pct = pct_of(a->sum.ns[c], a->total_ns);

		if (pct >= SHOWN_PCT)
			bar[n++] = (struct account_bar){classes[c].name, a->sum.ns[c], pct, c};
		else
			rest_ns += a->sum.ns[c];
	}
	if (pct_of(rest_ns, a->total_ns) >= SHOWN_PCT)
		bar[n++] = (struct account_bar){"all else", rest_ns, pct_of(rest_ns, a->total_ns),
						ACCOUNT_CLASSES};
	return n;
}

void text_account(const struct report *r, FILE *out)
{
	struct account_unit unit = account_unit(&r->account);
	struct account_bar bar[ACCOUNT_CLASSES + 1];
	uint32_t n = account_bars(r, bar);

	text_section(out, "Where %.*f %s went", unit.digits, (double)r->account.total_ns / unit.ns,
		     unit.name);
	for (uint32_t i = 0; i < n; i++)
		bar_print(&bar[i], r, out);
}

/* ---- JSON ---- */

static void row_json(struct json_out *j, const struct account_row *row)
{
	json_out_key_uint(j, "total_ns", account_total_ns(row));
	for (int c = 0; c < ACCOUNT_CLASSES; c++)
		json_out_key_uint(j, classes[c].key, row->ns[c]);
}

void json_account(struct json_out *j, const struct report *r)
{
	const struct account *a = &r->account;

	json_out_key_object(j, "account");
	row_json(j, &a->sum);
	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < a->nrank; i++) {
		const struct model_process *p = model_process_get(r->model, a->rank[i].process);

		json_out_object_begin(j);
		json_out_key_uint(j, "pid", p->host_pid);
		json_known_uint(j, "rank", p->rank >= 0, p->rank >= 0 ? (uint64_t)p->rank : 0);
		json_known_uint(j, "job", p->job_idx >= 0,
				p->job_idx >= 0 ? (uint64_t)p->job_idx : 0);
		json_out_key_uint(j, "tid", model_thread_get(r->model, a->rank[i].thread)->tid);
		row_json(j, &a->rank[i].row);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}
