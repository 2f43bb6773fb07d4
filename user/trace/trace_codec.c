/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See trace_codec.h. */
#include "trace/trace_codec.h"

#include <errno.h>
#include <string.h>

#include "abi/event.h"
#include "trace/trace_format.h"

/* ---- encoding ---- */

/*
 * The encoder of event blocks, on the collector's hot path: no allocation, no system call, a few
 * dozen instructions and one pass over the record's words.
 */

#define RECORD_WORDS_MAX (TRACE_RECORD_MAX / 8)
/* Most that one record adds to a column: its words as varints; its mask, slot, base and length. */
#define VALUE_BYTES_MAX (RECORD_WORDS_MAX * CODEC_VARINT_MAX)
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
	[CODEC_COL_TIME] = CODEC_VARINT_MAX,
	[CODEC_COL_SECOND] = CODEC_VARINT_MAX,
	[CODEC_COL_VALUE] = VALUE_BYTES_MAX,
};

size_t codec_col_bytes(enum codec_col col)
{
	return col_bytes[col];
}

void codec_encode_begin(struct codec_encoder *e, struct codec_block *b)
{
	e->prev_ts = 0;
	e->nslots = 0;
	e->arena_used = 0;
	e->prev_slot = 0;
	memset(e->recent, 0, sizeof(e->recent));
	e->arena[0] = 0; /* equals no record's first word, so slot_find_call() finds no slot yet */
	memset(e->hash, 0, sizeof(e->hash));
	e->sure_bytes = TRACE_RECORD_MAX;
	for (int c = 0; c < CODEC_COL_CNT; c++)
		b->col[c].end = b->col[c].begin;
	b->nrecords = 0;
	b->record_bytes = 0;
	b->min_ts = UINT64_MAX;
	b->max_ts = 0;
}

static inline void lower(uint32_t *least, uint32_t v)
{
	*least = v < *least ? v : *least;
}

