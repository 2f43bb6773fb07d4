/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The coding inside event blocks. A record is an array of 64-bit words. Each is stored as its
 * difference from the last record of the same slot. Slots are chosen so that their records resemble
 * one another (same kind, thread, function). Slots live as long as the block, so blocks stand
 * alone.
 * The coding does not depend on what records mean. Only the encoder's choice of slot looks at
 * kinds, and that choice affects size, never correctness.
 */
#ifndef POV_TRACE_CODEC_H
#define POV_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

/*
 * Columns of a payload: similar data lies together. Each is compressed with its own statistics,
 * which saves a fifth of the file. Word 2 has its own column: it is the duration of calls, noise
 * among otherwise regular words.
 */
enum codec_col {
	CODEC_COL_OP = 0,     /* which slot, which words changed */
	CODEC_COL_TIME = 1,   /* word 1 */
	CODEC_COL_SECOND = 2, /* word 2 */
	CODEC_COL_VALUE = 3,  /* the other words */
	CODEC_COL_CNT = 4,
};
#define CODEC_PREFIX_BYTES (4 * CODEC_COL_CNT) /* u32 length of each column, before the columns */

#define CODEC_VARINT_MAX 10 /* bytes of a 64-bit number */
#define CODEC_SLOTS_MAX 1024
#define CODEC_ARENA_WORDS 16384 /* words of all slots' last records */
#define CODEC_HASH_SIZE 4096

/*
 * One block being encoded. Filled by the encoder, read by the code that compresses and writes it.
 */
struct codec_block {
	struct {
		uint8_t *begin; /* codec_col_bytes() long */
		uint8_t *end;	/* of what is in it */
	} col[CODEC_COL_CNT];
	uint32_t nrecords;
	uint32_t record_bytes;
	uint64_t min_ts, max_ts;
};

struct codec_slot {
	uint32_t tag;	/* hash of the key; distinguishes slots */
	uint32_t first; /* index of the first word in the arena */
	uint32_t nwords;
};

/* A slot, and where its last record begins in the arena. */
struct codec_place {
	uint32_t slot, first;
};
#define CODEC_RECENT 64

struct codec_encoder {
	uint64_t prev_ts;
	uint32_t nslots;
	uint32_t arena_used; /* words */
	uint32_t prev_slot;
	/*
	 * A record of up to this size fits, whatever it contains. So codec_encode_full rarely has
	 * to check the limits.
	 */
	uint32_t sure_bytes;
	struct codec_place recent[CODEC_RECENT]; /* places of calls, by thread and function */
	struct codec_slot slot[CODEC_SLOTS_MAX];
	uint16_t hash[CODEC_HASH_SIZE]; /* slot + 1, or 0 */
	uint64_t arena[CODEC_ARENA_WORDS];
};

size_t codec_col_bytes(enum codec_col col);

static inline uint32_t codec_col_len(const struct codec_block *b, enum codec_col col)
{
	return (uint32_t)(b->col[col].end - b->col[col].begin);
}

/* The most bytes a record of this size can add to a block. */
static inline uint32_t codec_worst_bytes(uint32_t size)
{
	return size / 8 * CODEC_VARINT_MAX + size / 8 / 7 + 1 + 16;
}
/* Starts a block: forgets all slots, empties b. The caller owns the columns of b. */
void codec_encode_begin(struct codec_encoder *e, struct codec_block *b);
/* Like codec_encode_full. Looks at the limits of a block, and sets sure_bytes. */
bool codec_encode_look(struct codec_encoder *e, const struct codec_block *b, uint32_t size);
/* True if the block must be closed before a record of this size is added. */
static inline bool codec_encode_full(struct codec_encoder *e, const struct codec_block *b,
				     uint32_t size)
{
	return size > e->sure_bytes && codec_encode_look(e, b, size);
}
/*
 * Adds a record of valid size (TRACE_RECORD_MIN..MAX, a multiple of 8). Call codec_encode_full
 * before each record but a block's first.
 */
void codec_encode(struct codec_encoder *e, struct codec_block *b, const struct pov_hdr *rec);
/* Encoded size so far, including the prefix. */
uint32_t codec_block_bytes(const struct codec_block *b);
/* Writes the payload: prefix and columns. Returns codec_block_bytes(). */
uint32_t codec_block_store(const struct codec_block *b, uint8_t *out);

/*
 * Decodes a payload of untrusted content into out (record_bytes long, 8-byte aligned). Returns 0
 * if it held exactly nrecords well-formed records of record_bytes together, else -EBADMSG.
 */
int codec_decode(const uint8_t *payload, size_t len, uint32_t nrecords, uint32_t record_bytes,
		 uint64_t *out);

#endif
