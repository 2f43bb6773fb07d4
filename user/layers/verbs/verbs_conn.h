/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Connections of queue pairs, learned from the calls that made and connected them. Objects are
 * identified by their addresses in the process's memory. Connections made before the recording
 * began are unknown, and never guessed.
 */
#ifndef POV_LAYERS_VERBS_VERBS_CONN_H
#define POV_LAYERS_VERBS_VERBS_CONN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/call_parts.h"

/*
 * RDMA adapters of the trace's hosts, as found by their recorders (meta objects "adapters"), and
 * the names that other sides use for their ports. Global identifiers are shown as the addresses
 * that they contain: "fe80::1", "10.0.0.2".
 */
#define VERBS_GID_BYTES 16
#define VERBS_ADDRESS_TEXT 48 /* text of a port's address, including the final 0 */

struct verbs_adapters {
	json_t *metas; /* array of the meta objects */
};

void verbs_adapters_add(struct verbs_adapters *a, const json_t *meta);

void verbs_gid_text(const uint8_t gid[VERBS_GID_BYTES], char out[VERBS_ADDRESS_TEXT]);
void verbs_lid_text(uint32_t lid, char out[VERBS_ADDRESS_TEXT]);

#define VERBS_DEVICE_TEXT 80 /* text of an adapter's name and its port */

/* The path to another port. An empty text is unknown. */
struct verbs_path {
	char device[VERBS_DEVICE_TEXT];	 /* local port by which it leaves: "mlx5_0:1" */
	char dest[VERBS_ADDRESS_TEXT];	 /* address of the other port */
	char source[VERBS_ADDRESS_TEXT]; /* address of this port, in the same form */
};

#define VERBS_END_TEXT (VERBS_ADDRESS_TEXT + 16) /* text of a port and one of its queue pairs */

struct verbs_qp {
	uint64_t context;
	uint32_t num;
	uint32_t remote_num; /* number of the queue pair that it is connected to; 0: unknown */
	uint32_t port;	     /* 0: unknown */
	struct verbs_path path;
	char local_end[VERBS_END_TEXT], remote_end[VERBS_END_TEXT];
};

struct verbs_conns {
	struct verbs_adapters adapters;
	struct objects objects;
};

/* Bytes of struct ibv_ah_attr: all of it. */
#define VERBS_AH_ATTR_BYTES 32
/* Bytes read of struct ibv_qp_attr: up to and including port_num. */
#define VERBS_QP_ATTR_BYTES 136
/* Bytes read of struct ibv_qp: up to and including qp_type. */
#define VERBS_QP_BYTES 64

void verbs_conns_release(struct verbs_conns *s);

/* Number of the only queue pair that completes to this queue; 0 if there are or may be several. */
uint32_t verbs_cq_queue(const struct verbs_conns *s, uint32_t pid, uint64_t cq);

/* NULL if unknown. */
const struct verbs_qp *verbs_qp_find(const struct verbs_conns *s, uint32_t pid, uint64_t qp);
const struct verbs_path *verbs_ah_find(const struct verbs_conns *s, uint32_t pid, uint64_t ah);

/* "lid 7 qp 81"; "" if the port is unknown. */
void verbs_end_text(const char *port, uint32_t qp, char out[VERBS_END_TEXT]);

#endif
