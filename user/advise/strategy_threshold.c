/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Point-to-point protocol threshold (MPI Advisor, Gallardo et al. 2015, section 4.1). Messages up
 * to a size, the eager limit, are sent at once. Above it, a send waits for its receive
 * (rendezvous).
 *
 * Data: the limit, as the library reports it (library.h) or as inferred from the messages; the
 * message sizes of each call site.
 *
 * Rule of the paper: take the median size of each call site, and the largest of these. If that is
 * above the limit, raise the limit to it.
 *
 * Beyond the paper, only messages count whose rendezvous cost something. Either the send was waited
 * for until its receive was posted, or data stood still until the other side called MPI again.
 *
 * Gain: the run without these waits (whatif.h). The low end adds one more copy of each such message
 * on both sides. A copy is taken to last as long as such a message takes when nobody waits for
 * anybody. The high end has no copies. It also leaves out the transfers, which then go on while the
 * receiver computes and no longer keep waiting senders in MPI.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/library.h"
#include "analysis/find.h"
#include "analysis/match.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"

/* A call site counts if its share of the total cost is at least 1/SITE_PART. */
#define SITE_PART 20
#define NS_PER_S 1e9

/* ---- the limit, as the messages show it ---- */

/*
 * Infers from the messages up to which size they are sent at once (eagerly). A send that ended
 * before its receive was posted was eager. A send was probably not eager if the call that completed
 * it began before its receive was posted and ended after that.
 */
struct threshold_seen {
	uint64_t messages;
	int64_t eager_max; /* largest eager message in bytes; -1: none was seen */
	struct map waited; /* bytes + 1 → struct threshold_size */
};

struct threshold_size {
	uint64_t waited, at_once;
};

/*
 * Returns whether a function only sends, in MPI's standard mode, where the library chooses the
 * protocol.
 */
static bool threshold_is_standard(const struct func_info *f)
{
	/*
	 * Functions that also receive are left out, because they wait for the message to receive.
	 */
	static const char *const names[] = {"MPI_Send", "MPI_Isend", "MPI_Send_init"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(f->name, names[i], len) &&
		    (!f->name[len] || !strcmp(f->name + len, "_c")))
			return true;
	}
	return false;
}

static void threshold_seen_add(struct threshold_seen *s, const struct match *m)
{
	struct threshold_size *size;

	if (!s->messages)
		s->eager_max = -1;
	s->messages++;
	if (m->assumed || m->bytes < 0 || !m->send.completer ||
	    !threshold_is_standard(m->send.func))
		return;
	if (m->send.end_ns >= m->recv.begin_ns && m->send.completing_ns >= m->recv.begin_ns)
		return; /* this shows nothing about the protocol */
	size = map_make(&s->waited, (uint64_t)m->bytes + 1, sizeof(*size));
	if (m->send.end_ns < m->recv.begin_ns) {
		size->at_once++;
		s->eager_max = m->bytes > s->eager_max ? m->bytes : s->eager_max;
	} else {
		size->waited++;
	}
}

/* Returns whether more messages above the limit were sent at once than were waited for. */
static bool threshold_seen_refutes(const struct threshold_seen *s, int64_t limit)
{
	const struct threshold_size *size;
	uint64_t key, waited = 0, at_once = 0;

	for (size_t at = 0; (size = map_next(&s->waited, &at, &key));) {
		if ((int64_t)key - 1 <= limit)
			continue;
		waited += size->waited;
		at_once += size->at_once;
	}
	return at_once > waited;
}

/*
 * Returns whether any message above eager_max was waited for. If none was, the limit may be higher.
 */
static bool threshold_seen_agrees(const struct threshold_seen *s)
{
	const struct threshold_size *size;
	uint64_t key, above = 0;

	for (size_t at = 0; (size = map_next(&s->waited, &at, &key));)
		above += (int64_t)key - 1 > s->eager_max ? size->waited : 0;
	return above > 0;
}

/* ---- data ---- */

struct threshold_site {
	uint64_t cost_ns, cnt; /* messages that cost something */
	int64_t *size;	       /* their sizes; owned */
	uint32_t nsize;
	int64_t median;
};

struct threshold {
	struct advise *a;
	struct threshold_seen seen[2]; /* [0] within hosts, [1] between hosts */
	/* The members below belong to the path under examination: within or between hosts. */
	bool between;
	/* In bytes: the present eager limit, and the advised one. */
	int64_t limit, value;
	struct threshold_site *site; /* by the number of the site; owned */
	uint32_t nsite;
	uint64_t cost_ns, cnt;
	bool sure;
	struct whatif_once once;
};

