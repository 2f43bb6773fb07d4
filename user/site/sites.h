/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call sites as people know them: function, file and line, or function and offset, from the files that were recorded, where they
 * are still there unchanged (with the debug information that is installed for them). Each place is looked up once.
 */
#ifndef POV_SITE_SITES_H
#define POV_SITE_SITES_H

#include <stdint.h>

struct model_site;
struct sites;

/* Valid as long as the struct sites. Names are the file's own: anything may be in them. */
struct site_name {
	const char *function; /* of functions that the compiler put into each other, the innermost */
	uint64_t function_offset; /* of the instruction behind the call, if file is NULL */
	const char *file;	  /* of the source; NULL: not known */
	uint32_t line;
	const char *text; /* "solve (app.c:41)", "solve+0x1f (libapp.so)": printable */
};

struct sites *sites_new(void);
void sites_free(struct sites *s);
/* NULL: nothing is known of it here. s: may be NULL. */
const struct site_name *sites_find(struct sites *s, const struct model_site *site);
/* Its text; if nothing is known of it here, "libapp.so+0x1f"; outside of all known files its address; "?" if there is none. Caller frees. */
char *sites_text(struct sites *s, const struct model_site *site);

#endif
