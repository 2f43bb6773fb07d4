/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One process's use of one MPI library: the meaning of its handles. Predefined handles come from
 * the meta objects "library" and "process"; datatypes, communicators and requests are learned from
 * calls. All of that is forgotten when the process executes another image.
 */
#ifndef POV_LAYERS_MPI_MPI_PROCESS_H
#define POV_LAYERS_MPI_MPI_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "layers/mpi/mpi_comm.h"

/* ---- differences between implementations (mpi_flavour.c) ---- */

/*
 * Differences between MPI implementations in the numbers that a process uses: special values,
 * layout of a status, error classes. Sources: each implementation's mpi.h; the MPI standard's ABI.
 */

/* Numberings of error classes. */
enum mpi_errors { MPI_ERRORS_OPENMPI, MPI_ERRORS_MPICH, MPI_ERRORS_ABI, MPI_ERRORS_CNT };

#define MPI_LEVELS 4 /* levels of thread support */

struct mpi_status {
	int32_t source, tag, error;
	int64_t bytes;	/* BYTES_UNKNOWN if the layout does not have it */
	bool cancelled; /* false if the layout does not have it */
};

struct mpi_flavour_info {
	const char *name; /* name in the library's meta object */
	uint32_t handle_bytes, status_bytes;
	bool handles_are_addresses; /* handles are addresses of objects in the library's image */
	bool handles_are_standard;  /* predefined handles are the numbers of the standard's ABI */
	int32_t any_source, any_tag, proc_null, root, undefined, comm_type_shared;
	int32_t lock_exclusive;
	uint64_t in_place, request_null, type_null, comm_null;
	int32_t levels[MPI_LEVELS]; /* MPI_THREAD_SINGLE … */
	uint32_t error_mask;	    /* bits of a return value that hold its class; 0: unknown */
	int32_t err_in_status, err_pending;
	enum mpi_errors errors; /* numbering of its error classes */
	void (*status_decode)(const uint8_t *raw, struct mpi_status *out);
};

/*
 * Finds a flavour by name; never NULL: an unknown name gives "unknown", which has no special
 * values.
 */
const struct mpi_flavour_info *mpi_flavour_find(const char *name);

/* "MPI_ERR_TRUNCATE", or NULL. */
const char *mpi_flavour_error_name(const struct mpi_flavour_info *f, int32_t code);
/* "MPI_THREAD_MULTIPLE", or NULL. */
const char *mpi_flavour_level_name(const struct mpi_flavour_info *f, int32_t level);
/* Bytes of a predefined datatype, if its handle encodes them, or -1. */
int64_t mpi_flavour_type_bytes(const struct mpi_flavour_info *f, uint64_t handle);
/* True if the handle stands for a predefined object, shared by all who get it. */
bool mpi_flavour_is_builtin(const struct mpi_flavour_info *f, uint64_t handle);

/* ---- the process (mpi_process.c, mpi_processes.c) ---- */

struct mpi_processes; /* all processes of a trace */

struct mpi_type {
	int64_t bytes; /* bytes of one element, -1 unknown */
	char *text;    /* "vector(4, 2, 8) of MPI_INT", or NULL */
};

/* A process's knowledge of a communicator; -1 = unknown. */
struct mpi_known_comm {
	int32_t rank;	/* this process's rank in it */
	int32_t size;	/* members of the local group */
	int32_t remote; /* members of the remote group, if inter */
	int32_t indeg, outdeg;
	bool inter, is_world;
	struct mpi_communicator *whole; /* a reference; NULL: it is unknown how it was made */
	uint32_t joined;		/* number of calls on it that make communicators */
	uint32_t windows;		/* number of windows and files made of it */
	struct mpi_making *announced;	/* of the call in flight; a reference, or NULL */
	int32_t *dims;			/* of a Cartesian topology: ndims of them */
	uint32_t ndims;
};

/*
 * An operation that a call started on a handle. A completion is reported when it returns. By then,
 * the library may have freed the handle long before, and given it to another thread. So an
 * operation that a later start replaces is kept until its own completion has returned. A call can
 * only refer to operations started before it began.
 */
struct mpi_request {
	struct call_operation op;
	struct mpi_communicator *comm; /* communicator of its ranks: a reference, or NULL */
	bool receives;		       /* its status has source, tag and bytes */
	bool moves_file;	       /* its status has bytes */
	bool persistent, active;
	uint64_t since_ns; /* return of the call that made or started it */
	struct mpi_request *older;
};

/* Origin of a window, of a file, or of a message that a probe has matched. */
struct mpi_origin {
	struct mpi_communicator *comm; /* a reference; NULL: unknown */
	/* index of the window or file, from 1, among those of the communicator */
	uint32_t number;
	uint64_t probed_ns; /* start of the probe */
	/* as in call_roles: PEER_ANY, TAG_ANY if the probe does not report them */
	int32_t source, tag;
	/* return of the call that made it; handles are reused soon, see struct mpi_request */
	uint64_t since_ns;
	struct mpi_origin *older;
};

