/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Files of the program, of /proc and of users, and descriptors. */
#ifndef POV_LIB_FILE_H
#define POV_LIB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct person;

/*
 * Path of a file that belongs to the program and is loaded or executed at run time; the caller
 * frees it. It lies beside the program (as built) or in ../lib/povtrace (as installed). No other
 * place is searched, as the program may run as root. NULL: it is in neither place.
 */
char *own_file_find(const char *name);

/*
 * Reads a file of /proc/PID up to at least max bytes and adds a zero byte, which *len does not
 * count. *len ≥ max: there may be more. NULL with errno if it cannot be read. The caller frees it.
 */
char *proc_file_read(pid_t pid, const char *name, size_t max, size_t *len);

/*
 * Makes a memfd of this size, close-on-exec, that can be sealed. Returns the descriptor or -errno.
 * The limit of a file's size (ulimit -f) also applies to memfds. It is lifted meanwhile. Where that
 * is not allowed, the result is -EFBIG.
 */
int memory_file_make(size_t bytes);

/*
 * Makes a private mount of this file alone and opens the file there (O_PATH). Probes attached
 * through the descriptor do not keep the file's own mount busy: it can still be unmounted. They do
 * keep the file system alive, but who unmounts the only mount of a device expects everything to be
 * written. In that case the result is -EBUSY. Fails for a file in another mount namespace. Returns
 * a descriptor or -errno.
 */
int file_own_mount(const char *path);

/*
 * Closes all descriptors of a forked process but these, in any order; negative ones and repetitions
 * are ignored.
 */
void fd_close_others(const int *keep, size_t cnt);

/*
 * The last step of a program: closes stdout and returns status. If the output did not arrive,
 * prints why and returns 1 instead of 0: a full disk or a closed pipe must not look like success.
 * The C library flushes at exit, but does not report the result.
 */
int flush_stdout(int status);

/* ---- output files ---- */

/*
 * A file that appears under its name only when it is complete. Where the file system supports it,
 * the file is written without a name (O_TMPFILE), so that not even kill -9 leaves half a file.
 * Elsewhere it has a temporary name. Pipes and devices are written to directly.
 */
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