/* A word adds at most CODEC_VARINT_MAX to any column, and a record has two words or more. */
bool codec_encode_look(struct codec_encoder *e, const struct codec_block *b, uint32_t size)
{
	uint32_t words = CODEC_ARENA_WORDS - e->arena_used, room;

	for (int c = 0; c < CODEC_COL_CNT; c++) {
		room = col_bytes[c] - col_margin[c];
		if (codec_col_len(b, c) > room)
			return true;
		lower(&words, (room - codec_col_len(b, c)) / CODEC_VARINT_MAX);
	}
	if (b->nrecords >= BLOCK_RECORDS || b->record_bytes + size > BLOCK_RECBYTES ||
	    e->nslots >= CODEC_SLOTS_MAX || e->arena_used + size / 8 > CODEC_ARENA_WORDS)
		return true;
	lower(&words, 2 * (BLOCK_RECORDS - b->nrecords));
	lower(&words, 2 * (CODEC_SLOTS_MAX - e->nslots));
	lower(&words, (BLOCK_RECBYTES - b->record_bytes) / 8);
	e->sure_bytes = words * 8 < size ? size : words * 8;
	return false;
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

/*
 * Like put_varint, for values of unpredictable length: no branch depends on the length, so none is
 * mispredicted. Always stores 4 bytes, of which the result counts the used ones.
 */
static inline uint8_t *put_noise(uint8_t *p, uint64_t v)
{
	static const uint32_t more[] = {0, 0x80, 0x8080, 0x808080};
	uint32_t x = (uint32_t)v, after;

	if (v >> 28)
		return put_varint(p, v);
	x += x & ~0x7fu; /* makes room for the bit that says that another byte follows */
	x += x & ~0x7fffu;
	x += x & ~0x7fffffu;
	after = (31u ^ (uint32_t)__builtin_clz(x | 1)) / 8;
	x |= more[after];
	memcpy(p, &x, sizeof(x));
	return p + 1 + after;
}

static inline uint64_t zigzag(uint64_t delta)
{
	return delta << 1 ^ (uint64_t)((int64_t)delta >> 63);
}

/*
 * By kind, the word that separates dissimilar records, in addition to word 0 (size, kind, flags,
 * thread). 0: none.
 */
static const uint8_t key_word[256] = {
	/* process and function or region; CPU and vector */
	[POV_KIND_CALL] = 3,
	[POV_KIND_UNSHOWN] = 3,
	[POV_KIND_CALL_BEGIN] = 3,
	[POV_KIND_IRQ] = 3,
	[POV_KIND_REGION] = 3,
	[POV_KIND_COUNTED] = 5, /* process and function */
	/* the other thread */
	[POV_KIND_SWITCH] = 2,
	[POV_KIND_WAKING] = 2,
};

static inline uint64_t record_key(const struct pov_hdr *rec, const uint64_t *w)
{
	uint32_t i = key_word[rec->kind];

	return i && rec->size > i * 8 ? w[i] : 0;
}

static inline uint32_t key_hash(uint64_t w0, uint64_t key)
{
	uint64_t h = (w0 ^ key * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;

	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* The slot of similar records; a new one if there is none. */
static __attribute__((noinline)) struct codec_place slot_find(struct codec_encoder *e, uint32_t tag,
							      uint32_t nwords)
{
	uint32_t i = tag & (CODEC_HASH_SIZE - 1);
	struct codec_slot *s;

	for (; e->hash[i]; i = (i + 1) & (CODEC_HASH_SIZE - 1)) {
		s = &e->slot[e->hash[i] - 1];
		if (s->tag == tag && s->nwords == nwords)
			return (struct codec_place){e->hash[i] - 1u, s->first};
	}
	s = &e->slot[e->nslots++];
	s->tag = tag;
	s->nwords = nwords;
	s->first = e->arena_used;
	e->arena_used += nwords;
	e->hash[i] = (uint16_t)e->nslots;
	return (struct codec_place){e->nslots - 1, s->first};
}

/*
 * Like slot_find, for calls. If the last record of a slot has the same first word, thread and
 * function, it is their slot. The CPU can load that record before it has computed the hash.
 */
static inline struct codec_place slot_find_call(struct codec_encoder *e, const uint64_t *w,
						uint32_t nwords)
{
	struct codec_place *recent = &e->recent[((w[0] ^ w[3]) >> 32) % CODEC_RECENT];
	const uint64_t *last = &e->arena[recent->first];

	if (last[0] != w[0] || last[3] != w[3])
		*recent = slot_find(e, key_hash(w[0], w[3]), nwords);
	return *recent;
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

/* Returns a bit for each word from i to n - 1 <= 63 that differs. */
static inline uint64_t words_compare(const uint64_t *w, const uint64_t *last, uint32_t i,
				     uint32_t n)
{
	uint64_t mask = 0;

	for (; i + 4 <= n; i += 4)
		if ((w[i] ^ last[i]) | (w[i + 1] ^ last[i + 1]) | (w[i + 2] ^ last[i + 2]) |
		    (w[i + 3] ^ last[i + 3])) /* rarely */
			for (uint32_t k = i; k < i + 4; k++)
				mask |= (uint64_t)(w[k] != last[k]) << k;
	for (; i < n; i++)
		mask |= (uint64_t)(w[i] != last[i]) << i;
	return mask;
}

/* Writes the differences of the words in the mask. */
static inline void words_put(struct codec_block *b, const uint64_t *w, uint64_t *last,
			     uint64_t mask)
{
	uint8_t *to = b->col[CODEC_COL_VALUE].end;

	for (; mask; mask &= mask - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(mask);

		to = put_varint(to, zigzag(w[i] - last[i]));
		last[i] = w[i];
	}
	b->col[CODEC_COL_VALUE].end = to;
}

/* Writes word 2, which mostly changes and is noise. Returns true if it did. */
static inline bool second_put(struct codec_block *b, const uint64_t *w, uint64_t *last)
{
	uint8_t *to = b->col[CODEC_COL_SECOND].end;
	uint64_t delta = w[2] - last[2];
	uint8_t *end = put_noise(to, zigzag(delta));

	last[2] = w[2];
	b->col[CODEC_COL_SECOND].end = delta ? end : to;
	return delta;
}

#define MASK_WORDS 56 /* 8 bytes of the mask */

/* The part of changes_put for words from MASK_WORDS + 1 on. The record's mask begins at op. */
static __attribute__((noinline)) void late_changes_put(struct codec_block *b, uint8_t *op,
						       const uint64_t *w, uint64_t *last,
						       uint32_t nwords)
{
	uint8_t *end = b->col[CODEC_COL_OP].end;

	for (uint32_t i = MASK_WORDS + 1; i < nwords; i += MASK_WORDS) {
		uint32_t left = nwords - i;
		uint64_t mask = words_compare(w + i, last + i, 0,
					      left < MASK_WORDS ? left : MASK_WORDS);

		op += 8;
		if (!mask)
			continue;
		words_put(b, w + i, last + i, mask);
		end[-1] |= 0x80;
		memset(end, 0x80, (size_t)(op - end));
		end = put_varint(op, mask);
	}
	b->col[CODEC_COL_OP].end = end;
}

/*
 * Writes which words differ from the slot's last record, and by how much: 7 bits per byte, as in a
 * varint of any length. Word 1, the time, is stored elsewhere and has no bit.
 */
static inline void changes_put(struct codec_block *b, uint8_t *op, const uint64_t *w,
			       uint64_t *last, uint32_t nwords)
{
	uint32_t n = nwords < MASK_WORDS + 1 ? nwords : MASK_WORDS + 1;
	uint64_t mask = words_compare(w, last, 3, n) | (w[0] != last[0]);
	uint64_t second = nwords > 2 && second_put(b, w, last);

	if (mask)
		words_put(b, w, last, mask);
	b->col[CODEC_COL_OP].end = put_varint(op, (mask & 1) | second << 1 | mask >> 2 << 1);
	if (nwords > n)
		late_changes_put(b, op, w, last, nwords);
}

static inline void time_put(struct codec_encoder *e, struct codec_block *b, uint64_t ts_ns)
{
	uint8_t **end = &b->col[CODEC_COL_TIME].end;

	*end = put_noise(*end, zigzag(ts_ns - e->prev_ts));
	e->prev_ts = ts_ns;
	if (ts_ns < b->min_ts)
		b->min_ts = ts_ns;
	if (ts_ns > b->max_ts)
		b->max_ts = ts_ns;
}

void codec_encode(struct codec_encoder *e, struct codec_block *b, const struct pov_hdr *rec)
{
	const uint64_t *w = (const uint64_t *)rec;
	uint32_t nwords = rec->size / 8u, nslots = e->nslots;
	uint8_t *op = b->col[CODEC_COL_OP].end;
	struct codec_place at;
	uint64_t *last;

	if (rec->kind == POV_KIND_CALL && nwords > 3)
		at = slot_find_call(e, w, nwords);
	else
		at = slot_find(e, key_hash(w[0], record_key(rec, w)), nwords);
	if (at.slot == nslots)
		op = slot_begin(e, op, at.slot);
	else
		op = put_varint(op, at.slot + 1);
	last = &e->arena[at.first];
	changes_put(b, op, w, last, nwords);
	last[1] = w[1];
	time_put(e, b, w[1]);
	e->prev_slot = at.slot;
	e->sure_bytes -= rec->size;
	b->nrecords++;
	b->record_bytes += rec->size;
}

uint32_t codec_block_bytes(const struct codec_block *b)
{
	uint32_t bytes = CODEC_PREFIX_BYTES;

	for (int c = 0; c < CODEC_COL_CNT; c++)
		bytes += codec_col_len(b, c);
	return bytes;
}

uint32_t codec_block_store(const struct codec_block *b, uint8_t *out)
{
	uint8_t *p = out + CODEC_PREFIX_BYTES;
	uint32_t len;

	for (int c = 0; c < CODEC_COL_CNT; c++) {
		len = codec_col_len(b, c);
		memcpy(out + 4 * c, &len, sizeof(len));
		memcpy(p, b->col[c].begin, len);
		p += len;
	}
	return (uint32_t)(p - out);
}

/* ---- decoding ---- */

/*
 * The decoder of event blocks. Trusts nothing: a payload with a valid checksum may still be made
 * up. A slot's last record stays where it was decoded to, so nothing is copied twice.
 */

struct cursor {
	const uint8_t *p, *end;
};

struct decoder {
	struct cursor col[CODEC_COL_CNT];
	uint64_t *out, *out_end;
	uint64_t prev_ts;
	uint32_t nslots, prev_slot;
	struct {
		uint64_t *last;
		uint32_t nwords;
	} slot[CODEC_SLOTS_MAX];
};

static inline bool cursor_get_varint(struct cursor *c, uint64_t *out)
{
	uint64_t v = 0;

	if (c->p < c->end && *c->p < 0x80) { /* most are */
		*out = *c->p++;
		return true;
	}
	for (int shift = 0; shift < 70 && c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		v |= (uint64_t)(byte & 0x7f) << (shift < 64 ? shift : 63);
		if (byte < 0x80) {
			*out = v;
			return true;
		}
	}
	return false;
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Copies the slot's last record to out. A new slot starts from the record before. */
static bool record_begin(struct decoder *d, uint32_t *nwords)
{
	uint64_t v, n, keep = 0, *base = NULL;
	uint32_t slot;

	if (!cursor_get_varint(&d->col[CODEC_COL_OP], &v) || v > d->nslots)
		return false;
	slot = (uint32_t)v - 1;
	if (v) {
		n = d->slot[slot].nwords;
		base = d->slot[slot].last;
		keep = n;
	} else {
		if (d->nslots >= CODEC_SLOTS_MAX || !cursor_get_varint(&d->col[CODEC_COL_OP], &n))
			return false;
		if (n < TRACE_RECORD_MIN / 8 || n > TRACE_RECORD_MAX / 8)
			return false;
		if (d->nslots) {
			base = d->slot[d->prev_slot].last;
			keep = d->slot[d->prev_slot].nwords;
			keep = keep < n ? keep : n;
		}
		slot = d->nslots++;
		d->slot[slot].nwords = (uint32_t)n;
	}
	if ((uint64_t)(d->out_end - d->out) < n)
		return false;
	if (keep)
		memcpy(d->out, base, keep * 8);
	memset(d->out + keep, 0, (n - keep) * 8);
	d->slot[slot].last = d->out;
	d->prev_slot = slot;
	*nwords = (uint32_t)n;
	return true;
}

static bool record_apply_changes(struct decoder *d, uint32_t nwords)
{
	struct cursor *op = &d->col[CODEC_COL_OP];
	uint32_t word = 0;
	uint64_t v;
	uint8_t byte;

	do {
		if (op->p == op->end)
			return false;
		byte = *op->p++;
		for (uint8_t bits = byte & 0x7f; bits; bits &= (uint8_t)(bits - 1)) {
			uint32_t i = word + (uint32_t)__builtin_ctz(bits);

			i += i > 0; /* word 1 is not in the mask */
			if (i >= nwords ||
			    !cursor_get_varint(&d->col[i == 2 ? CODEC_COL_SECOND : CODEC_COL_VALUE],
					       &v))
				return false;
			d->out[i] += unzigzag(v);
		}
		word += 7;
	} while (byte & 0x80);
	return true;
}

static bool record_decode(struct decoder *d)
{
	uint32_t nwords;
	uint64_t v;

	if (!record_begin(d, &nwords) || !cursor_get_varint(&d->col[CODEC_COL_TIME], &v) ||
	    !record_apply_changes(d, nwords))
		return false;
	d->prev_ts += unzigzag(v);
	d->out[1] = d->prev_ts;
	if ((d->out[0] & 0xffff) != nwords * 8)
		return false;
	d->out += nwords;
	return true;
}

int codec_decode(const uint8_t *payload, size_t len, uint32_t nrecords, uint32_t record_bytes,
		 uint64_t *out)
{
	const uint8_t *p = payload + CODEC_PREFIX_BYTES, *end = payload + len;
	struct decoder d;
	uint32_t bytes;

	if (len < CODEC_PREFIX_BYTES || record_bytes % 8)
		return -EBADMSG;
	for (int c = 0; c < CODEC_COL_CNT; c++) {
		memcpy(&bytes, payload + 4 * c, 4);
		if (bytes > (size_t)(end - p))
			return -EBADMSG;
		d.col[c].p = p;
		p += bytes;
		d.col[c].end = p;
	}
	d.out = out;
	d.out_end = out + record_bytes / 8;
	d.prev_ts = 0;
	d.nslots = 0;
	d.prev_slot = 0;
	if (p != end)
		return -EBADMSG;
	for (uint32_t i = 0; i < nrecords; i++)
		if (!record_decode(&d))
			return -EBADMSG;
	for (int c = 0; c < CODEC_COL_CNT; c++)
		if (d.col[c].p != d.col[c].end)
			return -EBADMSG;
	return d.out == d.out_end ? 0 : -EBADMSG;
}
