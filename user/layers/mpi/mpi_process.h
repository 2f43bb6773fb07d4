/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One process's use of one MPI library: what its handles mean. Predefined handles come from the meta
 * objects "library" and "process"; datatypes, communicators and requests are learned from calls. When
 * the process executes another image, all that is forgotten.
 */
#ifndef POV_LAYERS_MPI_MPI_PROCESS_H
#define POV_LAYERS_MPI_MPI_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"
#include "layers/mpi/mpi_comm.h"
#include "layers/mpi/mpi_flavour.h"

struct mpi_processes; /* all of a trace */

struct mpi_type {
	int64_t bytes; /* of one element, -1 unknown */
	char *text;    /* "vector(4, 2, 8) of MPI_INT", or NULL */
};

/* What the process knows of a communicator. */
struct mpi_known_comm {	    /* -1 = not known */
	int32_t rank, size; /* of this process; members of the local group */
	int32_t remote;	    /* members of the remote group, if inter */
	int32_t indeg, outdeg;
	bool inter, is_world;
	struct mpi_communicator *whole; /* a reference; NULL: how it was made is not known */
	uint32_t joined;		/* calls on it that make communicators */
	uint32_t windows;		/* that were made of it */
	struct mpi_making *announced;	/* of the one under way; a reference, or NULL */
	int32_t *dims;			/* of a Cartesian topology: ndims of them */
	uint32_t ndims;
};

/*
 * What a call started on a handle. A completion tells of it when it returns; the library may have freed the
 * handle long before, and given it to another thread. So what a later start replaced is kept until its own
 * completion has returned, too: a call can only mean what was started before it began.
 */
struct mpi_request {
	struct call_operation op;
	struct mpi_communicator *comm; /* that its ranks are of: a reference, or NULL */
	bool receives;		       /* its status tells source, tag and bytes */
	bool moves_file;	       /* its status tells bytes */
	bool persistent, active;
	uint64_t since_ns; /* the call that made or started it had returned */
	struct mpi_request *older;
};

/* What a window was made of, or where a message comes from that a probe has matched. */
struct mpi_origin {
	struct mpi_communicator *comm; /* a reference; NULL: not known */
	uint32_t number;	       /* of the communicator's windows, from 1 */
	uint64_t probed_ns;	       /* begin of the probe */
	int32_t source, tag; /* as in call_roles: PEER_ANY, TAG_ANY if the probe does not tell */
	uint64_t since_ns; /* the call that made it had returned: as of struct mpi_request, of which handles are used again as soon */
	struct mpi_origin *older;
};

struct mpi_process {
	const struct mpi_flavour_info *flavour;
	struct mpi_comms *trace_comms; /* of all processes; not owned */
	int32_t job;		       /* of the trace's */
	uint32_t host;
	bool one_clock;	     /* times of all ranks can be compared */
	bool contexts_agree; /* all members of a communicator have the same context id for it */
	uint32_t handle_bytes, status_bytes;
	int32_t world_rank, world_size; /* -1 unknown */
	uint64_t request_null, type_null, comm_null;
	uint64_t request_empty;	  /* Open MPI: what operations that are done at once return */
	struct map named;	  /* handle -> struct mpi_predefined */
	struct map types;	  /* handle -> struct mpi_type */
	struct map comms;	  /* handle -> struct mpi_known_comm */
	struct map groups;	  /* handle -> struct mpi_group, references */
	struct map origins;	  /* of windows and messages: handle -> struct mpi_origin */
	struct map requests;	  /* handle -> struct mpi_request, newest first */
	size_t nrequests;	  /* those replaced included */
	uint64_t left_out;	  /* as of mpi_process_trim, the last time */
	struct mpi_request *over; /* forgotten, but still in the current view */
	struct mpi_type *doomed;  /* forgotten, but its text is still in the current view */
};

struct mpi_predefined {
	const char *name; /* owned by the library's meta object */
	int64_t bytes;	  /* datatypes, else -1 */
};

