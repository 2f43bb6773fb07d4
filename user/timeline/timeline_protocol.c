/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages of a protocol, from the first visible step to the last. They are made of posts with the
 * same message number. Messages of a layer overlap, so they lie on several tracks (lanes), each on
 * the first free one.
 * No step is marked as the last: completions may follow a FIN, and not every protocol has one. So a
 * message is written late: when its number comes again, or when too many are waiting. Messages that
 * look finished are written first. Therefore a lane may also be free before its last message.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "timeline/timeline_priv.h"

#define STEPS_MAX 32 /* shown per message */
#define WAITING_MAX 4096
#define FINISHED_MAX 256
#define GAPS_MAX 1024 /* a new message may lie between this many of a lane's latest ones */

struct step {
	char name[TL_POST_NAME_BYTES];
	const char *category;
	const char *function;
	int64_t bytes;
	uint64_t ts_ns, took_ns;
};

struct message {
	TAILQ_ENTRY(message) next;
	uint64_t key, id;
	const char *layer;
	uint32_t pid;
	bool finished;	  /* as far as visible; it is in the list `finished` */
	const char *side; /* NULL: unknown */
	char dest[48], transport[16];
	const char *mpi_call;  /* call of the first step */
	uint64_t mpi_begin_ns; /* 0: no MPI call */
	uint64_t begin_ns, end_ns;
	uint32_t seen; /* bit mask of enum post_step */
	int64_t bytes; /* moved by its steps; BYTES_UNKNOWN if one is unknown */
	uint32_t nsteps;
	struct step *step;
};
TAILQ_HEAD(message_list, message);

struct lane {
	struct track *track;
	struct {
		uint64_t begin_ns, end_ns;
	} busy[GAPS_MAX + 1]; /* sorted */
	uint32_t n;
	uint64_t solid_end_ns; /* end of the messages before busy[]; no other may begin earlier */
};

/* Lanes of a layer in a process. */
struct lanes {
	struct lane *lane[TIMELINE_LANES_MAX];
	uint32_t n, nr; /* nr: number in order of appearance */
};

struct tl_messages {
	struct map by_key;
	struct message_list waiting, finished; /* both: least recently active first */
	uint32_t nwaiting, nfinished;
	struct map lanes; /* struct lanes by process and layer */
};

#define BIT(step) (1u << (step))
/* steps that carry data, in some libraries */
#define WITH_DATA (BIT(STEP_EAGER) | BIT(STEP_RTS) | BIT(STEP_DATA))
#define RENDEZVOUS (BIT(STEP_RTS) | BIT(STEP_RTR) | BIT(STEP_DATA) | BIT(STEP_FIN))

/* ---- lanes ---- */

/* Index of the place in a lane where a message fits, or -1. */
static int64_t lane_place(const struct lane *l, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t at = l->n;

	if (l->solid_end_ns && begin_ns <= l->solid_end_ns)
		return -1;
	while (at && l->busy[at - 1].begin_ns > end_ns)
		at--;
	return at && l->busy[at - 1].end_ns >= begin_ns ? -1 : (int64_t)at;
}

static void lane_take(struct lane *l, uint32_t at, uint64_t begin_ns, uint64_t end_ns)
{
	memmove(l->busy + at + 1, l->busy + at, (l->n - at) * sizeof(*l->busy));
	l->busy[at].begin_ns = begin_ns;
	l->busy[at].end_ns = end_ns;
	if (l->n < GAPS_MAX) {
		l->n++;
		return;
	}
	l->solid_end_ns = l->busy[0].end_ns;
	memmove(l->busy, l->busy + 1, GAPS_MAX * sizeof(*l->busy));
}

static struct lane *lane_new(struct timeline *tl, struct lanes *lanes, const struct message *m)
{
	struct lane *l = lanes->lane[lanes->n] = xcalloc(1, sizeof(*l));
	char *name;

	if (lanes->n)
		name = xasprintf("messages: %s (%u)", m->layer, lanes->n + 1);
	else
		name = xasprintf("messages: %s", m->layer);
	l->track = tl_track_new(tl, TRACK_MESSAGE, m->pid,
				lanes->nr * TIMELINE_LANES_MAX + lanes->n, name);
	lanes->n++;
	return l;
}

/* NULL: too many messages overlap at that time. */
static struct lane *lane_find(struct timeline *tl, const struct message *m)
{
	struct map *map = &tl->messages->lanes;
	uint64_t key = tl_mix(tl_mix(0, (uintptr_t)m->layer), m->pid);
	struct lanes *lanes = map_get(map, key);
	int64_t at;

