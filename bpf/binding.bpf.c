// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Call sites of programs that reach MPI through a binding (Fortran, C++): the site is the place in
 * the program, not the one in the binding. The binding's code determines where its own return
 * address lies (user/target/elf/function_callers.h). If that is unknown, the site remains the place
 * in the binding.
 */
#include "core.bpf.h"

/*
 * Words of the step for this file and offset, if it is at this place. 0: the place is free, so
 * there is no such step; -1: the place has another step.
 */
__noinline int step_at(u32 place, u32 file, u32 offset)
{
	const struct pov_step *s = &binding_steps[index_mask(place, POV_STEPS)];

	return !s->words || (s->offset == offset && s->file == file) ? s->words : -1;
}

static __always_inline u32 step_words(u32 file, u32 offset)
{
	u32 place = POV_STEP_PLACE(file, offset), i;
	int words;

	for (i = 0; i < POV_STEP_TRIES; i++) {
		words = step_at(place + i, file, offset);
		if (words >= 0)
			return words;
	}
	return 0;
}

/*
 * Distance in words from the stack pointer to the return address of the binding that contains
 * `site`; 0: unknown; -1: no binding contains it. A global function, so that the verifier checks it
 * only once.
 */
__noinline int binding_words(struct pov_thread *t, u64 site)
{
	const struct pov_bindings *bindings;
	u32 i;

	if (!t)
		return -1;
	bindings = thread_bindings(t);
	for (i = 0; i < POV_BINDINGS_MAX; i++) {
		const struct pov_binding *b = &bindings->v[i];

		if (site - b->start < b->bytes)
			return step_words(b->file, site - b->start);
	}
	return -1;
}

__noinline int site_leave_bindings(struct pov_thread *t, u32 idx)
{
	struct pov_frame *f;
	u64 site, sp;
	int words;
	u32 i;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	site = frame_call(f)->site;
	sp = frame_caller_sp(f);
	for (i = 0; i <= POV_STEP_DEPTH; i++) {
		words = binding_words(t, site);
		if (words < 0) {
			frame_call(f)->site = site;
			return 0;
		}
		sp += 8 * words;
		if (!words || bpf_probe_read_user(&site, sizeof(site), (void *)sp))
			return -1;
		sp += sizeof(site);
	}
	return -1;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
