/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two tables: files, each with the process that reads it, and places that were looked up. Both are
 * bounded, because a trace can name any number of them.
 */
#include "site/site_names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/map.h"
#include "lib/file.h"
#include "lib/text.h"
#include "model/model.h"
#include "site/module_names.h"

#define FILES_MAX 64
#define SITES_MAX 65536

struct known_file {
	const struct model_module *module; /* first of several equal modules */
	struct module_names names;
};

struct known_site {
	const struct model_module *module;
	uint64_t offset;
	struct site_name name; /* owned; function NULL: nothing is known */
	struct known_site *next;
};

struct sites {
	char *program; /* NULL: not installed */
	struct known_file file[FILES_MAX];
	size_t files;
	struct map by_module; /* pointer → struct known_file */
	struct map by_place;  /* hash of module and offset → list of struct known_site */
	size_t cnt;
};

struct sites *sites_new(void)
{
	struct sites *s = xcalloc(1, sizeof(*s));

	s->program = own_file_find("povtrace-lines");
	return s;
}

static void sites_list_free(void *first)
{
	struct known_site *next;

	for (struct known_site *k = first; k; k = next) {
		next = k->next;
		free((char *)k->name.function);
		free((char *)k->name.file);
		free((char *)k->name.text);
		free(k);
	}
}

void sites_free(struct sites *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files; i++)
		module_names_stop(&s->file[i].names);
	map_release(&s->by_module);
	map_free(&s->by_place, sites_list_free);
	free(s->program);
	free(s);
}

static bool module_equal(const struct model_module *a, const struct model_module *b)
{
	return a->stamp == b->stamp && !strcmp(a->build_id, b->build_id) &&
	       !strcmp(a->path, b->path);
}

/* NULL: its contents are not available. */
static struct known_file *module_file(struct sites *s, const struct model_module *module)
{
	struct known_file *f = map_get(&s->by_module, (uintptr_t)module);
	size_t i;

	if (f || !s->program || (!*module->build_id && !module->stamp))
		return f;
	for (i = 0; i < s->files && !module_equal(s->file[i].module, module); i++)
		;
	if (i == FILES_MAX)
		return NULL;
	f = &s->file[i];
	map_set(&s->by_module, (uintptr_t)module, f);
	if (i == s->files) {
		s->files++;
		f->module = module;
		module_names_start(&f->names, s->program, module);
	}
	return f;
}

/* Takes over text. */
static char *text_make_printable(char *text)
{
	char *clean = text_printable(text, UINT_MAX);

	free(text);
	return clean;
}

static void site_look_up(struct sites *s, struct known_site *k)
{
	struct known_file *f = module_file(s, k->module);
	char function[SITE_NAME_BYTES + 1], file[SITE_NAME_BYTES + 1];
	struct site_answer a;

	if (!f || !module_names_find(&f->names, k->offset, &a, function, file))
		return;
	k->name.function = xstrdup(function);
	k->name.function_offset = a.function_offset;
	if (*file) {
		k->name.file = xstrdup(file);
		k->name.line = a.line;
		k->name.text = text_make_printable(
			xasprintf("%s (%s:%" PRIu32 ")", function, text_base_name(file), a.line));
	} else {
		k->name.text = text_make_printable(xasprintf("%s+0x%" PRIx64 " (%s)", function,
							     a.function_offset,
							     text_base_name(k->module->path)));
	}
}

const struct site_name *sites_find(struct sites *s, const struct model_site *site)
{
	struct known_site *k, *first;
	uint64_t hash;

	if (!s || !site->module)
		return NULL;
	hash = (uintptr_t)site->module * UINT64_C(0x9e3779b97f4a7c15) ^ site->offset;
	first = map_get(&s->by_place, hash);
	for (k = first; k && (k->module != site->module || k->offset != site->offset);)
		k = k->next;
	if (!k) {
		if (s->cnt == SITES_MAX)
			return NULL;
		s->cnt++;
		k = xcalloc(1, sizeof(*k));
		k->module = site->module;
		k->offset = site->offset;
		k->next = first;
		map_set(&s->by_place, hash, k);
		site_look_up(s, k);
	}
	return k->name.function ? &k->name : NULL;
}

char *sites_text(struct sites *s, const struct model_site *site)
{
	const struct site_name *name = sites_find(s, site);

	if (name)
		return xstrdup(name->text);
	if (site->module)
		return text_make_printable(xasprintf(
			"%s+0x%" PRIx64, text_base_name(site->module->path), site->offset));
	return site->address ? xasprintf("0x%" PRIx64, site->address) : xstrdup("?");
}
