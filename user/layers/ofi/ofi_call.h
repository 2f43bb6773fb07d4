/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call of libfabric while it is decoded, and what its decoder remembers for later calls. Private
 * to user/layers/ofi/ofi*.c; each of these files handles one aspect.
 */
#ifndef POV_LAYERS_OFI_OFI_CALL_H
#define POV_LAYERS_OFI_OFI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/call_parts.h"
#include "layers/layer.h"
#include "layers/post.h"
#include "lib/map.h"

/* Attributes, from FUNC_OWN on: the direction of the data */
#define SENDS 0x100
#define RECEIVES 0x200
#define READS 0x400
#define WRITES 0x800
#define POSTS (SENDS | RECEIVES | READS | WRITES)
#define COMPLETES 0x1000
/* Attributes: what a call reveals about objects that later calls use */
#define TEACHES 0xf0000
#define TEACHES_CQ 0x10000
#define TEACHES_AV 0x20000
#define TEACHES_EP 0x30000
#define TEACHES_BIND 0x40000
#define TEACHES_NAME 0x50000
#define TEACHES_PEER 0x60000
#define TEACHES_INSERT 0x70000
/*
 * Offset of the address of struct fi_ep_attr in struct fi_info, and the bytes read of fi_ep_attr.
 */
#define AT_EP_ATTR 88
#define EP_ATTR_BYTES 8

/*
 * Data on a process's endpoints, queues and address vectors, by their addresses in memory, learned
 * from calls. Objects opened before the recording began are unknown, and never guessed.
 */
#define OFI_ADDRESS_BYTES 128 /* length of the longest address that is read */
#define OFI_END_TEXT (2 * OFI_ADDRESS_BYTES + 1)
#define OFI_BOUND_MAX 8

enum ofi_side { OFI_TRANSMIT, OFI_RECEIVE, OFI_SIDES };

struct ofi_address {
	/* "10.0.0.2:4711", or the provider's name for it, or its bytes as hex; "": unknown */
	char end[OFI_END_TEXT];
	char dest[OFI_END_TEXT]; /* the same without its port */
};

/* Kinds of what calls revealed (struct objects). */
enum ofi_kind {
	OFI_OBJECTS,   /* address → struct ofi_object */
	OFI_POSTED,    /* context → struct ofi_posted */
	OFI_THREADS,   /* thread id → struct ofi_thread */
	OFI_PROCESS,   /* 0 → struct ofi_process */
	OFI_ADDRESSES, /* + number of an address vector: number → struct ofi_address */
};

/* An endpoint, a completion queue or an address vector. */
struct ofi_object {
	uint32_t format;       /* enum fi_cq_format; 0: unknown */
	const char *transport; /* NULL: unknown */
	enum post_carrier carrier;
	struct ofi_address name, peer; /* its own address; that of its connection's other end */
	struct {
		uint64_t object;
		bool is_for[OFI_SIDES]; /* a queue: sides for which it reports completions */
	} bound[OFI_BOUND_MAX];		/* objects that it is bound to */
	uint32_t bound_cnt;
	uint32_t av; /* number of the address vector; 0: it has no addresses */
};

/* Endpoints of the last posts with a context. */
struct ofi_posted {
	uint64_t ep[OFI_SIDES];
};

/*
 * A thread's last posts. A call may be made of calls of other functions of the layer, which end
 * before it. The outer call does not report again what an inner one has reported.
 */
struct ofi_thread {
	/* start of the last call that posted to an object with a known carrier */
	uint64_t carried_ns;
	uint64_t posted_ns;    /* start of the last call that posted */
	struct call_post post; /* the last post, without its texts */
	uint64_t read_ns;      /* start of the last call that read completions */
	uint64_t cq, entries;
};

struct ofi_call {
	const struct func_common *fn;
	struct call_parts parts;
	struct layer_decoder *d;
	struct call_fields fields;
};

/* NULL: unknown. */
static inline void *ofi_find(const struct ofi_call *c, uint32_t kind, uint64_t address)
{
	return object_get(&c->d->objects, c->parts.rec->tgid, kind, address);
}

/* As ofi_find; adds zero bytes if it is unknown. */
static inline void *ofi_make(const struct ofi_call *c, uint32_t kind, uint64_t address,
			     size_t bytes)
{
	return map_make(objects_of(&c->d->objects, c->parts.rec->tgid, kind), address, bytes);
}

static inline struct ofi_object *ofi_object(const struct ofi_call *c, uint64_t address)
{
	return ofi_make(c, OFI_OBJECTS, address, sizeof(struct ofi_object));
}

bool ofi_call_is_good(const struct ofi_call *c); /* it returned without an error */
/* Data read for the argument with a role, if it has at least `bytes` bytes; or NULL. */
const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes);

/* ofi_post.c: adds the data that the call passes to an endpoint. */
void ofi_posts(const struct ofi_call *c, struct call_view *out);
/* Adds the completions that the call reports. */
void ofi_completions(const struct ofi_call *c, struct call_view *out);

#endif
