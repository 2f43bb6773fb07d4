/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions to which the compiler generates calls. Those of the C library may not be relocated yet,
 * or there may be no C library.
 */
#include "preload/in_process.h"

#undef memcpy
#undef memset

void *memcpy(void *to, const void *from, size_t bytes)
{
	void *ret = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	return ret;
}

void *memset(void *to, int byte, size_t bytes)
{
	void *ret = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
	return ret;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	u8 *t = to;
	const u8 *f = from;

	if (t <= f || t >= f + bytes)
		return memcpy(to, from, bytes);
	while (bytes--)
		((volatile u8 *)t)[bytes] = f[bytes];
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const volatile u8 *x = a, *y = b;
	u64 one, other;

	for (; bytes >= 8; bytes -= 8, x += 8, y += 8) {
		__builtin_memcpy(&one, (const void *)x, 8);
		__builtin_memcpy(&other, (const void *)y, 8);
		if (one != other)
			break;
	}
	for (size_t i = 0; i < bytes; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}
