/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds time in MPI's file calls, all ranks of a trace together (analysis/file_io.h). */
#include "lib/human.h"
#include "lib/log.h"
#include "finding/find.h"

#define SMALL_BYTES (1u << 20) /* calls that move fewer bytes on average are small */

/* "; wrote 320 MiB by 40 calls, at 291 MiB/s a rank while in them" */
static char *flow_words(char *text, const char *did, const struct file_flow *f)
{
	char bytes[HUMAN_BYTES], calls[64], rate[HUMAN_BYTES];

	if (!f->calls && !f->unknown)
		return text;
	text = words(text, "; %s%s %s by %s", did, f->unknown ? " at least" : "",
		     human_bytes(bytes, sizeof(bytes), f->bytes),
		     human_plural(calls, sizeof(calls), f->calls + f->unknown, "call", "calls"));
	if (!f->rate_ns || !f->rate_bytes)
		return text;
	return words(text, ", at %s/s a rank while in them",
		     human_bytes(rate, sizeof(rate),
				 (uint64_t)((double)f->rate_bytes * 1e9 / (double)f->rate_ns)));
}

static char *file_io_text(const struct findings *f, const struct file_io_row *all,
			  const struct model_process *most, uint64_t most_ns)
{
	char *text = words_ns(xstrdup("ranks were in MPI's file calls for "), "", all->ns,
			      ", most ");

	text = words_ns(words_process(f, text, most), " ", most_ns, "");
	text = words(text, " (longest %s", all->worst_in->name);
	text = words_ns(words_site(f, text, &all->worst_site), " ", all->worst_ns, "");
	text = words(words_when(f, text, all->worst_from_ns), ")");
	text = flow_words(text, "wrote", &all->written);
	return flow_words(text, "read", &all->read);
}

static bool is_small(const struct file_flow *f)
{
	return f->rate_calls && f->rate_bytes / f->rate_calls < SMALL_BYTES;
}

static char *file_io_advice(const struct file_io_row *all)
{
	bool writes = all->written.rate_ns >= all->read.rate_ns;

	if (!is_small(writes ? &all->written : &all->read))
		return NULL;
	return xasprintf(
		"%s more at once, or by collective calls (MPI_File_%s_all), by which libraries "
		"put the pieces of all ranks together",
		writes ? "write" : "read", writes ? "write" : "read");
}

void find_file_io(struct findings *f)
{
	const struct model_process *most = NULL;
	struct file_io_row all = {0};
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);
		const struct file_io_row *row = file_io_of(&f->file_io, i);

		if (!finding_counts(f, p) || !row->calls)
			continue;
		file_io_row_add(&all, row);
		if (!most || row->ns > most_ns) {
			most = p;
			most_ns = row->ns;
		}
	}
	if (all.ns < f->least_ns || !all.worst_in)
		return;
	finding_add(f, &(struct finding){
			       .kind = "file_io",
			       .cost_ns = all.ns,
			       .text = file_io_text(f, &all, most, most_ns),
			       .advice = file_io_advice(&all),
			       .process = FINDING_NOBODY,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}
