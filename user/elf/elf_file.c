/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Opens an ELF file and reads what its headers tell: segments, build id, soname, needed libraries. Every
 * size in the file is checked against the file's own before anything is allocated for it, and nothing is mapped
 * (a file that shrinks under us must not kill us). Symbols are elf_symbols.c's.
 */
#include "elf/elf_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define ELF_MACHINE EM_PPC64
#elif defined(__riscv)
#define ELF_MACHINE EM_RISCV
#else
#define ELF_MACHINE EM_NONE
#endif

#define DYNAMIC_MAX 4096
#define NOTE_BYTES_MAX 65536

long elf_file_read_offset(const struct elf_file *f, uint64_t offset, void *buf, size_t bytes)
{
	size_t done = 0;

	if (offset >= f->bytes)
		return 0;
	if (bytes > f->bytes - offset)
		bytes = f->bytes - offset;
	while (done < bytes) {
		ssize_t n = pread(f->fd, (char *)buf + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (long)done;
}

/* The PT_LOAD that holds an address. */
static const struct elf_segment *segment_at(const struct elf_file *f, uint64_t addr)
{
	for (size_t i = 0; i < f->seg_cnt; i++)
		if (addr >= f->seg[i].addr && addr - f->seg[i].addr < f->seg[i].mem_bytes)
			return &f->seg[i];
	return NULL;
}

bool elf_file_addr_to_offset(const struct elf_file *f, uint64_t addr, uint64_t *offset)
{
	const struct elf_segment *s = segment_at(f, addr);

	if (!s || addr - s->addr >= s->file_bytes)
		return false;
	*offset = s->offset + (addr - s->addr);
	return true;
}

long elf_file_read_addr(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes)
{
	const struct elf_segment *s = segment_at(f, addr);
	uint64_t offset;

	if (!elf_file_addr_to_offset(f, addr, &offset))
		return -ENXIO;
	if (bytes > s->file_bytes - (addr - s->addr))
		bytes = s->file_bytes - (addr - s->addr);
	return elf_file_read_offset(f, offset, buf, bytes);
}

int elf_file_offset_to_addr(const struct elf_file *f, uint64_t offset, uint64_t *addr)
{
	for (size_t i = 0; i < f->seg_cnt; i++) {
		const struct elf_segment *s = &f->seg[i];

		if (!s->exec || offset < s->offset || offset - s->offset >= s->file_bytes)
			continue;
		*addr = s->addr + (offset - s->offset);
		return 0;
	}
	return -ENXIO;
}

bool elf_file_maps(const struct elf_file *f, uint64_t addr, uint64_t bytes)
{
	const struct elf_segment *s = segment_at(f, addr);

	return s && bytes <= s->mem_bytes - (addr - s->addr);
}

bool elf_file_read_string(const struct elf_file *f, uint64_t addr, char *buf, size_t bytes)
{
	long n = elf_file_read_addr(f, addr, buf, bytes);

	return n > 0 && memchr(buf, 0, (size_t)n);
}

/* Refuses early what libelf would take: foreign files, and section counts beyond the plain header field. */
static int header_check(int fd)
{
	Elf64_Ehdr h;
	ssize_t n = pread(fd, &h, sizeof(h), 0);

	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOEXEC;
	if (h.e_machine != ELF_MACHINE || (h.e_type != ET_EXEC && h.e_type != ET_DYN))
		return -ENOEXEC;
	if ((h.e_shnum == 0 && h.e_shoff != 0) || h.e_phnum == PN_XNUM || h.e_phnum == 0 ||
	    h.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	return 0;
}

static void segments_read(struct elf_file *f, size_t phnum)
{
	f->seg = xcalloc(phnum ? phnum : 1, sizeof(*f->seg));
	for (size_t i = 0; i < phnum; i++) {
		struct elf_segment *s = &f->seg[f->seg_cnt];
		GElf_Phdr p;

		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		if (p.p_offset >= f->bytes && p.p_filesz)
			continue;
		*s = (struct elf_segment){
			.addr = p.p_vaddr,
			.offset = p.p_offset,
			.file_bytes = p.p_filesz,
			.mem_bytes = p.p_memsz,
			.exec = p.p_flags & PF_X,
		};
		if (s->file_bytes && s->file_bytes > f->bytes - s->offset)
			s->file_bytes = f->bytes - s->offset;
		f->seg_cnt++;
	}
}

static void build_id_take(struct elf_file *f, const unsigned char *notes, size_t bytes)
{
	size_t at = 0, name_off, desc_off;
	GElf_Nhdr n;

	while (at + sizeof(n) <= bytes) {
		memcpy(&n, notes + at, sizeof(n));
		name_off = at + sizeof(n);
		if (n.n_namesz > bytes - name_off)
			return;
		desc_off = name_off + ((n.n_namesz + 3u) & ~3u);
		if (desc_off > bytes || n.n_descsz > bytes - desc_off)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(notes + name_off, "GNU", 4) && n.n_descsz * 2 < sizeof(f->build_id)) {
			for (size_t i = 0; i < n.n_descsz; i++) {
				f->build_id[2 * i] = "0123456789abcdef"[notes[desc_off + i] >> 4];
				f->build_id[2 * i + 1] =
					"0123456789abcdef"[notes[desc_off + i] & 15];
			}
			return;
		}
		at = desc_off + ((n.n_descsz + 3u) & ~3u);
	}
}

static void notes_read(struct elf_file *f, size_t phnum)
{
	for (size_t i = 0; i < phnum && !f->build_id[0]; i++) {
		unsigned char *buf;
		GElf_Phdr p;
		long n;

		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_NOTE ||
		    p.p_filesz > NOTE_BYTES_MAX)
			continue;
		buf = xmalloc(p.p_filesz + 1);
		n = elf_file_read_offset(f, p.p_offset, buf, p.p_filesz);
		if (n > 0)
			build_id_take(f, buf, (size_t)n);
		free(buf);
	}
}

static char *dynamic_string(const struct elf_file *f, uint64_t off)
{
	char buf[ELF_NAME_BYTES_MAX];

	if (!f->dyn_strtab || !elf_file_read_string(f, f->dyn_strtab + off, buf, sizeof(buf)) ||
	    !buf[0])
		return NULL;
	return xstrdup(buf);
}

static void dynamic_addresses(struct elf_file *f, const Elf64_Dyn *dyn, size_t cnt)
{
	for (size_t i = 0; i < cnt && dyn[i].d_tag != DT_NULL; i++) {
		switch (dyn[i].d_tag) {
		case DT_SYMTAB:
			f->dyn_symtab = dyn[i].d_un.d_ptr;
			break;
		case DT_STRTAB:
			f->dyn_strtab = dyn[i].d_un.d_ptr;
			break;
		case DT_GNU_HASH:
			f->dyn_gnu_hash = dyn[i].d_un.d_ptr;
			break;
		}
	}
}

static void dynamic_names(struct elf_file *f, const Elf64_Dyn *dyn, size_t cnt)
{
	f->needed = xcalloc(cnt + 1, sizeof(*f->needed));
	for (size_t i = 0; i < cnt && dyn[i].d_tag != DT_NULL; i++) {
		char **one = dyn[i].d_tag == DT_SONAME	? &f->soname :
			     dyn[i].d_tag == DT_RUNPATH ? &f->runpath :
			     dyn[i].d_tag == DT_RPATH	? &f->rpath :
							  NULL;
		char *s;

		if (dyn[i].d_tag != DT_NEEDED && (!one || *one))
			continue;
		s = dynamic_string(f, dyn[i].d_un.d_val);
		if (s && one)
			*one = s;
		else if (s)
			f->needed[f->needed_cnt++] = s;
	}
}

static void interpreter_read(struct elf_file *f, size_t phnum)
{
	char buf[ELF_NAME_BYTES_MAX];
	GElf_Phdr p;

	for (size_t i = 0; i < phnum; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_INTERP ||
		    p.p_filesz > sizeof(buf))
			continue;
		if (elf_file_read_offset(f, p.p_offset, buf, p.p_filesz) == (long)p.p_filesz &&
		    memchr(buf, 0, p.p_filesz))
			f->interpreter = xstrdup(buf);
		return;
	}
}

