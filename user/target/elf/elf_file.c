/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Opens an ELF file and reads its headers: segments, build id, soname, needed libraries. Every size
 * in the file is checked against the size of the file before memory is allocated for it. Nothing is
 * mapped, because a file that shrinks meanwhile would kill us. elf_symbols.c reads symbols.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_internal.h"

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

#define DYNAMIC_BYTES_MAX 65536
/* limits for notes, because libelf keeps those that it has read */
#define NOTE_BYTES_MAX 65536
#define NOTES_MAX 16

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

/* Returns the PT_LOAD that contains an address. */
static const struct elf_segment *segment_at(const struct elf_file *f, uint64_t addr)
{
	return table_where(f->seg, f->seg_cnt, i,
			   addr >= f->seg[i].addr && addr - f->seg[i].addr < f->seg[i].mem_bytes);
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

/*
 * Refuses files that libelf would accept: for other machines, or with section counts beyond the
 * plain header field.
 */
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

static void segment_add(struct elf_file *f, const GElf_Phdr *p)
{
	uint64_t file_bytes = p->p_filesz;

	if (file_bytes && p->p_offset >= f->bytes)
		return;
	if (file_bytes && file_bytes > f->bytes - p->p_offset)
		file_bytes = f->bytes - p->p_offset;
	f->seg[f->seg_cnt++] = (struct elf_segment){
		.addr = p->p_vaddr,
		.offset = p->p_offset,
		.file_bytes = file_bytes,
		.mem_bytes = p->p_memsz,
		.exec = p->p_flags & PF_X,
	};
}

static void build_id_take(const struct elf_file *f, const GElf_Phdr *p, char *out, size_t bytes)
{
	size_t at = 0, name, desc;
	Elf_Data *notes = NULL;
	GElf_Nhdr n;

	if (p->p_filesz <= NOTE_BYTES_MAX)
		notes = elf_getdata_rawchunk(f->elf, (int64_t)p->p_offset, p->p_filesz, ELF_T_NHDR);
	while (!*out && (at = gelf_getnote(notes, at, &n, &name, &desc))) {
		const uint8_t *buf = notes->d_buf;

		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp(buf + name, "GNU", 4) || n.n_descsz * 2ull >= bytes)
			continue;
		for (size_t i = 0; i < n.n_descsz * 2ull; i++)
			out[i] = "0123456789abcdef"[buf[desc + i / 2] >> (i % 2 ? 0 : 4) & 15];
	}
}

/* Returns buf if it has a complete string of n bytes at most, else "". */
static const char *string_or_empty(char *buf, long n)
{
	if (n <= 0 || !memchr(buf, 0, (size_t)n))
		*buf = '\0';
	return buf;
}

static const char *dynamic_string(const struct elf_file *f, uint64_t off, char *buf)
{
	long n = -ENOENT;

	if (f->dyn_strtab)
		n = elf_file_read_addr(f, f->dyn_strtab + off, buf, ELF_NAME_BYTES_MAX);
	return string_or_empty(buf, n);
}

static void dynamic_read(struct elf_file *f, const GElf_Phdr *p)
{
	struct elf_headers *h = &f->headers;
	uint64_t value[DT_NUM] = {0};
	char name[ELF_NAME_BYTES_MAX];
	Elf_Data *d;
	GElf_Dyn dyn;
	int cnt;

	d = elf_getdata_rawchunk(f->elf, (int64_t)p->p_offset,
				 p->p_filesz < DYNAMIC_BYTES_MAX ? p->p_filesz : DYNAMIC_BYTES_MAX,
				 ELF_T_DYN);
	h->dynamic = d != NULL;
	for (cnt = 0; gelf_getdyn(d, cnt, &dyn) && dyn.d_tag != DT_NULL; cnt++) {
		if ((uint64_t)dyn.d_tag < DT_NUM)
			value[dyn.d_tag] = dyn.d_un.d_val;
		else if (dyn.d_tag == DT_GNU_HASH)
			f->dyn_gnu_hash = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_FLAGS_1)
			h->is_pie = dyn.d_un.d_val & DF_1_PIE;
	}
	f->dyn_symtab = value[DT_SYMTAB];
	f->dyn_strtab = value[DT_STRTAB];
	dynamic_string(f, value[DT_SONAME], h->soname);
	dynamic_string(f, value[DT_RUNPATH] ? value[DT_RUNPATH] : value[DT_RPATH], h->runpath);
	h->needed = xcalloc((size_t)cnt + 1, sizeof(*h->needed));
	for (int i = 0; i < cnt && gelf_getdyn(d, i, &dyn); i++)
		if (dyn.d_tag == DT_NEEDED && *dynamic_string(f, dyn.d_un.d_val, name))
			h->needed[h->needed_cnt++] = xstrdup(name);
}

