/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a call hands to the network, or to whatever else carries the data, and what comes back: the layers below MPI say it of
 * their calls in these terms (call_view.posts), so that timelines and traffic are made of them in one way, whatever the layer.
 *
 * One byte may be posted several times on its way down: to UCP, by that to UCT, by that to verbs. Each post names its carrier, what the
 * bytes really travel by; of the layers that post to one carrier in a process, the one nearest to the wire counts
 * (layer.nearness). So a layer says what it knows and need not know which others are recorded.
 */
#ifndef POV_LAYERS_POST_H
#define POV_LAYERS_POST_H

#include <stdbool.h>
#include <stdint.h>

enum post_kind {
	POST_SEND, /* data leave, and the other side takes them: a work request, an active message, a write into a socket */
	POST_RECV, /* room for what the other side sends; of sockets and active messages none are seen, but ARRIVALs */
	POST_WRITE,	 /* data are put into the other side's memory */
	POST_READ,	 /* data are got from there */
	POST_ATOMIC,	 /* both */
	POST_OTHER,	 /* moves no data */
	POST_COMPLETION, /* a post is over, as the caller learns here */
	POST_ARRIVAL,	 /* data, or a message of a protocol, have come and are looked at here */
	POST_KIND_CNT,
};

enum post_carrier {
	CARRIER_UNKNOWN,
	CARRIER_NIC,	/* an adapter with queues of work requests: InfiniBand, RoCE, EFA … */
	CARRIER_SOCKET, /* TCP, UDP, local sockets */
	CARRIER_CMA,	/* the kernel copies from process to process (process_vm_readv) */
	CARRIER_SHM,	/* memory that processes share */
	CARRIER_CNT,
};

/* What a message of a point-to-point protocol is for. The names that the libraries give them differ. */
enum post_step {
	STEP_NONE,
	STEP_EAGER, /* the data at once */
	STEP_RTS,   /* rendezvous: the sender announces */
	STEP_RTR,   /* the receiver is ready (clear to send) */
	STEP_DATA,  /* a piece of the data */
	STEP_FIN,   /* all of it has been moved (acknowledged) */
	STEP_CNT,
};

struct call_post {
	enum post_kind kind;
	enum post_carrier carrier;
	enum post_step step;
	const char *op; /* as the library's people call it: "RDMA_WRITE", "am_bcopy", "RTS" */
	const char *
		transport; /* "rc", "tcp", "cma", "sysv" …; NULL: not known, as are those that follow */
	const char *device; /* of this side, with its port: "mlx5_0:1" */
	const char *
		dest; /* the other side as the network has it: "lid 7", "fe80::1", "10.0.0.2", "pid 17" */
	/* Ends of the connection, the same text at both sides: where it begins and leads to. "10.0.0.2:4711", "lid 7 qp 81" */
	const char *local_end, *remote_end;
	int64_t bytes;	/* or BYTES_UNKNOWN; RECV: the room */
	uint64_t queue; /* queue pair, endpoint or descriptor; 0: not known */
	uint64_t id; /* with has_id: the same in the post and in its completion, within a process and its queue */
	uint64_t message; /* not 0: the same in all posts of one message, within a process */
	int32_t source,
		tag; /* with has_envelope: the sender's rank in its communicator, and its message's tag */
	bool has_envelope;
	bool has_id;
	bool failed; /* was refused, or completed with an error */
};

const char *post_carrier_name(enum post_carrier carrier); /* "nic" … "unknown" */
const char *post_kind_name(enum post_kind kind);	  /* "send" … */
const char *post_step_name(enum post_step step);	  /* "RTS" …; NULL for STEP_NONE */

#endif
