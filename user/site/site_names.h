/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Readable names of call sites: function, file and line, or function and offset. They come from the
 * recorded files if these still exist unchanged, with their installed debug information. Each place
 * is looked up once.
 */
#ifndef POV_SITE_SITE_NAMES_H
#define POV_SITE_SITE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct model_site;
struct sites;

/* Valid as long as the struct sites. Names come from the file: they may contain anything. */
struct site_name {
	const char *function;	  /* innermost one of inlined functions */
	uint64_t function_offset; /* offset of the instruction after the call, if file is NULL */
	const char *file;	  /* source file; NULL: unknown */
	uint32_t line;
	const char *text; /* "solve (app.c:41)", "solve+0x1f (libapp.so)": printable */
};

struct sites *sites_new(void);
void sites_free(struct sites *s);
/* Returns the name of a site. NULL: unknown. s may be NULL. */
const struct site_name *sites_find(struct sites *s, const struct model_site *site);
/*
 * Returns a text for the site: its name; or "libapp.so+0x1f" if that is unknown; or the address if
 * it is in no known file; or "?" if there is no address either. The caller frees it.
 */
char *sites_text(struct sites *s, const struct model_site *site);

/* ---- messages to and from povtrace-lines ---- */

/*
 * The messages between povtrace and povtrace-lines on their socket. A request is an offset in the
 * file, a uint64_t. The answer is this struct, followed by the bytes of both names. Both programs
 * are built together: no file contains it, so it may change.
 */
#define SITE_NAME_BYTES 1024 /* per name, at most; the rest is cut off */

struct site_answer {
	uint64_t function_offset;
	uint32_t line;		 /* 0: unknown */
	uint16_t function_bytes; /* 0: nothing is known about that offset */
	uint16_t file_bytes;
};

/*
 * Names places in one file through a separate process (povtrace-lines). If that process ends or
 * takes too long, nothing more is known about the file.
 */

struct model_module;

struct module_names {
	int fd; /* -1: no process; nothing is known about the file */
	pid_t pid;
};

/* program: path of povtrace-lines. */
void module_names_start(struct module_names *n, const char *program,
			const struct model_module *file);
/* Looks up the call that returns to this offset. Names end in 0. False: nothing is known. */
bool module_names_find(struct module_names *n, uint64_t offset, struct site_answer *out,
		       char function[SITE_NAME_BYTES + 1], char file[SITE_NAME_BYTES + 1]);
void module_names_stop(struct module_names *n);

#endif
