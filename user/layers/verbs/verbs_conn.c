/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Texts are made together with a connection, so that a post only has to find its queue pair. */
#include "layers/verbs/verbs_conn.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/verbs/verbs_call.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/u64.h"
#include "trace/trace_join.h"

/* Values of enum ibv_qp_attr_mask and ibv_qp_state. */
#define MASK_STATE (1u << 0)
#define MASK_PORT (1u << 5)
#define MASK_AV (1u << 7)
#define MASK_DEST_QPN (1u << 20)
#define STATE_RESET 0

enum {
	CONTEXTS, /* name of the adapter */
	QPS,	  /* struct verbs_qp */
	AHS,	  /* struct verbs_path */
	CQS,	  /* struct cq */
};

struct cq {
	uint32_t qp; /* number of the first queue pair that was seen to use it */
	/* other queue pairs use it, or may: its adapter was opened before the recording began */
	bool unclear;
};

/* ---- adapters: a search of the meta objects, once per connection ---- */

void verbs_adapters_add(struct verbs_adapters *a, const json_t *meta)
{
	if (!a->metas)
		a->metas = json_array();
	json_array_append(a->metas, (json_t *)meta);
}

static void verbs_adapters_release(struct verbs_adapters *a)
{
	json_decref(a->metas);
	a->metas = NULL;
}

static const json_t *device_find(const struct verbs_adapters *a, uint32_t host, const char *name)
{
	const json_t *meta, *device;
	size_t i, k;

	json_array_foreach(a->metas, i, meta)
	{
		if (json_get_u32(meta, "host") != host)
			continue;
		json_array_foreach(json_object_get(meta, "devices"), k, device)
		{
			if (!strcmp(json_get_text(device, "name"), name))
				return device;
		}
	}
	return NULL;
}

/* A port of an adapter, by its host's number (trace_join.h); NULL if unknown. Borrowed. */
static const json_t *verbs_adapter_port(const struct verbs_adapters *a, uint32_t host,
					const char *device, uint32_t port)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(device_find(a, host, device), "ports"), i, p)
	{
		if (json_get_u32(p, "port") == port)
			return p;
	}
	return NULL;
}

/* port may be NULL. On Ethernet, it has no LID. */
static bool verbs_port_is_ethernet(const json_t *port)
{
	return !strcmp(json_get_text(port, "link"), "Ethernet");
}

static bool verbs_port_is_infiniband(const json_t *port)
{
	return !strcmp(json_get_text(port, "link"), "InfiniBand");
}

/* The port's own address; false if unknown. */
static bool verbs_port_gid_text(const json_t *port, uint32_t idx, char out[VERBS_ADDRESS_TEXT])
{
	uint8_t gid[VERBS_GID_BYTES];
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(port, "gids"), i, g)
	{
		if (json_get_u32(g, "index") == idx &&
		    inet_pton(AF_INET6, json_get_text(g, "gid"), gid) == 1) {
			verbs_gid_text(gid, out);
			return true;
		}
	}
	return false;
}

static bool verbs_port_lid_text(const json_t *port, char out[VERBS_ADDRESS_TEXT])
{
	uint32_t lid = json_get_u32(port, "lid");

	if (!lid)
		return false;
	verbs_lid_text(lid, out);
	return true;
}

void verbs_gid_text(const uint8_t gid[VERBS_GID_BYTES], char out[VERBS_ADDRESS_TEXT])
{
	struct in6_addr a;

	memcpy(&a, gid, sizeof(a));
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, gid + 12, out, VERBS_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, gid, out, VERBS_ADDRESS_TEXT);
}

void verbs_lid_text(uint32_t lid, char out[VERBS_ADDRESS_TEXT])
{
	snprintf(out, VERBS_ADDRESS_TEXT, "lid %u", lid);
}

/* ---- objects ---- */

