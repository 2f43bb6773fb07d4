/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See library_internal.h. Only 64-bit ELF headers in this machine's byte order are read; no other
 * file could be run here.
 */
#include "advise/library_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

#define HEADERS_MAX 256
#define NOTES_BYTES_MAX 65536
#define ID_BYTES_MAX 64

static size_t padded(uint32_t bytes)
{
	return ((size_t)bytes + 3) & ~(size_t)3;
}

/* Finds the build ID among the notes and prints it in hex. Returns false if there is none. */
static bool note_find(const char *notes, size_t bytes, char id[2 * ID_BYTES_MAX + 1])
{
	size_t at = 0;
	Elf64_Nhdr n;

	while (at + sizeof(n) <= bytes) {
		size_t name, data;

		memcpy(&n, notes + at, sizeof(n));
		name = at + sizeof(n);
		data = name + padded(n.n_namesz);
		if (data + n.n_descsz > bytes)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    n.n_descsz <= ID_BYTES_MAX) {
			for (uint32_t i = 0; i < n.n_descsz; i++)
				sprintf(id + 2 * i, "%02x", (unsigned char)notes[data + i]);
			return n.n_descsz > 0;
		}
		at = data + padded(n.n_descsz);
	}
	return false;
}

static bool notes_look(int fd, const Elf64_Phdr *p, char id[2 * ID_BYTES_MAX + 1])
{
	size_t bytes = p->p_filesz < NOTES_BYTES_MAX ? p->p_filesz : NOTES_BYTES_MAX;
	char *notes = xmalloc(bytes + 1);
	bool found = pread(fd, notes, bytes, (off_t)p->p_offset) == (ssize_t)bytes &&
		     note_find(notes, bytes, id);

	free(notes);
	return found;
}

static bool has_build_id(int fd, const char *build_id)
{
	char id[2 * ID_BYTES_MAX + 1];
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(p))
		return false;
	for (unsigned int i = 0; i < h.e_phnum && i < HEADERS_MAX; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + i * sizeof(p))) != sizeof(p))
			return false;
		if (p.p_type == PT_NOTE && notes_look(fd, &p, id))
			return !strcmp(id, build_id);
	}
	return false;
}

static bool others_may_write(const struct stat *st, uid_t user)
{
	return (st->st_uid && st->st_uid != user) || (st->st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Returns the first of a file and the directories above it that others may write to; NULL: none.
 * The path must have no symbolic links and is cut there.
 */
static const char *writable_find(char *path, uid_t user)
{
	struct stat st;
	char *slash;

	for (;;) {
		if (lstat(*path ? path : "/", &st) || others_may_write(&st, user))
			return *path ? path : "/";
		if (!*path)
			return NULL;
		slash = strrchr(path, '/');
		if (!slash)
			return path;
		*slash = '\0';
	}
}

char *library_file_distrust(const char *path, const char *build_id, uid_t user)
{
	char real[PATH_MAX], *why = NULL;
	const char *writable;
	struct stat st;
	int fd;

	if (*path != '/' || !realpath(path, real))
		return xasprintf("%s is not on this machine", path);
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return xasprintf("%s: %s", real, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		why = xasprintf("%s is not a regular file", real);
	else if (*build_id && !has_build_id(fd, build_id))
		why = xasprintf("%s has another build ID than the recorded file", real);
	close(fd);
	if (why)
		return why;
	writable = writable_find(real, user);
	return writable ?
		       xasprintf(
			       "%s is writable by others than root and this user, so %s is not run",
			       writable, path) :
		       NULL;
}
