/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs before execve. If the new program can load this library, makes LD_PRELOAD name it. If its
 * loader would not find or accept the library, removes the library from LD_PRELOAD. Unless the
 * program loads it, the process waits until the collector has examined the program. This code also
 * runs in children of vfork, on small stacks and in their parents' memory, so it keeps no state.
 */

#include <elf.h>
#include <linux/fcntl.h>
#include <asm/stat.h>

#include "preload/library.h"

#define HEAD_BYTES 1024
#define SCRIPT_BYTES 256 /* BINPRM_BUF_SIZE */
#define SCRIPTS_MAX 5	 /* scripts whose interpreters are scripts (exec_binprm() in fs/exec.c) */
#define ENTRIES_MAX 895	 /* entries of a changed environment, which is on the stack */
#define VALUE_BYTES 1024 /* longest changed entry */

static const char variable[] = "LD_PRELOAD=", file[] = "/libpovtrace-preload.so";
static const char *own_path;
u64 exec_goes_on;

/* Returns the end of a file name in the variable's value. */
static const char *name_end(const char *name)
{
	while (*name && *name != ':' && *name != ' ')
		name++;
	return name;
}

static bool is_own(const char *name)
{
	const u64 bytes = sizeof(file) - 1;
	const char *end = name_end(name);

	return (u64)(end - name) >= bytes && !memcmp(end - bytes, file, bytes);
}

/* Returns where the variable names this library, or NULL. */
static const char *own_in(const char *entry)
{
	const char *name = entry + sizeof(variable) - 1;

	while (*name && !is_own(name))
		name = *name_end(name) ? name_end(name) + 1 : name_end(name);
	return *name ? name : NULL;
}

static char *const *variable_find(char *const *envp)
{
	while (envp && *envp && !begins_with(*envp, variable))
		envp++;
	return envp && *envp ? envp : NULL;
}

/* ---- the program ---- */

enum program {
	PROGRAM_MISSING, /* there is no such file: it will not be executed */
	PROGRAM_LOADS,	 /* it loads this library */
	PROGRAM_STATIC,	 /* it loads nothing */
	PROGRAM_STRANGE, /* it cannot load this library: another C library's or machine's */
};

/* Returns true if the program's loader is glibc's, by its name (ld-linux-x86-64.so.2). */
static bool is_known_loader(const u8 *head, long bytes, u64 from, u64 cnt)
{
	if (from + cnt > (u64)bytes)
		return true; /* unknown */
	for (u64 i = 0; i + 8 < cnt; i++)
		if (begins_with((const char *)head + from + i, "ld-linux"))
			return true;
	return false;
}

static enum program program_of(const u8 *head, long bytes)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)head;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(head + h->e_phoff);

	if (head[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_X86_64)
		return PROGRAM_STRANGE;
	if (h->e_phoff + (u64)h->e_phnum * sizeof(*p) > (u64)bytes)
		return PROGRAM_LOADS;
	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_INTERP)
			return is_known_loader(head, bytes, p[i].p_offset, p[i].p_filesz) ?
				       PROGRAM_LOADS :
				       PROGRAM_STRANGE;
	return PROGRAM_STATIC;
}

/* Returns true for a program with more rights than its user: its loader ignores LD_PRELOAD. */
static bool is_privileged(long fd)
{
	struct stat st;

	if (sys4(__NR_newfstatat, fd, (long)"", (long)&st, AT_EMPTY_PATH) ||
	    st.st_mode & (04000 | 02000)) /* S_ISUID, S_ISGID */
		return true;
	/* a filter may forbid this call; programs under a filter seldom have capabilities */
	return !is_confined() && sys4(__NR_fgetxattr, fd, (long)"security.capability", 0, 0) > 0;
}

/*
 * Reads a script's interpreter ("": not a script). Looks only at the bytes that the kernel looks
 * at.
 */
static void interpreter_read(const u8 *head, long bytes, char *interpreter)
{
	long at = 2, len = 0;

	if (bytes > SCRIPT_BYTES)
		bytes = SCRIPT_BYTES;
	if (bytes > at && head[0] == '#' && head[1] == '!') {
		while (at < bytes && (head[at] == ' ' || head[at] == '\t'))
			at++;
		while (at < bytes && head[at] > ' ')
			interpreter[len++] = (char)head[at++];
	}
	interpreter[len] = '\0';
}

