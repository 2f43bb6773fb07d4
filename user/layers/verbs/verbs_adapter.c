/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Looks things up in the objects as they are: that happens once a connection. */
#include "layers/verbs/verbs_adapter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/json_get.h"

void verbs_adapters_add(struct verbs_adapters *a, const json_t *meta)
{
	if (!a->metas)
		a->metas = json_array();
	json_array_append(a->metas, (json_t *)meta);
}

void verbs_adapters_release(struct verbs_adapters *a)
{
	json_decref(a->metas);
	a->metas = NULL;
}

static const json_t *device_find(const struct verbs_adapters *a, uint32_t host, const char *name)
{
	const json_t *meta, *device;
	size_t i, k;

	json_array_foreach(a->metas, i, meta)
	{
		if (json_get_u32(meta, "host") != host)
			continue;
		json_array_foreach(json_object_get(meta, "devices"), k, device)
		{
			if (!strcmp(json_get_text(device, "name"), name))
				return device;
		}
	}
	return NULL;
}

const json_t *verbs_adapter_port(const struct verbs_adapters *a, uint32_t host, const char *device,
				 uint32_t port)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(device_find(a, host, device), "ports"), i, p)
	{
		if (json_get_u32(p, "port") == port)
			return p;
	}
	return NULL;
}

bool verbs_port_is_ethernet(const json_t *port)
{
	return !strcmp(json_get_text(port, "link"), "Ethernet");
}

bool verbs_port_is_infiniband(const json_t *port)
{
	return !strcmp(json_get_text(port, "link"), "InfiniBand");
}

bool verbs_port_gid_text(const json_t *port, uint32_t idx, char out[VERBS_ADDRESS_TEXT])
{
	uint8_t gid[VERBS_GID_BYTES];
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(port, "gids"), i, g)
	{
		if (json_get_u32(g, "index") == idx &&
		    inet_pton(AF_INET6, json_get_text(g, "gid"), gid) == 1) {
			verbs_gid_text(gid, out);
			return true;
		}
	}
	return false;
}

bool verbs_port_lid_text(const json_t *port, char out[VERBS_ADDRESS_TEXT])
{
	uint32_t lid = json_get_u32(port, "lid");

	if (!lid)
		return false;
	verbs_lid_text(lid, out);
	return true;
}

void verbs_gid_text(const uint8_t gid[VERBS_GID_BYTES], char out[VERBS_ADDRESS_TEXT])
{
	struct in6_addr a;

	memcpy(&a, gid, sizeof(a));
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, gid + 12, out, VERBS_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, gid, out, VERBS_ADDRESS_TEXT);
}

void verbs_lid_text(uint32_t lid, char out[VERBS_ADDRESS_TEXT])
{
	snprintf(out, VERBS_ADDRESS_TEXT, "lid %u", lid);
}
