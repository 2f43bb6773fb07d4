/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * UCX's lower layer: libuct, and the modules that bring transports, each with its own part of the table. A file is one if it
 * defines what one of them has and no other layer calls.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "target/helper/library_kind.h"
#include "target/elf/elf_file.h"
#include "layers/uct/library_uct_ops.h"

/* Of transports that have functions of the table; scopy's and sm's are in libuct itself. */
static const char *const transports[] = {"mm",	    "rc_verbs", "rc_mlx5", "dc_mlx5", "ud_verbs",
					 "ud_mlx5", "gga_mlx5", "srd",	   "cma",     "knem"};

static bool describe(const struct elf_file *f, struct library_facts *out)
{
	size_t i = 0, cnt = sizeof(transports) / sizeof(transports[0]);

	while (i < cnt && !uct_ops_has(f, transports[i]))
		i++;
	if (i == cnt)
		return false;
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour", "ucx", "version", "", "unsure", "");
	out->copies = NULL;
	return true;
}

/* "uct_ud_verbs_ep_am_bcopy" taken apart: "ud_verbs", "am_bcopy". */
struct operation {
	char transport[32];
	const char *name;
};

static bool operation_parse(const char *function, struct operation *out)
{
	const char *transport = function + strlen("uct_"), *mid = strstr(function, "_ep_");
	size_t len = mid ? (size_t)(mid - transport) : 0;

	if (!mid || len >= sizeof(out->transport))
		return false;
	memcpy(out->transport, transport, len);
	out->transport[len] = '\0';
	out->name = mid + strlen("_ep_");
	return true;
}

/* What rc_mlx5 shares with its kin has a name of its own since 1.17. */
static const struct elf_symbol *find_shared(const struct elf_file *f, const char *name)
{
	struct operation op;
	char shared[96];

	if (!operation_parse(name, &op) || strcmp(op.transport, "rc_mlx5") != 0)
		return NULL;
	snprintf(shared, sizeof(shared), "uct_rc_mlx5_base_ep_%s", op.name);
	return elf_file_find(f, shared);
}

/* A transport that sends messages has this; what else it has differs with versions and modules. */
static bool is_sure(const struct elf_file *f, const char *name)
{
	struct operation op;

	return operation_parse(name, &op) && !strcmp(op.name, "am_bcopy") &&
	       uct_ops_has(f, op.transport);
}

static unsigned int find(const struct elf_file *f, const char *name,
			 const struct elf_symbol *syms[2])
{
	syms[0] = elf_file_find(f, name) ?: find_shared(f, name);
	if (syms[0] && syms[0]->is_func && syms[0]->has_offset)
		return 1;
	return is_sure(f, name) ? 0 : FUNCTION_ELSEWHERE;
}

/* Of unreliable datagrams. */
static size_t inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	static const char *const names[] = {
		"uct_ud_verbs_ep_put_short",	"uct_ud_verbs_ep_am_short",
		"uct_ud_verbs_ep_am_short_iov", "uct_ud_verbs_ep_am_bcopy",
		"uct_ud_verbs_ep_am_zcopy",	"uct_ud_mlx5_ep_put_short",
		"uct_ud_mlx5_ep_am_short",	"uct_ud_mlx5_ep_am_short_iov",
		"uct_ud_mlx5_ep_am_bcopy",	"uct_ud_mlx5_ep_am_zcopy",
	};
	struct elf_symbol sym;
	struct operation op;
	size_t cnt = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (operation_parse(names[i], &op) && uct_ops_find(f, op.transport, op.name, &sym))
			out[cnt++] = (struct inner_function){names[i], sym.addr};
	return cnt;
}

const struct library_kind library_kind_uct = {
	.layer = "uct",
	.describe = describe,
	.find = find,
	.inner = inner,
};
