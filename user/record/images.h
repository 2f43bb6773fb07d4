/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What targets map and execute, and who they are: acts on the kernel half's control events. Files that nobody has
 * looked at are given to the helper process, and whoever waits for them goes on when it has answered; a process that
 * maps an MPI library is described in the trace.
 */
#ifndef POV_RECORD_IMAGES_H
#define POV_RECORD_IMAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"

struct images;
struct kernel;
struct launch_plan;
struct library;
struct links;
struct pov_hdr;
struct trace_writer;

/* What is to be probed. */
struct images_wanted {
	const bool *function; /* by row of the function table */
	const bool *alone; /* the same: functions whose probes may have to be given up; NULL: none */
	const char *const *region; /* names of functions, region_cnt of them */
	size_t region_cnt;
	bool machine_wide; /* all processes get the probes, those too that are not recorded; or each recorded one its own */
	bool waits_wide; /* with that, all processes' loaders and C libraries get those by which processes wait */
	bool waits; /* processes wait by themselves until all that they have mapped has been looked at (user/preload/) */
	bool preload; /* processes record their MPI calls themselves: libraries get no probes for these */
	/* Stores the IMAGE records of images_scan. */
	void (*record)(void *ctx, const struct pov_hdr *rec);
	void *ctx;
};

/* Borrows all three; starts the helper. 0 or -errno (printed). */
int images_new(struct kernel *k, const struct images_wanted *wanted, struct trace_writer *w,
	       struct images **out);
void images_free(struct images *im);

/* Acts on one record of the control ring; the record itself is the caller's to store. */
void images_control(struct images *im, const struct pov_hdr *rec);
/* Takes in what the helper has found; never waits. */
void images_poll(struct images *im);
int images_fd(const struct images *im); /* readable when there is something to take in */
/* CPU time of the helper processes so far. */
uint64_t images_helper_cpu_ns(const struct images *im);
bool images_settled(const struct images *im); /* nothing asked that is not answered */

/* Has everything looked at that a command will probably load; NULL: no command, but the MPI libraries of the system. */
void images_foresee(struct images *im, const struct launch_plan *plan);
/* Called around images_scan of all processes that are targets at the start, whose number it takes. */
void images_scan_begin(struct images *im, size_t targets);
void images_scan_end(struct images *im);
/*
 * A process that runs already: has all looked at that it maps, describes it if it uses MPI, and writes IMAGE records for
 * its mappings. 1 if it uses MPI, 0 if not, -errno. Returns when that is done (bounded by the helper's time limits).
 */
int images_scan(struct images *im, pid_t pid);

/* A process cannot record functions of a library itself, by row of the function table: they get probes. Returns at once; images_answered. */
void images_probe_rows(struct images *im, pid_t pid, const struct library *lib, const uint16_t *row,
		       size_t cnt);

/*
 * A process is about to execute a program which does not wait by itself (user/preload/exec.c): it is looked at, and its loader gets a
 * probe. Returns at once; images_answered.
 */
void images_program(struct images *im, pid_t pid, const char *path);

uint32_t
images_rank_count(const struct images *im); /* processes that have initialised MPI so far */
/* Reads what limits of CPU time did to ranks, where that was read so long ago; writes what was read last (cpu_limits.h, memory_limits.h). */
void images_limits_read(struct images *im, uint64_t age_ns);
void images_limits_write(const struct images *im);
/* World rank of a process, also of one that has ended; -1 if unknown. */
int images_rank_of(const struct images *im, pid_t pid);
uint32_t images_library_count(const struct images *im);
/* Borrowed until images_detach. */
struct library *images_library(struct images *im, uint32_t i);
/* Its meta object "library"; i < images_library_count. Owned by images. */
const json_t *images_library_meta(const struct images *im, uint32_t i);
bool images_have_region(const struct images *im, const char *name); /* some file has it */
uint64_t images_probe_count(const struct images *im);		    /* attached in all libraries */
/* None of a process's questions is open: all that it has mapped has been looked at. */
bool images_answered(const struct images *im, pid_t pid);
/* Calls fn for each place of a traced library in a process; bias: address there − address in the file. */
typedef void images_library_fn(void *ctx, const struct library *lib, uint64_t bias);
void images_libraries(const struct images *im, pid_t pid, images_library_fn *fn, void *ctx);
/* As bindings_get. */
void images_bindings(const struct images *im, pid_t pid, struct pov_bindings *out,
		     struct pov_step *step);
/* The same with its file, of libraries of any layer. */
struct code_file;
typedef void images_file_fn(void *ctx, const struct code_file *file, uint64_t bias);
void images_library_files(const struct images *im, pid_t pid, images_file_fn *fn, void *ctx);
/* fn is called for the probes of each library: those that serve all processes (pid 0), and those of each process. */
typedef void images_links_fn(void *ctx, struct library *lib, pid_t pid, struct links *links);
void images_links_each(struct images *im, images_links_fn *fn, void *ctx);
/* Detaches all probes, or hands them over to be closed later. */
void images_detach(struct images *im);

#endif
