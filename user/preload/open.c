/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A library that is opened with RTLD_DEEPBIND finds MPI before it finds what is preloaded. So the program's dlopen passes by here; it goes
 * on in the C library by a jump, not by a call: that looks at its return address to know whose search path holds.
 */
#include <dlfcn.h>

#include "preload/area.h"

#ifdef __clang__
#define JUMPS
#define JUMP __attribute__((musttail))
#else
#define JUMPS __attribute__((optimize("O2")))
#define JUMP
#endif

JUMPS __attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
	static void *(*next)(const char *, int);

	if (!next)
		next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	if (mode & RTLD_DEEPBIND)
		area_bypassed();
	JUMP return next(file, mode);
}
