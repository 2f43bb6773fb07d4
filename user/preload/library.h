/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the source files of the preloaded library use of each other. */
#ifndef POV_PRELOAD_LIBRARY_H
#define POV_PRELOAD_LIBRARY_H

#include <asm/unistd.h>
#include <link.h>

#include "preload/in_process.h"
#include "lib/cycles.h"

/* ---- in place of a C library ---- */

/*
 * System calls without a C library. They return what the kernel returns, -errno on failure, and do
 * not touch the program's errno. x86-64 only.
 */

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret = nr; /* both in rax */

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

static inline bool begins_with(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

/* ---- loaded.c ---- */

/*
 * The files that the dynamic loader has mapped, from its interface for debuggers (struct r_debug),
 * and symbols in them.
 */

/* Finds the loader's list through the program's headers (AT_PHDR). False: there is none. */
bool loaded_find(const ElfW(Phdr) * phdr, u64 cnt);
/* Returns the function that the loader calls when the list changes, or NULL. */
void *loaded_notifier(void);
/* Returns true if the list is complete: nothing is being added or removed. */
bool loaded_is_consistent(void);

/* Calls fn for each file of each namespace, until it returns false. */
void loaded_each(bool (*fn)(void *ctx, const struct link_map *map), void *ctx);

/*
 * Returns the address of a function or object that a file defines in its dynamic symbols; NULL if
 * it does not.
 */
void *loaded_symbol(const struct link_map *map, const char *name);
/* Does the same for the kernel's vDSO, given its address (AT_SYSINFO_EHDR). */
void *loaded_vdso_symbol(u64 image, const char *name);

/* ---- hook.c, enter.S ---- */

/*
 * Redirects library functions to this library by jumps, before any of their code runs. Each mapped
 * copy of a library has its own hooks, for all callers and all names of its functions.
 */

/*
 * True: code is made writable while it is changed. False: it is written through /proc/self/mem. A
 * filter of system calls will hardly forbid the former, because loaders do it, too.
 */
extern bool hook_by_protection;

/* The data of a hooked function for hook_enter (enter.S, which knows these offsets). */
struct hook {
	u64 enter; /* address of hook_enter */
	/* address of the displaced instructions, after which execution continues in the function */
	u64 moved;
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

/* ---- ring.c: emit (in_process.h) ---- */

/* Makes the next calls be written whole, because the collector may not have the same kept calls. */
void kept_forget(struct pov_preload_area *a);

/* ---- call_record.c ---- */

/* Records one call of the calling thread, at its two ends. */

/* A mark in the frame of hook_enter; its address identifies the call. */
struct call_mark {
	u64 canary;
};

/*
 * Begins a call of a hooked function. args has its argument words, at least six. True if record_end
 * must be called.
 */
bool record_begin(const struct hook *hook, const u64 *args, struct call_mark *mark);
/* Ends a call, which returns to `site`. */
void record_end(const struct call_mark *mark, u64 ret, u64 site);

/*
 * Measures the costs of recording a call without memory reads, and of counting one (the area's
 * cost_ps and counted_ps): medians of several batches, whose records are removed. Call it while
 * nobody reads the area yet.
 */
void record_calibrate(void);
/*
 * Call this at the begin of the process. vdso is the address of the kernel's vDSO, or 0; stack_top
 * an address at the upper end of the first thread's stack.
 */
void record_begins(u64 vdso, u64 stack_top);
/* Call this when the setup is mapped. */
void record_setup(void);
/*
 * Called when a slot gets a new thread: ends the calls that the former thread left open, and writes
 * what it had counted.
 */
void record_thread_gone(void);

/* ---- area.c ---- */

/* The calling thread's memory for records: a slot of the process's pool (abi/preload.h). */

/*
 * Points to a word that is 0 in a child process without a pool of its own: the kernel clears this
 * word in each child.
 */
extern const u32 *area_same_process;

/* Call this before anything else, in the process's first thread. */
void area_begin(void);
/* Sets the process's pool, with cnt slots. */
void area_pool(void *pool, u32 cnt);
/*
 * Call this when the collector reads the pool. Until then, no other thread writes to it: if it
 * ended, the collector would not know about its records.
 */
void area_pool_known(void);
/* Sets the page on which children without a pool count; NULL: it could not be mapped. */
void area_forks(struct pov_preload_forks *page);
u64 area_pool_address(u32 *cnt);
/*
 * The ring that the thread writes to. It is not in the area, where the program could overwrite it
 * by mistake and so misdirect our writes.
 */
struct ring {
	u8 *at;
	u64 bytes;
	u64 until; /* position (in all bytes written) up to which there surely is room */
};
extern __thread struct ring ring;
/*
 * Switches the thread's area to a ring of its slot for all further records. False: the slot has no
 * such ring.
 */
bool area_ring_begin(u32 number);
/*
 * Sets the thread's `area`. False if the thread gets none; then its call is counted as lost if the
 * process is recorded.
 */
bool area_find(void);

/* ---- clock.c ---- */

/*
 * Reads CLOCK_MONOTONIC in less than half the usual time. At least once in 1 ms it reads the
 * kernel's clock and the CPU's counter together. In between, it reads the counter alone, and uses
 * the rate that the collector keeps measuring (record/host/host.h). If the kernel's clock does not
 * use this counter, it always reads the kernel's clock.
 */

/* State of a thread's clock. */
struct cycle_clock {
	u64 cycles, ns; /* when both were last read */
	u64 rate;	/* ns per cycle (fixed point, CYCLES_RATE_BITS) */
	u64 limit;	/* after this many cycles both are read again; 0: at once */
	u64 floor;	/* the smallest time that may be returned, so that time never goes back */
};
extern __thread struct cycle_clock cycle_clock;

/* vdso is the address of the kernel's vDSO (AT_SYSINFO_EHDR), which has its clock. */
void clock_begin(u64 vdso);
/* Reads both clocks again, or only the kernel's if there is no rate. Returns the time. */
u64 clock_renew(void);

/*
 * Returns the time in ns. Needs the setup. Not reentrant within a thread: a signal handler must not
 * interrupt it.
 */
static inline u64 clock_now(void)
{
	const struct cycle_clock *c = &cycle_clock;
	u64 past = cycles_read() - c->cycles, ns;

	if (__builtin_expect(past >= c->limit, 0))
		return clock_renew();
	ns = c->ns + (past * c->rate >> CYCLES_RATE_BITS);
	return ns > c->floor ? ns : c->floor;
}

/* ---- ask.c ---- */

/* Gets the setup, the pool, and the list of functions to hook from the collector. */

/* Size of the pool in bytes; 0: no pool yet. */
extern u64 pool_bytes;
/* Process number of the collector that launched this process's command; 0: unknown. */
extern u32 own_collector;

/*
 * Asks all collectors for one that records this process, waits until it has inspected all files
 * that the process has mapped, and hooks the functions that it names. If the process has no pool
 * yet, as in a child of fork, it gets one. False if nobody records the process.
 */
bool ask_plan(void);
/* Makes our collector record this process by probes, even if a daemon has started it. */
void ask_probes(void);
/*
 * Reports a program that the process is about to execute, and waits for permission. Does nothing in
 * a confined process.
 */
void ask_program(const char *path);
/*
 * Returns true if the process has a filter of system calls (seccomp). The filter may kill the
 * process for any call that the program itself does not need. Makes only system calls that loaders
 * make, too.
 */
bool is_confined(void);

/* ---- exec.c, enter.S ---- */

/*
 * Handles the programs that the process executes. If a program's environment has another
 * LD_PRELOAD, this library is put before it. Other programs run without this library, and the
 * collector is informed first: static programs, those with an empty LD_PRELOAD or none (env -i),
 * and those that cannot see the library (chroot).
 */

/* own is this library. Hooks the C library's execve, if its code is known well enough. */
void exec_begin(const struct link_map *own);

/* In enter.S: the entry from execve, and where execve continues after its first instruction. */
void exec_enter(void);
extern u64 exec_goes_on;
/*
 * Called before execve. If the program must have another environment, executes it. Returns if the
 * environment can stay, or if execve failed.
 */
void exec_before(const char *path, char *const *argv, char *const *envp);

#endif
