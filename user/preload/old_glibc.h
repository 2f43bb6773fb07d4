/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process loads the library whatever C library it has, in a container an older one, too: functions that moved into libc.so.6 with
 * glibc 2.34 are taken by the versions that they had before, which newer ones have as well.
 */
#ifndef POV_PRELOAD_OLD_GLIBC_H
#define POV_PRELOAD_OLD_GLIBC_H

#if defined(__GLIBC__) && defined(__x86_64__)
#define OLD(name, version) __asm__(".symver " #name "," #name "@GLIBC_" version)
OLD(dladdr1, "2.3.3");
OLD(dlclose, "2.2.5");
OLD(dlsym, "2.2.5");
OLD(pthread_attr_getstack, "2.2.5");
OLD(pthread_getattr_np, "2.2.5");
OLD(pthread_key_create, "2.2.5");
OLD(pthread_setspecific, "2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
#define OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
OLD(dladdr1);
OLD(dlclose);
OLD(dlsym);
OLD(pthread_attr_getstack);
OLD(pthread_getattr_np);
OLD(pthread_key_create);
OLD(pthread_setspecific);
#endif

#endif
