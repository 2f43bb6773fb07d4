/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where queue pairs lead to, as the calls that made and connected them said. All is known by the addresses of a process's
 * objects. What was connected before the recording began is not known, and never guessed.
 */
#ifndef POV_LAYERS_VERBS_VERBS_CONN_H
#define POV_LAYERS_VERBS_VERBS_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"
#include "layers/verbs/verbs_adapter.h"

#define VERBS_DEVICE_TEXT 80 /* name of an adapter and its port */

/* The way to another port. Empty texts are not known. */
struct verbs_path {
	char device[VERBS_DEVICE_TEXT];	 /* by which port it leaves: "mlx5_0:1" */
	char dest[VERBS_ADDRESS_TEXT];	 /* the other port */
	char source[VERBS_ADDRESS_TEXT]; /* this one, in the same terms */
};

#define VERBS_END_TEXT (VERBS_ADDRESS_TEXT + 16) /* a port and a queue pair of it */

struct verbs_qp {
	uint64_t context;
	uint32_t num;
	uint32_t remote_num; /* of the queue pair that it is connected to; 0: not known */
	uint32_t port;	     /* 0: not known */
	struct verbs_path path;
	char local_end[VERBS_END_TEXT], remote_end[VERBS_END_TEXT];
};

struct verbs_conns {
	struct verbs_adapters adapters;
	struct map processes; /* pid → struct process */
};

/* struct ibv_ah_attr, of which 32 bytes are everything. */
#define VERBS_AH_ATTR_BYTES 32
/* struct ibv_qp_attr up to behind port_num; of struct ibv_qp up to behind qp_type. */
#define VERBS_QP_ATTR_BYTES 136
#define VERBS_QP_BYTES 64

void verbs_conns_release(struct verbs_conns *s);

/* What calls that succeeded teach. */
void verbs_context_opened(struct verbs_conns *s, uint32_t pid, uint64_t context,
			  const char *device);
void verbs_qp_created(struct verbs_conns *s, uint32_t pid, uint64_t qp);
void verbs_qp_modified(struct verbs_conns *s, uint32_t pid, uint64_t address,
		       const uint8_t qp[VERBS_QP_BYTES], const uint8_t attr[VERBS_QP_ATTR_BYTES],
		       uint32_t mask);
void verbs_qp_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t qp);
void verbs_ah_created(struct verbs_conns *s, uint32_t pid, uint64_t ah, uint64_t context,
		      const uint8_t attr[VERBS_AH_ATTR_BYTES]);
void verbs_ah_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t ah);

void verbs_cq_destroyed(struct verbs_conns *s, uint32_t pid, uint64_t cq);
/* Number of the only queue pair whose completions come to a queue; 0 if there are several, or there may be others. */
uint32_t verbs_cq_queue(const struct verbs_conns *s, uint32_t pid, uint64_t cq);

/* NULL if it is not known. */
const struct verbs_qp *verbs_qp_find(const struct verbs_conns *s, uint32_t pid, uint64_t qp);
const struct verbs_path *verbs_ah_find(const struct verbs_conns *s, uint32_t pid, uint64_t ah);

/* "lid 7 qp 81", or "" if the port is not known. */
void verbs_end_text(const char *port, uint32_t qp, char out[VERBS_END_TEXT]);

#endif
