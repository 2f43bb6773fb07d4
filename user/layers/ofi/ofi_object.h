/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What calls said of a process's endpoints, queues and address vectors, by their addresses in memory. What was opened before
 * the recording began is not known, and never guessed.
 */
#ifndef POV_LAYERS_OFI_OFI_OBJECT_H
#define POV_LAYERS_OFI_OFI_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"
#include "layers/post.h"

#define OFI_ADDRESS_BYTES 128 /* as long as any that is read */
#define OFI_END_TEXT (2 * OFI_ADDRESS_BYTES + 1)
#define OFI_BOUND_MAX 8

enum ofi_side { OFI_TRANSMIT, OFI_RECEIVE, OFI_SIDES };

struct ofi_address {
	char end[OFI_END_TEXT]; /* "10.0.0.2:4711", what the provider calls it, or the bytes as hex; "": not known */
	char dest[OFI_END_TEXT]; /* the same without its port */
};

/* An endpoint, a completion queue or an address vector. */
struct ofi_object {
	uint32_t format;       /* enum fi_cq_format; 0: not known */
	const char *transport; /* NULL: not known */
	enum post_carrier carrier;
	struct ofi_address name, peer; /* its own; of what it is connected to */
	struct {
		uint64_t object;
		bool is_for[OFI_SIDES]; /* a queue: of what it tells the completions */
	} bound[OFI_BOUND_MAX];		/* what it works together with */
	uint32_t bound_cnt;
	struct map addresses; /* of an address vector: number → struct ofi_address */
};

struct ofi_objects {
	struct map processes;
};

void ofi_cq_opened(struct ofi_objects *s, uint32_t pid, uint64_t cq, uint32_t format);
void ofi_av_opened(struct ofi_objects *s, uint32_t pid, uint64_t av);
/* protocol: of the endpoint's attributes, 0 if not known. */
void ofi_ep_opened(struct ofi_objects *s, uint32_t pid, uint64_t ep, uint32_t protocol);
void ofi_bound(struct ofi_objects *s, uint32_t pid, uint64_t object, uint64_t to, uint64_t flags);
void ofi_named(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
	       uint32_t bytes);
/* bytes: readable at addr; the address may be shorter. */
void ofi_connected(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
		   uint32_t bytes);
/* What is posted to one endpoint is handed on to another one, which is connected: its ends are the first one's. */
void ofi_handed_on(struct ofi_objects *s, uint32_t pid, uint64_t from, const struct ofi_address *to,
		   uint64_t inner);
/* Addresses one behind the other, and the numbers (cnt words, not aligned) that they got. */
void ofi_inserted(struct ofi_objects *s, uint32_t pid, uint64_t av, const uint8_t *addr,
		  uint32_t bytes, const uint8_t *numbers, uint32_t cnt);
void ofi_posted(struct ofi_objects *s, uint32_t pid, uint64_t context, enum ofi_side side,
		uint64_t ep);

const struct ofi_object *ofi_object_find(const struct ofi_objects *s, uint32_t pid,
					 uint64_t object);
/* What address a number stands for in posts to an endpoint; NULL if not known. */
const struct ofi_address *ofi_address_find(const struct ofi_objects *s, uint32_t pid, uint64_t ep,
					   uint64_t number);
/* The endpoint by which something with that context was posted last, if it tells the completion queue of it; else 0. */
uint64_t ofi_poster_find(const struct ofi_objects *s, uint32_t pid, uint64_t cq, uint64_t context,
			 enum ofi_side side);
void ofi_objects_release(struct ofi_objects *s);

#endif
