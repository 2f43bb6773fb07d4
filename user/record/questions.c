/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/questions.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

struct asker {
	unsigned int open;
	uint64_t last_ns; /* of its questions that have been heard of */
};

void questions_open(struct questions *q, pid_t pid, uint64_t ts_ns)
{
	struct asker *a = map_make(&q->askers, pid, sizeof(*a));

	a->open++;
	if (ts_ns > a->last_ns)
		a->last_ns = ts_ns;
}

void questions_close(struct questions *q, pid_t pid)
{
	struct asker *a = map_get(&q->askers, pid);
	uint32_t key = pid;

	if (!a || --a->open)
		return;
	if (bpf_map_update_elem(q->answered_fd, &key, &a->last_ns, BPF_ANY))
		log_debug("answer to %d: %s", pid, strerror(errno));
	free(map_remove(&q->askers, pid));
}

void questions_release(struct questions *q)
{
	map_free(&q->askers, free);
}
