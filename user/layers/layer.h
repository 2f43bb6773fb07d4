/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A layer (MPI, UCP …) has a table of functions that can be recorded, and turns the raw words of
 * its call records into named values for people and into roles for the model. One file a layer, ending in one const
 * struct layer; the registry is generated from the file names. Decoding works from the trace's own function table,
 * so that traces of other versions stay readable. How a layer's libraries are recognised: target/helper/library_kind.h.
 */
#ifndef POV_LAYERS_LAYER_H
#define POV_LAYERS_LAYER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "layers/post.h"

struct func_attrs;
struct func_word;
struct pov_call;
struct pov_fn;
struct pov_more;
struct pov_spin;
struct sig_role;
struct signature;

/* One row of a layer's table (user/layers/<layer>/<layer>.def), as text. */
struct func_row {
	const char *name, *group, *attrs, *sig;
};

enum func_setup { FUNC_NO_SETUP, FUNC_BEGINS, FUNC_ENDS };
/* Which ways bytes may go in a call of a function. In a collective, or with persistent requests, it is by the call: then both. */
#define MOVES_OUT 0x1
#define MOVES_IN 0x2

/* One row of the trace's function table. */
struct func_info {
	uint16_t id;
	const char *name;      /* "MPI_Send" */
	const char *group;     /* "p2p", "coll", … (user/layers/mpi/mpi.def) */
	bool waits;	       /* running inside it is polling */
	bool file_io;	       /* reads or writes files, or is about them: then it does not wait */
	bool polls;	       /* may find nothing and return at once; merged into spins */
	enum func_setup setup; /* brings the library up, or takes it down */
	uint8_t moves;	       /* MOVES_*, of the top layer's */
	/* as the trace has it, one text for all functions of a layer; "" if no table lists the function */
	const char *layer_name;
	const struct layer *layer; /* NULL if it is not known here */
	const void *priv;	   /* the layer's parsed signature */
};

enum value_kind {
	VALUE_INT,   /* i */
	VALUE_UINT,  /* u */
	VALUE_HEX,   /* u, shown as 0x… (handles, pointers) */
	VALUE_BOOL,  /* u */
	VALUE_US,    /* u: ns, shown as microseconds with three decimals */
	VALUE_TEXT,  /* text */
	VALUE_INTS,  /* ints[0..n-1], cnt of them truly (cnt > n: cut) */
	VALUE_HEXES, /* the same, shown as hex */
};

/* A named value of a call or, in a timeline, of anything that is shown. */
struct call_value {
	const char *name;
	enum value_kind kind;
	uint32_t n, cnt;
	union {
		int64_t i;
		uint64_t u;
		const char *text;
		const int64_t *ints;
	};
};

#define CALL_VALUES_MAX 40
#define BYTES_UNKNOWN INT64_MIN

/*
 * A request a call started, completed or freed. Null requests, and the one that a library shares out for
 * operations that are done when the call returns, are left out: they are never outstanding.
 */
enum request_event {
	REQUEST_NONE,
	REQUEST_START,
	REQUEST_INIT,	  /* persistent: made, not started */
	REQUEST_RESTART,  /* persistent: started */
	REQUEST_COMPLETE, /* a persistent one stays, and may be started again */
	REQUEST_FREE,
	REQUEST_CANCEL,	 /* tried to: it is completed or freed later */
	REQUEST_PENDING, /* a call that has not returned waits for it */
};
struct call_operation;
struct call_request {
	uint64_t handle; /* as the process sees it, before the call changed it */
	enum request_event event;
	/* RESTART, COMPLETE, FREE, CANCEL, PENDING: what was started on it (valid as long as the view), or NULL if that was not seen */
	const struct call_operation *op;
	/* by how much it changes the bytes that the process has in flight; what is not known counts 0 */
	int64_t in_flight_bytes;
	bool has_status;     /* it tells something: a receive's, or (bytes only) a file access's */
	int32_t source, tag; /* from the status, if has_status; mapped as in call_roles … */
	int32_t source_world, source_job;
	uint8_t source_why; /* … as are these */
	int32_t error;	    /* COMPLETE: 0, or an error code */
	/* START, INIT: what it is to move, both ways; COMPLETE: what arrived. BYTES_UNKNOWN if not known */
	int64_t bytes;
};

/*
 * What the model and the analyses read. Names and numbers as the process used them.
 *
 * Bytes are those of this rank's own buffers, its part to itself included: send_bytes what it hands over
 * in this call (nonblocking: what the call starts; persistent: what each start will), recv_bytes what it is
 * to get. Sends: count × size. Receives: what the status tells, else the capacity, count × size. To and from
 * MPI_PROC_NULL: 0. With n members:
 *	bcast		root sends count × size, the others receive it
 *	gather(v)	all send their buffer; the root receives n (Σ) counts × size; scatter(v) the reverse
 *	allgather(v)	sends its buffer once, receives n (Σ) counts × size
 *	alltoall(v,w)	n (Σ) counts × size each way
 *	reduce		all send count × size, the root receives as much; allreduce, scan: both
 *	reduce_scatter	sends Σ counts × size, receives its own part (unknown but for _block)
 *	neighbor_…	the same with neighbours for members; each way has its own number
 *	put, accumulate	sends origin count × size; get receives it; fetching ones do both
 *	files		a write sends, a read receives
 * In an intercommunicator n is the size of the other group. What cannot be known (a derived type nobody
 * saw made, rank or size of a communicator) is BYTES_UNKNOWN.
 */
