/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A thread's calls under way and what is done with them, for both that begin and end calls: the kernel half (core.bpf.h) and the
 * library that is preloaded into a process (user/preload/in_process.h). What is different there stands before this: integer types,
 * index_mask, and how memory of the program is read.
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

/* ---- between the objects; all but the first argument are plain numbers, as the verifier wants ---- */

/*
 * Writes the record of the frame at index idx as it stands, ended at end_ns with the given POV_CALL_*
 * flags, and leaves the frame alone. (call_steps.h)
 */
int frame_emit(struct pov_thread *t, u32 idx, u64 end_ns, u64 ret, u32 flags);
/* Drops the innermost frame if its function was left without returning (call_frames.h): 1 if so. (call_steps.h) */
int frame_drop_stale(struct pov_thread *t, u64 trampoline, u64 here, u64 now);
/* Writes the spins at this depth and deeper that began before a time, and ends them; inner ones first. (spin.bpf.c) */
int spin_flush(struct pov_thread *t, u32 depth, u64 before_ns);
/* The same of those that nothing was added to for so long that the next poll is another spin's. (spin.bpf.c) */
int spin_flush_idle(struct pov_thread *t, u64 now);
/* Adds the poll in frame idx, which found nothing, to the spin at its depth. (spin.bpf.c) */
int spin_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg);
/*
 * Reads a few words of the target's memory; what lies behind `bytes` becomes 0. By way of this function's own
 * stack: kernels with hardened user copies check where a copy goes to, and are done at once if that is their
 * own stack (60 ns a read here, against 100 into a map). A function with 64 bytes of stack or more gets one
 * that is not the kernel's, so this must be none of the large ones. (fetch.bpf.c)
 */
struct words {
	u64 w[POV_FETCH_ONE_BYTES / 8];
};
int read_words(struct words *to, u64 from, u32 bytes);
/* Writes what has been counted of a thread's calls. (counted.h) */
int counted_flush(struct pov_thread *t);
/* Carries out the memory reads of function func at entry (0) or return (1) for the frame at idx. (fetch.bpf.c) */
int fetch_all(struct pov_thread *t, u32 idx, u32 func, u32 at_return, u64 now);
/*
 * Adds the first one of the list of work requests of the call in frame idx to its record: the address of the next one, or 0.
 * what: the argument that the list is, from bit 8 on the one that is the queue, from bit 16 on the bytes of a request. (work.bpf.c)
 */
u64 work_fetch(struct pov_thread *t, u32 idx, u32 what);
/* Adds the others, from the one at p on. */
int work_list(struct pov_thread *t, u32 idx, u32 what, u64 p, u64 now);
/* If that call failed, how many of its list were accepted. what: the argument that says where it ended, from bit 8 on the list. */
int work_accepted(struct pov_thread *t, u32 idx, u32 what);
/* What the return of the call in frame idx teaches about communicators: 1 if it was not known. (comm.bpf.c) */
int comm_learn(struct pov_thread *t, u32 idx, u32 func);
/* The process initialises MPI: the call begins (done 0), or has succeeded. */
int world_tell(u32 done);
/* It is about to finalise MPI, and waits until it has been asked who it is. */
int world_wait(void);
/* What is known of the communicator that the call in frame idx has copied holds for the copy. (comm.bpf.c) */
int comm_copy(struct pov_thread *t, u32 idx, u32 func);
/* Adds to the record in frame idx what the library says of the communicator that the call made. (comm.bpf.c) */
int comm_describe(struct pov_thread *t, u32 idx, u32 func);
/* Its handle may be given out again: forgets what was learned of the one in frame idx. (comm.bpf.c) */
int comm_forget(struct pov_thread *t, u32 idx);
/* Length of an array by an enum pov_len that needs the communicator; -1 unknown, -2 not at this rank. */
int comm_len(struct pov_thread *t, u32 idx, u32 comm_arg, u32 len, u32 root_arg);
/*
 * If the call in frame idx has its site in a binding, and it is known where that was called from, the site becomes that place; else it
 * remains. The call must be under way, or just about to return. 0, or -1: it is still in a binding. (binding.bpf.c)
 */
int site_leave_bindings(struct pov_thread *t, u32 idx);

#endif
