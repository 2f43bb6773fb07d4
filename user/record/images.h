/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows the files that targets map and execute, and the targets' identities. Acts on control
 * events of the kernel half. Passes unknown files to the helper process, and releases the processes
 * that wait for them when the helper has answered. Describes each process that maps an MPI library
 * in the trace.
 */
#ifndef POV_RECORD_IMAGES_H
#define POV_RECORD_IMAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "target/code_file.h"

struct images;
struct kernel;
struct launch_plan;
struct library;
struct links;
struct pov_hdr;
struct trace_writer;

/* The functions to probe, and how. */
struct images_wanted {
	const bool *function; /* by row of the function table */
	/* by row; true: this function's probes may have to be detached. NULL: none */
	const bool *removable;
	const char *const *region; /* names of region_cnt functions */
	size_t region_cnt;
	/*
	 * true: probes are in all processes, recorded or not. false: each recorded process gets its
	 * own
	 */
	bool machine_wide;
	/* with machine_wide: probes that make processes wait are in all loaders and C libraries */
	bool waits_wide;
	/*
	 * processes wait by themselves until all files that they have mapped are inspected
	 * (user/preload/)
	 */
	bool waits;
	bool preload; /* processes record their own MPI calls: these functions get no probes */
	/* Stores the IMAGE records that images_scan makes. */
	void (*record)(void *ctx, const struct pov_hdr *rec);
	void *ctx;
};

/* Borrows all three arguments, and starts the helper. 0 or -errno (printed). */
int images_new(struct kernel *k, const struct images_wanted *wanted, struct trace_writer *w,
	       struct images **out);
void images_free(struct images *im);

/* Acts on one record of the control ring. The caller stores the record itself. */
void images_control(struct images *im, const struct pov_hdr *rec);
/* Processes the helper's replies. Never waits. */
void images_poll(struct images *im);
int images_fd(const struct images *im); /* readable when a reply has arrived */
/* Returns the CPU time that the helper processes have used so far. */
uint64_t images_helper_cpu_ns(const struct images *im);
bool images_settled(const struct images *im); /* true if the helper has answered every request */
/* Call this if another recorder, and not this one, records a process's calls. */
void images_taken(struct images *im, pid_t pid);
/* Returns the number of libraries in processes that should be recorded but have no probes. */
uint64_t images_unprobed(const struct images *im);
/* Call this if a process with an MPI library gets no probes. */
void images_unprobed_note(struct images *im);

/*
 * Has the helper inspect all files that a command will probably load. plan NULL: there is no
 * command; it inspects the system's MPI libraries.
 */
void images_predict(struct images *im, const struct launch_plan *plan);
/*
 * Call these before and after images_scan of the processes that are targets at the start. targets
 * is their number.
 */
void images_scan_begin(struct images *im, size_t targets);
void images_scan_end(struct images *im);
/*
 * Handles a process that is already running: inspects all files that it maps, describes it if it
 * uses MPI, and writes IMAGE records for its mappings. Returns when this is done, within the
 * helper's time limits. 1 if the process uses MPI, 0 if not, or -errno.
 */
int images_scan(struct images *im, pid_t pid);

/*
 * Attaches probes for functions of a library that a process cannot record itself, by row of the
 * function table. Returns the number of those that were not requested before, at once; see
 * images_answered.
 */
size_t images_probe_rows(struct images *im, pid_t pid, const struct library *lib,
			 const uint16_t *row, size_t cnt);

/*
 * A process is about to execute a program that does not wait by itself (user/preload/exec.c). Has
 * the program inspected and its loader probed. Returns at once; see images_answered.
 */
void images_program(struct images *im, pid_t pid, const char *path);

uint32_t
images_rank_count(const struct images *im); /* processes that have initialised MPI so far */
/*
 * Reads the ranks' CPU and memory limits again if they are at least age_ns old; images_limits_write
 * writes what was read last (cgroup_limits.h).
 */
void images_limits_read(struct images *im, uint64_t age_ns);
void images_limits_write(const struct images *im);
/* World rank of a process, also of one that has ended; -1 if unknown. */
int images_rank_of(const struct images *im, pid_t pid);
uint32_t images_library_count(const struct images *im);
/* Returns a library's meta object "library", which images owns. i < images_library_count. */
const json_t *images_library_meta(const struct images *im, uint32_t i);
bool images_have_region(const struct images *im, const char *name); /* true if any file has it */
/* Returns the number of probes attached in all libraries. */
uint64_t images_probe_count(const struct images *im);
/* Returns true if a process has no open question: all files that it has mapped are inspected. */
bool images_answered(const struct images *im, pid_t pid);
/* Calls fn for each traced library of a process, of all layers. */
void images_libraries(const struct images *im, pid_t pid, library_place_fn *fn, void *ctx);
/* Like bindings_get. */
void images_bindings(const struct images *im, pid_t pid, struct pov_bindings *out,
		     struct pov_step *step);
/*
 * Calls fn for the probes of each library: those that serve all processes, and those of each
 * process.
 */
typedef void images_links_fn(void *ctx, struct links *links);
void images_links_each(struct images *im, images_links_fn *fn, void *ctx);
/* Detaches the functions with gone[row]. The caller keeps it until the next call or images_free. */
void images_detach_functions(struct images *im, const bool *gone);
/* Detaches all probes, or hands them over for a later close. */
void images_detach(struct images *im);

#endif
