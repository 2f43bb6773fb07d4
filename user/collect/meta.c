/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "collect/meta.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/trace_write.h"

int meta_write(struct trace_writer *w, json_t *meta)
{
	char *text = json_dumps(meta, JSON_COMPACT);
	int err;

	json_decref(meta);
	if (!text)
		return -ENOMEM;
	err = trace_writer_meta(w, text);
	free(text);
	return err;
}