/* Finds out whether a program loads this library. interpreter: see interpreter_read() */
static __noinline enum program file_kind(const char *path, char *interpreter)
{
	long fd = sys4(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	_Alignas(8) u8 head[HEAD_BYTES];
	bool privileged;
	long bytes;

	*interpreter = '\0';
	if (sys_failed(fd))
		return fd == -ENOENT || fd == -ENOTDIR || fd == -EFAULT ? PROGRAM_MISSING :
									  PROGRAM_LOADS;
	bytes = sys4(__NR_pread64, fd, (long)head, sizeof(head), 0);
	privileged = is_privileged(fd);
	sys3(__NR_close, fd, 0, 0);
	if (privileged)
		return PROGRAM_STATIC;
	interpreter_read(head, bytes, interpreter);
	if (bytes < (long)sizeof(Elf64_Ehdr) || memcmp(head, ELFMAG, SELFMAG))
		return PROGRAM_LOADS;
	return program_of(head, bytes);
}

/* Does the same for a program or a script. *path becomes the program that the kernel loads. */
static enum program program_kind(const char **path, char interpreter[2][SCRIPT_BYTES])
{
	enum program program = PROGRAM_LOADS;

	for (int i = 0; i < SCRIPTS_MAX; i++) {
		program = file_kind(*path, interpreter[i % 2]);
		if (!*interpreter[i % 2])
			break;
		*path = interpreter[i % 2];
	}
	return program;
}

/* ---- the environment ---- */

static u64 text_length(const char *text)
{
	u64 bytes = 0;

	while (text[bytes])
		bytes++;
	return bytes;
}

/* Writes the variable without this library to value; returns NULL if nothing is left of it. */
static char *value_without(const char *entry, const char *own, char *value)
{
	const char *next = name_end(own);
	u64 before = (u64)(own - entry), after;

	next += *next != '\0';
	after = text_length(next);
	if (before == sizeof(variable) - 1 && !after)
		return NULL;
	memcpy(value, entry, before);
	memcpy(value + before, next, after + 1);
	return value;
}

/* Writes the variable with this library before the others to value. */
static char *value_with(const char *entry, char *value)
{
	const u64 before = sizeof(variable) - 1, own = text_length(own_path);

	memcpy(value, variable, before);
	memcpy(value + before, own_path, own);
	value[before + own] = ':';
	memcpy(value + before + own + 1, entry + before, text_length(entry + before) + 1);
	return value;
}

static u32 entries_count(char *const *envp)
{
	u32 cnt = 0;

	while (envp[cnt])
		cnt++;
	return cnt;
}

/*
 * Executes the program with another value of the variable: without this library if own says where
 * its name is, else with it. If that takes too much room, the environment stays as it is; a loader
 * that cannot load the library then prints that it ignores it. Returns if the program was not
 * executed.
 */
static __noinline void execute_changed(const char *path, char *const *argv, char *const *envp,
				       char *const *entry, const char *own)
{
	u64 bytes = text_length(*entry) + (own ? 0 : text_length(own_path) + 1) + 1;
	u32 entries = entries_count(envp), cnt = 0;
	char **with, *value;

	if (entries > ENTRIES_MAX || bytes > VALUE_BYTES)
		return;
	with = __builtin_alloca((entries + 1) * sizeof(*with) + bytes);
	value = (char *)(with + entries + 1);
	value = own ? value_without(*entry, own, value) : value_with(*entry, value);
	for (char *const *e = envp; *e; e++)
		if (e != entry)
			with[cnt++] = *e;
		else if (value)
			with[cnt++] = value;
	with[cnt] = NULL;
	sys3(__NR_execve, (long)path, (long)argv, (long)with);
}

void exec_before(const char *path, char *const *argv, char *const *envp)
{
	char *const *entry = variable_find(envp);
	const char *own = entry ? own_in(*entry) : NULL;
	bool is_there = entry && !sys3(__NR_access, (long)own_path, 4 /* R_OK */, 0);
	char interpreter[2][SCRIPT_BYTES];
	const char *loaded = path;
	enum program program = program_kind(&loaded, interpreter);

	if (program == PROGRAM_MISSING)
		return;
	if (is_there && program == PROGRAM_LOADS) {
		/* an empty value means that no library is wanted */
		if (!own && (*entry)[sizeof(variable) - 1])
			execute_changed(path, argv, envp, entry, NULL);
		if (own)
			return;
	}
	if (program != PROGRAM_STRANGE)
		ask_program(loaded);
	if (own && (!is_there || program == PROGRAM_STRANGE))
		execute_changed(path, argv, envp, entry, own);
}

struct search {
	const u8 *code;
};

static bool execve_find(void *ctx, const struct link_map *map)
{
	struct search *s = ctx;

	if (loaded_symbol(map, "fexecve"))
		s->code = loaded_symbol(map, "execve");
	return !s->code;
}

void exec_begin(const struct link_map *own)
{
	static const u8 begins[] = {0xb8, __NR_execve, 0,   0,
				    0,	  0x0f,	       0x05}; /* mov $, %eax; syscall */
	static const u8 endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct search s = {};

	own_path = own->l_name;
	loaded_each(execve_find, &s);
	if (s.code && !memcmp(s.code, endbr, sizeof(endbr)))
		s.code += sizeof(endbr);
	if (!s.code || memcmp(s.code, begins, sizeof(begins)))
		return;
	exec_goes_on = (u64)s.code + POV_HOOK_JUMP;
	hook_jump((void *)s.code, exec_enter);
}
