/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fuzzes the reading of trace files. The first byte selects what is read: the file as it is; the
 * file with all its checksums corrected, to reach the code after that check; or the payload of a
 * single event block. Every record is printed, which exposes a count that was trusted wrongly.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/log.h"
#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace/trace_read.h"
#include "trace/record_kinds.h"

static FILE *nowhere;

/* Makes headers and payloads of all blocks consistent, and numbers the blocks. */
static void put_right(uint8_t *data, size_t len)
{
	struct trace_file_header file;
	struct trace_block_header h;
	size_t at = sizeof(file);
	uint64_t seq = 0;

	if (len < at)
		return;
	trace_file_header_init(&file);
	memcpy(data, &file, sizeof(file));
	while (len - at >= sizeof(h)) {
		memcpy(&h, data + at, sizeof(h));
		if (h.stored_len > len - at - sizeof(h))
			h.stored_len = (uint32_t)(len - at - sizeof(h));
		if (!(h.flags & TRACE_FLAG_ZSTD))
			h.raw_len = h.stored_len;
		h.raw_len %= 1u << 20;
		h.record_bytes %= 1u << 20;
		h.seq = seq++;
		trace_block_header_seal(&h, data + at + sizeof(h));
		memcpy(data + at, &h, sizeof(h));
		at += sizeof(h) + h.stored_len;
	}
}

static bool loss(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_LOSS_BEGIN || rec->kind == POV_KIND_LOSS_END;
}

static void print_all(struct trace *t)
{
	const struct pov_hdr *rec;
	struct trace_merge *m;

	for (size_t i = 0; i < trace_meta_count(t); i++)
		json_dumpf(trace_meta_get(t, i), nowhere, 0);
	for (int pass = 0; pass < 3; pass++) {
		struct trace_merge_options opt = {.tasks_only = pass == 1, .losses = pass == 2};
		uint64_t last = 0;

		if (trace_merge_open(t, &opt, &m))
			return;
		while (trace_merge_next(m, &rec) > 0) {
			if (rec->ts_ns < last ||
			    !(record_well_formed(rec) || (pass == 2 && loss(rec))))
				abort();
			last = rec->ts_ns;
			trace_record_print(rec, nowhere);
		}
		trace_merge_close(m);
	}
}

static void read_file(const uint8_t *data, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct trace *t;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	if (!trace_open(path, &t)) {
		print_all(t);
		trace_close(t);
	}
	close(fd);
}

static void decode(const uint8_t *data, size_t len)
{
	uint16_t nrecords, words;
	uint64_t *out;

	if (len < 4)
		return;
	memcpy(&nrecords, data, 2);
	memcpy(&words, data + 2, 2);
	out = malloc(words * 8u + 1);
	if (out)
		codec_decode(data + 4, len - 4, nrecords, words * 8u, out);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		log_set_level(LOG_QUIET);
	}
	if (len < 1)
		return 0;
	copy = malloc(len);
	memcpy(copy, data + 1, len - 1);
	switch (data[0] % 3) {
	case 0:
		read_file(copy, len - 1);
		break;
	case 1:
		put_right(copy, len - 1);
		read_file(copy, len - 1);
		break;
	case 2:
		decode(copy, len - 1);
		break;
	}
	free(copy);
	return 0;
}
