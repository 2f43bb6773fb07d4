/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call sites of bindings are replaced by their callers, found in a stack that the test writes:
 * after no step, one or several steps, and not at all if a step is unknown. The test uses the
 * preloaded library's build; the kernel half compiles the same source.
 */
/* Another unit test has these names as well. */
#define setup site_setup
#define area site_area
#include "preload/in_process.h"

#include "unit/test.h"
#include "binding.bpf.c"

#define TWO 0x20000

static struct pov_preload_setup made;
const struct pov_preload_setup *setup = &made;
__thread struct pov_preload_area *area;
struct pov_bindings process_bindings = {{{0x10000, 0x1000, 1, 0}, {TWO, 0x1000, 2, 0}}};

static void step_put(u16 file, u32 offset, u16 words)
{
	made.step[index_mask(POV_STEP_PLACE(file, offset), POV_STEPS)] =
		(struct pov_step){offset, file, words};
}

static const struct site_case {
	const char *name;
	u64 site;
	u64 stack[12]; /* from the calling function's stack pointer upward */
	u64 left;
} cases[] = {
	{"none", 0x5000, {0}, 0x5000},
	{"before and past them", TWO + 0x1000, {0}, TWO + 0x1000},
	{"one step", TWO + 0x40, {[3] = 0x5000}, 0x5000},
	{"two steps", TWO + 0x40, {[3] = 0x10010, [3 + 1 + 2] = 0x5000}, 0x5000},
	{"within one file", TWO + 0x80, {[1] = TWO + 0x40, [1 + 1 + 3] = 0x5000}, 0x5000},
	{"unknown", TWO + 0x44, {0x5000, 0x5000, 0x5000, 0x5000}, TWO + 0x44},
	{"the second one unknown", TWO + 0x40, {[3] = 0x10014, [6] = 0x5000}, TWO + 0x40},
	{"in the other file", 0x10040, {0x5000, 0x5000, 0x5000, 0x5000}, 0x10040},
	{"without end",
	 TWO + 0xc0,
	 {TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, TWO + 0xc0,
	  TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, TWO + 0xc0, 0x5000},
	 TWO + 0xc0},
};

TEST(steps)
{
	static struct pov_thread t;
	u64 stack[12 + (MARK_CALLER + 8) / 8];

	step_put(1, 0x10, 2);
	step_put(2, 0x40, 3);
	step_put(2, 0x80, 1);
	step_put(2, 0xc0, 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		bool leaves = cases[i].left != cases[i].site || i < 2;

		memcpy(stack + (MARK_CALLER + 8) / 8, cases[i].stack, sizeof(cases[i].stack));
		t.frame[0].sp = (u64)stack;
		frame_call(&t.frame[0])->site = cases[i].site;
		assert_int_equal(site_leave_bindings(&t, 0), leaves ? 0 : -1);
		if (frame_call(&t.frame[0])->site != cases[i].left)
			fail_msg("%s: 0x%lx", cases[i].name, (long)frame_call(&t.frame[0])->site);
	}
}
