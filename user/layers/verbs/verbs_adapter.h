/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The RDMA adapters of the trace's hosts, as their recorders found them (meta objects "adapters"): what a port is called by
 * other sides. Global identifiers are shown as the addresses that they are: "fe80::1", "10.0.0.2".
 */
#ifndef POV_LAYERS_VERBS_VERBS_ADAPTER_H
#define POV_LAYERS_VERBS_VERBS_ADAPTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define VERBS_GID_BYTES 16
#define VERBS_ADDRESS_TEXT 48 /* of a port, ends included */

struct verbs_adapters {
	json_t *metas; /* array of the objects */
};

void verbs_adapters_add(struct verbs_adapters *a, const json_t *meta);
void verbs_adapters_release(struct verbs_adapters *a);

/* A port of an adapter, by the number of its host (trace_join.h); NULL if it is not known. Borrowed. */
const json_t *verbs_adapter_port(const struct verbs_adapters *a, uint32_t host, const char *device,
				 uint32_t port);
/* Of a port, which may be NULL: its link is Ethernet, so that it has no LID; or InfiniBand. */
bool verbs_port_is_ethernet(const json_t *port);
bool verbs_port_is_infiniband(const json_t *port);

/* The port's own address; false if it is not known. */
bool verbs_port_gid_text(const json_t *port, uint32_t idx, char out[VERBS_ADDRESS_TEXT]);
bool verbs_port_lid_text(const json_t *port, char out[VERBS_ADDRESS_TEXT]);

void verbs_gid_text(const uint8_t gid[VERBS_GID_BYTES], char out[VERBS_ADDRESS_TEXT]);
void verbs_lid_text(uint32_t lid, char out[VERBS_ADDRESS_TEXT]);

#endif
