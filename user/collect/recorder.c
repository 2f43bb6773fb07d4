/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the recording half offers. Loaded by user/recorder_load.c. */
#include "collect/recorder.h"

#include <errno.h>
#include <string.h>

#include "attach/features.h"
#include "base/log.h"
#include "collect/session.h"
#include "elf/elf_file.h"
#include "elf/sites_print.h"
#include "version.h"

static int file_sites_print(const char *path, bool json, FILE *out)
{
	struct elf_file *elf;
	int err;

	err = elf_file_open(path, &elf);
	if (err) {
		log_error("check: %s: %s", path,
			  err == -ENOEXEC ? "not an ELF file of this machine" : strerror(-err));
		return err;
	}
	err = sites_print(elf, path, NULL, 0, json, out);
	elf_file_close(elf);
	return err;
}

const struct recorder recorder = {
	.version = POV_VERSION,
	.session_run = session_run,
	.features_probe = features_probe,
	.sites_print = file_sites_print,
};