static void dynamic_read(struct elf_file *f, size_t phnum)
{
	Elf64_Dyn *dyn;
	GElf_Phdr p;
	size_t i;
	long n;

	for (i = 0; i < phnum; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_DYNAMIC)
			break;
	if (i == phnum)
		return;
	dyn = xcalloc(DYNAMIC_MAX, sizeof(*dyn));
	n = elf_file_read_offset(
		f, p.p_offset, dyn,
		p.p_filesz < DYNAMIC_MAX * sizeof(*dyn) ? p.p_filesz : DYNAMIC_MAX * sizeof(*dyn));
	if (n > 0) {
		f->dynamic = true;
		dynamic_addresses(f, dyn, (size_t)n / sizeof(*dyn));
		dynamic_names(f, dyn, (size_t)n / sizeof(*dyn));
	}
	free(dyn);
}

int elf_file_open_fd(int fd, struct elf_file **out)
{
	struct elf_file *f;
	struct stat st;
	size_t phnum;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	err = header_check(fd);
	if (err)
		return err;
	f = xcalloc(1, sizeof(*f));
	f->bytes = (uint64_t)st.st_size;
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->fd < 0) {
		err = -errno;
		goto free_file;
	}
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || elf_getphdrnum(f->elf, &phnum)) {
		err = -ENOEXEC;
		goto free_file;
	}
	f->index = elf_index_new(f->elf);
	segments_read(f, phnum);
	notes_read(f, phnum);
	dynamic_read(f, phnum);
	interpreter_read(f, phnum);
	*out = f;
	return 0;

free_file:
	elf_file_close(f);
	return err;
}

int elf_file_open(const char *path, struct elf_file **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	err = elf_file_open_fd(fd, out);
	close(fd);
	return err;
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_index_free(f->index);
	for (size_t i = 0; i < f->needed_cnt; i++)
		free(f->needed[i]);
	free(f->needed);
	free(f->soname);
	free(f->runpath);
	free(f->rpath);
	free(f->interpreter);
	free(f->seg);
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

bool elf_file_is_dynamic(const struct elf_file *f)
{
	return f->dynamic;
}

const char *elf_file_build_id(const struct elf_file *f)
{
	return f->build_id;
}

const char *elf_file_soname(const struct elf_file *f)
{
	return f->soname ? f->soname : "";
}

size_t elf_file_needed(const struct elf_file *f, const char *const **names)
{
	*names = (const char *const *)f->needed;
	return f->needed_cnt;
}

const char *elf_file_runpath(const struct elf_file *f)
{
	return f->runpath ? f->runpath : f->rpath ? f->rpath : "";
}

const char *elf_file_interpreter(const struct elf_file *f)
{
	return f->interpreter ? f->interpreter : "";
}

bool elf_file_exec_segment(const struct elf_file *f, size_t i, uint64_t *offset, uint64_t *addr,
			   uint64_t *bytes)
{
	for (size_t at = 0; at < f->seg_cnt; at++) {
		if (!f->seg[at].exec || i--)
			continue;
		*offset = f->seg[at].offset;
		*addr = f->seg[at].addr;
		*bytes = f->seg[at].file_bytes;
		return true;
	}
	return false;
}
