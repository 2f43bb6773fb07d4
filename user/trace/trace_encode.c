/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The encoder of event blocks, on the collector's hot path: no allocation, no system call, a few
 * dozen instructions and one pass over the record's words.
 */
#include "trace/trace_codec.h"

#include <string.h>

#include "abi/event.h"
#include "trace/trace_format.h"

#define RECORD_WORDS_MAX (TRACE_RECORD_MAX / 8)
#define VARINT_BYTES_MAX 10
/* Most that one record adds to a column: its words as varints; its mask, slot, base and length. */
#define VALUE_BYTES_MAX (RECORD_WORDS_MAX * VARINT_BYTES_MAX)
#define OP_BYTES_MAX (RECORD_WORDS_MAX / 7 + 1 + 16)

/* A writer closes blocks well below the format's limits: small blocks save memory in the reader. */
#define BLOCK_RECORDS 16384u
#define BLOCK_RECBYTES (1u << 20)

static const uint32_t col_bytes[CODEC_COL_CNT] = {
	[CODEC_COL_OP] = 64u << 10,
	[CODEC_COL_TIME] = 64u << 10,
	[CODEC_COL_SECOND] = 64u << 10,
	[CODEC_COL_VALUE] = 160u << 10,
};
static const uint32_t col_margin[CODEC_COL_CNT] = {
	[CODEC_COL_OP] = OP_BYTES_MAX,
	[CODEC_COL_TIME] = VARINT_BYTES_MAX,
	[CODEC_COL_SECOND] = VARINT_BYTES_MAX,
	[CODEC_COL_VALUE] = VALUE_BYTES_MAX,
};

size_t codec_col_bytes(enum codec_col col)
{
	return col_bytes[col];
}

uint32_t codec_worst_bytes(uint32_t size)
{
	return size / 8 * VARINT_BYTES_MAX + size / 8 / 7 + 1 + 16;
}

void codec_encode_begin(struct codec_encoder *e, struct codec_block *b)
{
	e->prev_ts = 0;
	e->nslots = 0;
	e->arena_used = 0;
	e->prev_slot = 0;
	memset(e->hash, 0, sizeof(e->hash));
	memset(b->len, 0, sizeof(b->len));
	b->nrecords = 0;
	b->record_bytes = 0;
	b->min_ts = UINT64_MAX;
	b->max_ts = 0;
}

bool codec_encode_full(const struct codec_encoder *e, const struct codec_block *b, uint32_t size)
{
	for (int c = 0; c < CODEC_COL_CNT; c++)
		if (b->len[c] + col_margin[c] > col_bytes[c])
			return true;
	return b->nrecords >= BLOCK_RECORDS || b->record_bytes + size > BLOCK_RECBYTES ||
	       e->nslots >= CODEC_SLOTS_MAX || e->arena_used + size / 8 > CODEC_ARENA_WORDS;
}

static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint64_t zigzag(uint64_t delta)
{
	return delta << 1 ^ (uint64_t)((int64_t)delta >> 63);
}

/* The key that separates dissimilar records, in addition to word 0 (size, kind, flags, thread). */
static inline uint64_t record_key(const struct pov_hdr *rec, const uint64_t *w)
{
	switch (rec->kind) {
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
	case POV_KIND_CALL_BEGIN:
	case POV_KIND_IRQ:
	case POV_KIND_REGION:
		/* process and function or region; CPU and vector */
		return rec->size >= 32 ? w[3] : 0;
	case POV_KIND_COUNTED:
		return rec->size >= 48 ? w[5] : 0; /* process and function */
	case POV_KIND_SWITCH:
	case POV_KIND_WAKING:
		return rec->size >= 24 ? w[2] : 0; /* the other thread */
	default:
		return 0;
	}
}

