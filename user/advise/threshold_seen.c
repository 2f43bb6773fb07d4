/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See threshold_seen.h. */
#include "advise/threshold_seen.h"

#include <stdlib.h>
#include <string.h>

bool threshold_is_standard(const struct func_info *f)
{
	/* Functions that also receive would wait for that. */
	static const char *const names[] = {"MPI_Send", "MPI_Isend", "MPI_Send_init"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(f->name, names[i], len) &&
		    (!f->name[len] || !strcmp(f->name + len, "_c")))
			return true;
	}
	return false;
}

void threshold_seen_add(struct threshold_seen *s, const struct match *m)
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

bool threshold_seen_refutes(const struct threshold_seen *s, int64_t limit)
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

bool threshold_seen_agrees(const struct threshold_seen *s)
{
	const struct threshold_size *size;
	uint64_t key, above = 0;

	for (size_t at = 0; (size = map_next(&s->waited, &at, &key));)
		above += (int64_t)key - 1 > s->eager_max ? size->waited : 0;
	return above > 0;
}

void threshold_seen_release(struct threshold_seen *s)
{
	map_free(&s->waited, free);
}
