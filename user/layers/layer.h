/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A layer (MPI, UCP, …) has a table of functions that can be recorded. It turns the raw words of
 * its call records into named values for people and into roles for the model. There is one file per
 * layer, ending in one const struct layer; the registry is generated from the file names. Decoding
 * uses the trace's own function table, so that traces of other versions stay readable.
 * target/helper/library_kind.h describes how a layer's libraries are recognised.
 */
#ifndef POV_LAYERS_LAYER_H
#define POV_LAYERS_LAYER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "layers/post.h"

struct call_parts;
struct func_attrs;
struct func_word;
struct pov_call;
struct pov_fn;
struct pov_more;
struct sig_role;
struct signature;

/* One row of a layer's table (user/layers/<layer>/<layer>.def), as text. */
struct func_row {
	const char *name, *group, *attrs, *sig;
	bool large; /* its poly arguments are wide */
};

enum func_setup { FUNC_NO_SETUP, FUNC_BEGINS, FUNC_ENDS };
/*
 * Directions in which calls of a function may move bytes. Both are set if that depends on the call,
 * as in collectives and with persistent requests.
 */
#define MOVES_OUT 0x1
#define MOVES_IN 0x2

/* Groups of functions (layers/mpi/mpi.def) as bits, for questions about sets of them. */
enum func_group {
	GROUP_P2P = 1 << 0,
	GROUP_PART = 1 << 1,
	GROUP_REQ = 1 << 2,
	GROUP_COLL = 1 << 3,
	GROUP_NEIGH = 1 << 4,
	GROUP_RMA = 1 << 5,
	GROUP_IO = 1 << 6,
	GROUP_COMM = 1 << 7,
	GROUP_TOPO = 1 << 8,
	GROUP_INIT = 1 << 9,
	GROUP_EXT = 1 << 10,
	GROUP_GROUP = 1 << 11,
	GROUP_ATTR = 1 << 12,
	GROUP_INFO = 1 << 13,
	GROUP_OP = 1 << 14,
	GROUP_TYPE = 1 << 15,
};
/* The bit of a group's name; 0: it has none. */
uint32_t func_group_bit(const char *name);

/* One row of the trace's function table. */
struct func_info {
	uint16_t id;
	const char *name;      /* "MPI_Send" */
	const char *group;     /* "p2p", "coll", … (user/layers/mpi/mpi.def) */
	uint32_t group_bit;    /* GROUP_* of the group */
	bool waits;	       /* time on a CPU in it is polling */
	bool file_io;	       /* concerns files: then it does not wait */
	bool polls;	       /* may find nothing and return at once; merged into spins */
	enum func_setup setup; /* initialises or finalises the library */
	uint8_t moves;	       /* MOVES_*; for functions of the top layer */
	/*
	 * name in the trace, one text for all functions of a layer; "" if no table lists the
	 * function
	 */
	const char *layer_name;
	const struct layer *layer; /* NULL if this version does not know the layer */
	const void *priv;	   /* the layer's parsed signature */
};

enum value_kind {
	VALUE_INT,   /* i */
	VALUE_UINT,  /* u */
	VALUE_HEX,   /* u, shown as 0x… (handles, pointers) */
	VALUE_BOOL,  /* u */
	VALUE_US,    /* u: ns, shown as microseconds with three decimals */
	VALUE_TEXT,  /* text */
	VALUE_INTS,  /* ints[0..n-1]; the true number is cnt (cnt > n: truncated) */
	VALUE_HEXES, /* as VALUE_INTS, shown as hex */
};

/* A named value of a call; in a timeline, of anything that is shown. */
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
 * A request that a call started, completed or freed. Two kinds are left out, as they are never
 * outstanding: null requests, and the one that a library shares among operations that are done when
 * the call returns.
 */
enum request_event {
	REQUEST_NONE,
	REQUEST_START,
	REQUEST_INIT,	  /* persistent: made, not started */
	REQUEST_RESTART,  /* persistent: started */
	REQUEST_COMPLETE, /* completed; a persistent one stays and may be started again */
	REQUEST_FREE,
	REQUEST_CANCEL,	 /* cancellation was attempted; it is completed or freed later */
	REQUEST_PENDING, /* a call that has not returned waits for it */
};
struct call_operation;
struct call_request {
	uint64_t handle; /* as the process sees it, before the call changed it */
	enum request_event event;
	/*
	 * RESTART, COMPLETE, FREE, CANCEL, PENDING: the operation started on it (valid as long as
	 * the view), or NULL if its start was not seen
	 */
	const struct call_operation *op;
	/* change of the bytes that the process has in flight; an unknown part counts 0 */
	int64_t in_flight_bytes;
	bool has_status; /* the status is valid: of a receive, or (bytes only) of a file access */
	int32_t source;	 /* has_status: source, mapped as in call_roles */
	int32_t tag;	 /* has_status: tag, mapped as in call_roles */
	int32_t source_world; /* has_status: see call_roles.peer_world */
	int32_t source_job;   /* has_status: see call_roles.peer_job */
	uint8_t source_why;   /* has_status: see call_roles.peer_why */
	int32_t error;	      /* COMPLETE: 0, or an error code */
	/*
	 * START, INIT: bytes to be moved in both directions; COMPLETE: bytes that arrived; or
	 * BYTES_UNKNOWN
	 */
	int64_t bytes;
};

