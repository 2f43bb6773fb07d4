// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Call sites of programs that reach MPI by a binding (Fortran, C++): the place in the program, not that in the binding. Each binding's own
 * return address is where its code says (user/target/elf/binding_steps.h). Where that cannot be told, the place in the binding remains.
 */
#include "core.bpf.h"

static __always_inline u32 step_words(const struct pov_step *step, u32 file, u32 offset)
{
	u32 place = POV_STEP_PLACE(file, offset), i;

	for (i = 0; i < POV_STEP_TRIES; i++) {
		const struct pov_step *s = &step[index_mask(place + i, POV_STEPS)];

		if (!s->words || (s->offset == offset && s->file == file))
			return s->words;
	}
	return 0;
}

/*
 * How many words above the stack pointer the return address of the binding lies that a place is in; 0: unknown, -1: it is in none. A function
 * of its own, which the verifier goes through once.
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
			return step_words(binding_steps, b->file, site - b->start);
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