/* For mpi_processes.c, which keeps them. */
void mpi_process_init(struct mpi_process *s, const struct mpi_flavour_info *flavour);
void mpi_process_release(struct mpi_process *s);

struct mpi_processes *mpi_processes_new(void);
void mpi_processes_free(struct mpi_processes *s);
/* Takes a meta object in; of other types than "library", "process", "jobs" and "hosts" it takes no notice. */
void mpi_processes_meta(struct mpi_processes *s, const json_t *meta);
/* Never NULL: of an unknown library or process, one of which nothing is known. Valid until the next call. */
struct mpi_process *mpi_processes_get(struct mpi_processes *s, uint32_t pid, uint16_t lib,
				      uint64_t ts_ns);

const char *mpi_process_name(const struct mpi_process *s,
			     uint64_t handle); /* predefined, or NULL */

/* Bytes of one element, or -1. */
int64_t mpi_process_type_bytes(const struct mpi_process *s, uint64_t handle);
/* A predefined name or what was learned, or NULL. */
const char *mpi_process_type_text(const struct mpi_process *s, uint64_t handle);
/* Learns a type (text: owned by the process from here on, may be NULL), replacing what was known. */
void mpi_process_type_set(struct mpi_process *s, uint64_t handle, int64_t bytes, char *text);
void mpi_process_type_forget(struct mpi_process *s, uint64_t handle);

/* The process itself. */
struct mpi_member mpi_process_self(const struct mpi_process *s);
/* What is known of a communicator; made if need be. */
struct mpi_known_comm *mpi_process_comm(struct mpi_process *s, uint64_t handle);
/* Forgets, and knows nothing of it. */
struct mpi_known_comm *mpi_process_comm_renew(struct mpi_process *s, uint64_t handle);
void mpi_process_comm_forget(struct mpi_process *s, uint64_t handle);
/* The process's job, its rank there and the number of processes have become known. */
void mpi_process_world_set(struct mpi_process *s, int32_t job, int32_t rank, int32_t size);

/* NULL if it is not known; not a reference. */
struct mpi_group *mpi_process_group(struct mpi_process *s, uint64_t handle);
/* Takes over the reference; NULL forgets. */
void mpi_process_group_set(struct mpi_process *s, uint64_t handle, struct mpi_group *g);
/* What a call that began at begin_ns means by the handle. NULL if it is not known. */
const struct mpi_origin *mpi_process_origin(const struct mpi_process *s, uint64_t handle,
					    uint64_t begin_ns);
/* Takes over the reference. */
void mpi_process_origin_set(struct mpi_process *s, uint64_t handle, struct mpi_origin o);
void mpi_process_origin_forget(struct mpi_process *s, uint64_t handle, uint64_t begin_ns);
/*
 * Before a call is decoded: forgets what has been forgotten, and more if too much is known, or calls have been left out since (left_out:
 * how often). Whether requests are among that.
 */
bool mpi_process_trim(struct mpi_process *s, uint64_t left_out);

/*
 * Takes over the reference to r->comm. Calls must come in the order in which they return. What was active on the handle goes on
 * no longer: how many bytes of it were in flight is returned.
 */
int64_t mpi_process_request_add(struct mpi_process *s, uint64_t handle,
				const struct mpi_request *r);
/* Bytes of it that are on their way, both ways, as far as they are known. */
int64_t mpi_request_in_flight(const struct mpi_request *r);
/*
 * The handle is one that the library gives to everything that is done when the call returns: it is never
 * outstanding, and tells nothing of a particular operation.
 */
bool mpi_process_request_is_shared(const struct mpi_process *s, uint64_t handle);
/* What a call that began at begin_ns means by the handle. NULL if that was not seen to start. */
struct mpi_request *mpi_process_request(const struct mpi_process *s, uint64_t handle,
					uint64_t begin_ns);
void mpi_process_request_forget(struct mpi_process *s, uint64_t handle, uint64_t begin_ns);

#endif
