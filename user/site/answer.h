/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The messages between povtrace and povtrace-lines on their socket. A request is an offset in the
 * file, a uint64_t. The answer is this struct, followed by the bytes of both names. Both programs
 * are built together: no file contains it, so it may change.
 */
#ifndef POV_SITE_ANSWER_H
#define POV_SITE_ANSWER_H

#include <stdint.h>

#define SITE_NAME_BYTES 1024 /* per name, at most; the rest is cut off */

struct site_answer {
	uint64_t function_offset;
	uint32_t line;		 /* 0: unknown */
	uint16_t function_bytes; /* 0: nothing is known about that offset */
	uint16_t file_bytes;
};

#endif
