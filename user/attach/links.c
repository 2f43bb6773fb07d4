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

static struct bpf_link *attach_perf(const struct bpf_program *prog, bool ret, const char *path,
				    const struct link_site *site)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = site->cookie, .retprobe = ret);

	return bpf_program__attach_uprobe_opts(prog, -1, path, site->offset, &opts);
}

/* Entry and return links of cnt sites at once: both or none. */
static int attach_pair(struct links *links, const struct link_programs *p, const char *path,
		       const struct link_site *sites, size_t cnt)
{
	struct bpf_link *entry, *ret;
	int err;

	ret = p->api == LINK_MULTI ? attach_multi(p->ret, true, path, sites, cnt) :
				     attach_perf(p->ret, true, path, sites);
	if (!ret)
		return -errno;
	entry = p->api == LINK_MULTI ? attach_multi(p->entry, false, path, sites, cnt) :
				       attach_perf(p->entry, false, path, sites);
	if (!entry) {
		err = -errno;
		bpf_link__destroy(ret);
		return err;
	}
	links_add(links, ret);
	links_add(links, entry);
	return 0;
}

size_t links_attach(struct links *links, const struct link_programs *programs, const char *path,
		    struct link_site *sites, size_t cnt, int *err)
{
	size_t half = cnt / 2;
	int e;

	if (!cnt)
		return 0;
	if (programs->api == LINK_MULTI || cnt == 1) {
		e = attach_pair(links, programs, path, sites, cnt);
		if (!e)
			return cnt;
		*err = -e;
		if (cnt == 1) {
			sites->failed = true;
			return 0;
		}
	}
	return links_attach(links, programs, path, sites, half, err) +
	       links_attach(links, programs, path, sites + half, cnt - half, err);
}

bool links_detach_one(struct links *links)
{
	if (links->gone == links->cnt)
		return false;
	bpf_link__destroy(links->link[links->gone++]);
	return true;
}

void links_release(struct links *links)
{
	while (links_detach_one(links))
		;
	free(links->link);
	memset(links, 0, sizeof(*links));
}
