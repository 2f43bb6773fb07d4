/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What interrupts took of a rank: each moment once, and only while the rank uses MPI. */
#include <stdlib.h>

#include "unit/test.h"
#include "analysis/interrupts.h"

struct world {
	struct model_process process;
	struct model_thread thread, stranger;
	struct window window;
	struct windows windows;
	struct interrupts a;
};

static void world_open(struct world *w)
{
	static struct model_process nobody = {.idx = 1};

	*w = (struct world){.process = {.is_rank = true},
			    .window = {.is = WINDOW_OPEN, .from_ns = 100, .begun = 1}};
	w->thread.proc = &w->process;
	w->stranger.idx = 1;
	w->stranger.proc = &nobody;
	w->windows = (struct windows){.process = &w->window, .nprocess = 1};
	interrupts_init(&w->a, &w->windows);
}

static void tell(struct world *w, bool soft, struct model_thread *t, uint64_t begin_ns,
		 uint64_t end_ns)
{
	w->a.sink.irq(&w->a, &(struct model_irq){begin_ns, end_ns, 0, 1, soft, t});
}

TEST(nested)
{
	struct world w;

	world_open(&w);
	assert_false(w.a.recorded);
	tell(&w, false, &w.thread, 90, 95); /* before MPI_Init had ended */
	tell(&w, false, &w.thread, 200, 203);
	tell(&w, false, &w.thread, 211, 215);
	tell(&w, true, &w.thread, 210, 220); /* 4 of these 10 were another one's */
	tell(&w, false, &w.stranger, 300, 400);
	assert_true(w.a.recorded);
	assert_int_equal(interrupts_of(&w.a, 0).cnt, 3);
	assert_int_equal(interrupts_of(&w.a, 0).ns, 3 + 10);
	assert_int_equal(interrupts_of(&w.a, 1).cnt, 0);
	assert_int_equal(interrupts_of(&w.a, 77).ns, 0);
	/* Of any time, also before MPI_Init had ended; a softirq is where it began. */
	assert_int_equal(interrupts_within(&w.a, 0, 0, 100).ns, 5);
	assert_int_equal(interrupts_within(&w.a, 0, 200, 200).cnt, 1);
	assert_int_equal(interrupts_within(&w.a, 0, 205, 210).ns, 6);
	assert_int_equal(interrupts_within(&w.a, 0, 205, 300).ns, 10);
	assert_int_equal(interrupts_within(&w.a, 77, 0, UINT64_MAX).cnt, 0);
	interrupts_release(&w.a);
}

/* MPI_Finalize is known of only when it has ended. */
TEST(finalize)
{
	static const struct func_info finalize = {.name = "MPI_Finalize", .layer_name = "mpi"};
	struct world w;

	world_open(&w);
	tell(&w, false, &w.thread, 200, 203);
	tell(&w, false, &w.thread, 500, 507);
	tell(&w, true, &w.thread, 510, 520);
	w.window = (struct window){.is = WINDOW_OVER, .from_ns = 100, .to_ns = 450};
	w.a.sink.call(&w.a, &(struct model_call){.func = &finalize,
						 .thread = &w.thread,
						 .begin_ns = 450,
						 .end_ns = 600});
	tell(&w, false, &w.thread, 700, 703);
	assert_int_equal(interrupts_of(&w.a, 0).cnt, 1);
	assert_int_equal(interrupts_of(&w.a, 0).ns, 3);
	interrupts_release(&w.a);
}