#define MARK_TEXT_BYTES \
	(POV_MARK_NAME_BYTES + 4) /* of a name (abi/mark.h), a cut one with its "…" */
enum mark_event { MARK_NONE, MARK_BEGIN, MARK_END };
/* What a call means for a window, memory that others have access to. */
enum win_event {
	WIN_NONE,
	WIN_TOGETHER, /* all its members call it: it is made, fenced or freed */
	WIN_POST,
	WIN_START,
	WIN_COMPLETE,
	WIN_WAIT, /* or a test, if it is over by that */
	WIN_LOCK,
	WIN_UNLOCK,
	WIN_FLUSH,	 /* all accesses to the target are done there … */
	WIN_FLUSH_LOCAL, /* … or on this side */
	WIN_ACCESS,	 /* to the target's memory */
};
struct call_window {
	enum win_event event;
	uint32_t number; /* of the windows made of call_roles.comm_id, from 1; 0: not known which one it is */
	int32_t rank;	/* POST, START, LOCK: this process's in it; -1: not known */
	int32_t target; /* LOCK to ACCESS: a rank in it, PEER_ANY: all, or PEER_NULL */
	int32_t target_world,
		target_job; /* the same as call_roles has peers; -1: not known, or no single one */
	bool exclusive;	    /* LOCK */
	const int32_t *group; /* POST, START: ranks in it; NULL: not known */
	uint32_t ngroup;
};
/* A member of a communicator: its rank in MPI_COMM_WORLD, and the job of the trace (model_process.job_idx). */
struct call_member {
	int32_t job, rank;
};
/* What else is known of a call that has not returned. */
struct call_open {
	/* Members of its communicator, in order: of its own, or else of the first request's that it waits for. NULL: unknown */
	const struct call_member *member;
	uint32_t nmembers;
	const struct call_window *window; /* NULL: it is about none */
};
struct call_roles {
	int64_t send_bytes; /* handed over by this rank: count × size; BYTES_UNKNOWN; 0 if it sends nothing */
	int64_t recv_bytes; /* capacity of a receive, or what arrived if the status tells */
	bool sends, receives;
	bool has_peer, has_tag, has_root, has_comm;
	bool any_source;   /* a receive of what comes from any, whoever its status says it was */
	int32_t peer;	   /* destination, or source; library's wildcard values mapped to PEER_* */
	int32_t recv_peer; /* sendrecv's second leg */
	int32_t tag, recv_tag;
	int32_t root;
	/*
	 * The same as ranks in MPI_COMM_WORLD, and of which job of the trace (a number). A peer that is a wildcard or
	 * MPI_PROC_NULL, and one that is not known, is -1; of the latter *_why says the reason.
	 */
	int32_t peer_world, recv_peer_world, root_world;
	int32_t peer_job, recv_peer_job, root_job; /* model_process.job_idx */
	uint8_t peer_why, recv_peer_why, root_why; /* enum peer_unknown */
	uint64_t matched_ns; /* of a receive whose message a probe has matched: begin of the probe; else 0 */
	uint32_t comm_id;      /* the same for all its members, unique in the trace; 0: not known */
	int32_t comm_size;     /* members of it; -1: not known, or an intercommunicator */
	int32_t comm_all;      /* the same, of an intercommunicator those of both groups */
	bool comm_world;       /* it is the job's MPI_COMM_WORLD */
	bool threads_multiple; /* MPI_Init_thread has provided MPI_THREAD_MULTIPLE */
	uint64_t comm;	       /* handle */
	int32_t error;	       /* the call's return value */
	const char *error_name; /* of its class; static; NULL: not known, or there is none */
	bool poll_found;	/* for polls: it found something */
	enum mark_event mark;	/* a phase of the program begins or ends here */
	uint8_t mark_level;	/* < POV_MARK_LEVELS (abi/mark.h) */
	const char *mark_name;	/* BEGIN; < MARK_TEXT_BYTES; valid as long as the view */
	const struct call_window *window;    /* valid as long as the view; NULL: it is about none */
	const struct call_open *open;	     /* valid as long as the view; NULL: it has returned */
	const struct call_request *requests; /* valid as long as the view */
	uint32_t nrequests;
	bool requests_forgotten; /* there were too many, or calls are left out: nothing is in flight any more, for all that is known */
};
/* What a call set off that goes on after it, as that call described it; of persistent requests, the call that made them. */
struct call_operation {
	const struct func_info *func;
	uint64_t begin_ns,
		posted_ns;	 /* of the call that set it off: persistent, that started it last */
	uint32_t tid;		 /* of the thread that made that call */
	uint32_t place;		 /* among those that this call set off, from 0 */
	struct call_roles roles; /* without requests, mark and window */
};
/* Why the world rank of a peer is not known. */
enum peer_unknown {
	PEER_KNOWN = 0,
	PEER_UNKNOWN_COMM,     /* how its communicator was made was not recorded */
	PEER_UNKNOWN_MEMBERS,  /* not all ranks that made it together are in the trace */
	PEER_UNKNOWN_ORDER,    /* the library was free to reorder, and did not tell */
	PEER_UNKNOWN_OTHER,    /* of another job: connected, or not surely spawned */
	PEER_UNKNOWN_WORLD,    /* a process's own rank in MPI_COMM_WORLD is not known */
	PEER_UNKNOWN_ANY,      /* any source would do, and the program did not ask which it was */
	PEER_UNKNOWN_CONFLICT, /* what was recorded contradicts itself */
	PEER_UNKNOWN_CNT,
};
#define PEER_ANY (-1)
#define PEER_NULL (-2)
#define PEER_ROOT (-3)
#define TAG_ANY (-1)