	if (!lanes) {
		lanes = map_make(map, key, sizeof(*lanes));
		lanes->nr = (uint32_t)map->cnt - 1;
	}
	for (uint32_t i = 0; i < TIMELINE_LANES_MAX; i++) {
		struct lane *l = i < lanes->n ? lanes->lane[i] : lane_new(tl, lanes, m);

		at = lane_place(l, m->begin_ns, m->end_ns);
		if (at < 0)
			continue;
		lane_take(l, (uint32_t)at, m->begin_ns, m->end_ns);
		return l;
	}
	return NULL;
}

/* ---- writing ---- */

static const char *message_name(const struct message *m)
{
	if (m->seen & RENDEZVOUS)
		return "rendezvous";
	return m->seen & BIT(STEP_EAGER) ? "eager" : "message";
}

static void message_args(struct timeline *tl, const struct message *m)
{
	struct writer_args *a = &tl->args;

	args_reset(a);
	if (m->side)
		args_add_text(a, "side", m->side);
	if (m->seen & WITH_DATA && m->bytes != BYTES_UNKNOWN)
		args_add_int(a, "bytes", m->bytes);
	if (*m->dest)
		args_add_text(a, "dest", m->dest);
	if (*m->transport)
		args_add_text(a, "transport", m->transport);
	args_add_hex(a, "message", m->id);
	args_add_uint(a, "steps", m->nsteps);
	args_add_text(a, "mpi_call", m->mpi_call);
	if (m->mpi_begin_ns)
		args_add_us(a, "mpi_call_us",
			    m->mpi_begin_ns > tl->opt.start_ns ?
				    m->mpi_begin_ns - tl->opt.start_ns :
				    0);
}

static void step_write(struct timeline *tl, struct track *t, const struct step *step)
{
	struct slice s = {.begin_ns = step->ts_ns, .name = step->name, .category = step->category};

	args_reset(&tl->args);
	if (step->bytes != BYTES_UNKNOWN)
		args_add_int(&tl->args, "bytes", step->bytes);
	args_add_text(&tl->args, "function", step->function);
	args_add_us(&tl->args, "took_us", step->took_ns);
	tl_instant_write(tl, t, &s);
}

TABLE_ORDER(step_compare, struct step, u64_compare(a->ts_ns, b->ts_ns))

static void message_write(struct timeline *tl, const struct message *m)
{
	struct lane *l = lane_find(tl, m);
	uint32_t kept = m->nsteps < STEPS_MAX ? m->nsteps : STEPS_MAX;
	struct slice s = {.begin_ns = m->begin_ns,
			  .end_ns = m->end_ns,
			  .name = message_name(m),
			  .category = "message",
			  .few_names = true,
			  .args = &tl->args};

	if (!l) {
		tl->totals->messages_hidden++;
		return;
	}
	message_args(tl, m);
	tl->ops->slice(tl->ctx, l->track, &s);
	tl->totals->slices++;
	tl->totals->messages++;
	qsort(m->step, kept, sizeof(*m->step), step_compare);
	for (uint32_t i = 0; i < kept; i++)
		step_write(tl, l->track, &m->step[i]);
	if (tl->ops->slice_end)
		tl->ops->slice_end(tl->ctx, l->track, m->end_ns);
}

/* ---- collecting ---- */

static void message_unlist(struct tl_messages *ms, struct message *m)
{
	TAILQ_REMOVE(m->finished ? &ms->finished : &ms->waiting, m, next);
	ms->nfinished -= m->finished;
	ms->nwaiting -= !m->finished;
}

static void message_end(struct timeline *tl, struct message *m)
{
	map_remove(&tl->messages->by_key, m->key);
	message_unlist(tl->messages, m);
	message_write(tl, m);
	free(m->step);
	free(m);
}

/*
 * True if the step begins a new message with the same number. Where the steps do not show it, the
 * MPI call does.
 */
static bool message_begins_anew(const struct message *m, const struct model_post *p)
{
	enum post_step step = p->post->step;

	if (p->post->kind == POST_COMPLETION || step == STEP_NONE)
		return false;
	return step == STEP_RTS || (step == STEP_EAGER && (m->seen & RENDEZVOUS || !p->within ||
							   p->within->begin_ns != m->mpi_begin_ns));
}

/* A FIN is sent by either side, depending on the protocol. */
static const char *post_side(const struct call_post *p)
{
	bool out = p->kind == POST_SEND || p->kind == POST_WRITE;

	if (p->kind == POST_READ)
		return "receives";
	if ((!out && p->kind != POST_ARRIVAL) || p->step == STEP_NONE || p->step == STEP_FIN)
		return NULL;
	return out == (p->step != STEP_RTR) ? "sends" : "receives";
}

