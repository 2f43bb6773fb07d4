/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Predicts the files that a command will probably load: every file that its words name, directly or
 * through PATH; what these need by the rules of the dynamic linker (ld.so(8)); and the same for the
 * words in scripts and shell command strings. This only saves time: threads wait for unpredicted
 * files when they are mapped (bpf/image.bpf.c), and a needless inspection costs some microseconds.
 */
#ifndef POV_TARGET_PREDICT_LIBRARIES_H
#define POV_TARGET_PREDICT_LIBRARIES_H

#include <jansson.h>
#include <stddef.h>

struct inspected;

/*
 * Inspects a file. 0 or -errno. Fills *in, whose interpreter, search path and needed libraries are
 * followed; *in may stay empty for a file that was already inspected. predict_libraries releases
 * it.
 */
typedef int predict_visit_fn(void *ctx, const char *path, struct inspected *in);

/*
 * command is {argv: [text], env: {PATH, LD_LIBRARY_PATH, LD_PRELOAD}, cwd}. ld_cache is the path of
 * a file like /etc/ld.so.cache.
 */
void predict_libraries(const json_t *command, const char *ld_cache, predict_visit_fn *visit,
		       void *ctx);

/*
 * Reads the table with which the dynamic linker finds a library by name, made by ldconfig
 * (/etc/ld.so.cache).
 */
struct ld_cache {
	char *bytes; /* contents of the file; NULL: none, or in an unknown format */
	size_t size, table, cnt;
};

/* Reads the file. Without one, nothing is found in it. */
void ld_cache_open(const char *path, struct ld_cache *out);
/*
 * Returns the i-th file of that name (they differ in machine and hardware); NULL after the last.
 * Owned by the cache.
 */
const char *ld_cache_find(const struct ld_cache *cache, const char *name, size_t i);
void ld_cache_close(struct ld_cache *cache);

#endif
