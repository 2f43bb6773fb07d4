/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call of libfabric while it is decoded, and what its decoder remembers for later calls. Private
 * to user/layers/ofi/ofi*.c; each of these files handles one aspect.
 */
#ifndef POV_LAYERS_OFI_OFI_CALL_H
#define POV_LAYERS_OFI_OFI_CALL_H

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/call_fields.h"
#include "layers/layer.h"
#include "layers/ofi/ofi_object.h"

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

struct ofi_func {
	struct signature sig;
	struct func_attrs attrs;
};

struct layer_decoder {
	struct arena arena; /* memory that the current view points to */
	struct continuations more;
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
	const struct func_info *info;
	const struct ofi_func *fn;
	struct call_parts parts;
	struct layer_decoder *d;
	struct call_fields fields;
	uint64_t begin_ns;
};

/* Takes the record apart and joins continuation records. False if it is not a call. */
bool ofi_call_open(struct ofi_call *c, const struct func_info *info, const struct pov_call *rec,
		   struct layer_decoder *d);
bool ofi_call_is_good(const struct ofi_call *c); /* it returned without an error */
bool ofi_call_value(const struct ofi_call *c, const char *role, uint64_t *out);
struct ofi_thread *ofi_call_thread(const struct ofi_call *c);
/* Data read for the argument with a role, if it has at least `bytes` bytes; or NULL. */
const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes);

/* ofi_post.c: adds the data that the call passes to an endpoint. */
void ofi_posts(const struct ofi_call *c, struct call_view *out);
/* ofi_completion.c: adds the completions that the call reports. */
void ofi_completions(const struct ofi_call *c, struct call_view *out);
/* ofi_learn.c: remembers what the call reveals about objects. */
void ofi_learn(const struct ofi_call *c);

#endif
