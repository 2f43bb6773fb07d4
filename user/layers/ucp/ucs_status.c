/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The numbers are part of UCX's ABI: ucs/type/status.h. */
#include "layers/ucp/ucs_status.h"

#include <stddef.h>
#include <stdint.h>

#include "layers/call_parts.h"

const char *ucs_status_text(struct arena *arena, int status)
{
	static const char *const names[] = {
		[0] = "UCS_OK",
		[1] = "UCS_ERR_NO_MESSAGE",
		[2] = "UCS_ERR_NO_RESOURCE",
		[3] = "UCS_ERR_IO_ERROR",
		[4] = "UCS_ERR_NO_MEMORY",
		[5] = "UCS_ERR_INVALID_PARAM",
		[6] = "UCS_ERR_UNREACHABLE",
		[7] = "UCS_ERR_INVALID_ADDR",
		[8] = "UCS_ERR_NOT_IMPLEMENTED",
		[9] = "UCS_ERR_MESSAGE_TRUNCATED",
		[10] = "UCS_ERR_NO_PROGRESS",
		[11] = "UCS_ERR_BUFFER_TOO_SMALL",
		[12] = "UCS_ERR_NO_ELEM",
		[13] = "UCS_ERR_SOME_CONNECTS_FAILED",
		[14] = "UCS_ERR_NO_DEVICE",
		[15] = "UCS_ERR_BUSY",
		[16] = "UCS_ERR_CANCELED",
		[17] = "UCS_ERR_SHMEM_SEGMENT",
		[18] = "UCS_ERR_ALREADY_EXISTS",
		[19] = "UCS_ERR_OUT_OF_RANGE",
		[20] = "UCS_ERR_TIMED_OUT",
		[21] = "UCS_ERR_EXCEEDS_LIMIT",
		[22] = "UCS_ERR_UNSUPPORTED",
		[23] = "UCS_ERR_REJECTED",
		[24] = "UCS_ERR_NOT_CONNECTED",
		[25] = "UCS_ERR_CONNECTION_RESET",
		[80] = "UCS_ERR_ENDPOINT_TIMEOUT",
	};
	size_t n = (size_t) - (int64_t)status;

	if (status == UCS_STATUS_IN_PROGRESS)
		return "UCS_INPROGRESS";
	return n < sizeof(names) / sizeof(names[0]) && names[n] ?
		       names[n] :
		       arena_printf(arena, "status %d", status);
}
