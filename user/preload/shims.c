/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The next function of a name is that behind this library in the order of symbols. A library that a program has opened for itself
 * (Python's modules) is not in that order: the caller's own is asked then.
 */
#include "preload/shims.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/record.h"

#define EXPORTED __attribute__((visibility("default")))

enum { PLAIN, PROFILING, KINDS };

/* Generated, by row: SHIM(row, name, arguments), and SHIM_DOUBLE of those that return a double. */
#define SHIM(row, name, nargs) #name,
#define SHIM_DOUBLE SHIM
static const char *const names[] = {
#include "preload_shims.h"
};
#undef SHIM
#undef SHIM_DOUBLE
#define ROWS (sizeof(names) / sizeof(*names))
const u32 shims_cnt = ROWS;

static void *nexts[ROWS][KINDS];

static const void *object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* In a loaded file and what it needs; what is found may be this library, which is what is not looked for. */
static void *next_in(const char *file, const char *name)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return found && object_of(found) != object_of(names) ? found : NULL;
}

/* In the files loaded, in their order. A function that ends with the call has left the program or a library without MPI as the caller. */
static void *next_in_any(const char *name)
{
	void *program = dlopen(NULL, RTLD_LAZY), *found = NULL;
	struct link_map *map;

	if (!program)
		return NULL;
	if (!dlinfo(program, RTLD_DI_LINKMAP, &map))
		for (; map && !found; map = map->l_next)
			if (map->l_name && *map->l_name)
				found = next_in(map->l_name, name);
	dlclose(program);
	return found;
}

static void *next_by_caller(const char *name, const void *caller)
{
	Dl_info info;
	void *found = dladdr(caller, &info) && info.dli_fname ? next_in(info.dli_fname, name) :
								NULL;

	return found ? found : next_in_any(name);
}

static const char *name_of(u32 row, int kind, char *buf, size_t bytes)
{
	snprintf(buf, bytes, "%s%s", kind == PROFILING ? "P" : "", names[row]);
	return buf;
}

static const void *caller_seen; /* in a program or library that has MPI in its reach */

static __attribute__((noinline)) void *next_find(u32 row, int kind, const void *caller)
{
	void *found = __atomic_load_n(&nexts[row][kind], __ATOMIC_ACQUIRE);
	char name[64];

	if (found)
		return found;
	name_of(row, kind, name, sizeof(name));
	found = dlsym(RTLD_NEXT, name);
	if (!found)
		found = next_by_caller(name, caller);
	if (found)
		caller_seen = caller;
	__atomic_store_n(&nexts[row][kind], found, __ATOMIC_RELEASE);
	return found;
}

/* A program that may do without MPI asks this first, where it sees that there is such a function: this library's. */
static long not_begun(int *flag)
{
	*flag = 0;
	return 0;
}

/* As the dynamic loader does where a function is nowhere. */
static __attribute__((noinline)) void *next_missing(u32 row, int kind)
{
	char name[64];

	if (!strcmp(names[row], "MPI_Initialized") || !strcmp(names[row], "MPI_Finalized"))
		return not_begun;
	fprintf(stderr, "symbol lookup error: undefined symbol: %s\n",
		name_of(row, kind, name, sizeof(name)));
	_exit(127);
}

static inline void *next_of(u32 row, int kind, const void *caller)
{
	void *next = __atomic_load_n(&nexts[row][kind], __ATOMIC_RELAXED);

	if (__builtin_expect(!next, 0)) {
		next = next_find(row, kind, caller);
		if (!next)
			next = next_missing(row, kind);
	}
	return next;
}

u64 shims_library(u32 row)
{
	void *found = next_find(row, PROFILING, caller_seen);

	return (u64)(found ? found : next_find(row, PLAIN, caller_seen));
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* Parameters and arguments by their number. */
#define PARAMS_0 void
#define PARAMS_1 long a0
#define PARAMS_2 PARAMS_1, long a1
#define PARAMS_3 PARAMS_2, long a2
#define PARAMS_4 PARAMS_3, long a3
#define PARAMS_5 PARAMS_4, long a4
#define PARAMS_6 PARAMS_5, long a5
#define PARAMS_7 PARAMS_6, long a6
#define PARAMS_8 PARAMS_7, long a7
#define PARAMS_9 PARAMS_8, long a8
#define PARAMS_10 PARAMS_9, long a9
#define PARAMS_11 PARAMS_10, long a10
#define PARAMS_12 PARAMS_11, long a11
#define PARAMS_13 PARAMS_12, long a12
#define ARGS_0
#define ARGS_1 a0
#define ARGS_2 ARGS_1, a1
#define ARGS_3 ARGS_2, a2
#define ARGS_4 ARGS_3, a3
#define ARGS_5 ARGS_4, a4
#define ARGS_6 ARGS_5, a5
#define ARGS_7 ARGS_6, a6
#define ARGS_8 ARGS_7, a7
#define ARGS_9 ARGS_8, a8
#define ARGS_10 ARGS_9, a9
#define ARGS_11 ARGS_10, a10
#define ARGS_12 ARGS_11, a11
#define ARGS_13 ARGS_12, a12
/* What is not recorded jumps on. */
#define SHIM_OF(row, kind, name, n)                                            \
	EXPORTED long name(PARAMS_##n);                                        \
	EXPORTED long name(PARAMS_##n)                                         \
	{                                                                      \
		long (*next)(PARAMS_##n) = next_of(row, kind, CALLER);         \
                                                                               \
		if (record_unused(row))                                        \
			return next(ARGS_##n);                                 \
		{                                                              \
			const u64 args[n + 1] = {ARGS_##n}; /* at least one */ \
			struct call_mark mark;                                 \
			bool begun = record_begin(row, args, &mark);           \
			long ret = next(ARGS_##n);                             \
                                                                               \
			if (begun)                                             \
				record_end(&mark, (u64)ret, (u64)CALLER);      \
			return ret;                                            \
		}                                                              \
	}
#define SHIM(row, name, n) SHIM_OF(row, PLAIN, name, n) SHIM_OF(row, PROFILING, P##name, n)

/* What they return is in no record, as of probes. */
#define SHIM_DOUBLE_OF(row, kind, name)                            \
	EXPORTED double name(void);                                \
	EXPORTED double name(void)                                 \
	{                                                          \
		double (*next)(void) = next_of(row, kind, CALLER); \
		const u64 args[1] = {0};                           \
		struct call_mark mark;                             \
		bool begun = record_begin(row, args, &mark);       \
		double ret = next();                               \
                                                                   \
		if (begun)                                         \
			record_end(&mark, 0, (u64)CALLER);         \
		return ret;                                        \
	}
#define SHIM_DOUBLE(row, name, n) \
	SHIM_DOUBLE_OF(row, PLAIN, name) SHIM_DOUBLE_OF(row, PROFILING, P##name)
#include "preload_shims.h"
