/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Extends findings about held cores if the holder may have forwarded output of ranks: the launcher,
 * or the kernel's workers that serve terminals. The kernel's write counters include files and
 * sockets. It is unknown how much of a holder's time printing cost, so the sentence puts both
 * figures side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "finding/find.h"
#include "finding/setting.h"

#define WRITES_LEAST 1000 /* a rank with fewer write calls does not print much */
/* Forwarding one write takes less than this. If a holder cost more, other work held the cores. */
#define WRITE_COST_NS 100000
#define ANCESTORS_MAX 64

static const char *stdout_of(const struct model_process *p)
{
	return json_get_text(p->meta, "stdout");
}

static uint64_t writes_of(const struct model_process *p)
{
	return p->written_known ? p->write_calls : 0;
}

static bool is_recorder(const struct model_process *p)
{
	return !strncmp(p->name, "povtrace", strlen("povtrace"));
}

/*
 * Returns launcher if the rank descends from it, else NULL. With launcher NULL, returns the rank's
 * ancestor with the most write calls.
 */
static const struct model_process *ancestor_find(const struct model *m,
						 const struct model_process *rank,
						 const struct model_process *launcher)
{
	const struct model_process *up = rank, *most = NULL;

	for (int i = 0; i < ANCESTORS_MAX && (up = model_parent(m, up)); i++) {
		if (up->is_rank || is_recorder(up))
			continue;
		if (up == launcher)
			return up;
		if (!launcher && (!most || writes_of(up) > writes_of(most)))
			most = up;
	}
	return most;
}

/*
 * True if unbound workers took most of the time that kernel threads held cores. These workers
 * forward terminal output.
 */
static bool workers_held(const struct findings *f, const struct finding *found)
{
	uint64_t workers_ns = 0;

	for (uint32_t i = 0; i < found->ncontest; i++) {
		const struct contest *c = &f->contest[found->contest[i]];

		if (!strncmp(c->holder->comm, "kworker/u", strlen("kworker/u")))
			workers_ns += c->ns;
	}
	return 2 * workers_ns > found->cost_ns;
}

/* True if the rank prints through launcher, or through the kernel's workers if launcher is NULL. */
static bool prints_by(const struct findings *f, const struct model_process *p,
		      const struct model_process *launcher)
{
	bool terminal = !strcmp(stdout_of(p), "terminal");

	if (!p->is_rank || writes_of(p) < WRITES_LEAST)
		return false;
	if (!launcher)
		return terminal;
	return (terminal || !strcmp(stdout_of(p), "pipe")) && ancestor_find(f->model, p, launcher);
}

static int writer_compare(const void *va, const void *vb)
{
	const struct model_process *a = *(const struct model_process *const *)va;
	const struct model_process *b = *(const struct model_process *const *)vb;

	if (writes_of(a) != writes_of(b))
		return writes_of(a) > writes_of(b) ? -1 : 1;
	return a->idx < b->idx ? -1 : a->idx > b->idx;
}

/* "rank 0 wrote 1.9 MiB by 20,031 calls of write" */
static char *writer_words(const struct findings *f, char *text, const struct model_process *p)
{
	char bytes[HUMAN_BYTES];

	text = words(words_process(f, text, p), " wrote %s by ",
		     human_bytes(bytes, sizeof(bytes), p->written_bytes));
	return words_count(text, p->write_calls, "call of write", "calls of write");
}

static char *printing_words(const struct findings *f, char *text,
			    const struct model_process *const *writer, uint32_t n,
			    const struct model_process *forwarder)
{
	text = words(text, "; in all, files and sockets included, ");
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = writer_words(f, words(text, i ? "; " : ""), writer[i]);
		text = words(text, " (its standard output is a %s)", stdout_of(writer[i]));
	}
	text = words_more(text, n);
	return forwarder ? writer_words(f, words(text, "; "), forwarder) : text;
}

static char *printing_advice(const struct findings *f)
{
	char *setting = setting_output(model_get_trace(f->model)), *text;

	text = xasprintf(
		"if this is what ranks print: print less often, or let each rank write a file of "
		"its own%s, and compare; options of the launcher for files leave the work with "
		"the launcher",
		setting);
	free(setting);
	return text;
}

void printing_add(struct findings *f, const struct model_process *holder, struct finding *found)
{
	uint32_t n = 0, all = model_process_count(f->model);
	const struct model_process **writer, *forwarder = NULL;
	uint64_t writes = 0;

	if (holder ? is_recorder(holder) : !workers_held(f, found))
		return;
	writer = xmalloc((all + 1) * sizeof(*writer));
	for (uint32_t i = 0; i < all; i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (!prints_by(f, p, holder))
			continue;
		writer[n++] = p;
		writes += writes_of(p);
		forwarder = forwarder ?: holder ?: ancestor_find(f->model, p, NULL);
	}
	if (forwarder && !forwarder->written_known)
		forwarder = NULL;
	if (forwarder && writes_of(forwarder) < writes)
		writes = writes_of(forwarder);
	if (n && writes * WRITE_COST_NS >= found->cost_ns) {
		qsort(writer, n, sizeof(*writer), writer_compare);
		found->text = printing_words(f, found->text, writer, n, forwarder);
		free(found->advice);
		found->advice = printing_advice(f);
	}
	free(writer);
}