/* room for a name (abi/mark.h), including the "…" of a truncated one */
#define MARK_TEXT_BYTES (POV_MARK_NAME_BYTES + 4)
enum mark_event { MARK_NONE, MARK_BEGIN, MARK_END };
/* Effect of a call on a window, memory that other processes can access; or on a file. */
enum win_event {
	WIN_NONE,
	WIN_TOGETHER, /* collective: a window is made, fenced or freed; or all use a file */
	WIN_POST,
	WIN_START,
	WIN_COMPLETE,
	WIN_WAIT, /* also a test that ends the epoch */
	WIN_LOCK,
	WIN_UNLOCK,
	WIN_FLUSH,	 /* completes all accesses to the target, at both sides */
	WIN_FLUSH_LOCAL, /* completes all accesses to the target, at this side */
	WIN_ACCESS,	 /* access to the target's memory */
};
struct call_window {
	enum win_event event;
	/* index, from 1, among windows and files of call_roles.comm_id; 0: unknown */
	uint32_t number;
	int32_t rank;	      /* POST, START, LOCK: this process's rank in it; -1: unknown */
	int32_t target;	      /* LOCK to ACCESS: rank in the window; PEER_ANY: all; or PEER_NULL */
	int32_t target_world; /* see call_roles.peer_world; -1: unknown, or not a single one */
	int32_t target_job;   /* see call_roles.peer_job; -1: unknown, or not a single one */
	bool exclusive;	      /* LOCK */
	const int32_t *group; /* POST, START: ranks in the window; NULL: unknown */
	uint32_t ngroup;
};
/* A member of a communicator: its rank in MPI_COMM_WORLD, and its job (model_process.job_idx). */
struct call_member {
	int32_t job, rank;
};
/* Further data on a call that has not returned. */
struct call_open {
	/*
	 * Members, in order, of the call's communicator. A call without one uses the communicator
	 * of the first request it waits for. NULL: unknown.
	 */
	const struct call_member *member;
	uint32_t nmembers;
	const struct call_window *window; /* NULL: the call concerns no window */
};
/*
 * Roles are what the model and the analyses read. Names and numbers are those that the process
 * used.
 *
 * Bytes are those of this rank's own buffers, including its part to itself. send_bytes: bytes
 * passed in this call (nonblocking: those that it starts; persistent: those of each start).
 * recv_bytes: bytes to be received. Sends: count × size. Receives: from the status if there is one,
 * else the capacity, count × size. To and from MPI_PROC_NULL: 0. With n members:
 *
 *	bcast		root sends count × size, the others receive it
 *	gather(v)	all send their buffer; the root receives n (Σ) counts × size
 *	scatter(v)	the reverse of gather(v)
 *	allgather(v)	sends its buffer once, receives n (Σ) counts × size
 *	alltoall(v,w)	n (Σ) counts × size each way
 *	reduce		all send count × size, the root receives as much; allreduce, scan: both
 *	reduce_scatter	sends Σ counts × size, receives its own part (unknown but for _block)
 *	neighbor_…	the same with neighbours for members; each way has its own number
 *	put, accumulate	sends origin count × size; get receives it; fetching ones do both
 *	files		a write sends, a read receives
 *
 * In an intercommunicator, n is the size of the other group. BYTES_UNKNOWN stands for what cannot
 * be known: a derived type whose making was not seen, or an unknown rank or size.
 */
