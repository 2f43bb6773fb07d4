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
/* Attributes: what later calls can learn from it */
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
	struct map addresses; /* address vector: number → struct ofi_address */
};

struct ofi_objects {
	struct map processes;
};

/* Posts to one endpoint go on to another one, which is connected: it gets the first one's ends. */
void ofi_handed_on(struct ofi_objects *s, uint32_t pid, uint64_t from, const struct ofi_address *to,
		   uint64_t inner);
void ofi_posted(struct ofi_objects *s, uint32_t pid, uint64_t context, enum ofi_side side,
		uint64_t ep);

const struct ofi_object *ofi_object_find(const struct ofi_objects *s, uint32_t pid,
					 uint64_t object);
/* Address that a number stands for in posts to an endpoint; NULL if unknown. */
const struct ofi_address *ofi_address_find(const struct ofi_objects *s, uint32_t pid, uint64_t ep,
					   uint64_t number);
/*
 * The endpoint of the last post with that context, if it reports its completions to this queue;
 * else 0.
 */
uint64_t ofi_poster_find(const struct ofi_objects *s, uint32_t pid, uint64_t cq, uint64_t context,
			 enum ofi_side side);

struct ofi_decoder {
	struct layer_decoder base;
	struct ofi_objects objects;
	struct map threads; /* tid → struct ofi_thread */
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
	struct ofi_decoder *d;
	struct call_fields fields;
};

bool ofi_call_is_good(const struct ofi_call *c); /* it returned without an error */
struct ofi_thread *ofi_call_thread(const struct ofi_call *c);
/* Data read for the argument with a role, if it has at least `bytes` bytes; or NULL. */
const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes);

/* ofi_post.c: adds the data that the call passes to an endpoint. */
void ofi_posts(const struct ofi_call *c, struct call_view *out);
/* Adds the completions that the call reports. */
void ofi_completions(const struct ofi_call *c, struct call_view *out);

#endif
