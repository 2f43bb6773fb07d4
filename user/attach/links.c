/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A uprobe_multi link fails as a whole if one of its sites cannot be probed, so a failing set is halved
 * until the culprits stand alone. Does not choose sites (elf/probe_site.h).
 */
#include "attach/links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void links_add(struct links *links, struct bpf_link *link)
{
	if (links->cnt == links->cap) {
		links->cap = links->cap ? 2 * links->cap : 16;
		links->link = xrealloc(links->link, links->cap * sizeof(*links->link));
	}
	links->link[links->cnt++] = link;
}

static struct bpf_link *attach_multi(const struct bpf_program *prog, bool ret, const char *path,
				     const struct link_site *sites, size_t cnt)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .cnt = cnt, .retprobe = ret);
	unsigned long *offsets = xcalloc(cnt, sizeof(*offsets));
	__u64 *cookies = xcalloc(cnt, sizeof(*cookies));
	struct bpf_link *link;
	int err;

	for (size_t i = 0; i < cnt; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].cookie;
	}
	opts.offsets = offsets;
	opts.cookies = cookies;
	link = bpf_program__attach_uprobe_multi(prog, -1, path, NULL, &opts);
	err = errno;
	free(offsets);
	free(cookies);
	errno = err;
	return link;
}

/* Entry and return links of cnt sites at once: both or none. */
static int multi_attach(struct links *links, const struct link_programs *p, const char *path,
			const struct link_site *sites, size_t cnt)
{
	struct bpf_link *entry, *ret;
	int err;

	ret = attach_multi(p->ret, true, path, sites, cnt);
	if (!ret)
		return -errno;
	entry = attach_multi(p->entry, false, path, sites, cnt);
	if (!entry) {
		err = -errno;
		bpf_link__destroy(ret);
		return err;
	}
	links_add(links, ret);
	links_add(links, entry);
	return 0;
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

static void probes_add(struct links *links, const struct perf_probe *probe)
{
	if (links->probe_cnt == links->probe_cap) {
		links->probe_cap = links->probe_cap ? 2 * links->probe_cap : 64;
		links->probe = xrealloc(links->probe, links->probe_cap * sizeof(*links->probe));
	}
	links->probe[links->probe_cnt++] = *probe;
}

/* Entry and return probe of a site: both or none. */
static int perf_attach(struct links *links, const struct link_programs *p,
		       const struct perf_probe_kind *kind, const char *path,
		       const struct link_site *site)
{
	struct perf_probe ret, entry;
	int err;

	err = perf_probe_attach(kind, bpf_program__fd(p->ret), true, path, site->offset,
				site->cookie, &ret);
	if (err)
		return err;
	err = perf_probe_attach(kind, bpf_program__fd(p->entry), false, path, site->offset,
				site->cookie, &entry);
	if (err) {
		perf_probe_close(&ret);
		return err;
	}
	probes_add(links, &ret);
	probes_add(links, &entry);
	return 0;
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

void links_release(struct links *links)
{
	/* entries first: a return without its entry does no harm, an entry without its return stays open */
	while (links->cnt)
		bpf_link__destroy(links->link[--links->cnt]);
	while (links->probe_cnt)
		perf_probe_close(&links->probe[--links->probe_cnt]);
	free(links->link);
	free(links->probe);
	memset(links, 0, sizeof(*links));
}

void links_leave(struct links *links, struct spent *spent)
{
	spent_add(spent, links->probe, links->probe_cnt);
	links->probe_cnt = 0;
	links_release(links);
}
