/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A uprobe_multi link fails as a whole if one of its sites cannot be probed, so a failing set is halved
 * until the culprits stand alone. Does not choose sites (elf/probe_site.h).
 */
#include "attach/links.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define CLOSING_THREADS 16 /* each only waits for the kernel */

static void probes_add(struct perf_probe **v, size_t *cnt, size_t *cap,
		       const struct perf_probe *probe)
{
	if (*cnt == *cap) {
		*cap = *cap ? 2 * *cap : 16;
		*v = xrealloc(*v, *cap * sizeof(**v));
	}
	(*v)[(*cnt)++] = *probe;
}

void links_add(struct links *links, bool ret, const struct perf_probe *probe)
{
	if (ret)
		probes_add(&links->ret, &links->ret_cnt, &links->ret_cap, probe);
	else
		probes_add(&links->entry, &links->entry_cnt, &links->entry_cap, probe);
}

/* Keeps an entry with its return, or closes the return of an entry that could not be had. */
static void pair_add(struct links *links, const struct perf_probe *entry,
		     const struct perf_probe *ret, bool has_ret, int err)
{
	if (!err)
		links_add(links, false, entry);
	if (has_ret && err)
		perf_probe_close(ret);
	else if (has_ret)
		links_add(links, true, ret);
}

static int attach_multi(int prog_fd, bool ret, const char *path, const struct link_site *sites,
			size_t cnt, struct perf_probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = path, .uprobe_multi.cnt = cnt,
		    .uprobe_multi.flags = ret ? BPF_F_UPROBE_MULTI_RETURN : 0);
	unsigned long *offsets = xcalloc(cnt, sizeof(*offsets));
	__u64 *cookies = xcalloc(cnt, sizeof(*cookies));
	int fd;

	for (size_t i = 0; i < cnt; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].cookie;
	}
	opts.uprobe_multi.offsets = offsets;
	opts.uprobe_multi.cookies = cookies;
	fd = bpf_link_create(prog_fd, 0, BPF_TRACE_UPROBE_MULTI, &opts);
	free(offsets);
	free(cookies);
	if (fd < 0)
		return fd;
	*out = (struct perf_probe){.event_fd = -1, .link_fd = fd};
	return 0;
}

/* Return links of cnt sites, then entries, as one: both or none. */
static int multi_attach(struct links *links, const struct link_programs *p, const char *path,
			const struct link_site *sites, size_t cnt)
{
	struct perf_probe entry = {-1, -1}, ret = {-1, -1};
	int err;

	if (p->ret_fd >= 0) {
		err = attach_multi(p->ret_fd, true, path, sites, cnt, &ret);
		if (err)
			return err;
	}
	err = attach_multi(p->entry_fd, false, path, sites, cnt, &entry);
	pair_add(links, &entry, &ret, p->ret_fd >= 0, err);
	return err;
}

static size_t multi_attach_all(struct links *links, const struct link_programs *programs,
			       const char *path, struct link_site *sites, size_t cnt, int *err)
{
	size_t half = cnt / 2;
	int e;

	if (!cnt)
		return 0;
	e = multi_attach(links, programs, path, sites, cnt);
	if (!e)
		return cnt;
	*err = -e;
	if (cnt == 1) {
		sites->failed = true;
		return 0;
	}
	return multi_attach_all(links, programs, path, sites, half, err) +
	       multi_attach_all(links, programs, path, sites + half, cnt - half, err);
}

/* Return and entry probe of a site: both or none. */
static int perf_attach(struct links *links, const struct link_programs *p,
		       const struct perf_probe_kind *kind, const char *path,
		       const struct link_site *site)
{
	struct perf_probe entry = {-1, -1}, ret = {-1, -1};
	int err;

	if (p->ret_fd >= 0) {
		err = perf_probe_attach(kind, p->ret_fd, true, path, site->offset, site->cookie,
					&ret);
		if (err)
			return err;
	}
	err = perf_probe_attach(kind, p->entry_fd, false, path, site->offset, site->cookie, &entry);
	pair_add(links, &entry, &ret, p->ret_fd >= 0, err);
	return err;
}

static size_t perf_attach_all(struct links *links, const struct link_programs *programs,
			      const char *path, struct link_site *sites, size_t cnt, int *err)
{
	struct perf_probe_kind kind;
	size_t attached = 0;
	int no_kind, e;

	no_kind = perf_probe_kind_read(&kind);
	for (size_t i = 0; i < cnt; i++) {
		e = no_kind ?: perf_attach(links, programs, &kind, path, &sites[i]);
		sites[i].failed = e != 0;
		attached += !e;
		if (e)
			*err = -e;
	}
	return attached;
}

size_t links_attach(struct links *links, const struct link_programs *programs, const char *path,
		    struct link_site *sites, size_t cnt, int *err)
{
	return programs->api == LINK_MULTI ?
		       multi_attach_all(links, programs, path, sites, cnt, err) :
		       perf_attach_all(links, programs, path, sites, cnt, err);
}

static void links_forget(struct links *links)
{
	free(links->entry);
	free(links->ret);
	memset(links, 0, sizeof(*links));
}

static void probes_close(const struct perf_probe *v, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		perf_probe_close(&v[i]);
}

void links_release(struct links *links)
{
	/* No entry may be seen whose return is not. */
	probes_close(links->entry, links->entry_cnt);
	probes_close(links->ret, links->ret_cnt);
	links_forget(links);
}

/* uprobe_multi links that nobody needs any more. */
struct closing {
	struct perf_probe *link;
	size_t cnt, cap;
	atomic_size_t next;
};

static void *closing_work(void *arg)
{
	struct closing *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->cnt)
		perf_probe_close(&c->link[i]);
	return NULL;
}

static void closing_add(struct closing *c, const struct perf_probe *v, size_t cnt,
			struct leftover_probes *leftover)
{
	for (size_t i = 0; i < cnt; i++) {
		if (v[i].event_fd >= 0)
			leftover_probes_add(leftover, &v[i], 1);
		else
			probes_add(&c->link, &c->cnt, &c->cap, &v[i]);
	}
}

void links_leave(struct links *const *links, size_t cnt, struct leftover_probes *leftover)
{
	pthread_t thread[CLOSING_THREADS];
	struct closing c = {};
	size_t threads = 0;

	for (size_t i = 0; i < cnt; i++) {
		closing_add(&c, links[i]->entry, links[i]->entry_cnt, leftover);
		closing_add(&c, links[i]->ret, links[i]->ret_cnt, leftover);
		links_forget(links[i]);
	}
	while (threads < CLOSING_THREADS && threads + 1 < c.cnt &&
	       !pthread_create(&thread[threads], NULL, closing_work, &c))
		threads++;
	closing_work(&c);
	while (threads)
		pthread_join(thread[--threads], NULL);
	free(c.link);
}
