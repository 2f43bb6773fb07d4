/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call of libfabric while it is decoded, and what its decoder keeps for the next ones. Private to user/layers/ofi/ofi*.c, each of
 * which makes one thing of it.
 */
#ifndef POV_LAYERS_OFI_OFI_CALL_H
#define POV_LAYERS_OFI_OFI_CALL_H

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/call_fields.h"
#include "layers/layer.h"
#include "layers/ofi/ofi_object.h"

/* FUNC_OWN and up: which way the data go … */
#define SENDS 0x100
#define RECEIVES 0x200
#define READS 0x400
#define WRITES 0x800
#define POSTS (SENDS | RECEIVES | READS | WRITES)
#define COMPLETES 0x1000
/* … and what a call teaches for others */
#define TEACHES 0xf0000
#define TEACHES_CQ 0x10000
#define TEACHES_AV 0x20000
#define TEACHES_EP 0x30000
#define TEACHES_BIND 0x40000
#define TEACHES_NAME 0x50000
#define TEACHES_PEER 0x60000
#define TEACHES_INSERT 0x70000
/* Where struct fi_info has the address of struct fi_ep_attr, and how much of that is read. */
#define AT_EP_ATTR 88
#define EP_ATTR_BYTES 8

struct ofi_func {
	struct signature sig;
	struct func_attrs attrs;
};

struct layer_decoder {
	struct arena arena; /* what the current view points to */
	struct continuations more;
	struct ofi_objects objects;
	struct map threads; /* → struct ofi_thread */
};

/* Calls that others of the layer are made of end before these: what the inner one told, the outer one does not tell again. */
struct ofi_thread {
	uint64_t carried_ns; /* begin of the last call that posted to something known to carry data */
	uint64_t posted_ns;    /* begin of the last call that posted … */
	struct call_post post; /* … and what; without its texts */
	uint64_t read_ns;      /* begin of the last call that read completions … */
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

/* Takes the record apart, joining continuation records. False if it is no call at all. */
bool ofi_call_open(struct ofi_call *c, const struct func_info *info, const struct pov_call *rec,
		   struct layer_decoder *d);
bool ofi_call_is_good(const struct ofi_call *c); /* it returned, and no error */
bool ofi_call_value(const struct ofi_call *c, const char *role, uint64_t *out);
struct ofi_thread *ofi_call_thread(const struct ofi_call *c);
/* What was read of the argument with a role, if it is so long; or NULL. */
const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes);

/* ofi_post.c: what it hands to an endpoint. */
void ofi_posts(const struct ofi_call *c, struct call_view *out);
/* ofi_completion.c: what it learns of completions. */
void ofi_completions(const struct ofi_call *c, struct call_view *out);
/* ofi_learn.c: what it says of objects. */
void ofi_learn(const struct ofi_call *c);

#endif
