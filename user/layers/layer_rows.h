/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A layer's table as data, from its LAYER_DEF ("ucp.def"). Included once, by the file that ends in
 * its struct layer.
 */
#ifndef POV_LAYERS_LAYER_ROWS_H
#define POV_LAYERS_LAYER_ROWS_H

#include "layers/layer.h"
#include "layers/signature.h"

static const struct func_row rows[] = {
#define POV_FUNC(name, group, attrs, sig) {#name, #group, #attrs, sig, false},
#define POV_FUNC_C(name, group, attrs, sig) \
	POV_FUNC(name, group, attrs, sig){#name "_c", #group, #attrs, sig, true},
#include LAYER_DEF
};

static const struct sig_role roles[] = {
#define ROLE_ROW(type, kind, role) {#role, SIG_##type, SIG_KIND_##kind},
#define POV_ROLES(type, kind, ...) SIG_EACH(ROLE_ROW, type, kind, __VA_ARGS__)
#include LAYER_DEF
	{NULL, 0, 0},
};

/* Sets the members of struct layer that refer to these tables. */
#define LAYER_ROWS .rows = rows, .row_cnt = sizeof(rows) / sizeof(rows[0]), .roles = roles

#endif