/* A decoded call. Storage is owned by the decoder and valid until its next decode. */
struct call_view {
	bool roles_only; /* the caller's: values need not be made */
	/* in argument order, then derived ones (bytes, status …) */
	struct call_value values[CALL_VALUES_MAX];
	uint32_t nvalues;
	struct call_roles roles;
	/* what it handed over and learned of, in its order; valid as long as the view */
	const struct call_post *posts;
	uint32_t nposts;
};

/* A layer's decoder for one trace: keeps what earlier calls taught (datatype sizes, communicators). */
struct layer_decoder;

struct layer {
	const char *name; /* "mpi", … as --layers has it */

	/* ---- for recording ---- */
	const struct func_row *rows;
	size_t row_cnt;
	const struct sig_role *roles;  /* what the rows' signatures … */
	const struct func_word *words; /* … and attributes are made of, besides the common words */
	/* The kernel half's recipe of a function. 0, -EINVAL, -E2BIG (signature.h). */
	int (*recipe)(const struct signature *sig, const struct func_attrs *attrs,
		      struct pov_fn *out);
	/* The functions are the kernel's: programs of the kernel half are attached to them, no library is looked for. */
	bool in_kernel;

	/* What it posts goes through RDMA adapters: the trace is to say which there are (meta object "adapters"). */
	bool uses_adapters;

	/* ---- for reading ---- */
	/*
	 * A rank's time and messages are told by the calls of this layer: MPI's. Of other layers only the calls themselves
	 * are: what they move has been counted above them.
	 */
	bool is_top;
	/*
	 * Of the layers whose calls post (call_view.posts), the one with the highest number that posts to a carrier in a process counts:
	 * 1 UCP, PML; 2 UCT, libfabric, BTL; 3 verbs; 4 the kernel's calls. 0: it posts nothing.
	 */
	uint8_t nearness;
#define NEARNESS_COUNTS 2 /* at least: it knows the carrier, so that what it posts can be counted */
	/* Parses one row of the function table (meta block "function"). 0 or -EINVAL. */
	int (*func_parse)(const json_t *row, struct func_info *out);
	void (*func_release)(struct func_info *f);
	/*
	 * Meta objects "library", "process", "hosts" and "adapters" are fed in as they come; before them one that is in no trace:
	 * "jobs", whose array "names" are the launcher's names of the trace's jobs, by model_process.job_idx. Its array "spawned" has an
	 * object for each job that MPI_Comm_spawn has started, else null: size, from_ns and to_ns (its first and its last process
	 * began), root_job and root_rank (of the call; absent if unknown).
	 */
	struct layer_decoder *(*decoder_new)(void);
	void (*decoder_free)(struct layer_decoder *d);
	void (*decoder_meta)(struct layer_decoder *d, const json_t *meta); /* may be NULL */
	/* Keeps continuation data for the call that follows on the same thread; may be NULL. */
	void (*decoder_more)(struct layer_decoder *d, const struct pov_more *more);
	/* Calls of f are left out (model_lost.left_out): what they did to requests is not known. May be NULL. */
	void (*decoder_left_out)(struct layer_decoder *d, const struct func_info *f);
	/* Decodes one call, learns from it. Never fails: what is unknown is absent. */
	void (*decode)(struct layer_decoder *d, const struct func_info *f,
		       const struct pov_call *call, struct call_view *out);
	/* Names the handle in a spin's arg: "req", "comm" …; NULL if none. May be NULL. */
	const char *(*spin_arg_name)(const struct func_info *f);
};

extern const struct layer *const layers[]; /* generated; ends with NULL */

/* Whether a rank's time and messages are told by calls of this function (struct layer); so it is assumed of unknown ones. */
static inline bool func_is_top(const struct func_info *f)
{
	return f->layer ? f->layer->is_top : !*f->layer_name || !strcmp(f->layer_name, "mpi");
}

#endif
