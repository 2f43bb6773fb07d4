/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Short names of ranks, signals and CPUs for printed text. */
#ifndef POV_ANALYSIS_LABEL_H
#define POV_ANALYSIS_LABEL_H

#include "model/model.h"

#define RANK_LABEL_BYTES 32
/*
 * "3"; "1:3" if there are several jobs; "?" if the rank is unknown; "-" if the process is no rank.
 */
const char *rank_label(const struct model *m, const struct model_process *p, char *buf);

#define SIGNAL_LABEL_BYTES 32
/* "SIGSEGV (signal 11)"; "signal 40" if it has no name. */
const char *signal_label(int32_t signo, char *buf);

#define END_LABEL_BYTES 64
/*
 * "exited with status 0", "killed by SIGSEGV (signal 11)"; "not ended" if the process outlived the
 * recording.
 */
const char *end_label(const struct model_process *p, char *buf);

#define CPU_LABEL_BYTES 48
/* "3", "node1:3" if there are several hosts. */
const char *cpu_label(const struct model *m, uint32_t cpu, char *buf);

/*
 * "0-3,8", "node1:0-3,8". Prints at most `most` ranges and appends " …" if there are more. The
 * caller frees the string.
 */
char *cpus_label(const struct model *m, uint32_t host_idx, const struct model_mask *cpus,
		 uint32_t most);

#endif
