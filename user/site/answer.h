/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What povtrace and povtrace-lines say to each other through a socket. Asked is an offset in the file, a uint64_t; the
 * answer is this, and behind it the bytes of both names. Both are built together: it is in no file and may change.
 */
#ifndef POV_SITE_ANSWER_H
#define POV_SITE_ANSWER_H

#include <stdint.h>

#define SITE_NAME_BYTES 1024 /* of each name, at most; the rest of it is cut off */

struct site_answer {
	uint64_t function_offset;
	uint32_t line;		 /* 0: not known */
	uint16_t function_bytes; /* 0: nothing is known of that offset */
	uint16_t file_bytes;
};

#endif
