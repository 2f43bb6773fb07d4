/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Checks that a record is possible: its kind, size, numbers and times. */
#include "record/preload/preload_area.h"

#include <string.h>

#include "abi/config.h"
#include "abi/event.h"
#include "abi/thread.h"

_Static_assert(PRELOAD_RECORD_MAX >= POV_FRAME_FULL &&
		       PRELOAD_RECORD_MAX >= sizeof(struct pov_more) + POV_MORE_BYTES,
	       "the longest there are");

/* Flags of a call that a process may set. */
#define CALL_FLAGS \
	(POV_CALL_OPEN | POV_CALL_UNWOUND | POV_CALL_FAULT | POV_CALL_MORE | POV_CALL_PARTIAL)
/* The clocks of two CPUs may differ slightly. */
#define CLOCK_SLACK_NS 1000000

/*
 * Sets flags and thread by one store of the whole first word, as the encoder will load it: a load
 * of 8 bytes waits until the stores of their parts have left the CPU's store buffer. For the same
 * reason call_check sets members that are mostly right only if they are not.
 */
static void head_set(struct pov_hdr *rec, uint32_t flags, uint32_t tid)
{
	struct pov_hdr head = {.size = rec->size, .kind = rec->kind};
	uint64_t word;

	memcpy(&word, &head, sizeof(word));
	word |= (uint64_t)flags << 24 | (uint64_t)tid << 32;
	memcpy(rec, &word, sizeof(word));
}

static bool func_check(uint16_t func, uint16_t lib, const struct preload_speaker *who)
{
	uint32_t row = func - who->first_row;

	return row < who->rows && who->wanted[row] && lib < POV_LIB_NUMBERS && who->lib[lib];
}

/* Checks the begin, which follows from the end and the duration. */
static bool begin_check(uint64_t end_ns, uint64_t dur_ns, const struct preload_speaker *who)
{
	return dur_ns <= end_ns && end_ns - dur_ns >= who->since_ns;
}

static bool fields_check(const char *at, size_t bytes)
{
	const struct pov_field *f;
	size_t whole;

	while (bytes) {
		f = (const struct pov_field *)at;
		if (bytes < sizeof(*f))
			return false;
		whole = sizeof(*f) + ((f->size + 7u) & ~7u);
		if (whole > bytes || f->arg >= POV_CALL_ARGS_MAX || !f->type ||
		    f->type > POV_FIELD_MEMBER)
			return false;
		at += whole;
		bytes -= whole;
	}
	return true;
}

static bool call_check(struct pov_call *c, size_t bytes, const struct preload_speaker *who)
{
	size_t fixed = sizeof(*c) + 8ul * c->nargs;

	if (bytes < sizeof(*c) || c->nargs > POV_CALL_ARGS_MAX || bytes < fixed ||
	    bytes > POV_FRAME_FULL || c->depth >= POV_CALL_DEPTH_MAX || c->cpu >= who->cpus ||
	    !func_check(c->func, c->lib, who) || !begin_check(c->hdr.ts_ns, c->dur_ns, who) ||
	    !fields_check((const char *)c + fixed, bytes - fixed))
		return false;
	head_set(&c->hdr, (c->hdr.flags & CALL_FLAGS) | POV_CALL_PRELOADED, who->tid);
	if (c->tgid != who->tgid)
		c->tgid = who->tgid;
	if (c->unknown)
		c->unknown = 0;
	return true;
}

static bool spin_check(struct pov_spin *s, size_t bytes, const struct preload_speaker *who)
{
	if (bytes < sizeof(*s) || !s->nfuncs || s->nfuncs > POV_SPIN_FUNCS_MAX ||
	    bytes != sizeof(*s) + s->nfuncs * sizeof(s->func[0]) ||
	    s->depth >= POV_CALL_DEPTH_MAX || s->cpu >= who->cpus ||
	    !begin_check(s->hdr.ts_ns, s->dur_ns, who))
		return false;
	for (unsigned int i = 0; i < s->nfuncs; i++) {
		if (!func_check(s->func[i].func, s->func[i].lib, who))
			return false;
		s->func[i].pad = 0;
	}
	s->hdr.flags = (s->hdr.flags & POV_SPIN_OPEN) | POV_SPIN_PRELOADED;
	s->tgid = who->tgid;
	return true;
}

static bool more_check(const struct pov_more *m, size_t bytes, const struct preload_speaker *who)
{
	return bytes >= sizeof(*m) && m->size <= POV_MORE_BYTES &&
	       bytes == sizeof(*m) + ((m->size + 7u) & ~7u) && m->begin_ns >= who->since_ns &&
	       m->begin_ns <= m->hdr.ts_ns && m->arg < POV_CALL_ARGS_MAX;
}

static bool counted_check(struct pov_counted *c, size_t bytes, const struct preload_speaker *who)
{
	if (bytes != sizeof(*c) || !c->calls || !func_check(c->func, c->lib, who) ||
	    !begin_check(c->hdr.ts_ns, c->dur_ns, who) || c->calls > c->dur_ns + 1 ||
	    c->busy_ns / POV_CALL_DEPTH_MAX > c->dur_ns || c->sized > c->calls)
		return false;
	c->hdr.flags = (c->hdr.flags & POV_COUNTED_NESTED) | POV_COUNTED_PRELOADED;
	c->tgid = who->tgid;
	return true;
}

static bool room_check(struct pov_room *r, size_t bytes, const struct preload_speaker *who)
{
	if (bytes != sizeof(*r) || !begin_check(r->hdr.ts_ns, r->dur_ns, who))
		return false;
	r->hdr.flags = 0;
	r->tgid = who->tgid;
	r->pad = 0;
	return true;
}

static bool other_check(struct pov_hdr *rec, size_t bytes, const struct preload_speaker *who)
{
	rec->tid = who->tid;
	switch (rec->kind) {
	case POV_KIND_SPIN:
		return spin_check((struct pov_spin *)rec, bytes, who);
	case POV_KIND_COUNTED:
		return counted_check((struct pov_counted *)rec, bytes, who);
	case POV_KIND_ROOM:
		return room_check((struct pov_room *)rec, bytes, who);
	case POV_KIND_MORE:
		return more_check((const struct pov_more *)rec, bytes, who);
	}
	return false;
}

bool preload_check(struct pov_hdr *rec, size_t bytes, const struct preload_speaker *who)
{
	if (bytes % 8 || rec->ts_ns < who->since_ns || rec->ts_ns > who->until_ns + CLOCK_SLACK_NS)
		return false;
	return pov_is_call(rec) ? call_check((struct pov_call *)rec, bytes, who) :
				  other_check(rec, bytes, who);
}
