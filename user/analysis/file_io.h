/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sums up MPI's file calls (MPI_File_*) of each process: how long, how many bytes, and by which
 * calls. A call that has not returned counts with its time and no bytes. Some calls only start a
 * transfer (MPI_File_iwrite, MPI_File_write_all_begin). Their bytes count, but in no rate, as their
 * own time is unrelated to it.
 */
#ifndef POV_ANALYSIS_FILE_IO_H
#define POV_ANALYSIS_FILE_IO_H

#include "model/model.h"

/* One direction: written or read. */
struct file_flow {
	uint64_t bytes, calls; /* calls whose bytes are known, and their bytes */
	uint64_t unknown;      /* calls whose bytes are unknown */
	/* part of bytes and calls, with their time: calls that return when the transfer is done */
	uint64_t rate_bytes, rate_ns, rate_calls;
};

struct file_io_row {
	/* running, asleep or in an unknown state in file calls */
	uint64_t ns;
	uint64_t calls;
	uint64_t worst_ns, worst_from_ns, worst_to_ns; /* the longest call */
	const struct func_info *worst_in;
	struct model_site worst_site;
	struct file_flow written, read;
};

struct file_io {
	struct model_sink sink;
	struct file_io_row *process; /* by process idx; owned */
	uint32_t nprocess;
};

void file_io_init(struct file_io *a);
void file_io_release(struct file_io *a);
/* Row of a process; zeros if it has none. */
const struct file_io_row *file_io_of(const struct file_io *a, uint32_t idx);

#endif
