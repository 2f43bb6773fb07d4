/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/meta.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/json_get.h"
#include "trace/trace_write.h"

/* Those that a reader takes for what has the number in the time that it reads of. */
static uint32_t process_of(const json_t *meta)
{
	return json_is_type(meta, "process") || json_is_type(meta, "target") ||
			       json_is_type(meta, "late") ?
		       json_get_u32(meta, "pid") :
		       0;
}

int meta_write(struct trace_writer *w, json_t *meta)
{
	char *text = json_dumps(meta, JSON_COMPACT);
	uint32_t pid = process_of(meta);
	int err;

	json_decref(meta);
	if (!text)
		return -ENOMEM;
	err = trace_writer_meta_of(w, text, pid);
	free(text);
	return err;
}