struct mpi_process {
	const struct mpi_flavour_info *flavour;
	struct mpi_comms *trace_comms; /* communicators of all processes; not owned */
	int32_t job;		       /* number of the job in the trace */
	uint32_t host;
	bool one_clock;	     /* times of all ranks can be compared */
	bool contexts_agree; /* all members of a communicator use the same context id for it */
	uint32_t handle_bytes, status_bytes;
	int32_t world_rank, world_size; /* -1 unknown */
	uint64_t request_null, type_null, comm_null;
	uint64_t request_empty;	  /* Open MPI: the request of operations that complete at once */
	struct map named;	  /* handle -> struct mpi_predefined */
	struct map types;	  /* handle -> struct mpi_type */
	struct map comms;	  /* handle -> struct mpi_known_comm */
	struct map groups;	  /* handle -> struct mpi_group, references */
	struct map origins;	  /* mpi_origin_key() -> struct mpi_origin */
	struct map requests;	  /* handle -> struct mpi_request, newest first */
	size_t nrequests;	  /* number of requests, including replaced ones */
	uint64_t left_out;	  /* left_out of the last mpi_process_trim */
	struct mpi_request *over; /* forgotten, but still used by the current view */
	struct mpi_type *doomed;  /* forgotten, but its text is still used by the current view */
};

struct mpi_predefined {
	const char *name; /* owned by the library's meta object */
	int64_t bytes;	  /* datatypes, else -1 */
};

/* For mpi_processes.c, which owns the processes. */
void mpi_process_init(struct mpi_process *s, const struct mpi_flavour_info *flavour);
void mpi_process_release(struct mpi_process *s);

struct mpi_processes *mpi_processes_new(void);
void mpi_processes_free(struct mpi_processes *s);
/* Takes in a meta object; ignores types other than "library", "process", "jobs" and "hosts". */
void mpi_processes_meta(struct mpi_processes *s, const json_t *meta);
/*
 * Returns what is known of a process's use of a library. Never NULL: for an unknown library or
 * process, nothing is known. Valid until the next call.
 */
struct mpi_process *mpi_processes_get(struct mpi_processes *s, uint32_t pid, uint16_t lib,
				      uint64_t ts_ns);

const char *mpi_process_name(const struct mpi_process *s,
			     uint64_t handle); /* predefined, or NULL */

/* Bytes of one element, or -1. */
int64_t mpi_process_type_bytes(const struct mpi_process *s, uint64_t handle);
/* A predefined name or the text that was learned, or NULL. */
const char *mpi_process_type_text(const struct mpi_process *s, uint64_t handle);
/* Learns a type, replacing an older one. text: owned by the process from here on; may be NULL. */
void mpi_process_type_set(struct mpi_process *s, uint64_t handle, int64_t bytes, char *text);
void mpi_process_type_forget(struct mpi_process *s, uint64_t handle);

/* The process itself. */
struct mpi_member mpi_process_self(const struct mpi_process *s);
/* The process's knowledge of a communicator; added if missing. */
struct mpi_known_comm *mpi_process_comm(struct mpi_process *s, uint64_t handle);
/* As mpi_process_comm, after forgetting all that was known. */
struct mpi_known_comm *mpi_process_comm_renew(struct mpi_process *s, uint64_t handle);
void mpi_process_comm_forget(struct mpi_process *s, uint64_t handle);
/* The process's job, its rank there and the number of processes have become known. */
void mpi_process_world_set(struct mpi_process *s, int32_t job, int32_t rank, int32_t size);

/* NULL if unknown; not a reference. */
struct mpi_group *mpi_process_group(struct mpi_process *s, uint64_t handle);
/* Takes over the reference; NULL forgets. */
void mpi_process_group_set(struct mpi_process *s, uint64_t handle, struct mpi_group *g);
/* The object that a call that began at begin_ns refers to by its key. NULL if unknown. */
const struct mpi_origin *mpi_process_origin(const struct mpi_process *s, uint64_t key,
					    uint64_t begin_ns);
/* Takes over the reference. */
void mpi_process_origin_set(struct mpi_process *s, uint64_t key, struct mpi_origin o);
void mpi_process_origin_forget(struct mpi_process *s, uint64_t key, uint64_t begin_ns);
/*
 * Runs before a call is decoded. Releases what has been forgotten. Forgets more if too much is
 * stored, or if more calls have been left out (left_out: how often so far). Returns true if
 * requests were forgotten.
 */
bool mpi_process_trim(struct mpi_process *s, uint64_t left_out);

/*
 * Takes over the reference to r->comm. Calls must come in the order in which they return. An
 * operation that was active on the handle ends; returns its bytes that were in flight.
 */
int64_t mpi_process_request_add(struct mpi_process *s, uint64_t handle,
				const struct mpi_request *r);
/* Bytes of a request in flight, sent and received, as far as they are known. */
int64_t mpi_request_in_flight(const struct mpi_request *r);
/*
 * True for the handle that the library uses for all operations that are done when the call returns.
 * It is never outstanding and identifies no particular operation.
 */
bool mpi_process_request_is_shared(const struct mpi_process *s, uint64_t handle);
/* The request that a call that began at begin_ns refers to. NULL if its start was not seen. */
struct mpi_request *mpi_process_request(const struct mpi_process *s, uint64_t handle,
					uint64_t begin_ns);
void mpi_process_request_forget(struct mpi_process *s, uint64_t handle, uint64_t begin_ns);

#endif
