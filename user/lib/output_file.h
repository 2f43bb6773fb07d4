/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that appears under its name only when it is complete. Where the file system supports it,
 * the file is written without a name (O_TMPFILE), so that not even kill -9 leaves half a file.
 * Elsewhere it has a temporary name. Pipes and devices are written to directly.
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
	char *tmp;	  /* temporary name until it is complete; NULL: none yet, or none needed */
	bool nameless;	  /* O_TMPFILE */
	const struct person *as;
};

/*
 * Opens the file as a user (as; NULL: the caller), with the mode of the file `like`. All arguments
 * must outlive o. 0 or -errno (printed); after an error, do not call output_file_end.
 */
int output_file_begin(struct output_file *o, const char *who, const char *like, const char *path,
		      const struct person *as);
/*
 * Names the file if err is 0, and reports if it replaced another one; otherwise removes it. Returns
 * the first error.
 */
int output_file_end(struct output_file *o, int err);

/* True, after an error message, if path is the recording that the output is made from. */
bool output_file_is_recording(const char *who, const char *path, const char *recording);

#endif
