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

/* One link for cnt sites, or a perf-event uprobe for one of them. */
static int probe_attach(const struct link_programs *p, const struct perf_probe_kind *kind, bool ret,
			const char *path, const struct link_site *sites, size_t cnt,
			struct perf_probe *out)
{
	int prog_fd = ret ? p->ret_fd : p->entry_fd;

	return p->api == LINK_MULTI ? attach_multi(prog_fd, ret, path, sites, cnt, out) :
				      perf_probe_attach(kind, prog_fd, ret, path, sites->offset,
							sites->cookie, out);
}

/* At return, then at entry: both or none. */
static int pair_attach(struct links *links, const struct link_programs *p,
		       const struct perf_probe_kind *kind, const char *path,
		       const struct link_site *sites, size_t cnt)
{
	bool has_ret = p->ret_fd >= 0;
	struct perf_probe entry, ret;
	int err = has_ret ? probe_attach(p, kind, true, path, sites, cnt, &ret) : 0;

	if (err)
		return err;
	err = probe_attach(p, kind, false, path, sites, cnt, &entry);
	if (!err)
		perf_probes_add(&links->entry, &entry);
	if (has_ret && err)
		perf_probe_close(&ret);
	else if (has_ret)
		perf_probes_add(&links->ret, &ret);
	return err;
}

static size_t multi_attach_all(struct links *links, const struct link_programs *programs,
			       const char *path, struct link_site *sites, size_t cnt, int *err)
{
	size_t half = cnt / 2;
	int e;

	if (!cnt)
		return 0;
	e = pair_attach(links, programs, NULL, path, sites, cnt);
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

static size_t perf_attach_all(struct links *links, const struct link_programs *programs,
			      const char *path, struct link_site *sites, size_t cnt, int *err)
{
	struct perf_probe_kind kind;
	size_t attached = 0;
	int no_kind, e;

	no_kind = perf_probe_kind_read(&kind);
	for (size_t i = 0; i < cnt; i++) {
		e = no_kind ?: pair_attach(links, programs, &kind, path, &sites[i], 1);
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
	free(links->entry.v);
	free(links->ret.v);
	memset(links, 0, sizeof(*links));
}

void links_move(struct links *to, struct links *from)
{
	for (size_t i = 0; i < from->entry.cnt; i++)
		perf_probes_add(&to->entry, &from->entry.v[i]);
	for (size_t i = 0; i < from->ret.cnt; i++)
		perf_probes_add(&to->ret, &from->ret.v[i]);
	links_forget(from);
}

static void probes_close(const struct perf_probes *probes)
{
	for (size_t i = 0; i < probes->cnt; i++)
		perf_probe_close(&probes->v[i]);
}

void links_release(struct links *links)
{
	/* No entry may be seen whose return is not. */
	probes_close(&links->entry);
	probes_close(&links->ret);
	links_forget(links);
}

/* uprobe_multi links that nobody needs any more. */
struct closing {
	struct perf_probes links;
	atomic_size_t next;
};

static void *closing_work(void *arg)
{
	struct closing *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->links.cnt)
		perf_probe_close(&c->links.v[i]);
	return NULL;
}

static void closing_add(struct closing *c, const struct perf_probes *probes,
			struct leftover_probes *leftover)
{
	for (size_t i = 0; i < probes->cnt; i++)
		perf_probes_add(probes->v[i].event_fd >= 0 ? &leftover->probes : &c->links,
				&probes->v[i]);
}

void links_leave(struct links *const *links, size_t cnt, struct leftover_probes *leftover)
{
	pthread_t thread[CLOSING_THREADS];
	struct closing c = {};
	size_t threads = 0;

	for (size_t i = 0; i < cnt; i++) {
		closing_add(&c, &links[i]->entry, leftover);
		closing_add(&c, &links[i]->ret, leftover);
		links_forget(links[i]);
	}
	while (threads < CLOSING_THREADS && threads + 1 < c.links.cnt &&
	       !pthread_create(&thread[threads], NULL, closing_work, &c))
		threads++;
	closing_work(&c);
	while (threads)
		pthread_join(thread[--threads], NULL);
	free(c.links.v);
}
