/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * struct comm on MPI. Each operation is only the MPI call of its name, so times measured around it
 * are the library's. MPI's error handler ends the program, so no return value is checked here.
 */
#include "core/comm_mpi.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "clock/libpov/pov.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mpi_now_ns(struct comm *c)
{
	return clock_now_ns();
}

static uint64_t mpi_cpu_ns(struct comm *c)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double mpi_wtime(struct comm *c)
{
	return MPI_Wtime();
}

static uint64_t mpi_rank_pov_ns(struct comm *c)
{
	return pov_rank_ns();
}

static uint64_t mpi_core_pov_ns(struct comm *c)
{
	return pov_core_ns();
}

static void mpi_section(struct comm *c, bool begin)
{
	if (begin)
		MPIX_Start_processor_timer();
	else
		MPIX_Stop_processor_timer();
}

static void mpi_compute(struct comm *c, const struct compute *how, uint64_t ns)
{
	compute_run(mpi_of(c)->process->engine, how, ns);
}

/* ---- before the timed part ---- */

static void mpi_msg_prepare(struct comm *c, const struct comm_msg *m)
{
	(void)mpi_type_of(c, m);
}

static void mpi_requests_prepare(struct comm *c, struct comm_request *r, int cnt)
{
	MPI_Request *row = xmalloc((size_t)cnt * sizeof(*row));

	for (int i = 0; i < cnt; i++) {
		row[i] = MPI_REQUEST_NULL;
		r[i].word[1] = (uint64_t)(uintptr_t)&row[i];
	}
}

static void mpi_requests_release(struct comm *c, struct comm_request *r, int cnt)
{
	if (!cnt)
		return;
	free(mpi_request(r));
	memset(r, 0, (size_t)cnt * sizeof(*r));
}

/* ---- messages ---- */

static int source_of(int peer)
{
	return peer == COMM_ANY ? MPI_ANY_SOURCE : peer;
}

static void mpi_send(struct comm *c, const struct comm_msg *m, int peer, int tag)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Send(m->buf, t.cnt, t.type, peer, tag, mpi_of(c)->comm);
}

static void mpi_recv(struct comm *c, const struct comm_msg *m, int peer, int tag)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Recv(m->buf, t.cnt, t.type, source_of(peer), tag, mpi_of(c)->comm, MPI_STATUS_IGNORE);
}

static void mpi_isend(struct comm *c, const struct comm_msg *m, int peer, int tag,
		      struct comm_request *out)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Isend(m->buf, t.cnt, t.type, peer, tag, mpi_of(c)->comm, mpi_request(out));
}

static void mpi_irecv(struct comm *c, const struct comm_msg *m, int peer, int tag,
		      struct comm_request *out)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Irecv(m->buf, t.cnt, t.type, source_of(peer), tag, mpi_of(c)->comm, mpi_request(out));
}

static void mpi_wait(struct comm *c, struct comm_request *r)
{
	MPI_Wait(mpi_request(r), MPI_STATUS_IGNORE);
}

static void mpi_waitall(struct comm *c, struct comm_request *r, int cnt)
{
	MPI_Status *ignore = MPI_STATUSES_IGNORE;

	if (cnt > 1 && !r->word[1])
		die("requests to be waited for at once were not prepared; please report this");
	/*
	 * MPICH's constant is 1. Compilers that know MPI_Waitall take it for a short array and
	 * warn.
	 */
	__asm__("" : "+r"(ignore));
	MPI_Waitall(cnt, mpi_request(r), ignore);
}

static bool mpi_test(struct comm *c, struct comm_request *r)
{
	int flag;

	MPI_Test(mpi_request(r), &flag, MPI_STATUS_IGNORE);
	return flag;
}

/* ---- persistent and partitioned requests ---- */

static void mpi_send_init(struct comm *c, const struct comm_msg *m, int peer, int tag,
			  struct comm_request *out)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Send_init(m->buf, t.cnt, t.type, peer, tag, mpi_of(c)->comm, mpi_request(out));
}

static void mpi_recv_init(struct comm *c, const struct comm_msg *m, int peer, int tag,
			  struct comm_request *out)
{
	struct mpi_type t = mpi_type_of(c, m);

	MPI_Recv_init(m->buf, t.cnt, t.type, source_of(peer), tag, mpi_of(c)->comm,
		      mpi_request(out));
}

static void mpi_start(struct comm *c, struct comm_request *r)
{
	MPI_Start(mpi_request(r));
}

static void mpi_request_free(struct comm *c, struct comm_request *r)
{
	MPI_Request_free(mpi_request(r));
}

/* SimGrid's MPI reports 3.1. Open MPI reports 3 up to release 5, which has partitioned requests. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PARTITIONED COMM_HAS_PARTITIONED

static MPI_Count part_bytes(const struct comm_msg *m, int parts)
{
	if (m->layout != COMM_CONTIGUOUS || m->bytes % (size_t)parts)
		die("%zu bytes in %d parts; please report this", m->bytes, parts);
	return (MPI_Count)(m->bytes / (size_t)parts);
}

static void mpi_psend_init(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			   struct comm_request *out)
{
	MPI_Psend_init(m->buf, parts, part_bytes(m, parts), MPI_CHAR, peer, tag, mpi_of(c)->comm,
		       MPI_INFO_NULL, mpi_request(out));
}

static void mpi_precv_init(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			   struct comm_request *out)
{
	MPI_Precv_init(m->buf, parts, part_bytes(m, parts), MPI_CHAR, peer, tag, mpi_of(c)->comm,
		       MPI_INFO_NULL, mpi_request(out));
}

static void mpi_pready(struct comm *c, struct comm_request *r, int part)
{
	MPI_Pready(part, *mpi_request(r));
}
#else
#define PARTITIONED 0
#define mpi_psend_init NULL
#define mpi_precv_init NULL
#define mpi_pready NULL
#endif

/* ---- threads ---- */

