/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where processes have bindings (target/elf/binding_steps.h), told to the kernel half and to processes that record their calls themselves, so that call
 * sites are the program's.
 */
#ifndef POV_RECORD_PROBES_BINDINGS_H
#define POV_RECORD_PROBES_BINDINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "lib/map.h"

struct code_file;
struct kernel;

struct bindings { /* zeroed but for kernel */
	struct kernel *kernel;
	struct map by_pid; /* struct pov_bindings; owned */
	uint16_t file_cnt;
	uint32_t step_cnt;
};

/* A process has mapped a file at start, which may be a binding, from off on; whatever it had there is gone. */
void bindings_map(struct bindings *b, pid_t pid, struct code_file *f, uint64_t start,
		  uint64_t bytes, uint64_t off);
/* A forked process has those of its parent. */
void bindings_fork(struct bindings *b, pid_t parent, pid_t child);
/* The process has executed another program, or ended. */
void bindings_gone(struct bindings *b, pid_t pid);
/* All zero if it has none. step: POV_STEPS of them, which become those of all bindings so far. */
void bindings_get(const struct bindings *b, pid_t pid, struct pov_bindings *out,
		  struct pov_step *step);
void bindings_release(struct bindings *b);

#endif
