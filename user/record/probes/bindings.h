/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The address ranges at which processes have language bindings (target/elf/function_callers.h). BPF
 * programs, and processes that record their own calls, use them to find a call's site in the
 * program and not in the binding.
 */
#ifndef POV_RECORD_PROBES_BINDINGS_H
#define POV_RECORD_PROBES_BINDINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "lib/map.h"

struct code_file;
struct kernel;

struct bindings { /* zero-initialised except kernel */
	struct kernel *kernel;
	struct map by_pid; /* struct pov_bindings; owned */
	uint16_t file_cnt;
	uint32_t step_cnt;
};

/*
 * A process has mapped a file, which may be a binding, at start, beginning at file offset off. The
 * mapping replaces whatever was in this range.
 */
void bindings_map(struct bindings *b, pid_t pid, struct code_file *f, uint64_t start,
		  uint64_t bytes, uint64_t off);
/* A forked process has its parent's bindings. */
void bindings_fork(struct bindings *b, pid_t parent, pid_t child);
/* Call this when a process has executed another program or ended. */
void bindings_gone(struct bindings *b, pid_t pid);
/*
 * Reads a process's bindings; all zero if it has none. step has room for POV_STEPS steps and
 * receives the steps of all bindings so far.
 */
void bindings_get(const struct bindings *b, pid_t pid, struct pov_bindings *out,
		  struct pov_step *step);
void bindings_release(struct bindings *b);

#endif