static struct message *message_new(struct timeline *tl, uint64_t key, uint32_t pid,
				   const struct slice *s, const struct model_post *p)
{
	struct message *m = map_make(&tl->messages->by_key, key, sizeof(*m));
	const struct call_post *cp = p->post;

	m->key = key;
	m->id = cp->message;
	m->layer = p->call->func->layer_name;
	m->pid = pid;
	m->side = post_side(cp);
	m->begin_ns = s->begin_ns;
	m->mpi_call = tl_post_mpi_call(p);
	m->mpi_begin_ns = p->within ? p->within->begin_ns : 0;
	snprintf(m->dest, sizeof(m->dest), "%s", cp->dest ?: "");
	snprintf(m->transport, sizeof(m->transport), "%s", cp->transport ?: "");
	TAILQ_INSERT_TAIL(&tl->messages->waiting, m, next);
	tl->messages->nwaiting++;
	return m;
}

static void step_add(struct message *m, const struct slice *s, const struct model_post *p)
{
	bool learned = p->post->kind == POST_COMPLETION;
	struct step *step;

	m->nsteps++;
	if (m->nsteps > STEPS_MAX)
		return;
	if (!(m->nsteps & (m->nsteps - 1)))
		m->step = xrealloc(m->step, 2 * m->nsteps * sizeof(*m->step));
	step = &m->step[m->nsteps - 1];
	*step = (struct step){
		.category = s->category,
		.function = p->call->func->name,
		.bytes = p->post->bytes,
		.ts_ns = learned ? s->end_ns : s->begin_ns,
		.took_ns = s->end_ns - s->begin_ns,
	};
	snprintf(step->name, sizeof(step->name), "%s", s->name);
}

static void message_learn(struct message *m, const struct slice *s, const struct call_post *p)
{
	m->begin_ns = u64_min(m->begin_ns, s->begin_ns);
	m->end_ns = u64_max(m->end_ns, s->end_ns);
	if (p->step != STEP_NONE)
		m->seen |= BIT(p->step);
	if (p->kind != POST_COMPLETION && m->bytes != BYTES_UNKNOWN)
		m->bytes = p->bytes >= 0 && p->bytes <= INT64_MAX - m->bytes ? m->bytes + p->bytes :
									       BYTES_UNKNOWN;
}

/* Moves the message to the end of the list it belongs to now. */
static void message_list(struct timeline *tl, struct message *m)
{
	struct tl_messages *ms = tl->messages;

	message_unlist(ms, m);
	m->finished = m->seen == BIT(STEP_EAGER) || m->seen & BIT(STEP_FIN);
	TAILQ_INSERT_TAIL(m->finished ? &ms->finished : &ms->waiting, m, next);
	ms->nfinished += m->finished;
	ms->nwaiting += !m->finished;
	if (ms->nfinished > FINISHED_MAX)
		message_end(tl, TAILQ_FIRST(&ms->finished));
	if (ms->nwaiting > WAITING_MAX)
		message_end(tl, TAILQ_FIRST(&ms->waiting));
}

static void messages_init(struct timeline *tl)
{
	tl->messages = xcalloc(1, sizeof(*tl->messages));
	TAILQ_INIT(&tl->messages->waiting);
	TAILQ_INIT(&tl->messages->finished);
}

void tl_message_add(struct timeline *tl, struct tl_thread *th, const struct slice *s,
		    const struct model_post *p)
{
	const char *layer = p->call->func->layer_name;
	uint64_t key = tl_mix(tl_mix(tl_mix(0, (uintptr_t)layer), th->track.pid), p->post->message);
	struct message *m;

	if (s->end_ns < s->begin_ns)
		return;
	if (!tl->messages)
		messages_init(tl);
	m = map_get(&tl->messages->by_key, key);
	if (m && (m->id != p->post->message || message_begins_anew(m, p))) {
		message_end(tl, m);
		m = NULL;
	}
	/* A completion alone says nothing about the message. */
	if (!m && p->post->kind == POST_COMPLETION)
		return;
	if (!m)
		m = message_new(tl, key, th->track.pid, s, p);
	step_add(m, s, p);
	message_learn(m, s, p->post);
	message_list(tl, m);
}

static struct message *message_any(const struct tl_messages *ms)
{
	return TAILQ_FIRST(&ms->finished) ?: TAILQ_FIRST(&ms->waiting);
}

void tl_messages_finish(struct timeline *tl)
{
	struct tl_messages *ms = tl->messages;
	struct message *m;

	if (!ms)
		return;
	while ((m = message_any(ms)))
		message_end(tl, m);
}

static void lanes_free(void *value)
{
	struct lanes *lanes = value;

	for (uint32_t i = 0; i < lanes->n; i++)
		free(lanes->lane[i]);
	free(lanes);
}

void tl_messages_free(struct timeline *tl)
{
	struct tl_messages *ms = tl->messages;
	struct message *m;

	if (!ms)
		return;
	while ((m = message_any(ms))) {
		message_unlist(ms, m);
		free(m->step);
		free(m);
	}
	map_release(&ms->by_key);
	map_free(&ms->lanes, lanes_free);
	free(ms);
}
