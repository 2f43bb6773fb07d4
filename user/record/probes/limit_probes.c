/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Only probes that are alone in their links can go (links.h). They are the libraries' own while they are attached; what is detached is
 * remembered as a place in a library's file. The job has copies of its own of all that it works on. Entries and returns go at the same
 * time: each stops at once what it costs, and then takes the kernel long, under load for seconds. A return that is not seen any more is no
 * matter, as the call is counted only (frame_emit).
 */
#include "record/probes/limit_probes.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/config.h"
#include "target/code_file.h"
#include "lib/log.h"
#include "record/images.h"

/* A place that has been given up. */
struct gone {
	struct library *lib;
	pid_t pid; /* of the process that had the probe for itself; 0: all processes */
	struct link_site site;
};

struct job {
	struct perf_probes closing; /* … */
	struct gone *place;	    /* … or to be attached */
	int *file_fd;		    /* for each place: the library's file; owned */
	struct links *made;	    /* for each place */
	size_t cnt;
};

struct limit_probes {
	struct images *images;
	struct link_programs programs;
	struct gone *gone;
	size_t cnt;
	struct job job;
	pthread_t thread;
	bool running;
	atomic_bool done;
};

struct limit_probes *limit_probes_new(struct images *im, const struct link_programs *programs)
{
	struct limit_probes *p = xcalloc(1, sizeof(*p));

	p->images = im;
	p->programs = *programs;
	return p;
}

static bool has_probe(const struct perf_probes *v, uint16_t func)
{
	for (size_t i = 0; i < v->cnt; i++)
		if (v->v[i].offset && POV_COOKIE_FUNC(v->v[i].cookie) == func)
			return true;
	return false;
}

bool limit_probes_lacks(const struct limit_probes *p, uint16_t func)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (POV_COOKIE_FUNC(p->gone[i].site.cookie) == func)
			return true;
	return false;
}

struct search {
	uint16_t func;
	bool found;
};

static void links_search(void *ctx, struct library *lib, pid_t pid, struct links *links)
{
	struct search *s = ctx;

	(void)lib;
	(void)pid;
	s->found |= links->file_fd > 0 && has_probe(&links->ret, s->func);
}

bool limit_probes_has(const struct limit_probes *p, uint16_t func)
{
	struct search s = {.func = func};

	if (limit_probes_lacks(p, func))
		return true;
	images_links_each(p->images, links_search, &s);
	return s.found;
}

static void job_attach(struct limit_probes *p, struct job *j)
{
	struct link_programs programs = p->programs;
	char path[32];
	int err;

	for (size_t i = 0; i < j->cnt; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", j->file_fd[i]);
		programs.pid = j->place[i].pid;
		links_attach(&j->made[i], &programs, path, &j->place[i].site, 1, &err);
	}
}

static void *job_run(void *arg)
{
	struct limit_probes *p = arg;

	if (p->job.cnt)
		job_attach(p, &p->job);
	else
		links_close(&p->job.closing);
	atomic_store(&p->done, true);
	return NULL;
}

static void gone_add(struct limit_probes *p, struct gone gone)
{
	p->gone = xrealloc(p->gone, (p->cnt + 1) * sizeof(*p->gone));
	p->gone[p->cnt++] = gone;
}

struct links_wanted {
	const struct gone *place;
	struct links *found;
};

static void links_compare(void *ctx, struct library *lib, pid_t pid, struct links *links)
{
	struct links_wanted *w = ctx;

	if (lib == w->place->lib && pid == w->place->pid && links->file_fd > 0)
		w->found = links;
}

/* The links that a place's probes belong to; NULL: their process has ended. */
static struct links *links_of(const struct limit_probes *p, const struct gone *place)
{
	struct links_wanted w = {.place = place};

	images_links_each(p->images, links_compare, &w);
	return w.found;
}

/* What could not be attached is missing until it is tried again. */
static void job_end(struct limit_probes *p)
{
	struct job *j = &p->job;
	struct links *links;

	for (size_t i = 0; i < j->cnt; i++) {
		links = links_of(p, &j->place[i]);
		if (links && j->place[i].site.failed)
			gone_add(p, j->place[i]);
		if (links)
			links_move(links, &j->made[i]);
		else
			links_release(&j->made[i]);
		close(j->file_fd[i]);
	}
	free(j->place);
	free(j->file_fd);
	free(j->made);
	memset(j, 0, sizeof(*j));
	p->running = false;
}

static void job_start(struct limit_probes *p)
{
	atomic_store(&p->done, false);
	p->running = true;
	if (!pthread_create(&p->thread, NULL, job_run, p))
		return;
	job_run(p);
	job_end(p);
}

bool limit_probes_busy(struct limit_probes *p)
{
	if (!p->running || !atomic_load(&p->done))
		return p->running;
	pthread_join(p->thread, NULL);
	job_end(p);
	return false;
}

/* Those that are meant move from one set to the other; places: also remembered. */
static void probes_take(struct limit_probes *p, struct library *lib, pid_t pid,
			struct perf_probes *from, const bool *func, bool places)
{
	struct perf_probes *to = &p->job.closing;
	size_t kept = 0;

	for (size_t i = 0; i < from->cnt; i++) {
		const struct perf_probe probe = from->v[i];

		if (!probe.offset || !func[POV_COOKIE_FUNC(probe.cookie)]) {
			from->v[kept++] = probe;
			continue;
		}
		perf_probes_add(to, &probe);
		if (places)
			gone_add(p, (struct gone){lib,
						  pid,
						  {.offset = probe.offset,
						   .cookie = probe.cookie,
						   .alone = true}});
	}
	from->cnt = kept;
}

struct detaching {
	struct limit_probes *p;
	const bool *func;
};

static void links_detach(void *ctx, struct library *lib, pid_t pid, struct links *links)
{
	const struct detaching *d = ctx;

	if (links->file_fd <= 0)
		return;
	probes_take(d->p, lib, pid, &links->entry, d->func, false);
	probes_take(d->p, lib, pid, &links->ret, d->func, true);
}

void limit_probes_detach(struct limit_probes *p, const bool *func)
{
	images_links_each(p->images, links_detach, &(struct detaching){p, func});
	if (p->job.closing.cnt)
		job_start(p);
}

/* Takes one that has been given up into the job, unless its process has ended. */
static void place_add(struct limit_probes *p, const struct gone *place)
{
	const struct links *links = links_of(p, place);
	struct job *j = &p->job;

	if (!links)
		return;
	j->file_fd[j->cnt] = fcntl(links->file_fd, F_DUPFD_CLOEXEC, 0);
	j->place[j->cnt++] = *place;
}

void limit_probes_attach(struct limit_probes *p, const bool *func)
{
	struct job *j = &p->job;
	size_t kept = 0;

	j->place = xcalloc(p->cnt + 1, sizeof(*j->place));
	j->file_fd = xcalloc(p->cnt + 1, sizeof(*j->file_fd));
	j->made = xcalloc(p->cnt + 1, sizeof(*j->made));
	for (size_t i = 0; i < p->cnt; i++) {
		if (func[POV_COOKIE_FUNC(p->gone[i].site.cookie)])
			place_add(p, &p->gone[i]);
		else
			p->gone[kept++] = p->gone[i];
	}
	p->cnt = kept;
	if (j->cnt)
		job_start(p);
	else
		job_end(p);
}

void limit_probes_free(struct limit_probes *p)
{
	if (!p)
		return;
	if (p->running) {
		pthread_join(p->thread, NULL);
		job_end(p);
	}
	free(p->gone);
	free(p);
}
