/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A transport of UCX as a tracer sees it: an exported class object, and a table of functions
 * without names. The table has SLOTS slots like some version of UCX (50: since 1.11, 48: 1.9, 47:
 * 1.8). Calls each function through its table.
 */
#include <stdint.h>
#include <stdlib.h>

#define AM_BCOPIES 101
#define AM_SHORTS 61
#define PUT_SHORTS 31

int uct_ud_verbs_iface_t_class[16] = {1};

static void cleanup(const int *class, void *object)
{
	if (*class != 1)
		abort();
	free(object);
}
/* As if in another library, so that the class is named where it is called. */
static void (*const volatile class_cleanup)(const int *class, void *object) = cleanup;

static void iface_close(void *iface)
{
	class_cleanup(uct_ud_verbs_iface_t_class, iface);
}

/* Each function differs, so that the compiler cannot merge two. */
#define FUNCTION(name, result, ...)                              \
	static int64_t name(const volatile int *ep, __VA_ARGS__) \
	{                                                        \
		return result;                                   \
	}
FUNCTION(put_short, *ep + (length > 4000000000u) + (buffer != 0), const void *buffer,
	 unsigned int length)
FUNCTION(am_short, *ep + (id + header > 4000000000u), unsigned int id, uint64_t header)
FUNCTION(am_short_iov, *ep - (id > 4000000000u), unsigned int id)
FUNCTION(am_bcopy, *ep + 100 + id, unsigned int id)
FUNCTION(am_zcopy, *ep + 3 * (id > 4000000000u), unsigned int id)
FUNCTION(other, 7 * *ep + id, unsigned int id)

#if SLOTS == 50
enum { AM_SHORT = 6, AM_SHORT_IOV, AM_BCOPY, AM_ZCOPY, OTHER = 24, CLOSE = 45 };
#else
enum { AM_SHORT = 6, AM_BCOPY, AM_ZCOPY, OTHER = 23, CLOSE = SLOTS == 48 ? 43 : 42 };
#endif

static void *const before[] = {other, other, other};
static void *const volatile table[SLOTS] = {
	[0] = put_short,
	[AM_SHORT] = am_short,
#if SLOTS == 50
	[AM_SHORT_IOV] = am_short_iov,
#endif
	[AM_BCOPY] = am_bcopy,
	[AM_ZCOPY] = am_zcopy,
	[OTHER] = other,
	other,
	other,
	[CLOSE] = iface_close,
	other,
	other,
};

int main(int argc, char **argv)
{
	static int ep;
	int64_t sum = argc > 9;

	for (int i = 0; i < AM_BCOPIES; i++)
		sum += ((int64_t(*)(int *, unsigned int))table[AM_BCOPY])(&ep, 9) - 109;
	for (int i = 0; i < AM_SHORTS; i++)
		sum += ((int64_t(*)(int *, unsigned int, uint64_t, void *,
				    unsigned int))table[AM_SHORT])(&ep, 2, 0, NULL, 17);
	for (int i = 0; i < PUT_SHORTS; i++)
		sum += ((int64_t(*)(int *, void *, unsigned int))table[0])(&ep, NULL, 64);
	((void (*)(void *))table[CLOSE])(malloc(1));
	return sum != 0 || !before[0] || am_short_iov(&ep, 0);
}
