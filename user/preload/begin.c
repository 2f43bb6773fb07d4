/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs at the begin of the process, before the code of any other file except the loader (linked
 * with -z initfirst), and again when files are loaded later. If no MPI library is among these
 * files, nothing is changed. This library needs no C library, so any C library's loader can load
 * it.
 */
#include <elf.h>

#include "preload/library.h"

/*
 * This symbol identifies the library (target/helper/inspect_library.c). The kernel half has a probe
 * in this function: a process waits in it, without a system call, until the files that it has
 * mapped are inspected.
 */
__attribute__((visibility("default"), noinline)) void povtrace_preload(void);
void povtrace_preload(void)
{
	__asm__ volatile("nop");
}

/*
 * A waiting place at the begin of every process, for probes in a program that MPI is linked into.
 */
__attribute__((visibility("default"), noinline)) void povtrace_preload_begin(void);
void povtrace_preload_begin(void)
{
	__asm__ volatile("nop");
}

/* A waiting place in a child of fork, which does not have its parent's probes. */
__attribute__((visibility("default"), noinline)) void povtrace_preload_fork(void);
void povtrace_preload_fork(void)
{
	__asm__ volatile("nop");
}

static bool waits;  /* the process waits for probes in loaded files */
static bool probed; /* the process has waited for probes */
static u32 mpi_cnt; /* number of MPI libraries at the last check */

static bool is_mpi(const struct link_map *map)
{
	static const char *const begins[] = {"PMPI_Init", "PMPI_Init_thread", "PMPI_Session_init"};

	for (u32 i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (loaded_symbol(map, begins[i]))
			return true;
	return false;
}

static bool mpi_count(void *ctx, const struct link_map *map)
{
	*(u32 *)ctx += is_mpi(map);
	return true;
}

static bool valgrind_find(void *ctx, const struct link_map *map)
{
	static const char part[] = "/vgpreload_core";

	for (const char *c = map->l_name; c && *c && !*(bool *)ctx; c++) {
		u32 i = 0;

		while (part[i] && c[i] == part[i])
			i++;
		*(bool *)ctx = !part[i];
	}
	return !*(bool *)ctx;
}

/* Waits, except under Valgrind, which reads the code that it runs and would find the probe. */
static void probes_await(void (*function)(void))
{
	bool is_valgrind = false;

	loaded_each(valgrind_find, &is_valgrind);
	if (!is_valgrind)
		function();
}

static u64 vdso;

/*
 * Gets the plan. From now on system calls of many kinds are allowed, because MPI needs them, too.
 */
static bool plan_ask(void)
{
	static bool begun;

	if (!begun) {
		begun = true;
		hook_by_protection = false;
		if (vdso)
			clock_begin(vdso);
		area_begin();
	}
	return ask_plan();
}

static void libraries_check(void)
{
	u32 cnt = 0;

	hook_forget();
	loaded_each(mpi_count, &cnt);
	if (waits && cnt > mpi_cnt && !is_confined())
		ask_probes();
	if (waits || (cnt > mpi_cnt && !plan_ask())) {
		probed = true;
		probes_await(povtrace_preload);
	}
	mpi_cnt = cnt;
}

static void on_fork(void)
{
	if (probed)
		probes_await(povtrace_preload_fork);
}

static bool atfork_find(void *ctx, const struct link_map *map)
{
	return !(*(void **)ctx = loaded_symbol(map, "__register_atfork"));
}

/*
 * Registers the handler with glibc's function that implements pthread_atfork. It is registered
 * first, so it runs before all other handlers of a child.
 */
static void fork_begin(void)
{
	int (*atfork)(void (*)(void), void (*)(void), void (*)(void), void *) = NULL;

	loaded_each(atfork_find, &atfork);
	if (atfork)
		atfork(NULL, NULL, on_fork, NULL);
}

/* Called when the loader's list has changed, before any of the new code runs. */
static void on_loaded(void)
{
	if (loaded_is_consistent())
		libraries_check();
}

/* glibc's loader keeps here where the kernel has put argc, arguments, environment and auxv. */
extern const u64 *const glibc_stack_end __asm__("__libc_stack_end")
	__attribute__((weak, visibility("default")));

/* Returns the auxiliary vector, without /proc, which may be missing. NULL: another C library. */
static const ElfW(auxv_t) * auxv_find(void)
{
	const u64 *at;

	if (!&glibc_stack_end)
		return NULL;
	at = glibc_stack_end + 1 + *glibc_stack_end + 1;
	while (*at++)
		;
	return (const ElfW(auxv_t) *)at;
}

static u64 auxv_get(const ElfW(auxv_t) * v, u64 type)
{
	for (; v->a_type != AT_NULL; v++)
		if (v->a_type == type)
			return v->a_un.a_val;
	return 0;
}

static bool own_find(void *ctx, const struct link_map *map)
{
	if (loaded_symbol(map, "povtrace_preload") == (void *)povtrace_preload)
		*(struct link_map **)ctx = (struct link_map *)map;
	return !*(struct link_map **)ctx;
}

static bool asan_find(void *ctx, const struct link_map *map)
{
	return !(*(bool *)ctx = loaded_symbol(map, "__asan_init") != NULL);
}

/*
 * Renames this library for AddressSanitizer, which ends programs if another library is loaded
 * before its own. It makes an exception for the kernel's linux-vdso.so.1, and so for this name.
 */
static void asan_pass(struct link_map *own)
{
	static char name[] = "linux-povtrace.so";
	bool has_asan = false;

	loaded_each(asan_find, &has_asan);
	if (has_asan)
		own->l_name = name;
}

/* Returns the number in our path (POV_PRELOAD_BIT_1). */
static u32 path_number(const char *path)
{
	u32 number = 0, bit = 1;
	u64 at = 0;

	for (u64 i = 0; path[i]; i++)
		if (path[i] == '/')
			at = i;
	for (; at && bit; bit <<= 1) {
		if (path[at - 1] == '.' && at > 1 && path[at - 2] == '/')
			number |= bit;
		else if (path[at - 1] != '/')
			break;
		at -= number & bit ? 2 : 1;
	}
	return number;
}

static void own_begin(struct link_map *own)
{
	if (!own)
		return;
	exec_begin(own);
	asan_pass(own);
}

__attribute__((constructor)) static void begin(void)
{
	struct link_map *own = NULL;
	const ElfW(auxv_t) *v = auxv_find();
	u32 number;

	if (!v || auxv_get(v, AT_SECURE) ||
	    !loaded_find((const ElfW(Phdr) *)auxv_get(v, AT_PHDR), auxv_get(v, AT_PHNUM)))
		return;
	vdso = auxv_get(v, AT_SYSINFO_EHDR);
	hook_by_protection = is_confined();
	record_begins(vdso, auxv_get(v, AT_EXECFN));
	loaded_each(own_find, &own);
	number = own ? path_number(own->l_name) : 0;
	waits = number & POV_PRELOAD_WAITS;
	own_collector = number >> POV_PRELOAD_COLLECTOR_SHIFT;
	if (!waits)
		probes_await(povtrace_preload_begin);
	libraries_check();
	hook_return(loaded_notifier(), on_loaded);
	own_begin(own);
	fork_begin();
}
