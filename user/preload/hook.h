/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Redirects library functions to this library by jumps, before any of their code runs. Each mapped
 * copy of a library has its own hooks, whoever calls it and by whatever name.
 */
#ifndef POV_PRELOAD_HOOK_H
#define POV_PRELOAD_HOOK_H

#include "preload/in_process.h"

/*
 * Code is made writable while it is changed, instead of being written through /proc/self/mem: a
 * filter of system calls surely lets the loader protect memory.
 */
extern bool hook_by_protection;

/* The data of a hooked function for hook_enter (enter.S, which knows these offsets). */
struct hook {
	u64 enter; /* address of hook_enter */
	u64 moved; /* address of the displaced instructions, which then continue in the function */
	u32 row;
	u16 lib;
	u8 nargs;
	u8 flags; /* POV_HOOK_* */
};

/*
 * Hooks a library's functions. Returns how many could not be hooked: their code differs from the
 * file, or the system does not allow it.
 */
u32 hook_library(const struct pov_preload_library *library, const struct pov_hook *hooks);
/* Forgets the copies of unloaded libraries. */
void hook_forget(void);
/* Puts a jump to function at `at`, where there must be only a return and padding. */
bool hook_return(void *at, void (*function)(void));
/* Puts a jump to function at `at`, whatever is there. */
bool hook_jump(void *at, void (*function)(void));

/* The entry from hooked functions: enter.S. */
void hook_enter(void);
/* Calls the hooked function, for calibration. */
void hook_call(const struct hook *hook);
/* A function that does nothing. */
void hook_nothing(void);

#endif