static void *begin(struct advise *a)
{
	struct threshold *t = xcalloc(1, sizeof(*t));

	t->a = a;
	return t;
}

static void release(void *data)
{
	struct threshold *t = data;

	for (int i = 0; i < 2; i++)
		map_free(&t->seen[i].waited, free);
	free(t);
}

static void threshold_match(void *data, const void *event)
{
	const struct match *m = event;
	struct threshold *t = data;

	threshold_seen_add(&t->seen[m->send.process->host_idx != m->recv.process->host_idx], m);
}

/* ---- the cost of rendezvous ---- */

static bool is_rendezvous(const struct threshold *t, const struct whatif_dep *d)
{
	return d->other_host == t->between && d->bytes > t->limit;
}

static void cost_add(void *ctx, const struct whatif_dep *d)
{
	struct threshold *t = ctx;
	struct threshold_site *s;
	uint64_t ns;

	if (d->kind == WHATIF_SEND_POSTED || !is_rendezvous(t, d) ||
	    !threshold_is_standard(whatif_site(t->a->whatif, d->site)->func))
		return;
	s = table_row(t->site, t->nsite, d->site);
	*table_append(s->size, s->nsize) = d->bytes;
	ns = whatif_once_ns(&t->once, d);
	s->cost_ns += ns;
	s->cnt++;
	t->cost_ns += ns;
	t->cnt++;
}

TABLE_ORDER(size_compare, int64_t, table_compare(*a, *b))

/* Returns the largest of the call sites' medians; *worst is the site with the largest cost. */
static int64_t value_of(struct threshold *t, uint32_t *worst)
{
	int64_t value = 0;

	*worst = 0;
	for (uint32_t i = 0; i < t->nsite; i++) {
		struct threshold_site *s = &t->site[i];

		if (!s->nsize)
			continue;
		qsort(s->size, s->nsize, sizeof(*s->size), size_compare);
		s->median = s->size[s->nsize / 2];
		if (s->cost_ns >= t->cost_ns / SITE_PART && s->median > value)
			value = s->median;
		if (s->cost_ns > t->site[*worst].cost_ns)
			*worst = i;
	}
	return value;
}

static void sites_release(struct threshold *t)
{
	for (uint32_t i = 0; i < t->nsite; i++)
		free(t->site[i].size);
	free(t->site);
	t->site = NULL;
	t->nsite = 0;
	t->cost_ns = t->cnt = 0;
}

/* ---- the gain ---- */

static bool leave_out(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	const struct threshold *t = ctx;
	int64_t transfer_ns, rest_ns;

	if (!is_rendezvous(t, d) || d->bytes > t->value ||
	    !threshold_is_standard(whatif_site(t->a->whatif, d->site)->func))
		return false;
	transfer_ns = (int64_t)whatif_transfer_ns(t->a->whatif, d->bytes, d->other_host);
	rest_ns = (int64_t)whatif_rest_ns(d);
	rest_ns = transfer_ns && transfer_ns < rest_ns ? transfer_ns : rest_ns;
	/* One more copy, on the side that waits here. */
	if (t->sure && d->kind != WHATIF_PEER_IN_MPI)
		instead->extra_ns = transfer_ns;
	else if (!t->sure && d->kind == WHATIF_SEND_POSTED)
		instead->transfer_ns = rest_ns;
	else if (!t->sure && d->kind == WHATIF_RECV_POSTED && whatif_waited_ns(d))
		instead->extra_ns = -rest_ns;
	return d->kind != WHATIF_SEND_POSTED;
}

/* ---- text ---- */

static char *limit_text(char *text, const struct library_value *v)
{
	char bytes[HUMAN_BYTES];

	human_bytes(bytes, sizeof(bytes), (uint64_t)v->value);
	switch (v->by) {
	case LIBRARY_VALUE_MPI_T:
		return words(text, "%s (%s, reported by the library)", bytes, v->name);
	case LIBRARY_VALUE_ENVIRONMENT:
		return words(text, "%s (%s, set for the ranks)", bytes, v->name);
	default:
		if (!v->value)
			return words(text, "0 B (none of the messages was sent at once)");
		return words(text,
			     "at least %s (the largest that ended before its receive was posted)",
			     bytes);
	}
}

