/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What targets map, and who they are: acts on the kernel half's control events. A file not seen before is
 * looked at while its process is stopped; a process that maps an MPI library is described in the trace.
 */
#ifndef POV_COLLECT_IMAGES_H
#define POV_COLLECT_IMAGES_H

#include <stdint.h>
#include <sys/types.h>

struct images;
struct kernel;
struct library_set;
struct pov_hdr;
struct trace_writer;

/* Borrows all three. */
struct images *images_new(struct kernel *k, struct library_set *libs, struct trace_writer *w);
void images_free(struct images *im);

/* Acts on one record of the control ring; the record itself is the caller's to store. */
void images_control(struct images *im, const struct pov_hdr *rec);
/*
 * A process that runs already: looks at all it maps, describes it if it uses MPI, and writes IMAGE records for
 * its mappings. 1 if it uses MPI, 0 if not, -errno.
 */
int images_scan(struct images *im, pid_t pid);
/* Lets go whatever has been stopped since before a time; never needed, unless a signal was lost. */
void images_release_old(struct images *im, uint64_t before_ns);
/* Processes that use an MPI library so far. */
uint32_t images_rank_count(const struct images *im);
/* World rank of a process, also of one that has ended; -1 if unknown. */
int images_rank_of(const struct images *im, pid_t pid);

#endif
