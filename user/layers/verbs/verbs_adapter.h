/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * RDMA adapters of the trace's hosts, as found by their recorders (meta objects "adapters"), and
 * the names that other sides use for their ports. Global identifiers are shown as the addresses
 * that they contain: "fe80::1", "10.0.0.2".
 */
#ifndef POV_LAYERS_VERBS_VERBS_ADAPTER_H
#define POV_LAYERS_VERBS_VERBS_ADAPTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define VERBS_GID_BYTES 16
#define VERBS_ADDRESS_TEXT 48 /* text of a port's address, including the final 0 */

struct verbs_adapters {
	json_t *metas; /* array of the meta objects */
};

void verbs_adapters_add(struct verbs_adapters *a, const json_t *meta);
void verbs_adapters_release(struct verbs_adapters *a);

/* A port of an adapter, by its host's number (trace_join.h); NULL if unknown. Borrowed. */
const json_t *verbs_adapter_port(const struct verbs_adapters *a, uint32_t host, const char *device,
				 uint32_t port);
/* port may be NULL. On Ethernet, it has no LID. */
bool verbs_port_is_ethernet(const json_t *port);
bool verbs_port_is_infiniband(const json_t *port);

/* The port's own address; false if unknown. */
bool verbs_port_gid_text(const json_t *port, uint32_t idx, char out[VERBS_ADDRESS_TEXT]);
bool verbs_port_lid_text(const json_t *port, char out[VERBS_ADDRESS_TEXT]);

void verbs_gid_text(const uint8_t gid[VERBS_GID_BYTES], char out[VERBS_ADDRESS_TEXT]);
void verbs_lid_text(uint32_t lid, char out[VERBS_ADDRESS_TEXT]);

#endif
