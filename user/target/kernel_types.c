/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file has a header, the types one after another, and the strings (Documentation/bpf/btf.rst).
 * Each string exists once, so names are compared by their offset.
 */
#include "target/features.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

/* Kinds that the oldest supported headers do not have. */
#define KIND_DECL_TAG 17
#define KIND_ENUM64 19

/* Reads in a loop, because the kernel returns the file in small pieces of 4 KiB. */
static int file_read(int fd, struct kernel_types *out)
{
	size_t have = 0;
	ssize_t n;

	out->data = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (out->data == MAP_FAILED)
		return -ENOMEM;
	while (have < out->bytes) {
		n = read(fd, (uint8_t *)out->data + have, out->bytes - have);
		if (n <= 0)
			return n ? -errno : -EINVAL;
		have += n;
	}
	return 0;
}

/* Maps the file if the kernel allows it (Linux 6.16), else reads it. */
static int file_get(const char *path, struct kernel_types *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else {
		out->bytes = st.st_size;
		out->data = mmap(NULL, out->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (out->data == MAP_FAILED)
			err = file_read(fd, out);
	}
	close(fd);
	return err;
}

static bool section_fits(const struct kernel_types *t, uint32_t off, uint32_t len)
{
	return (uint64_t)t->header->hdr_len + off + len <= t->bytes;
}

int kernel_types_open(const char *path, struct kernel_types *out)
{
	const struct btf_header *h;
	int err;

	*out = (struct kernel_types){.data = MAP_FAILED};
	err = file_get(path, out);
	if (err)
		goto fail;
	h = out->header = (const struct btf_header *)out->data;
	err = -EINVAL;
	if (out->bytes < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len % 4 || h->type_off % 4 ||
	    !section_fits(out, h->type_off, h->type_len) ||
	    !section_fits(out, h->str_off, h->str_len))
		goto fail;
	return 0;
fail:
	kernel_types_close(out);
	return err;
}

void kernel_types_close(struct kernel_types *t)
{
	if (t->data != MAP_FAILED)
		munmap((void *)t->data, t->bytes);
}

/* Returns the size of a type with its extra data and members. 0: unknown kind. */
static size_t type_bytes(const struct btf_type *type)
{
	static const struct {
		uint8_t fixed, member;
	} bytes[] = {
		[BTF_KIND_INT] = {4, 0},
		[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0},
		[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
		[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
		[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
		[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
		[BTF_KIND_VAR] = {4, 0},
		[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo)},
		[KIND_DECL_TAG] = {4, 0},
		[KIND_ENUM64] = {0, 12},
	};
	unsigned int kind = BTF_INFO_KIND(type->info);

	if (kind >= sizeof(bytes) / sizeof(*bytes))
		return 0;
	return sizeof(*type) + bytes[kind].fixed + bytes[kind].member * BTF_INFO_VLEN(type->info);
}

/*
 * Returns the first type with this name and kind and sets *id. name 0: returns the type *id. NULL:
 * none.
 */
static const struct btf_type *type_scan(const struct kernel_types *t, uint32_t name,
					unsigned int kind, uint32_t *id)
{
	const uint8_t *at = t->data + t->header->hdr_len + t->header->type_off;
	const uint8_t *end = at + t->header->type_len;
	const struct btf_type *type;
	uint32_t i;
	size_t n;

	for (i = 1; (size_t)(end - at) >= sizeof(*type); i++, at += n) {
		type = (const struct btf_type *)at;
		n = type_bytes(type);
		if (!n || n > (size_t)(end - at))
			return NULL;
		if (name ? type->name_off == name && BTF_INFO_KIND(type->info) == kind : i == *id) {
			*id = i;
			return type;
		}
	}
	return NULL;
}

static const struct btf_type *type_find(const struct kernel_types *t, const char *name,
					unsigned int kind, uint32_t *id)
{
	const uint8_t *strings = t->data + t->header->hdr_len + t->header->str_off, *at;
	size_t len = strlen(name) + 2;
	char *key;

	if (!*name)
		return NULL;
	key = xasprintf("%c%s", 1, name);
	key[0] = '\0';
	at = memmem(strings, t->header->str_len, key, len);
	free(key);
	return at ? type_scan(t, at + 1 - strings, kind, id) : NULL;
}

int kernel_types_find(const struct kernel_types *t, const char *name, unsigned int kind)
{
	uint32_t id;

	return type_find(t, name, kind, &id) ? (int)id : -ENOENT;
}

/* Returns the type that another one refers to, if it has this kind. NULL passes through. */
static const struct btf_type *type_referred(const struct kernel_types *t,
					    const struct btf_type *from, unsigned int kind)
{
	uint32_t id = from ? from->type : 0;
	const struct btf_type *type = type_scan(t, 0, 0, &id);

	return type && BTF_INFO_KIND(type->info) == kind ? type : NULL;
}

int kernel_types_params(const struct kernel_types *t, const char *name)
{
	const struct btf_type *type;
	uint32_t id;

	type = type_find(t, name, BTF_KIND_TYPEDEF, &id);
	type = type_referred(t, type, BTF_KIND_PTR);
	type = type_referred(t, type, BTF_KIND_FUNC_PROTO);
	return type ? (int)BTF_INFO_VLEN(type->info) : -ENOENT;
}
