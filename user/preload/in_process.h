/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Stands in for bpf/core.bpf.h where the kernel half's code is compiled into the preloaded library: calls, fetches, spins and
 * communicators are treated by the same lines in both. Included before anything else (Makefile: -include).
 *
 * Memory of the program is read as the program itself would read it. Pointers come from calls that the MPI library is about to
 * follow, or has followed, itself; null and what a library's layout excludes are not, and where the library may not follow one, the
 * kernel is asked first (program_readable).
 */
#ifndef POV_PRELOAD_IN_PROCESS_H
#define POV_PRELOAD_IN_PROCESS_H

#define POV_IN_PROCESS 1
#define POV_CORE_BPF_H /* its place is taken */

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

/* Without a C library the compiler would call a function for each word. */
#define memcpy(to, from, bytes) __builtin_memcpy(to, from, bytes)
#define memset(to, byte, bytes) __builtin_memset(to, byte, bytes)

#define PAGE_ZERO_BYTES 4096 /* no address in it is one */

static inline long program_read(void *to, u64 bytes, u64 from)
{
	if (from < PAGE_ZERO_BYTES)
		return -1;
	switch (bytes) { /* the sizes that calls have mostly, without a call */
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

/*
 * Whether there is memory to be read: asked before arguments are followed that the MPI library may not follow, as they mean nothing at
 * this rank (a datatype that is significant at the root only). Asks the kernel for a change of signals that there is not, which it
 * refuses when it has read the 8 bytes.
 */
bool program_readable(u64 from, u64 bytes);
#define memory_readable program_readable
#define bpf_probe_read_user(to, bytes, from) program_read(to, bytes, (u64)(from))
#define bpf_core_enum_value_exists(type, value) 1
#define bpf_loop(cnt, step, ctx, flags)               \
	do {                                          \
		for (u32 i__ = 0; i__ < (cnt); i__++) \
			if (step(i__, ctx))           \
				break;                \
	} while (0)

/* ---- what record.c and area.c have ---- */

struct cfg {
	u64 spin_gap_ns;
};
extern struct cfg cfg;
/* Counts freed datatypes: sizes kept from an older generation are not trusted. */
extern u64 type_generation;
/* Sizes, recipes and layouts that the collector has handed over; not null in a thread that has an area. */
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

/* Those that the process has mapped, the first ones first. */
extern struct pov_bindings process_bindings;
#define binding_steps (setup->step)

static inline bool bindings_exist(void)
{
	return process_bindings.v[0].bytes;
}

static inline const struct pov_bindings *thread_bindings(const struct pov_thread *t)
{
	(void)t;
	return &process_bindings;
}

/* A frame's stack pointer is where its mark lies in the frame of hook_enter; so many bytes after that is the call's return address. */
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

/* Writes a finished record to the thread's ring, or counts it as lost under its class (enum pov_class). 0, or -1 if it is lost. */
int emit(const void *rec, u64 size, u32 class);
u32 cpu_here(void);
#define bpf_get_smp_processor_id cpu_here

struct task_struct; /* the kernel half knows threads by it; nothing here */

#include "call_state.h"

#endif
