/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Puts jumps to this library into functions of libraries, before anything of these runs. Each mapped copy of a library has hooks of its
 * own, whoever calls it and by whatever name.
 */
#ifndef POV_PRELOAD_HOOK_H
#define POV_PRELOAD_HOOK_H

#include "preload/in_process.h"

/* What hook_enter (enter.S, which knows these offsets) is told of a function. */
struct hook {
	u64 enter; /* address of hook_enter */
	u64 moved; /* of what does what the jump displaced, and goes on in the function */
	u32 row;
	u16 lib;
	u8 nargs;
	u8 flags; /* POV_HOOK_* */
};

/* Hooks a library's functions. How many could not be hooked: they are not as in the file, or the system does not allow it. */
u32 hook_library(const struct pov_preload_library *library, const struct pov_hook *hooks);
/* Forgets the copies of libraries that are no longer loaded. */
void hook_forget(void);
/* Jumps from `at`, where there is nothing but a return and what fills up behind it, to function. */
bool hook_return(void *at, void (*function)(void));
/* Jumps from `at`, whatever is there. */
bool hook_jump(void *at, void (*function)(void));

/* Where functions come in: enter.S. */
void hook_enter(void);

#endif