static char *advice_text(const struct threshold *t, const struct library_value *limit,
			 uint32_t worst)
{
	const struct whatif_site *site = whatif_site(t->a->whatif, worst);
	char *text = words_count(xstrdup(""), t->cnt, "message was", "messages were");
	char bytes[HUMAN_BYTES];

	text = limit_text(words(text, " above the eager limit%s, ",
				t->between ? " between hosts" : ""),
			  limit);
	text = words_ns(text, ". Ranks waited ", t->cost_ns,
			" for the other side of these messages, most in ");
	text = words(text, "%s", site->func->name);
	text = words_site(&t->a->findings, text, &site->site);
	return words(text, " (median size %s)",
		     human_bytes(bytes, sizeof(bytes), (uint64_t)t->site[worst].median));
}

static char *warning_text(const struct threshold *t, uint64_t *memory_bytes)
{
	char *how, *text = xstrdup(
			   "messages that arrive before their receives take memory of the library");
	char bytes[HUMAN_BYTES];

	*memory_bytes = library_threshold_memory(t->a->library, t->between, (uint64_t)t->value,
						 &how);
	if (*memory_bytes)
		text = words(text, ": up to %s in each rank (%s)",
			     human_bytes(bytes, sizeof(bytes), *memory_bytes), how);
	else
		text = words(text, "; this library does not report how much at most");
	free(how);
	return text;
}

extern const struct strategy strategy_threshold;

static void advice_make(struct threshold *t, const struct library_value *limit, uint32_t worst)
{
	struct advice d = {.strategy = &strategy_threshold,
			   .gain = advise_gain(t->a, leave_out, t, &t->sure)};
	uint64_t memory_bytes;

	d.text = advice_text(t, limit, worst);
	d.setting = library_threshold_setting(t->a->library, t->between, (uint64_t)t->value);
	if (!d.setting) {
		advise_nothing(
			t->a, &strategy_threshold,
			words(d.text,
			      ". No setting is known that raises this MPI library's eager limit"));
		return;
	}
	d.warning = warning_text(t, &memory_bytes);
	d.number[d.nnumber++] = (struct advice_number){"limit_bytes", (uint64_t)t->limit};
	d.number[d.nnumber++] = (struct advice_number){"advised_bytes", (uint64_t)t->value};
	d.number[d.nnumber++] = (struct advice_number){"messages", t->cnt};
	d.number[d.nnumber++] = (struct advice_number){"waited_ns", t->cost_ns};
	d.number[d.nnumber++] = (struct advice_number){"memory_bytes", memory_bytes};
	advise_add(t->a, &d);
}

/* ---- conclusions ---- */

/*
 * Returns the library's limit. If the messages contradict it, they took another path than assumed,
 * and the limit comes from the messages.
 */
static struct library_value limit_of(const struct threshold *t)
{
	struct library_value v = library_threshold_alone(t->a->library, t->between);
	const struct threshold_seen *seen = &t->seen[t->between];

	if (v.by == LIBRARY_VALUE_UNKNOWN || threshold_seen_refutes(seen, v.value))
		v = (struct library_value){
			.by = threshold_seen_agrees(seen) ? LIBRARY_VALUE_MESSAGES :
							    LIBRARY_VALUE_UNKNOWN,
			.value = seen->eager_max > 0 ? seen->eager_max : 0,
		};
	return v;
}

static void look_at(struct threshold *t)
{
	struct library_value limit = limit_of(t);
	const char *where = t->between ? " between hosts" : "";
	uint32_t worst;

	t->limit = limit.by == LIBRARY_VALUE_UNKNOWN ? 0 : limit.value;
	t->once = (struct whatif_once){0};
	whatif_each(t->a->whatif, cost_add, t);
	t->value = value_of(t, &worst);
	if (!t->cnt) {
		advise_nothing(t->a, &strategy_threshold,
			       xasprintf("Messages%s above the eager limit made no rank wait",
					 where));
	} else if (limit.by == LIBRARY_VALUE_UNKNOWN) {
		advise_nothing(
			t->a, &strategy_threshold,
			xasprintf("The eager limit of messages%s is unknown: the library does not "
				  "report it, and the messages do not show it",
				  where));
	} else {
		advice_make(t, &limit, worst);
	}
	sites_release(t);
}

static void conclude(void *data, struct advise *a)
{
	struct threshold *t = data;
	bool any = false;

	for (int between = 0; between < 2; between++) {
		if (!t->seen[between].messages)
			continue;
		t->between = between;
		look_at(t);
		any = true;
	}
	if (!any)
		advise_nothing(
			t->a, &strategy_threshold,
			xstrdup("No message was sent, or none was matched with its receive"));
}

const struct strategy strategy_threshold = {
	.name = "threshold",
	.brief = "up to which size messages are sent at once (eager limit)",
	.source = "Gallardo et al. 2015 (MPI Advisor), 4.1",
	.begin = begin,
	.release = release,
	.matched = threshold_match,
	.conclude = conclude,
};
