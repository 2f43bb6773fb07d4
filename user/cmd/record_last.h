/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Parsing of record's options --last and --when. */
#ifndef POV_CMD_RECORD_LAST_H
#define POV_CMD_RECORD_LAST_H

#include "lib/option.h"
#include "record/session.h"

/*
 * Parses last and whens as the user typed them. recorded has a flag for each row of the function
 * table. 0, or -EINVAL (printed). Release out in both cases.
 */
int record_last_parse(const char *last, const struct option_list *whens, const bool *recorded,
		      struct keep_options *out);
void record_last_release(struct keep_options *o);

#endif
