/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A layer and its library_kind have the same name. */
#include "target/helper/library_kind.h"

#include <string.h>

#include "layers/func_table.h"

const struct library_kind *library_kind_of(const struct layer *layer)
{
	for (size_t i = 0; library_kinds[i]; i++)
		if (!strcmp(library_kinds[i]->layer, layer->name))
			return library_kinds[i];
	return NULL;
}

bool library_kind_hands_over(const bool *wanted)
{
	const struct library_kind *kind;

	for (size_t i = 0; i < func_table_count(); i++) {
		kind = wanted[i] ? library_kind_of(func_table_layer(i)) : NULL;
		if (kind && kind->handovers)
			return true;
	}
	return false;
}
