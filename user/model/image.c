/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the file that contains a call site, by the executable mappings of each target as they are
 * made. Paths come from the trace's image blocks; nothing is looked up on this machine.
 * exec maps the new program's file and its loader before the exec record is written. The thread's
 * change of name separates these mappings from the old program's: the kernel renames the thread
 * while the new address space is still empty (begin_new_exec()).
 */
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "model/who.h"
#include "trace/trace_read.h"

#define IMAGES_MAX 4096 /* per process */
#define FILES_MAX 64	/* files distinguished per inode */

static uint64_t file_hash(uint64_t dev, uint64_t ino)
{
	return ino * UINT64_C(0x9e3779b97f4a7c15) ^ dev;
}

/* A file described by the trace. Other files may have had the same inode earlier. */
struct image_file {
	uint64_t dev, ino;
	struct model_module module;
	/* has the path alone: for mappings where several files had the inode */
	struct model_module unsure;
	struct image_file *next; /* same hash, earlier in the trace */
};

static struct image_file *file_next(struct image_file *f, uint64_t dev, uint64_t ino)
{
	while (f && (f->dev != dev || f->ino != ino))
		f = f->next;
	return f;
}

static struct image_file *file_first(const struct model *m, uint64_t dev, uint64_t ino)
{
	return file_next(map_get(&m->image_files, file_hash(dev, ino)), dev, ino);
}

/*
 * A mapping's stamp shows which of an inode's files it maps. Older traces have no stamps, nor have
 * mappings that were made before the recording.
 */
static const struct model_module *module_find(const struct model *m, const struct pov_image *rec)
{
	bool stamped = rec->hdr.size >= sizeof(*rec) && rec->stamp, sure = true;
	struct image_file *last = file_first(m, rec->dev, rec->ino), *f;
	unsigned int n = 0;

	for (f = last; f && n < FILES_MAX; f = file_next(f->next, rec->dev, rec->ino), n++) {
		if (stamped && f->module.stamp == rec->stamp)
			return &f->module;
		if (n &&
		    (!*last->module.build_id || strcmp(f->module.build_id, last->module.build_id)))
			sure = false;
	}
	if (!last)
		return NULL;
	return sure && !f ? &last->module : &last->unsure;
}

static void file_add(struct model *m, const json_t *meta)
{
	uint64_t dev = (uint64_t)json_get_int(meta, "dev"),
		 ino = (uint64_t)json_get_int(meta, "ino");
	struct image_file *f = file_first(m, dev, ino);

	/* A library is also described as an image, with more details. */
	if (f && json_is_type(meta, "library"))
		return;
	f = xcalloc(1, sizeof(*f));
	f->dev = dev;
	f->ino = ino;
	f->module = (struct model_module){
		.path = json_get_text(meta, "path"),
		.build_id = json_get_text(meta, "build_id"),
		.stamp = (uint64_t)json_get_int(meta, "stamp"),
	};
	f->unsure = (struct model_module){.path = f->module.path, .build_id = ""};
	f->next = map_set(&m->image_files, file_hash(dev, ino), f);
}

void image_files_read(struct model *m)
{
	const json_t *meta;

	for (size_t i = 0; i < trace_meta_count(m->trace); i++) {
		meta = trace_meta_get(m->trace, i);
		if ((json_is_type(meta, "image") || json_is_type(meta, "library")) &&
		    json_is_string(json_object_get(meta, "path")))
			file_add(m, meta);
	}
}

void image_files_release(struct model *m)
{
	struct image_file *f, *next;

	for (size_t at = 0; (f = map_next(&m->image_files, &at, NULL));) {
		for (; f; f = next) {
			next = f->next;
			free(f);
		}
	}
	map_release(&m->image_files);
}

void image_record(struct model *m, struct mprocess *p, const struct pov_image *rec)
{
	struct image *im;

	if (p->nimages == IMAGES_MAX) { /* the oldest ones are most likely unmapped */
		memmove(p->image, p->image + IMAGES_MAX / 2, IMAGES_MAX / 2 * sizeof(*p->image));
		p->nimages /= 2;
		p->image_hit = 0;
	}
	im = table_add(p->image, p->nimages, p->images_cap);
	im->start = rec->start;
	im->end = rec->start + rec->len;
	im->off = rec->off;
	im->since_ns = m->now_ns;
	im->module = module_find(m, rec);
	p->image_hit = p->nimages; /* a new mapping may hide the last hit */
}

void image_inherit(struct mprocess *child, const struct mprocess *parent)
{
	if (!parent->nimages)
		return;
	free(child->image);
	child->image = xcalloc(parent->nimages, sizeof(*child->image));
	memcpy(child->image, parent->image, parent->nimages * sizeof(*child->image));
	child->nimages = child->images_cap = parent->nimages;
	child->image_hit = child->nimages;
}

/*
 * Drops the mappings of the old program: those made before exec renamed the process. If the rename
 * record was lost, they stay; newer mappings hide them where they overlap.
 */
void image_exec(struct mprocess *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nimages; i++) {
		if (p->image[i].since_ns >= p->renamed_ns)
			p->image[kept++] = p->image[i];
	}
	p->nimages = kept;
	p->image_hit = kept;
}

void image_forget(struct mprocess *p)
{
	p->nimages = 0;
	p->image_hit = 0;
	p->renamed_ns = 0;
}

static bool image_holds(const struct image *im, uint64_t address)
{
	return address >= im->start && address < im->end;
}

void image_find(struct mprocess *p, uint64_t address, struct model_site *out)
{
	const struct image *im;
	uint32_t i = p->image_hit;

	*out = (struct model_site){.address = address};
	if (!address)
		return;
	if (i >= p->nimages || !image_holds(&p->image[i], address)) {
		for (i = p->nimages; i > 0 && !image_holds(&p->image[i - 1], address); i--)
			;
		if (!i)
			return;
		i--;
	}
	p->image_hit = i;
	im = &p->image[i];
	out->offset = address - im->start + im->off;
	out->module = im->module;
}
