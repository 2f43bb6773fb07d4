/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * This runs in children of vfork, too, on their small stacks and in their parents' memory: nothing is kept. Whoever is in doubt is told of.
 */
#include "preload/exec.h"

#include <elf.h>
#include <linux/fcntl.h>

#include "preload/ask.h"
#include "preload/hook.h"
#include "preload/loaded.h"
#include "preload/sys.h"

#define HEAD_BYTES 1024
#define ENTRIES_MAX 1023 /* EXEC_ROOM of enter.S has so many pointers and one */

static const char variable[] = "LD_PRELOAD=";
static const char *own_path;
u64 exec_goes_on;

/* The end of a file's name in the variable's value. */
static const char *name_end(const char *name)
{
	while (*name && *name != ':' && *name != ' ')
		name++;
	return name;
}

static bool names(const char *value, const char *path)
{
	const char *end;
	u64 len = 0;

	while (path[len])
		len++;
	for (; *value; value = *end ? end + 1 : end) {
		end = name_end(value);
		if ((u64)(end - value) == len && !memcmp(value, path, len))
			return true;
	}
	return false;
}

static bool is_variable(const char *entry)
{
	for (u32 i = 0; variable[i]; i++)
		if (entry[i] != variable[i])
			return false;
	return true;
}

/* The entry of the environment that names this library, or NULL. */
static char *const *entry_find(char *const *envp)
{
	for (; envp && *envp; envp++)
		if (is_variable(*envp))
			return names(*envp + sizeof(variable) - 1, own_path) ? envp : NULL;
	return NULL;
}

static bool has_interpreter(const u8 *head, long bytes)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)head;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(head + h->e_phoff);

	if (h->e_phoff + (u64)h->e_phnum * sizeof(*p) > (u64)bytes)
		return true;
	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_INTERP)
			return true;
	return false;
}

/* Whether a loader runs in the program: not in one that is linked statically. What is no program for this machine does not matter. */
static bool is_dynamic(const char *path)
{
	long fd = sys4(__NR_open, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0);
	_Alignas(8) u8 head[HEAD_BYTES];
	long bytes;

	if (sys_failed(fd))
		return true;
	bytes = sys4(__NR_pread64, fd, (long)head, sizeof(head), 0);
	sys3(__NR_close, fd, 0, 0);
	if (bytes < (long)sizeof(Elf64_Ehdr) || memcmp(head, ELFMAG, SELFMAG) ||
	    head[EI_CLASS] != ELFCLASS64)
		return true;
	return has_interpreter(head, bytes);
}

/* The environment without its only entry that names this library, which is not there any more. */
static char *const *without(char *const *envp, char *const *entry, char **room)
{
	u32 cnt = 0;

	for (; *envp; envp++) {
		if (envp == entry)
			continue;
		if (cnt == ENTRIES_MAX)
			return NULL;
		room[cnt++] = *envp;
	}
	room[cnt] = NULL;
	return room;
}

char *const *exec_before(const char *path, char *const *argv, char *const *envp, char **room)
{
	char *const *entry = entry_find(envp), *const *other = envp;
	bool is_there = entry && !sys3(__NR_access, (long)own_path, 4 /* R_OK */, 0);

	(void)argv;
	if (is_there && is_dynamic(path))
		return envp;
	ask_program(path);
	/* Where it names others, too, its loader says that it ignores this one. */
	if (entry && !is_there && !*name_end(*entry + sizeof(variable) - 1))
		other = without(envp, entry, room);
	return other ? other : envp;
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
	static const u8 begins[] = {0xb8, __NR_execve, 0, 0, 0, 0x0f, 0x05}; /* mov $, %eax; syscall */
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
