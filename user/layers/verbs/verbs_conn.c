/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Texts are made when a connection is, so that a post needs only to find its queue pair. */
#include "layers/verbs/verbs_conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "trace/trace_join.h"

/* Of enum ibv_qp_attr_mask and ibv_qp_state. */
#define MASK_STATE (1u << 0)
#define MASK_PORT (1u << 5)
#define MASK_AV (1u << 7)
#define MASK_DEST_QPN (1u << 20)
#define STATE_RESET 0

struct process {
	struct map contexts; /* address → name of the adapter */
	struct map qps;	     /* → struct verbs_qp */
	struct map ahs;	     /* → struct verbs_path */
	struct map cqs;	     /* → struct cq */
};

struct cq {
	uint32_t qp; /* number of the first queue pair that was seen to use it */
	bool unclear; /* others use it, too, or may: its adapter was opened before the recording began */
};

static void process_free(void *value)
{
	struct process *p = value;

	map_free(&p->contexts, free);
	map_free(&p->qps, free);
	map_free(&p->ahs, free);
	map_free(&p->cqs, free);
	free(p);
}

void verbs_conns_release(struct verbs_conns *s)
{
	verbs_adapters_release(&s->adapters);
	map_free(&s->processes, process_free);
}

static struct process *process_of(struct verbs_conns *s, uint32_t pid)
{
	return map_make(&s->processes, pid, sizeof(struct process));
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void verbs_end_text(const char *port, uint32_t qp, char out[VERBS_END_TEXT])
{
	*out = '\0';
	if (*port)
		snprintf(out, VERBS_END_TEXT, "%s qp %u", port, qp);
}

/* ---- adapters and paths ---- */

void verbs_context_opened(struct verbs_conns *s, uint32_t pid, uint64_t context, const char *device)
{
	free(map_set(&process_of(s, pid)->contexts, context, xstrdup(device)));
}

static void device_text(const struct process *p, uint64_t context, uint32_t port,
			char out[VERBS_DEVICE_TEXT])
{
	const char *name = map_get(&p->contexts, context);

	*out = '\0';
	if (name && port)
		snprintf(out, VERBS_DEVICE_TEXT, "%s:%u", name, port);
}

/*
 * Ports of InfiniBand are shown by their LIDs, those of Ethernet, which have none, by their global identifiers. Where the link is not
 * known, a path that has a global identifier is shown by that.
 */
static void path_make(const struct verbs_conns *s, uint32_t pid, uint64_t context,
		      const uint8_t attr[VERBS_AH_ATTR_BYTES], struct verbs_path *out)
{
	const struct process *p = map_get(&s->processes, pid);
	const char *name = p ? map_get(&p->contexts, context) : NULL;
	uint32_t sgid_index = attr[20], port_num = attr[30];
	uint16_t dlid = (uint16_t)(attr[24] | attr[25] << 8);
	bool is_global = attr[29];
	const json_t *port;

	memset(out, 0, sizeof(*out));
	if (p)
		device_text(p, context, port_num, out->device);
	port = name ? verbs_adapter_port(&s->adapters, trace_host_of(pid), name, port_num) : NULL;
	if (is_global && (!verbs_port_is_infiniband(port) || !dlid)) {
		verbs_gid_text(attr, out->dest);
		verbs_port_gid_text(port, sgid_index, out->source);
	} else if (dlid && !verbs_port_is_ethernet(port)) {
		verbs_lid_text(dlid, out->dest);
		verbs_port_lid_text(port, out->source);
	}
}

/* ---- queue pairs ---- */

void verbs_qp_created(struct verbs_conns *s, uint32_t pid, uint64_t qp)
{
	struct map *qps = &process_of(s, pid)->qps;

	free(map_set(qps, qp, xcalloc(1, sizeof(struct verbs_qp))));
}

void verbs_qp_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t qp)
{
	free(map_remove(&process_of(s, pid)->qps, qp));
}

/* A queue pair is brought up before anything completes on it, so whoever sees all that are knows who uses a completion queue. */
static void cq_use(struct process *p, const struct verbs_qp *q, uint64_t address)
{
	struct cq *cq;

	if (!address)
		return;
	cq = map_make(&p->cqs, address, sizeof(*cq));
	if (!cq->qp)
		cq->qp = q->num;
	if (cq->qp != q->num || !map_get(&p->contexts, q->context))
		cq->unclear = true;
}

void verbs_qp_modified(struct verbs_conns *s, uint32_t pid, uint64_t address,
		       const uint8_t qp[VERBS_QP_BYTES], const uint8_t attr[VERBS_QP_ATTR_BYTES],
		       uint32_t mask)
{
	struct process *p = process_of(s, pid);
	struct verbs_qp *q = map_make(&p->qps, address, sizeof(*q));

	q->context = u64_at(qp);
	q->num = u32_at(qp + 52);
	if (mask & MASK_STATE && u32_at(attr) == STATE_RESET) {
		memset(&q->path, 0, sizeof(q->path));
		q->remote_num = 0;
	}
	if (mask & MASK_PORT)
		q->port = attr[129];
	if (mask & MASK_DEST_QPN)
		q->remote_num = u32_at(attr + 28);
	if (mask & MASK_AV)
		path_make(s, pid, q->context, attr + 56, &q->path);
	else if (!*q->path.dest)
		device_text(p, q->context, q->port, q->path.device);
	cq_use(p, q, u64_at(qp + 24));
	cq_use(p, q, u64_at(qp + 32));
	verbs_end_text(q->path.source, q->num, q->local_end);
	verbs_end_text(q->remote_num ? q->path.dest : "", q->remote_num, q->remote_end);
}

const struct verbs_qp *verbs_qp_find(const struct verbs_conns *s, uint32_t pid, uint64_t qp)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->qps, qp) : NULL;
}

void verbs_cq_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t cq)
{
	free(map_remove(&process_of(s, pid)->cqs, cq));
}

uint32_t verbs_cq_queue(const struct verbs_conns *s, uint32_t pid, uint64_t cq)
{
	const struct process *p = map_get(&s->processes, pid);
	const struct cq *known = p ? map_get(&p->cqs, cq) : NULL;

	return known && !known->unclear ? known->qp : 0;
}

/* ---- addresses of datagrams ---- */

void verbs_ah_created(struct verbs_conns *s, uint32_t pid, uint64_t ah, uint64_t context,
		      const uint8_t attr[VERBS_AH_ATTR_BYTES])
{
	struct verbs_path *path = map_make(&process_of(s, pid)->ahs, ah, sizeof(*path));

	path_make(s, pid, context, attr, path);
}

void verbs_ah_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t ah)
{
	free(map_remove(&process_of(s, pid)->ahs, ah));
}

const struct verbs_path *verbs_ah_find(const struct verbs_conns *s, uint32_t pid, uint64_t ah)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->ahs, ah) : NULL;
}
