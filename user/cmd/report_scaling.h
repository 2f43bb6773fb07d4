/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* povtrace report --scaling, from its arguments to its table and picture. */
#ifndef POV_REPORT_SCALING_COMMAND_H
#define POV_REPORT_SCALING_COMMAND_H

#include <stdbool.h>

struct report_scaling_options {
	bool json, weak, one_run;
	const char *output; /* file for the picture, or NULL */
};

/*
 * argc, argv, dashdash: as in a command's run(). Each file is a run, or "--" separates the files of
 * one run from those of the next. Returns the exit status.
 */
int report_scaling(const struct report_scaling_options *o, int argc, char **argv, int dashdash);

#endif
