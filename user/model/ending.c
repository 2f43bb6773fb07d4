/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How processes end: their exit status and the signal that killed them. A signal is recorded when
 * it is sent; only the status proves that it killed. If the status is unknown, SIGKILL counts as
 * deadly.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "model/who.h"

#define SIGNALS_MAX 64

void ending_signal_learn(struct mprocess *p, const struct pov_signal *rec)
{
	struct ending_signal **link = &p->signals, *s;

	for (; *link; link = &(*link)->next)
		if ((*link)->pub.signo == rec->signo)
			return;
	if (!rec->signo || rec->signo > SIGNALS_MAX)
		return;
	*link = s = xcalloc(1, sizeof(*s));
	s->pub.ts_ns = rec->hdr.ts_ns;
	s->pub.signo = rec->signo;
	s->pub.code = rec->code;
	s->pub.from = rec->from;
	s->pub.sender_pid = trace_host_id(rec->sender);
	s->pub.address = rec->address;
	memcpy(s->pub.sender_name, rec->comm, sizeof(s->pub.sender_name));
	s->pub.sender_name[sizeof(s->pub.sender_name) - 1] = '\0';
	s->tid = rec->hdr.tid;
	s->to_process = rec->hdr.flags & POV_SIGNAL_TO_PROCESS;
	s->sender = rec->sender;
}

/* In older traces, which lack the flag, the status of the first thread counts. */
void ending_exit_learn(struct mprocess *p, const struct pov_exit *rec)
{
	p->pub.out_of_memory |= rec->hdr.flags & POV_EXIT_OOM;
	if (p->has_status)
		return;
	p->has_status = rec->hdr.flags & POV_EXIT_PROCESS;
	if (p->has_status || rec->hdr.tid == p->pub.pid)
		p->pub.exit_code = rec->code;
	if (p->has_status || p->pub.exited)
		p->pub.ended_ns = rec->hdr.ts_ns;
}

static const struct ending_signal *signal_of(const struct mprocess *p)
{
	const struct ending_signal *s;
	int signo = SIGKILL;

	if (p->pub.ended_ns)
		signo = WIFSIGNALED(p->pub.exit_code) ? WTERMSIG(p->pub.exit_code) : 0;
	for (s = p->signals; s && s->pub.signo != signo;)
		s = s->next;
	return s;
}

void endings_settle(struct model *m)
{
	for (uint32_t i = 0; i < m->nprocesses; i++) {
		struct ending_signal *s = (struct ending_signal *)signal_of(m->process[i]);
		const struct mprocess *sender;
		const struct mthread *t;

		if (!s)
			continue;
		t = s->to_process ? NULL : identity_thread_at(m, s->tid, s->pub.ts_ns);
		sender = s->sender ? identity_process_known(m, s->sender, s->pub.ts_ns) : NULL;
		s->pub.thread = t ? &t->pub : NULL;
		s->pub.sender = sender ? &sender->pub : NULL;
		m->process[i]->pub.killed_by = &s->pub;
	}
}

void ending_signal_place(struct mprocess *p, const struct pov_signal *rec)
{
	for (struct ending_signal *s = p->signals; s; s = s->next)
		if (s->pub.signo == rec->signo && s->pub.ts_ns == rec->hdr.ts_ns)
			image_find(p, rec->ip, &s->pub.at);
}

void ending_release(struct mprocess *p)
{
	struct ending_signal *next;

	for (struct ending_signal *s = p->signals; s; s = next) {
		next = s->next;
		free(s);
	}
}
