/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Searches for a version where libraries keep one: in a variable with a known name; among the
 * strings to which PMPI_Get_library_version (or a function that it calls) refers; as a sentence in
 * .rodata.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

#define VERSION_WORD_MAX 32
#define SCAN_BYTES_MAX (64u << 20)
#define SCAN_CHUNK_BYTES (1u << 20)
#define SCAN_OVERLAP 256

/* Returns true for digits, a dot, digits, and little more: "4.1.4", "4.0.2p1", "5.0.0rc3". */
static bool is_version(const char *s, size_t room)
{
	size_t len = strnlen(s, room), i = 0;

	if (len < 3 || len == room || len >= VERSION_WORD_MAX || !isdigit((unsigned char)s[0]))
		return false;
	while (isdigit((unsigned char)s[i]))
		i++;
	if (s[i] != '.' || !isdigit((unsigned char)s[i + 1]))
		return false;
	for (; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '.' && s[i] != '-' && s[i] != '+')
			return false;
	return true;
}

static bool version_at(const struct elf_file *f, uint64_t addr, char *version, size_t bytes)
{
	char word[VERSION_WORD_MAX + 1] = {0};

	if (elf_file_read_addr(f, addr, word, VERSION_WORD_MAX) <= 0 ||
	    !is_version(word, VERSION_WORD_MAX))
		return false;
	snprintf(version, bytes, "%s", word);
	return true;
}

static bool by_symbol(const struct elf_file *f, char *version, size_t bytes)
{
	static const char *const names[] = {"ompi_version_string", "MPII_Version_string",
					    "MPIR_Version_string"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct elf_symbol *s = elf_file_find(f, names[i]);

		if (s && s->is_object && version_at(f, s->addr, version, bytes))
			return true;
	}
	return false;
}

#define CODE_BYTES_MAX 4096
#define CALLEES_MAX 16

/* Searches code up to its last return, or up to `bytes`. Notes calls if there is room. */
static bool version_in_code(const struct elf_file *f, uint64_t addr, uint64_t bytes,
			    uint64_t *callee, unsigned int *callee_cnt, char *version,
			    size_t version_bytes)
{
	uint64_t end = addr + bytes, to;
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;

	for (; addr < end && x86_decode(&reader, addr, &insn); addr += insn.z.length) {
		if (insn.z.mnemonic == ZYDIS_MNEMONIC_LEA &&
		    x86_rip_operand(&insn, &insn.op[1], &to) &&
		    version_at(f, to, version, version_bytes))
			return true;
		if (callee && x86_is_call(&insn) && x86_branch_target(&insn, &to) &&
		    *callee_cnt < CALLEES_MAX)
			callee[(*callee_cnt)++] = to;
		if (!callee && insn.z.meta.category == ZYDIS_CATEGORY_RET)
			return false;
	}
	return false;
}

static bool by_code(const struct elf_file *f, const char *function, char *version, size_t bytes)
{
	const struct elf_symbol *s = elf_file_find(f, function);
	uint64_t callee[CALLEES_MAX];
	unsigned int cnt = 0;

	if (!s || !s->is_func)
		return false;
	if (version_in_code(f, s->addr, s->size < CODE_BYTES_MAX ? s->size : CODE_BYTES_MAX, callee,
			    &cnt, version, bytes))
		return true;
	/* A callee without a name is searched up to its first return. */
	return table_any(cnt, i,
			 version_in_code(f, callee[i], CODE_BYTES_MAX, NULL, NULL, version, bytes));
}

/* Accepts a sentence like "MPICH Version: 4.0" with a number, not a format for printing one. */
static bool sentence_take(const char *at, size_t room, size_t lead_len, char *version, size_t bytes)
{
	size_t len = 0, digit = lead_len;

	while (digit < room && (at[digit] == ' ' || at[digit] == '\t'))
		digit++;
	if (digit >= room || !isdigit((unsigned char)at[digit]))
		return false;
	while (len < room && len + 1 < bytes &&
	       (isprint((unsigned char)at[len]) || at[len] == '\t') && at[len] != ',') {
		version[len] = at[len] == '\t' ? ' ' : at[len];
		len++;
	}
	version[len] = 0;
	return true;
}

static bool sentence_find(const char *buf, size_t len, char *version, size_t bytes)
{
	static const char *const lead[] = {"Open MPI v", "MPICH Version:", "Intel(R) MPI Library ",
					   "MVAPICH2 Version", "CRAY MPICH version "};

	for (size_t i = 0; i < sizeof(lead) / sizeof(lead[0]); i++) {
		size_t lead_len = strlen(lead[i]);
		const char *at = buf;

		while ((at = memmem(at, len - (size_t)(at - buf), lead[i], lead_len))) {
			if (sentence_take(at, len - (size_t)(at - buf), lead_len, version, bytes))
				return true;
			at += lead_len;
		}
	}
	return false;
}

static bool by_sentence(const struct elf_file *f, char *version, size_t bytes)
{
	uint64_t at, left;
	bool found = false;
	char *buf;
	long n;

	if (!elf_file_section(f, ".rodata", &at, &left))
		return false;
	if (left > SCAN_BYTES_MAX)
		left = SCAN_BYTES_MAX;
	buf = xmalloc(SCAN_CHUNK_BYTES);
	while (left && !found) {
		n = elf_file_read_offset(f, at, buf,
					 left < SCAN_CHUNK_BYTES ? left : SCAN_CHUNK_BYTES);
		if (n <= 0)
			break;
		found = sentence_find(buf, (size_t)n, version, bytes);
		if ((uint64_t)n >= left || n <= SCAN_OVERLAP)
			break;
		at += (uint64_t)n - SCAN_OVERLAP;
		left -= (uint64_t)n - SCAN_OVERLAP;
	}
	free(buf);
	return found;
}

void library_version_mpi(const struct elf_file *f, char *version, size_t bytes)
{
	version[0] = 0;
	if (!by_symbol(f, version, bytes) &&
	    !by_code(f, "PMPI_Get_library_version", version, bytes))
		by_sentence(f, version, bytes);
}

void library_version_by_function(const struct elf_file *f, const char *function, char *version,
				 size_t bytes)
{
	version[0] = 0;
	by_code(f, function, version, bytes);
}