struct call_roles {
	/* bytes sent by this rank: count × size; BYTES_UNKNOWN; 0: it sends nothing */
	int64_t send_bytes;
	/* capacity of a receive, or the bytes that arrived if a status gives them */
	int64_t recv_bytes;
	bool sends, receives;
	bool has_peer, has_tag, has_root, has_comm;
	bool any_source;   /* a receive from any source, even if its status names the sender */
	int32_t peer;	   /* destination or source; the library's wildcards are mapped to PEER_* */
	int32_t recv_peer; /* source of a sendrecv */
	int32_t tag, recv_tag;
	int32_t root;
	/*
	 * Ranks of peer, recv_peer and root in MPI_COMM_WORLD. -1: a wildcard, MPI_PROC_NULL, or
	 * unknown. For an unknown one, *_why has the reason.
	 */
	int32_t peer_world, recv_peer_world, root_world;
	int32_t peer_job, recv_peer_job, root_job; /* job of that rank: model_process.job_idx */
	uint8_t peer_why, recv_peer_why, root_why; /* enum peer_unknown */
	/* receive of a message that a probe matched: start of the probe; else 0 */
	uint64_t matched_ns;
	uint32_t comm_id;  /* equal for all its members, unique in the trace; 0: unknown */
	int32_t comm_size; /* number of members; -1: unknown, or an intercommunicator */
	/* number of members, of both groups in an intercommunicator; -1: unknown */
	int32_t comm_all;
	bool comm_world;	/* it is the job's MPI_COMM_WORLD */
	bool threads_multiple;	/* MPI_Init_thread has provided MPI_THREAD_MULTIPLE */
	uint64_t comm;		/* handle */
	int32_t error;		/* the call's return value */
	const char *error_name; /* name of the error's class; static; NULL: unknown, or no error */
	bool poll_found;	/* polls: it found something */
	enum mark_event mark;	/* a phase of the program begins or ends here */
	uint8_t mark_level;	/* < POV_MARK_LEVELS (abi/mark.h) */
	const char *mark_name;	/* BEGIN; < MARK_TEXT_BYTES; valid as long as the view */
	/* valid as long as the view; NULL: it concerns no window */
	const struct call_window *window;
	const struct call_open *open; /* valid as long as the view; NULL: the call has returned */
	const struct call_request *requests; /* valid as long as the view */
	uint32_t nrequests;
	/*
	 * The process's table of requests was emptied before this call, because it was full or
	 * calls are left out. No earlier request is known to be in flight.
	 */
	bool requests_forgotten;
};
/*
 * An operation that a call started, and that continues after the call has returned. Members
 * describe it by the arguments of that call; for a persistent request, by those of the call that
 * made it.
 */
struct call_operation {
	const struct func_info *func;
	uint64_t begin_ns;  /* start of the call; persistent: of the last one that started it */
	uint64_t posted_ns; /* return of that call */
	uint32_t tid;	    /* thread that made that call */
	uint32_t place;	    /* index among the operations that this call started */
	struct call_roles roles; /* without requests, mark and window */
};
/* Reasons why the world rank of a peer is unknown. */
enum peer_unknown {
	PEER_KNOWN = 0,
	PEER_UNKNOWN_COMM,    /* it was not recorded how its communicator was made */
	PEER_UNKNOWN_MEMBERS, /* not all ranks that made the communicator are in the trace */
	PEER_UNKNOWN_ORDER,   /* the library may have reordered ranks, and did not report how */
	PEER_UNKNOWN_OTHER,   /* a rank of another job: connected, or not certainly spawned */
	PEER_UNKNOWN_WORLD,   /* a process's own rank in MPI_COMM_WORLD is unknown */
	/* any source was allowed, and the program did not ask for the actual one */
	PEER_UNKNOWN_ANY,
	PEER_UNKNOWN_CONFLICT, /* the recorded calls contradict each other */
	PEER_UNKNOWN_CNT,
};
#define PEER_ANY (-1)
#define PEER_NULL (-2)
#define PEER_ROOT (-3)
#define TAG_ANY (-1)

/* A decoded call. Storage is owned by the decoder and valid until its next decode. */
struct call_view {
	bool roles_only; /* set by the caller: values need not be made */
	/* in argument order, followed by derived ones (bytes, status, …) */
	struct call_value values[CALL_VALUES_MAX];
	uint32_t nvalues;
	struct call_roles roles;
	/* data passed and completions learned of, in the call's order; valid as long as the view */
	const struct call_post *posts;
	uint32_t nposts;
};

/*
 * A layer's decoder for one trace. It remembers what earlier calls revealed (datatype sizes,
 * communicators).
 */
struct layer_decoder;

struct layer {
	const char *name; /* "mpi", …; as in --layers */

