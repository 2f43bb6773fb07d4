/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Data on a process's endpoints, queues and address vectors, by their addresses in memory, learned
 * from calls. Objects opened before the recording began are unknown, and never guessed.
 */
#ifndef POV_LAYERS_OFI_OFI_OBJECT_H
#define POV_LAYERS_OFI_OFI_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"
#include "layers/post.h"

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

void ofi_cq_opened(struct ofi_objects *s, uint32_t pid, uint64_t cq, uint32_t format);
void ofi_av_opened(struct ofi_objects *s, uint32_t pid, uint64_t av);
/* protocol: from the endpoint's attributes, 0 if unknown. */
void ofi_ep_opened(struct ofi_objects *s, uint32_t pid, uint64_t ep, uint32_t protocol);
void ofi_bound(struct ofi_objects *s, uint32_t pid, uint64_t object, uint64_t to, uint64_t flags);
void ofi_named(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
	       uint32_t bytes);
/* bytes: readable bytes at addr; the address may be shorter. */
void ofi_connected(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
		   uint32_t bytes);
/* Posts to one endpoint go on to another one, which is connected: it gets the first one's ends. */
void ofi_handed_on(struct ofi_objects *s, uint32_t pid, uint64_t from, const struct ofi_address *to,
		   uint64_t inner);
/* addr: addresses one after the other; numbers: the cnt words that they got, not aligned. */
void ofi_inserted(struct ofi_objects *s, uint32_t pid, uint64_t av, const uint8_t *addr,
		  uint32_t bytes, const uint8_t *numbers, uint32_t cnt);
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
void ofi_objects_release(struct ofi_objects *s);

#endif
