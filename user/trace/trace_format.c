/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Checksums and plausibility of the headers of a .pov file. A header has its own checksum: a scan
 * can trust lengths before it skips payloads, and finds its way back after damage.
 */
#include "trace/trace_format.h"

#include <string.h>
#include <zlib.h>

static uint32_t header_crc(const struct trace_block_header *h)
{
	size_t skip = offsetof(struct trace_block_header, type);

	return (uint32_t)crc32(0, (const Bytef *)h + skip, (uInt)(sizeof(*h) - skip));
}

static uint32_t payload_crc(const struct trace_block_header *h, const void *payload)
{
	return (uint32_t)crc32(0, h->stored_len ? payload : (const void *)"", h->stored_len);
}

void trace_file_header_seal(struct trace_file_header *h)
{
	h->crc = (uint32_t)crc32(0, (const Bytef *)h, offsetof(struct trace_file_header, crc));
}

void trace_file_header_init(struct trace_file_header *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, TRACE_MAGIC, sizeof(h->magic));
	h->major = TRACE_MAJOR;
	h->minor = TRACE_MINOR;
	h->abi = TRACE_ABI;
	h->header_bytes = sizeof(*h);
	trace_file_header_seal(h);
}

void trace_block_header_seal(struct trace_block_header *h, const void *payload)
{
	h->magic = TRACE_BLOCK_MAGIC;
	h->payload_crc = payload_crc(h, payload);
	h->header_crc = header_crc(h);
}

bool trace_block_header_ok(const struct trace_block_header *h)
{
	if (h->magic != TRACE_BLOCK_MAGIC || h->header_crc != header_crc(h))
		return false;
	if (h->raw_len > TRACE_RAW_MAX || h->stored_len > TRACE_STORED_MAX)
		return false;
	if (!(h->flags & TRACE_FLAG_ZSTD) && h->stored_len != h->raw_len)
		return false;
	if (h->type != TRACE_BLOCK_EVENTS)
		return true;
	return h->nrecords > 0 && h->nrecords <= TRACE_RECORDS_MAX && h->min_ts <= h->max_ts &&
	       h->record_bytes <= TRACE_RECBYTES_MAX &&
	       h->record_bytes >= (uint64_t)h->nrecords * TRACE_RECORD_MIN;
}

bool trace_payload_ok(const struct trace_block_header *h, const void *payload)
{
	return h->payload_crc == payload_crc(h, payload);
}