	/* ---- for recording ---- */
	const struct func_row *rows;
	size_t row_cnt;
	const struct sig_role *roles;  /* roles in the rows' signatures */
	const struct func_word *words; /* the layer's own words in the rows' attributes */
	/* Completes what recipe_init has made. 0, -EINVAL, -E2BIG (signature.h). */
	int (*recipe)(const struct signature *sig, const struct func_attrs *attrs,
		      struct pov_fn *fn);
	/*
	 * Functions are the kernel's: programs of the kernel half are attached to them, and no
	 * library is searched.
	 */
	bool in_kernel;

	/* It posts to RDMA adapters: the trace lists those of the host (meta object "adapters"). */
	bool uses_adapters;

	/* ---- for reading ---- */
	/*
	 * MPI's layer. Its calls define a rank's time and messages. For other layers only the calls
	 * themselves are reported: their data have been counted above them.
	 */
	bool is_top;
	/*
	 * Distance from the program: 1 UCP, PML; 2 UCT, libfabric, BTL; 3 verbs; 4 the kernel's
	 * calls. 0: it posts nothing. If several layers post to one carrier in a process
	 * (call_view.posts), the one with the highest number counts.
	 */
	uint8_t nearness;
/* layers from this nearness on know the carrier, so their posts can be counted */
#define NEARNESS_COUNTS 2
	/*
	 * Size of a function's private part, which begins with struct func_common (signature.h); 0:
	 * it has nothing more.
	 */
	size_t func_bytes;
	/* Completes a function whose row has been parsed; priv is its private part. May be NULL. */
	void (*func_init)(const json_t *row, void *priv, struct func_info *out);
	/*
	 * Size of its decoder, which begins with struct layer_decoder (call_parts.h); 0: it has
	 * nothing more.
	 */
	size_t decoder_bytes;
	void (*decoder_init)(struct layer_decoder *d); /* d is zeroed; may be NULL */
	/* releases its own members; may be NULL */
	void (*decoder_release)(struct layer_decoder *d);
	bool has_more; /* its calls may have continuation records */
	/*
	 * Meta objects "library", "process", "hosts" and "adapters" are passed in as they come.
	 * Before them, the reader passes an object that no trace contains: "jobs". Its array
	 * "names" holds the launcher's names of the trace's jobs, by model_process.job_idx. Its
	 * array "spawned" has an object for each job that MPI_Comm_spawn has started, else null.
	 * The object's members are size, from_ns and to_ns (start of the job's first and last
	 * process), root_job and root_rank (of the call; absent if unknown).
	 */
	void (*decoder_meta)(struct layer_decoder *d, const json_t *meta); /* may be NULL */
	/*
	 * Called when calls of f are missing (model_lost.left_out), so that the state of requests
	 * is unknown. May be NULL.
	 */
	void (*decoder_left_out)(struct layer_decoder *d, const struct func_info *f);
	/*
	 * Decodes one call into a cleared view and learns from it. Never fails: unknown values are
	 * absent.
	 */
	void (*decode)(struct layer_decoder *d, const struct call_parts *call,
		       struct call_view *out);
	/*
	 * Names the handle in a spin's arg: "req", "comm", …; NULL if there is none. May be NULL.
	 */
	const char *(*spin_arg_name)(const struct func_info *f);
};

extern const struct layer *const layers[]; /* generated; ends with NULL */

/* Makes the kernel half's recipe of a function. 0, -EINVAL, -E2BIG (signature.h). */
int layer_recipe(const struct layer *layer, const struct signature *sig,
		 const struct func_attrs *attrs, struct pov_fn *out);

/* Parses one row of the function table (meta block "function"). 0, or -EINVAL (printed). */
int layer_func_parse(const struct layer *layer, const json_t *row, struct func_info *out);
void layer_func_release(struct func_info *f);
/* The role of the function's first argument, or NULL; serves as spin_arg_name. */
const char *layer_first_arg_name(const struct func_info *f);

struct layer_decoder *layer_decoder_new(const struct layer *layer);
void layer_decoder_free(const struct layer *layer, struct layer_decoder *d); /* d may be NULL */
void layer_decoder_meta(const struct layer *layer, struct layer_decoder *d, const json_t *meta);
/* Stores continuation data for the next call of the same thread. */
void layer_decoder_more(const struct layer *layer, struct layer_decoder *d,
			const struct pov_more *more);
/* Clears the view and decodes a call into it. */
void layer_decode(const struct layer *layer, struct layer_decoder *d, const struct func_info *f,
		  const struct pov_call *call, struct call_view *out);

/*
 * True if the function belongs to the topmost (MPI) layer, which is also assumed of unknown ones.
 */
static inline bool func_is_top(const struct func_info *f)
{
	return f->layer ? f->layer->is_top : !*f->layer_name || !strcmp(f->layer_name, "mpi");
}

#endif
