/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* record --last and --when: what they say. */
#ifndef POV_CMD_RECORD_LAST_H
#define POV_CMD_RECORD_LAST_H

#include "lib/option.h"
#include "record/session.h"

/* last, whens: as typed; recorded: by row of the function table. 0, or -EINVAL (printed). To be released in any case. */
int record_last_parse(const char *last, const struct option_list *whens, const bool *recorded,
		      struct keep_options *out);
void record_last_release(struct keep_options *o);

#endif