static inline uint32_t key_hash(uint64_t w0, uint64_t key)
{
	uint64_t h = (w0 ^ key * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;

	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* The slot of similar records; a new one if there is none. */
static uint32_t slot_find(struct codec_encoder *e, uint32_t tag, uint32_t nwords)
{
	uint32_t i = tag & (CODEC_HASH_SIZE - 1);
	struct codec_slot *s;

	for (; e->hash[i]; i = (i + 1) & (CODEC_HASH_SIZE - 1)) {
		s = &e->slot[e->hash[i] - 1];
		if (s->tag == tag && s->nwords == nwords)
			return e->hash[i] - 1u;
	}
	s = &e->slot[e->nslots++];
	s->tag = tag;
	s->nwords = nwords;
	s->first = e->arena_used;
	e->arena_used += nwords;
	e->hash[i] = (uint16_t)e->nslots;
	return e->nslots - 1;
}

/* A new slot starts from the slot used before: often the same thread in another function. */
static uint8_t *slot_begin(struct codec_encoder *e, uint8_t *op, uint32_t slot)
{
	struct codec_slot *s = &e->slot[slot];
	struct codec_slot *base = &e->slot[e->prev_slot];
	uint32_t n = 0;

	if (slot)
		n = base->nwords < s->nwords ? base->nwords : s->nwords;
	memcpy(&e->arena[s->first], &e->arena[base->first], n * 8);
	memset(&e->arena[s->first + n], 0, (s->nwords - n) * 8);
	*op++ = 0;
	return put_varint(op, s->nwords);
}

/*
 * End pointers of the columns. An array of them would go through memory, and each record would wait
 * for it.
 */
struct ends {
	uint8_t *op, *time, *second, *value;
};

/* If word i changed, writes the difference. Returns 1 if it did. */
static inline uint8_t word_put(uint8_t **to, const uint64_t *w, uint64_t *last, uint32_t i)
{
	uint64_t delta = w[i] - last[i];

	if (!delta)
		return 0;
	last[i] = w[i];
	*to = put_varint(*to, zigzag(delta));
	return 1;
}

/*
 * Writes which words differ from the slot's last record, and by how much: 7 bits per byte, as in a
 * varint of any length. Word 1, the time, is stored elsewhere and has no bit.
 */
static inline void changes_put(struct ends *to, const uint64_t *w, uint64_t *last, uint32_t nwords)
{
	uint8_t *mask = to->op, *end = mask + 1, *val = to->value;
	unsigned int bit = 1;
	uint8_t bits;

	bits = word_put(&val, w, last, 0);
	if (nwords > 2)
		bits |= (uint8_t)(word_put(&to->second, w, last, 2) << bit++);
	for (uint32_t i = 3; i < nwords; i++) {
		bits |= (uint8_t)(word_put(&val, w, last, i) << bit);
		if (++bit < 7)
			continue;
		*mask++ = bits | 0x80;
		if (bits)
			end = mask;
		bits = 0;
		bit = 0;
	}
	*mask++ = bits | 0x80;
	if (bits)
		end = mask;
	end[-1] &= 0x7f;
	to->op = end;
	to->value = val;
}

void codec_encode(struct codec_encoder *e, struct codec_block *b, const struct pov_hdr *rec)
{
	const uint64_t *w = (const uint64_t *)rec;
	uint32_t nwords = rec->size / 8u, nslots = e->nslots, slot;
	struct ends to = {
		.op = b->col[CODEC_COL_OP] + b->len[CODEC_COL_OP],
		.time = b->col[CODEC_COL_TIME] + b->len[CODEC_COL_TIME],
		.second = b->col[CODEC_COL_SECOND] + b->len[CODEC_COL_SECOND],
		.value = b->col[CODEC_COL_VALUE] + b->len[CODEC_COL_VALUE],
	};
	uint64_t *last;

	slot = slot_find(e, key_hash(w[0], record_key(rec, w)), nwords);
	if (slot == nslots)
		to.op = slot_begin(e, to.op, slot);
	else
		to.op = put_varint(to.op, slot + 1);
	last = &e->arena[e->slot[slot].first];
	changes_put(&to, w, last, nwords);
	to.time = put_varint(to.time, zigzag(w[1] - e->prev_ts));
	b->len[CODEC_COL_OP] = (uint32_t)(to.op - b->col[CODEC_COL_OP]);
	b->len[CODEC_COL_TIME] = (uint32_t)(to.time - b->col[CODEC_COL_TIME]);
	b->len[CODEC_COL_SECOND] = (uint32_t)(to.second - b->col[CODEC_COL_SECOND]);
	b->len[CODEC_COL_VALUE] = (uint32_t)(to.value - b->col[CODEC_COL_VALUE]);

	last[1] = w[1];
	e->prev_ts = w[1];
	e->prev_slot = slot;
	b->nrecords++;
	b->record_bytes += rec->size;
	if (w[1] < b->min_ts)
		b->min_ts = w[1];
	if (w[1] > b->max_ts)
		b->max_ts = w[1];
}

uint32_t codec_block_bytes(const struct codec_block *b)
{
	uint32_t bytes = CODEC_PREFIX_BYTES;

	for (int c = 0; c < CODEC_COL_CNT; c++)
		bytes += b->len[c];
	return bytes;
}

uint32_t codec_block_store(const struct codec_block *b, uint8_t *out)
{
	uint8_t *p = out + CODEC_PREFIX_BYTES;

	memcpy(out, b->len, CODEC_PREFIX_BYTES);
	for (int c = 0; c < CODEC_COL_CNT; c++) {
		memcpy(p, b->col[c], b->len[c]);
		p += b->len[c];
	}
	return (uint32_t)(p - out);
}
