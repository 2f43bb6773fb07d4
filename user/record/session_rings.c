/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Moves records from the kernel half's rings into the trace file. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "abi/event.h"
#include "layers/func_table.h"
#include "lib/log.h"
#include "record/session_priv.h"

#define POLL_MS 40	 /* each time takes a rank's core for a moment */
#define PRESSING_SHARE 4 /* a ring of the kernel half fuller than a fourth is urgent */
#define LOOK_MS 10	 /* between cheap checks whether processes' rings fill */
#define POLL_FULL_MS 1	 /* while processes' rings fill fast */

bool session_is_calibration(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_COUNTED &&
	       ((const struct pov_counted *)rec)->func >= func_table_count();
}

void session_record(struct session *s, unsigned int stream, const struct pov_hdr *rec)
{
	int err;

	if ((s->end_ns && rec->ts_ns > s->end_ns) ||
	    (rec->kind == POV_KIND_COUNTED && session_is_calibration(rec)))
		return;
	s->seen++;
	if (s->keep)
		session_keep_record(s, rec);
	err = trace_writer_add(s->writer, stream, rec);
	if (!err) {
		overhead_record(&s->overhead, rec);
		return;
	}
	s->refused++;
	if (!s->err)
		s->err = err;
}

static void stack_record(const struct ring_ctx *r, const struct pov_stack *stack)
{
	_Alignas(struct pov_sample) uint8_t room[CALLERS_SAMPLE_BYTES];
	struct pov_sample *sample = (struct pov_sample *)room;

	callers_sample(r->s->callers, stack, sample);
	session_record(r->s, r->stream, &sample->hdr);
}

static int on_ring(void *ctx, void *data, size_t bytes)
{
	const struct ring_ctx *r = ctx;
	const struct pov_hdr *rec = data;

	if (r->s->discard)
		return 0;
	if (rec->kind == POV_KIND_STACK)
		stack_record(r, data);
	else
		session_record(r->s, r->stream, rec);
	return 0;
}

void session_control(struct session *s, const struct pov_hdr *rec)
{
	if (rec->kind != POV_KIND_PATH && rec->kind != POV_KIND_HANDED &&
	    rec->kind != POV_KIND_UNREACHED && rec->kind != POV_KIND_INIT)
		session_record(s, TRACE_STREAM_TASKS, rec);
	/* An ending process may just have initialised MPI, and is unknown afterwards. */
	if (rec->kind == POV_KIND_EXIT)
		session_preload_identity(s, rec);
	images_control(s->images, rec);
	if (rec->kind != POV_KIND_EXIT)
		session_preload_identity(s, rec);
	session_stack_identity(s, rec);
	if (s->callers)
		callers_identity(s->callers, rec);
}

static int on_control(void *ctx, void *data, size_t bytes)
{
	struct session *s = ctx;

	if (!s->discard)
		session_control(s, data);
	return 0;
}

int session_rings_open(struct session *s)
{
	int err;

	s->rings = ring_buffer__new(s->kernel.control_fd, on_control, s, NULL);
	if (!s->rings)
		goto fail;
	for (unsigned int i = 0; i <= s->kernel.rings; i++) {
		s->ring_ctx[i] = (struct ring_ctx){.s = s, .stream = i};
		if (ring_buffer__add(s->rings, s->kernel.ring_fd[i], on_ring, &s->ring_ctx[i]))
			goto fail;
	}
	return 0;
fail:
	err = -errno;
	log_error("cannot map the rings: %s", strerror(-err));
	return err;
}

bool session_rings_press(struct session *s)
{
	for (unsigned int i = 0; i <= s->kernel.rings; i++) {
		struct ring *r = ring_buffer__ring(s->rings, i + 1);

		if (r && ring__avail_data_size(r) > ring__size(r) / PRESSING_SHARE)
			return true;
	}
	return false;
}

static int wait_ms(const struct session *s)
{
	return s->preload_full ? POLL_FULL_MS : POLL_MS;
}

/*
 * Waits until something arrives or it is time to read the rings, earlier if processes' rings fill
 * fast. Returns how many descriptors are ready, or -1.
 */
static int rings_wait(const struct session *s, struct pollfd *polled, unsigned int cnt)
{
	int left_ms = wait_ms(s), n;

	do {
		n = poll(polled, cnt, left_ms < LOOK_MS ? left_ms : LOOK_MS);
		left_ms -= LOOK_MS;
	} while (!n && left_ms > 0 && !session_preload_fills(s));
	return n;
}

int session_rings_poll(struct session *s)
{
	struct pollfd p[3 + PRELOAD_POLLED] = {{.fd = ring_buffer__epoll_fd(s->rings),
						.events = POLLIN},
					       {.fd = images_fd(s->images), .events = POLLIN},
					       {.fd = s->launch_fd, .events = POLLIN}};
	unsigned int asking = session_preload_polled(s, p + 3);
	int n = 0;

	kernel_say_alive(&s->kernel, true);
	if (rings_wait(s, p, 3 + asking) > 0 && p[0].revents)
		n = ring_buffer__poll(s->rings, 0);
	images_poll(s->images);
	session_preload_work(s, p + 3, asking);
	return n < 0 && n != -EINTR ? n : p[2].revents != 0;
}
