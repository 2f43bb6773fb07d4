/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds the subcommand. */
#include "commands.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--version"))
		printf("povtrace %s\n", POV_VERSION);
	return 0;
}