static void mpi_load_begin(struct comm *c, const struct comm_load *load)
{
	compute_load_begin(mpi_of(c)->process->engine, load);
}

static void mpi_load_end(struct comm *c)
{
	compute_load_end(mpi_of(c)->process->engine);
}

static void mpi_threads_run(struct comm *c, int n, void (*fn)(void *arg, int thread), void *arg)
{
	compute_threads_run(mpi_of(c)->process->engine, n, fn, arg);
}

/* ---- communicators ---- */

static struct comm *mpi_first(struct comm *c, int n);

static void mpi_free(struct comm *c)
{
	if (!c)
		return;
	MPI_Comm_free(&mpi_of(c)->comm);
	free(mpi_of(c)->counts);
	free(mpi_of(c)->places);
	free(c->impl);
	free(c);
}

static const struct comm_ops mpi_ops = {
	.now_ns = mpi_now_ns,
	.cpu_ns = mpi_cpu_ns,
	.wtime = mpi_wtime,
	.rank_pov_ns = mpi_rank_pov_ns,
	.core_pov_ns = mpi_core_pov_ns,
	.section = mpi_section,
	.compute = mpi_compute,
	.msg_prepare = mpi_msg_prepare,
	.requests_prepare = mpi_requests_prepare,
	.requests_release = mpi_requests_release,
	.send = mpi_send,
	.recv = mpi_recv,
	.isend = mpi_isend,
	.irecv = mpi_irecv,
	.wait = mpi_wait,
	.waitall = mpi_waitall,
	.test = mpi_test,
	.send_init = mpi_send_init,
	.recv_init = mpi_recv_init,
	.start = mpi_start,
	.request_free = mpi_request_free,
	.psend_init = mpi_psend_init,
	.precv_init = mpi_precv_init,
	.pready = mpi_pready,
	.window_new = mpi_window_new,
	.window_free = mpi_window_free,
	.lock = mpi_lock,
	.unlock = mpi_unlock,
	.put = mpi_put,
	.get = mpi_get,
	.flush = mpi_flush,
	.coll = mpi_coll,
	.icoll = mpi_icoll,
	.load_begin = mpi_load_begin,
	.load_end = mpi_load_end,
	.progress_begin = mpi_progress_begin,
	.progress_end = mpi_progress_end,
	.threads_run = mpi_threads_run,
	.first = mpi_first,
	.free = mpi_free,
	.mark_begin = mpi_mark_begin,
	.mark_end = mpi_mark_end,
	.pin = mpi_pin,
	.node = mpi_node,
	.sleep = mpi_sleep,
};

static struct comm *comm_new(MPI_Comm comm, struct mpi_process *process, uint32_t features)
{
	struct mpi_comm *impl = xcalloc(1, sizeof(*impl));
	struct comm *c = xcalloc(1, sizeof(*c));

	impl->comm = comm;
	impl->process = process;
	c->ops = &mpi_ops;
	c->impl = impl;
	c->features = features;
	MPI_Comm_rank(comm, &c->rank);
	MPI_Comm_size(comm, &c->size);
	return c;
}

static struct comm *mpi_first(struct comm *c, int n)
{
	MPI_Comm comm;

	MPI_Comm_split(mpi_of(c)->comm, c->rank < n ? 0 : MPI_UNDEFINED, c->rank, &comm);
	if (comm == MPI_COMM_NULL)
		return NULL;
	return comm_new(comm, mpi_of(c)->process, c->features);
}

static uint32_t pov_features(void)
{
	return pov_source(NULL) == POV_SOURCE_POVTRACE ? COMM_HAS_POV : 0;
}

struct comm *comm_mpi_init(int *argc, char ***argv, enum comm_threads threads)
{
	static const int levels[] = {
		[COMM_THREADS_NONE] = MPI_THREAD_SINGLE,
		[COMM_THREADS_COMPUTE] = MPI_THREAD_FUNNELED,
		[COMM_THREADS_MULTIPLE] = MPI_THREAD_MULTIPLE,
	};
	int level;
	uint32_t features = PARTITIONED | COMM_HAS_RMA | pov_features() | compute_features();
	MPI_Comm comm;

	MPI_Init_thread(argc, argv, levels[threads], &level);
	if (level < MPI_THREAD_FUNNELED)
		features &= ~(uint32_t)COMM_HAS_THREADS;
	if (threads == COMM_THREADS_MULTIPLE && level >= MPI_THREAD_MULTIPLE)
		features |= COMM_HAS_MULTIPLE;
	/* povbench's messages get a communicator of their own. */
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	return comm_new(comm, mpi_process_new(level), features);
}

void comm_mpi_finalize(struct comm *c)
{
	struct mpi_process *process = mpi_of(c)->process;

	mpi_free(c);
	mpi_process_free(process);
	MPI_Finalize();
}