void verbs_conns_release(struct verbs_conns *s)
{
	verbs_adapters_release(&s->adapters);
	objects_release(&s->objects);
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void verbs_end_text(const char *port, uint32_t qp, char out[VERBS_END_TEXT])
{
	*out = '\0';
	if (*port)
		snprintf(out, VERBS_END_TEXT, "%s qp %u", port, qp);
}

/* ---- paths ---- */

static void device_text(const struct verbs_conns *s, uint32_t pid, uint64_t context, uint32_t port,
			char out[VERBS_DEVICE_TEXT])
{
	const char *name = object_get(&s->objects, pid, CONTEXTS, context);

	*out = '\0';
	if (name && port)
		snprintf(out, VERBS_DEVICE_TEXT, "%s:%u", name, port);
}

/*
 * Ports of InfiniBand are shown by LID, those of Ethernet, which have none, by global identifier.
 * If the link is unknown, a path with a global identifier is shown by that.
 */
static void path_make(const struct verbs_conns *s, uint32_t pid, uint64_t context,
		      const uint8_t attr[VERBS_AH_ATTR_BYTES], struct verbs_path *out)
{
	const char *name = object_get(&s->objects, pid, CONTEXTS, context);
	uint32_t sgid_index = attr[20], port_num = attr[30];
	uint16_t dlid = (uint16_t)(attr[24] | attr[25] << 8);
	bool is_global = attr[29];
	const json_t *port;

	memset(out, 0, sizeof(*out));
	device_text(s, pid, context, port_num, out->device);
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

static void verbs_qp_created(struct verbs_conns *s, uint32_t pid, uint64_t qp)
{
	free(map_set(objects_of(&s->objects, pid, QPS), qp, xcalloc(1, sizeof(struct verbs_qp))));
}

/*
 * Notes that a queue pair uses a completion queue. A queue pair is brought up before anything
 * completes on it. So all users of a completion queue are known if all queue pairs were seen.
 */
static void cq_use(struct verbs_conns *s, uint32_t pid, const struct verbs_qp *q, uint64_t address)
{
	struct cq *cq;

	if (!address)
		return;
	cq = map_make(objects_of(&s->objects, pid, CQS), address, sizeof(*cq));
	if (!cq->qp)
		cq->qp = q->num;
	if (cq->qp != q->num || !object_get(&s->objects, pid, CONTEXTS, q->context))
		cq->unclear = true;
}

static void verbs_qp_modified(struct verbs_conns *s, uint32_t pid, uint64_t address,
			      const uint8_t qp[VERBS_QP_BYTES],
			      const uint8_t attr[VERBS_QP_ATTR_BYTES], uint32_t mask)
{
	struct verbs_qp *q = map_make(objects_of(&s->objects, pid, QPS), address, sizeof(*q));

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
		device_text(s, pid, q->context, q->port, q->path.device);
	cq_use(s, pid, q, u64_at(qp + 24));
	cq_use(s, pid, q, u64_at(qp + 32));
	verbs_end_text(q->path.source, q->num, q->local_end);
	verbs_end_text(q->remote_num ? q->path.dest : "", q->remote_num, q->remote_end);
}

const struct verbs_qp *verbs_qp_find(const struct verbs_conns *s, uint32_t pid, uint64_t qp)
{
	return object_get(&s->objects, pid, QPS, qp);
}

uint32_t verbs_cq_queue(const struct verbs_conns *s, uint32_t pid, uint64_t cq)
{
	const struct cq *known = object_get(&s->objects, pid, CQS, cq);

	return known && !known->unclear ? known->qp : 0;
}

/* ---- addresses of datagrams ---- */

static void verbs_ah_created(struct verbs_conns *s, uint32_t pid, uint64_t ah, uint64_t context,
			     const uint8_t attr[VERBS_AH_ATTR_BYTES])
{
	struct verbs_path *path = map_make(objects_of(&s->objects, pid, AHS), ah, sizeof(*path));

	path_make(s, pid, context, attr, path);
}

const struct verbs_path *verbs_ah_find(const struct verbs_conns *s, uint32_t pid, uint64_t ah)
{
	return object_get(&s->objects, pid, AHS, ah);
}

/* ---- what calls reveal; those that failed reveal nothing ---- */

#define DEVICE_NAME_BYTES 64

void verbs_learn(const struct verbs_call *c)
{
	uint64_t ret = c->parts.rec->ret, first = call_parts_word(&c->parts, 0), context;
	const uint8_t *attr, *object;
	struct verbs_conns *s = &c->d->conns;
	uint32_t pid = c->parts.rec->tgid;
	char name[DEVICE_NAME_BYTES + 1];

	if (!c->parts.returned || verbs_call_is_failed(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CONTEXT:
		object = verbs_call_data(c, "device", DEVICE_NAME_BYTES);
		if (!object)
			break;
		memcpy(name, object, DEVICE_NAME_BYTES);
		name[DEVICE_NAME_BYTES] = '\0';
		free(map_set(objects_of(&s->objects, pid, CONTEXTS), ret, xstrdup(name)));
		break;
	case TEACHES_QP:
		verbs_qp_created(s, pid, ret);
		break;
	case TEACHES_QP_ATTR:
		object = verbs_call_data(c, "qp", VERBS_QP_BYTES);
		attr = verbs_call_data(c, "attr", VERBS_QP_ATTR_BYTES);
		if (object && attr)
			verbs_qp_modified(s, pid, first, object, attr,
					  (uint32_t)call_parts_word(&c->parts, 2));
		break;
	case TEACHES_QP_FREE:
		free(map_remove(objects_of(&s->objects, pid, QPS), first));
		break;
	case TEACHES_CQ_FREE:
		free(map_remove(objects_of(&s->objects, pid, CQS), first));
		break;
	case TEACHES_AH:
		object = verbs_call_data(c, "pd", sizeof(context));
		attr = verbs_call_data(c, "attr", VERBS_AH_ATTR_BYTES);
		if (!object || !attr)
			break;
		memcpy(&context, object, sizeof(context));
		verbs_ah_created(s, pid, ret, context, attr);
		break;
	case TEACHES_AH_FREE:
		free(map_remove(objects_of(&s->objects, pid, AHS), first));
		break;
	}
}
