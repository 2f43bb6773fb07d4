/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The table of the recording half's functions, which user/cmd/recorder_load.c loads. */
#include "record/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/features.h"
#include "target/helper/library_kind.h"
#include "lib/log.h"
#include "clock/clock.h"
#include "record/kernel_functions.h"
#include "record/session.h"
#include "target/elf/elf_file.h"
#include "record/sites_print.h"
#include "layers/func_table.h"
#include "version.h"

/* Returns true if a file is a library of a layer below MPI. */
static bool is_lower(const struct layer *layer, const struct elf_file *elf)
{
	const struct library_kind *kind = library_kind_of(layer);
	struct library_facts facts;

	if (layer->is_top || !kind || !kind->describe(elf, &facts))
		return false;
	json_decref(facts.meta);
	json_decref(facts.copies);
	return true;
}

/*
 * Lists the functions of the lower layers that a file belongs to; 0: none. The caller frees *out.
 */
static size_t lower_functions(const struct elf_file *elf, struct site_function **out)
{
	size_t cnt = 0;

	*out = xcalloc(func_table_count(), sizeof(**out));
	for (size_t l = 0; layers[l]; l++) {
		if (!is_lower(layers[l], elf))
			continue;
		for (size_t i = 0; i < layers[l]->row_cnt; i++)
			(*out)[cnt++] = (struct site_function){layers[l]->rows[i].name, 6};
	}
	return cnt;
}

static int file_sites_print(const char *path, bool json, FILE *out)
{
	struct site_function *lower;
	struct elf_file *elf;
	size_t cnt;
	int err;

	err = elf_file_open(path, &elf);
	if (err) {
		log_error("check: %s: %s", path,
			  err == -ENOEXEC ? "not an ELF file of this machine" : strerror(-err));
		return err;
	}
	cnt = lower_functions(elf, &lower);
	err = sites_print(elf, path, cnt ? lower : NULL, cnt, json, out);
	free(lower);
	elf_file_close(elf);
	return err;
}

const struct recorder recorder = {
	.version = POV_VERSION,
	.session_run = session_run,
	.clock_run = clock_run,
	.features_probe = features_probe,
	.kernel_functions_list = kernel_functions_list,
	.sites_print = file_sites_print,
	.library_list = library_list,
};
