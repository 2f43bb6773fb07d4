/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/bench.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

bool bench_is(const struct bench *b, const char *name)
{
	return !strcmp(b->name, name) || (b->alias && !strcmp(b->alias, name));
}

const struct bench *bench_find(const char *name)
{
	size_t i;

	for (i = 0; benches[i]; i++) {
		if (bench_is(benches[i], name))
			return benches[i];
	}
	return NULL;
}

/* ---- buffers ---- */

/*
 * Buffers whose contents a receiver can check. Each byte depends on its position and on the seed,
 * so data of an earlier message or of another position is detected. The holes of a strided buffer
 * must stay as they were.
 */

#define ALIGN_BYTES 4096
#define BLOCK_BYTES 32
#define STRIDE_BYTES 64
#define HOLE 0xa5

static size_t span_of(size_t bytes, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? 2 * bytes + STRIDE_BYTES : bytes;
}

/* Offset of data byte i in the buffer. */
static size_t place_of(size_t i, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? i / BLOCK_BYTES * STRIDE_BYTES + i % BLOCK_BYTES : i;
}

static unsigned char pattern_byte(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (unsigned char)(x >> 24 ^ x >> 8);
}

void *bench_buffer_new(size_t bytes, enum comm_layout layout)
{
	size_t span = span_of(bytes, layout);
	void *buf;

	/* Allocate at least one byte, so that an empty message has an address too. */
	if (posix_memalign(&buf, ALIGN_BYTES, span ? span : 1))
		die("out of memory (%zu bytes wanted for a message)", span);
	/* Write all pages once, so that no page fault falls into a timed part. */
	memset(buf, HOLE, span ? span : 1);
	return buf;
}

void bench_buffer_fill(void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	unsigned char *b = buf;
	size_t i;

	for (i = 0; i < bytes; i++)
		b[place_of(i, layout)] = pattern_byte(i, seed);
}

void bench_buffer_check(const void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	const unsigned char *b = buf;
	size_t i, at;

	for (i = 0; i < bytes; i++) {
		at = place_of(i, layout);
		if (b[at] != pattern_byte(i, seed))
			die("wrong data: byte %zu of %zu is 0x%02x, not 0x%02x", i, bytes, b[at],
			    pattern_byte(i, seed));
		if (layout == COMM_STRIDED && b[at + BLOCK_BYTES] != HOLE)
			die("wrong data: the hole after byte %zu of %zu was written to", i, bytes);
	}
}

/* ---- resuming ---- */

/* Rank 0 has the points and sends the answer to the other ranks. */

bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && result_point_take(run->result, axis, axis_cnt);
	return comm_tell(run->comm, there) != 0;
}

static bool take_all(struct result *r, const struct result_axis axes[2], const uint64_t *value,
		     size_t cnt)
{
	struct result_axis both[] = {axes[0], axes[1]};
	size_t i;

	for (i = 0; i < cnt; i++) {
		both[1].value = value[i];
		if (!result_point_known(r, both, 2))
			return false;
	}
	for (i = 0; i < cnt; i++) {
		both[1].value = value[i];
		result_point_take(r, both, 2);
	}
	return true;
}

bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && take_all(run->result, axes, value, cnt);
	return comm_tell(run->comm, there) != 0;
}
