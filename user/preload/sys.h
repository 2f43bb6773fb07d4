/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * System calls without a C library. They return what the kernel returns, -errno on failure, and do
 * not touch the program's errno. x86-64 only.
 */
#ifndef POV_PRELOAD_SYS_H
#define POV_PRELOAD_SYS_H

#include <asm/unistd.h>

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret = nr;

	__asm__ volatile("syscall"
			 : "+a"(ret)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long sys4(long nr, long a, long b, long c, long d)
{
	return sys6(nr, a, b, c, d, 0, 0);
}

static inline long sys3(long nr, long a, long b, long c)
{
	return sys6(nr, a, b, c, 0, 0, 0);
}

static inline bool sys_failed(long ret)
{
	return ret < 0 && ret > -4096;
}

#endif
