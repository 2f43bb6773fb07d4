/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Data that a call passes to the network, or to whatever else carries them, and data that come
 * back. The layers below MPI describe their calls in these terms (call_view.posts). So timelines
 * and traffic are made from them in the same way for all layers.
 *
 * A byte may be posted several times on its way down: to UCP, by UCP to UCT, by UCT to verbs. Each
 * post names its carrier, by which the bytes really travel. If several layers post to one carrier
 * in a process, the one nearest to the wire counts (layer.nearness). So a layer reports what it
 * knows, and need not know which others are recorded.
 */
#ifndef POV_LAYERS_POST_H
#define POV_LAYERS_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum post_kind {
	/*
	 * data leave and the other side takes them: a work request, an active message, a write to a
	 * socket
	 */
	POST_SEND,
	/*
	 * room for what the other side sends; sockets and active messages show none, only ARRIVALs
	 */
	POST_RECV,
	POST_WRITE,	 /* data are put into the other side's memory */
	POST_READ,	 /* data are got from the other side's memory */
	POST_ATOMIC,	 /* both */
	POST_OTHER,	 /* moves no data */
	POST_COMPLETION, /* the caller learns that a post is over */
	POST_ARRIVAL,	 /* data or a message of a protocol have arrived and are handled */
	POST_KIND_CNT,
};

enum post_carrier {
	CARRIER_UNKNOWN,
	CARRIER_NIC,	/* an adapter with queues of work requests: InfiniBand, RoCE, EFA … */
	CARRIER_SOCKET, /* TCP, UDP, local sockets */
	CARRIER_CMA,	/* the kernel copies between processes (process_vm_readv) */
	CARRIER_SHM,	/* memory that processes share */
	CARRIER_CNT,
};

/* Purpose of a message of a point-to-point protocol. Libraries have different names for these. */
enum post_step {
	STEP_NONE,
	STEP_EAGER, /* the data, sent at once */
	STEP_RTS,   /* rendezvous: the sender announces a message */
	STEP_RTR,   /* rendezvous: the receiver is ready (clear to send) */
	STEP_DATA,  /* a piece of the data */
	STEP_FIN,   /* all data have been moved (acknowledged) */
	STEP_CNT,
};

struct call_post {
	enum post_kind kind;
	enum post_carrier carrier;
	enum post_step step;
	const char *op;	       /* in the library's terms: "RDMA_WRITE", "am_bcopy", "RTS" */
	const char *transport; /* "rc", "tcp", "cma", "sysv", …; NULL: unknown */
	const char *device;    /* this side's device with its port: "mlx5_0:1"; NULL: unknown */
	/*
	 * the other side in the network's terms: "lid 7", "fe80::1", "10.0.0.2", "pid 17"; NULL:
	 * unknown
	 */
	const char *dest;
	/*
	 * this end of the connection, with the same text at both sides: "10.0.0.2:4711", "lid 7 qp
	 * 81"; NULL: unknown
	 */
	const char *local_end;
	const char *remote_end; /* the other end; see local_end */
	int64_t bytes;		/* or BYTES_UNKNOWN; RECV: size of the buffer */
	uint64_t queue;		/* queue pair, endpoint or descriptor; 0: unknown */
	/* has_id: equal in a post and its completion, within a process and its queue */
	uint64_t id;
	uint64_t message; /* if not 0: equal in all posts of one message, within a process */
	int32_t source;	  /* has_envelope: the sender's rank in its communicator */
	int32_t tag;	  /* has_envelope: the message's tag */
	bool has_envelope;
	bool has_id;
	bool failed; /* it was refused, or completed with an error */
};

/* Returns a text as struct call_post stores it: NULL instead of "", if it is unknown. */
static inline const char *post_text(const char *text)
{
	return *text ? text : NULL;
}

const char *post_carrier_name(enum post_carrier carrier); /* "nic" … "unknown" */
const char *post_kind_name(enum post_kind kind);	  /* "send" … */
const char *post_step_name(enum post_step step);	  /* "RTS" …; NULL for STEP_NONE */

#endif
