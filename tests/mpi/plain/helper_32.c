/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A 32-bit helper without any C library: it prints and ends. */

static int call(int number, int a, const void *b, int c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

void _start(void)
{
	static const char text[] = "helper of 32 bits\n";

	call(4, 1, text, sizeof(text) - 1);
	call(1, 0, text, 0);
	__builtin_unreachable();
}
