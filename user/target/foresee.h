/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a command will probably load: every file that its words name, directly or by PATH, what these need by the rules
 * of the dynamic linker (ld.so(8)), and, of scripts and shell command strings, the same of the words in them. It only
 * saves time: what is not foreseen is waited for when it is mapped (bpf/image.bpf.c), and a file looked at in vain costs
 * some microseconds.
 */
#ifndef POV_TARGET_FORESEE_H
#define POV_TARGET_FORESEE_H

#include <jansson.h>

struct inspected;

/*
 * Looks at a file. 0 or -errno; fills *in, whose interpreter, search path and needed libraries are followed; of a file
 * that has been looked at before it may be empty. foresee_command releases it.
 */
typedef int foresee_visit_fn(void *ctx, const char *path, struct inspected *in);

/* command: {argv: [text], env: {PATH, LD_LIBRARY_PATH, LD_PRELOAD}, cwd}. ld_cache: as /etc/ld.so.cache. */
void foresee_command(const json_t *command, const char *ld_cache, foresee_visit_fn *visit,
		     void *ctx);

#endif
