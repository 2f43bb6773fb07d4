/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The .pov file on disk: the file header, the block header, and the limits that reader and writer
 * obey. The coding inside event blocks is in trace_codec.h, the description in
 * kmod-docs/TRACE_FORMAT.md. Everything is little-endian, like the machines this runs on.
 */
#ifndef POV_TRACE_FORMAT_H
#define POV_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little-endian and records are stored as the kernel half wrote them"
#endif

#define TRACE_MAGIC "POVTRACE"
#define TRACE_MAJOR 1
#define TRACE_MINOR 0
#define TRACE_ABI 1

#define TRACE_BLOCK_MAGIC 0xb10cb0deu

/* Limits of the format: a block that exceeds one of them is damaged. */
#define TRACE_RAW_MAX (4u << 20) /* payload before compression, bytes */
#define TRACE_STORED_MAX TRACE_RAW_MAX
#define TRACE_RECORDS_MAX (1u << 16)  /* records in one block */
#define TRACE_RECBYTES_MAX (4u << 20) /* their total size */
#define TRACE_RECORD_MIN 16u
#define TRACE_RECORD_MAX 4096u

enum trace_block_type {
	TRACE_BLOCK_META = 1,
	TRACE_BLOCK_EVENTS = 2,
	TRACE_BLOCK_END = 3,
};

#define TRACE_FLAG_ZSTD 0x01 /* the payload is one zstd frame */

struct trace_file_header {
	char magic[8];
	uint16_t major, minor;
	uint16_t abi;
	uint16_t header_bytes; /* offset of the first block */
	uint8_t pad[12];
	uint32_t crc; /* CRC-32 of the bytes before it */
};
_Static_assert(sizeof(struct trace_file_header) == 32, "file header");

struct trace_block_header {
	uint32_t magic;
	uint32_t header_crc; /* CRC-32 of the header bytes after this field */
	uint8_t type;	     /* enum trace_block_type */
	uint8_t flags;	     /* TRACE_FLAG_* */
	uint16_t stream;
	uint32_t payload_crc; /* of the stored payload */
	uint32_t raw_len;     /* payload before compression, bytes */
	uint32_t stored_len;  /* payload as stored in the file, bytes */
	uint32_t nrecords;
	uint32_t record_bytes; /* total size of the records */
	uint64_t min_ts, max_ts;
	uint64_t seq; /* 0, 1, … in file order */
};
_Static_assert(sizeof(struct trace_block_header) == 56, "block header");

#define TRACE_END_BYTES sizeof(struct trace_block_header) /* size of the end block */

void trace_file_header_init(struct trace_file_header *h);
void trace_file_header_seal(struct trace_file_header *h); /* computes crc */
/* Fills in magic and both checksums. The caller sets everything else. */
void trace_block_header_seal(struct trace_block_header *h, const void *payload);
/* True if magic, header checksum and limits are valid. Does not check the payload. */
bool trace_block_header_ok(const struct trace_block_header *h);
bool trace_payload_ok(const struct trace_block_header *h, const void *payload);

#endif
