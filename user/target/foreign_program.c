/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Checks the machine and word size of the launched command. preload/exec.c checks more in programs
 * that recorded processes execute.
 */
#include "target/foreign_program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES 256 /* BINPRM_BUF_SIZE */
#define SCRIPTS_MAX 5  /* scripts whose interpreters are scripts */

/* Reads the first bytes of a file. 0: it cannot be read. */
static size_t head_read(const char *path, char head[HEAD_BYTES + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? 0 : pread(fd, head, HEAD_BYTES, 0);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		n = 0;
	memset(head + n, 0, HEAD_BYTES + 1 - (size_t)n);
	return (size_t)n;
}

bool program_is_foreign(const char *path)
{
	char head[HEAD_BYTES + 1], interpreter[HEAD_BYTES + 1];
	Elf64_Ehdr elf;
	size_t bytes;

	for (int i = 0; i < SCRIPTS_MAX; i++) {
		bytes = head_read(path, head);
		memcpy(&elf, head, sizeof(elf)); /* e_machine is where 32-bit files have it */
		if (bytes >= sizeof(Elf32_Ehdr) && !memcmp(head, ELFMAG, SELFMAG))
			return elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64;
		if (strncmp(head, "#!", 2) ||
		    sscanf(head + 2 + strspn(head + 2, " \t"), "%256[^ \t\r\n]", interpreter) != 1)
			return false;
		path = interpreter;
	}
	return false;
}