static void headers_read(struct elf_file *f, size_t phnum)
{
	struct elf_headers *h = &f->headers;
	GElf_Phdr p, dynamic = {0};
	unsigned int notes = 0;

	f->seg = xcalloc(phnum + 1, sizeof(*f->seg));
	for (size_t i = 0; i < phnum && gelf_getphdr(f->elf, (int)i, &p); i++) {
		if (p.p_type == PT_LOAD)
			segment_add(f, &p);
		else if (p.p_type == PT_NOTE && notes++ < NOTES_MAX)
			build_id_take(f, &p, h->build_id, sizeof(h->build_id));
		else if (p.p_type == PT_INTERP && p.p_filesz <= sizeof(h->interpreter))
			string_or_empty(h->interpreter,
					elf_file_read_offset(f, p.p_offset, h->interpreter,
							     p.p_filesz));
		else if (p.p_type == PT_DYNAMIC)
			dynamic = p;
		else if (p.p_type == PT_GNU_EH_FRAME) {
			f->frames_addr = p.p_vaddr;
			f->frames_bytes = p.p_filesz;
		}
	}
	/* Its strings are at addresses, so all segments must be known first. */
	if (dynamic.p_type == PT_DYNAMIC)
		dynamic_read(f, &dynamic);
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
	f->pointers = elf_pointers_new();
	headers_read(f, phnum);
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

int elf_file_open_beside(const struct elf_file *f, const char *name, struct elf_file **out)
{
	char link[32], path[PATH_MAX], *slash;
	struct stat own, other;
	struct elf_file *found;
	ssize_t n;
	int err;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= sizeof(path))
		return -ENOENT;
	strcpy(slash + 1, name);
	err = elf_file_open(path, &found);
	if (err)
		return err;
	if (fstat(f->fd, &own) || fstat(found->fd, &other) || own.st_dev != other.st_dev) {
		elf_file_close(found);
		return -EXDEV;
	}
	*out = found;
	return 0;
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_index_free(f->index);
	elf_pointers_free(f->pointers);
	for (size_t i = 0; i < f->headers.needed_cnt; i++)
		free(f->headers.needed[i]);
	free(f->headers.needed);
	free(f->seg);
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

const struct elf_headers *elf_file_headers(const struct elf_file *f)
{
	return &f->headers;
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

/* ---- where functions begin ---- */

/*
 * Decides whether a function begins at an address. What a process reports about its code is not
 * trusted: a probe inside an instruction would break every process that maps the file. The table of
 * exception frames lists each function's first byte, sorted, in stripped files, too. Its format is
 * that of the Linux Standard Base (Core, 10.6.2).
 */

/* The encodings that all linkers use; other tables are not read. */
#define COUNT_UDATA4 0x03
#define ROWS_DATAREL_SDATA4 0x3b

struct frames_header {
	uint8_t version, pointer_enc, count_enc, rows_enc;
	int32_t pointer;
	uint32_t count;
};

struct frames_row { /* both relative to the header's address */
	int32_t function, frame;
};

struct frame { /* the beginning of a frame with relative 4-byte pointers */
	uint32_t bytes, common;
	int32_t function; /* relative to this member's own address */
	uint32_t function_bytes;
};

static uint64_t row_count(const struct elf_file *f)
{
	struct frames_header h;
	uint64_t room;

	if (f->frames_bytes < sizeof(h) || !elf_read_all(f, f->frames_addr, &h, sizeof(h)) ||
	    h.version != 1 || h.count_enc != COUNT_UDATA4 || h.rows_enc != ROWS_DATAREL_SDATA4)
		return 0;
	room = (f->frames_bytes - sizeof(h)) / sizeof(struct frames_row);
	return h.count < room ? h.count : room;
}

static bool row_read(const struct elf_file *f, uint64_t i, struct frames_row *row)
{
	return elf_read_all(f, f->frames_addr + sizeof(struct frames_header) + i * sizeof(*row),
			    row, sizeof(*row));
}

static uint64_t row_start(const struct elf_file *f, const struct frames_row *row)
{
	return f->frames_addr + (uint64_t)(int64_t)row->function;
}

/* Returns a function's size; 0 if the frame does not have it in the usual encoding. */
static uint64_t function_bytes(const struct elf_file *f, const struct frames_row *row)
{
	uint64_t addr = f->frames_addr + (uint64_t)(int64_t)row->frame;
	struct frame frame;

	if (!elf_read_all(f, addr, &frame, sizeof(frame)) ||
	    addr + offsetof(struct frame, function) + (uint64_t)(int64_t)frame.function !=
		    row_start(f, row))
		return 0;
	return frame.function_bytes;
}

/* Finds the last row whose function begins at or before addr. */
static bool row_find(const struct elf_file *f, uint64_t addr, struct frames_row *row)
{
	int64_t want = (int64_t)(addr - f->frames_addr);
	uint64_t lo = 0, hi = row_count(f);

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!row_read(f, mid, row))
			return false;
		if (row->function <= want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && row_read(f, lo - 1, row);
}

bool elf_file_function_at(const struct elf_file *f, uint64_t addr, struct elf_symbol *out)
{
	const struct elf_symbol *sym = elf_file_symbol_from(f, addr);
	struct elf_symbol found = {.name = "", .addr = addr, .is_func = true};
	struct frames_row row;

	if (sym && sym->addr == addr && sym->is_func) {
		*out = *sym;
		return true;
	}
	found.has_offset = elf_file_addr_to_offset(f, addr, &found.offset);
	if (!found.has_offset || !row_find(f, addr, &row) || row_start(f, &row) != addr)
		return false;
	found.size = function_bytes(f, &row);
	*out = found;
	return true;
}

bool elf_file_function_around(const struct elf_file *f, uint64_t addr, uint64_t *start,
			      uint64_t *bytes)
{
	struct frames_row row;
	uint64_t size;

	if (!row_find(f, addr, &row))
		return false;
	size = function_bytes(f, &row);
	if (addr - row_start(f, &row) >= size)
		return false;
	*start = row_start(f, &row);
	*bytes = size;
	return true;
}
