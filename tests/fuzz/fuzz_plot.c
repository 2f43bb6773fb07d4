/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fuzzes the reading of benchmark results and the writing of plot scripts. Each result goes to
 * every picture that takes it, alone and together with all others. gnuplot is not run.
 */
#include "picture.h"

#include "lib/log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void draw(const struct picture *picture, struct plot *plot)
{
	struct script s;

	picture->size(plot, &plot->width_px, &plot->height_px);
	script_init(&s);
	picture->draw(plot, &s);
	script_finish(&s);
	if (!s.text)
		abort();
	script_release(&s);
}

static void draw_all(const struct data *d, const struct picture *picture)
{
	struct plot all = {.words = true}, one;
	size_t i;

	all.result = xcalloc(d->result_cnt, sizeof(struct data_result *));
	for (i = 0; i < d->result_cnt; i++) {
		if (!picture->takes(&d->result[i]))
			continue;
		all.result[all.cnt++] = &d->result[i];
		one = (struct plot){.result = &all.result[all.cnt - 1], .cnt = 1, .words = true};
		draw(picture, &one);
	}
	if (all.cnt > 1 && picture->many)
		draw(picture, &all);
	free(all.result);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct data d = {0};
	char path[64];
	size_t i;
	int fd;

	log_set_level(LOG_QUIET);
	fd = memfd_create("result", 0);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!data_read(&d, path, 0)) {
		for (i = 0; pictures[i]; i++)
			draw_all(&d, pictures[i]);
	}
	data_release(&d);
	close(fd);
	return 0;
}
