/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that appears under its name only when it is whole. It is written without a name (O_TMPFILE) where the file system can do that,
 * so that not even kill -9 leaves half a file; elsewhere under a temporary name. Pipes and devices are written to as they are.
 */
#ifndef POV_LIB_OUTPUT_FILE_H
#define POV_LIB_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct person;

struct output_file {
	FILE *file;	  /* to write to */
	const char *who;  /* the command, for messages */
	const char *path; /* "-": stdout */
	char *tmp;	  /* the name it has until it is whole; NULL: none yet, or none needed */
	bool nameless;	  /* O_TMPFILE */
	const struct person *as;
};

/*
 * Opened and named as that user (NULL: the caller), with the mode of the file `like`. All must outlive o. 0 or -errno (printed); then
 * there is nothing to end.
 */
int output_file_begin(struct output_file *o, const char *who, const char *like, const char *path,
		      const struct person *as);
/* Gives the file its name if all went well (err is 0) and says if it replaced another one; else removes it. The first error. */
int output_file_end(struct output_file *o, int err);

#endif
