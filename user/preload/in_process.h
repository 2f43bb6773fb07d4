/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Replaces bpf/core.bpf.h where the kernel half's code is compiled into the preloaded library: both
 * handle calls, fetches, spins and communicators with the same source. The Makefile includes it
 * before anything else (-include).
 *
 * The program's memory is read directly. Pointers come from calls, and the MPI library itself will
 * follow them or has done so. Null pointers, and pointers that a library's layout excludes, are not
 * followed. If it is not certain that the library follows a pointer, the kernel is asked first
 * (program_readable).
 */
#ifndef POV_PRELOAD_IN_PROCESS_H
#define POV_PRELOAD_IN_PROCESS_H

#define POV_IN_PROCESS 1
#define POV_CORE_BPF_H /* this file replaces it */

#include <asm/errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi/config.h"
#include "abi/event.h"
#include "abi/preload.h"
#include "abi/thread.h"

typedef pov_u8 u8;
typedef pov_u16 u16;
typedef pov_u32 u32;
typedef pov_u64 u64;
typedef int8_t s8;
typedef pov_s32 s32;
typedef pov_s64 s64;

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define SEC(name)
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(v) __asm__ volatile("" : "+r"(v))
#define index_mask(idx, size) ((idx) & ((size)-1))

/* Without a C library, the compiler would call a function for each word. */
#define memcpy(to, from, bytes) __builtin_memcpy(to, from, bytes)
#define memset(to, byte, bytes) __builtin_memset(to, byte, bytes)

#define PAGE_ZERO_BYTES 4096 /* addresses in the first page are invalid */

static inline long program_read(void *to, u64 bytes, u64 from)
{
	if (from < PAGE_ZERO_BYTES)
		return -1;
	switch (bytes) { /* the most common sizes, without a function call */
	case 4:
		memcpy(to, (const void *)from, 4);
		break;
	case 8:
		memcpy(to, (const void *)from, 8);
		break;
	case 24:
		memcpy(to, (const void *)from, 24);
		break;
	default:
		memcpy(to, (const void *)from, bytes);
	}
	return 0;
}

#define fetch_exists(op) true
#define bpf_probe_read_user(to, bytes, from) program_read(to, bytes, (u64)(from))
#define bpf_core_enum_value_exists(type, value) 1
#define bpf_loop(cnt, step, ctx, flags)               \
	do {                                          \
		for (u32 i__ = 0; i__ < (cnt); i__++) \
			if (step(i__, ctx))           \
				break;                \
	} while (0)

/* ---- defined in record.c and area.c ---- */

struct cfg {
	u64 spin_gap_ns;
};
extern struct cfg cfg;
/*
 * Counts freed datatypes, by a hash of the handle. A kept size is used only if no datatype with the
 * same hash was freed since. Most programs free only datatypes of their own, so the kept sizes of
 * predefined ones remain valid.
 */
#define TYPE_GENERATIONS 64
extern u64 type_generation[TYPE_GENERATIONS];
/* Sizes, recipes and layouts from the collector. Not NULL in a thread that has an area. */
extern const struct pov_preload_setup *setup;
extern __thread struct pov_preload_area *area;

static inline const struct pov_fn *fn_find(u32 func)
{
	u32 row = func - setup->first_row;

	return row < setup->rows ? &setup->fn[row] : NULL;
}

static inline struct pov_lib *lib_find(u32 lib)
{
	return lib < POV_LIB_NUMBERS ? (struct pov_lib *)&setup->lib[lib] : NULL;
}

static inline u64 *type_generation_at(u64 handle)
{
	return &type_generation[(handle >> 4 ^ handle >> 10) % TYPE_GENERATIONS];
}

static inline u64 type_generation_of(u64 handle)
{
	return __atomic_load_n(type_generation_at(handle), __ATOMIC_RELAXED);
}

/*
 * Notes that a datatype of library `number` is freed. Its handle is at address `at`, where MPI is
 * about to read it.
 */
static inline void type_freed(u32 number, u64 at)
{
	const struct pov_lib *lib = lib_find(number);
	u64 handle;

	if (lib && lib->flags & POV_LIB_HANDLE_PTR && lib->elem_bytes[POV_ELEM_HANDLE] == 8 &&
	    !program_read(&handle, 8, at))
		__sync_fetch_and_add(type_generation_at(handle), 1);
}

/* The bindings that the process has mapped, in order. */
extern struct pov_bindings process_bindings;
#define binding_steps (setup->step)

static inline bool bindings_exist(void)
{
	return process_bindings.v[0].bytes;
}

static inline const struct pov_bindings *thread_bindings(const struct pov_thread *t)
{
	return &process_bindings;
}

/*
 * A frame's stack pointer is the address of its mark in the frame of hook_enter. The call's return
 * address is MARK_CALLER bytes above it.
 */
#define MARK_CALLER 32
static inline u64 frame_caller_sp(const struct pov_frame *f)
{
	return f->sp + MARK_CALLER + sizeof(u64);
}

static inline void count(u32 idx)
{
	if (idx == POV_COUNT_STAT(POV_STAT_FOLDED))
		area->folded++;
	else if (idx - POV_COUNT_MISS(0) < POV_MISS_CNT)
		area->miss[idx - POV_COUNT_MISS(0)]++;
}

/*
 * Writes a finished record to the thread's ring, or counts it as lost under its class (enum
 * pov_class). 0, or -1 if it is lost.
 */
int emit(const void *rec, u64 size, u32 class);
u32 cpu_here(void);
#define bpf_get_smp_processor_id cpu_here

struct task_struct; /* the kernel half's handle of a thread; unused here */

#include "call_state.h"

#endif
