/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A thread's calls in flight, and the operations on them. Two halves begin and end calls: the
 * kernel half (core.bpf.h) and the library that is preloaded into a process
 * (user/preload/in_process.h). Before they include this, they define what differs: integer types,
 * index_mask, and how the program's memory is read.
 */
#ifndef POV_CALL_STATE_H
#define POV_CALL_STATE_H

static __always_inline struct pov_frame *frame_at(struct pov_thread *t, u32 idx)
{
	return &t->frame[index_mask(idx, POV_CALL_DEPTH_MAX)];
}

static __always_inline void hdr_init(struct pov_hdr *h, u8 kind, u16 size, u32 tid, u64 ts_ns)
{
	h->size = size;
	h->kind = kind;
	h->flags = 0;
	h->tid = tid;
	h->ts_ns = ts_ns;
}

#define ALL_TIMES (~0ull)

static __always_inline struct pov_call *frame_call(struct pov_frame *f)
{
	return (struct pov_call *)f->rec;
}

static __always_inline u64 *frame_args(struct pov_frame *f)
{
	return (u64 *)(f->rec + sizeof(struct pov_call));
}

static __always_inline u64 frame_arg(struct pov_frame *f, u32 i)
{
	return i < POV_CALL_ARGS_MAX ? frame_args(f)[index_mask(i, POV_CALL_ARGS_MAX)] : 0;
}

/*
 * ---- functions shared between objects ----
 *
 * All arguments but the first are plain numbers, as the verifier requires for global functions.
 */

/*
 * Writes the record of frame idx as it stands, with end time end_ns and the given POV_CALL_* flags.
 * The frame stays in place. (call_steps.h)
 */
int frame_emit(struct pov_thread *t, u32 idx, u64 end_ns, u64 ret, u32 flags);
/*
 * Drops the innermost frame if its function was left without returning (call_frames.h). Returns 1
 * if so. (call_steps.h)
 */
int frame_drop_stale(struct pov_thread *t, u64 trampoline, u64 here, u64 now);
/*
 * Writes and ends spins at this depth and deeper that began before a time; inner ones first.
 * (spin.bpf.c)
 */
int spin_flush(struct pov_thread *t, u32 depth, u64 before_ns);
/*
 * Writes and ends spins whose last poll is so long ago that a new poll starts another spin.
 * (spin.bpf.c)
 */
int spin_flush_idle(struct pov_thread *t, u64 now);
/* Adds the unsuccessful poll in frame idx to the spin at its depth. (spin.bpf.c) */
int spin_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg);
/*
 * Reads a few words of the target's memory; words after `bytes` become 0. (fetch.bpf.c)
 *
 * The copy goes through this function's own stack. Kernels with hardened user copies check where a
 * copy goes to. The check is fastest for the current kernel stack (60 ns per read, against 100 ns
 * into a map). A function with 64 bytes of stack or more gets a private stack, which is not the
 * kernel's. So this function must stay below that.
 */
struct words {
	u64 w[POV_FETCH_ONE_BYTES / 8];
};
int read_words(struct words *to, u64 from, u32 bytes);
/* Writes the thread's pending counts of calls. (counted.h) */
int counted_flush(struct pov_thread *t);
/* Runs the fetches of function func at entry (0) or return (1) for frame idx. (fetch.bpf.c) */
int fetch_all(struct pov_thread *t, u32 idx, u32 func, u32 at_return, u64 now);
/*
 * Adds the first work request of the list passed to the call in frame idx to its record. Returns
 * the address of the next request, or 0. what: the argument that is the list; from bit 8, the
 * argument that is the queue; from bit 16, the bytes of a request. (work.bpf.c)
 */
u64 work_fetch(struct pov_thread *t, u32 idx, u32 what);
/* Adds the other requests, from the one at p on. (work.bpf.c) */
int work_list(struct pov_thread *t, u32 idx, u32 what, u64 p, u64 now);
/*
 * If the call in frame idx failed, adds how many requests of its list were accepted. what: the
 * argument that reports the rejected request; from bit 8, the argument that is the list.
 * (work.bpf.c)
 */
int work_accepted(struct pov_thread *t, u32 idx, u32 what);
/*
 * Learns about a communicator from the return of the call in frame idx. Returns 1 if it was news.
 * (comm.bpf.c)
 */
int comm_learn(struct pov_thread *t, u32 idx, u32 func);
/* Reports that the process initialises MPI: the call begins (done 0), or has succeeded (done 1). */
int world_report(u32 done);
/*
 * Runs before the process finalises MPI: waits until the collector has asked the library for the
 * rank.
 */
int world_wait(void);
/* Learns whether the call in frame idx made an intercommunicator. (comm.bpf.c) */
int comm_join(struct pov_thread *t, u32 idx, u32 func);
/*
 * Copies what is known of a communicator to the one that the call in frame idx made of it.
 * (comm.bpf.c)
 */
int comm_copy(struct pov_thread *t, u32 idx, u32 func);
/*
 * Adds the library's data on the communicator that the call in frame idx made to its record.
 * (comm.bpf.c)
 */
int comm_describe(struct pov_thread *t, u32 idx, u32 func);
/*
 * Forgets the communicator that the call in frame idx frees, because its handle may be reused.
 * (comm.bpf.c)
 */
int comm_forget(struct pov_thread *t, u32 idx);
/*
 * Length of an array, for an enum pov_len that needs the communicator; -1: unknown, -2: not at this
 * rank.
 */
int comm_len(struct pov_thread *t, u32 idx, u32 comm_arg, u32 len, u32 root_arg);
/*
 * If the site of the call in frame idx lies in a binding, replaces it by the place from which the
 * binding was called. Leaves it if that is unknown. The call must be in flight or just about to
 * return. Returns 0, or -1 if the site is still in a binding. (binding.bpf.c)
 */
int site_leave_bindings(struct pov_thread *t, u32 idx);

#endif
