/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The decoder of event blocks. Trusts nothing: a payload with a valid checksum may still be made
 * up. A slot's last record stays where it was decoded to, so nothing is copied twice.
 */
#include "trace/trace_codec.h"

#include <errno.h>
#include <string.h>

#include "trace/trace_format.h"

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
