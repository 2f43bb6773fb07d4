/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bookkeeping of test programs. Every MPI call goes through CALL() or a similar macro. The macro
 * counts the call and its bytes under (function, peer) and then makes the call. At the end each
 * rank writes one JSON line per (function, peer). The live tests compare the tracer's numbers with
 * these.
 *
 * Lines go to $POV_EXPECT/<program>.<rank>.<pid>.jsonl if that is set, else to stdout in one write.
 * `peer` is null for calls without one, "nobody" for MPI_PROC_NULL. `empty` counts polls that found
 * nothing (part of `calls`). `cut` counts calls that never returned to their caller: still open at
 * the end, or left by a jump. `sent` is what the calls pass; `received` is the capacity that they
 * offer, or what their status reported.
 */
#ifndef TESTS_MPI_EXPECT_H
#define TESTS_MPI_EXPECT_H

#ifndef EXPECT_WITHOUT_MPI /* a program that loads MPI only at run time, or never */
#include <mpi.h>
#else
#define MPI_PROC_NULL (-1)
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * gcc takes MPI_STATUSES_IGNORE and MPI_UNWEIGHTED, small numbers cast to pointers, for empty
 * arrays.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

#define EXPECT_ROWS_MAX 512
#define NO_PEER (-1000000)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/* Stops the job if a condition fails, because the books would be wrong. */
#define MUST(cond)                                                                         \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* ---- clocks ---- */

static inline unsigned long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static inline unsigned long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Uses that much CPU time of this thread. */
static inline void compute_ms(double ms)
{
	unsigned long long until = clock_ns(CLOCK_THREAD_CPUTIME_ID) +
				   (unsigned long long)(ms * 1e6);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* Waits until a thread of a folder in /proc has ended. */
static inline void thread_await_end(const char *folder, int tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/stat", folder, tid);
	while (state != 'Z' && (f = fopen(path, "r"))) {
		usleep(1000);
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'Z';
		fclose(f);
	}
}

/* Waits until the process's first thread has ended. /proc then shows neither program nor memory. */
static inline void first_thread_await_end(void)
{
	thread_await_end("/proc/self/task", (int)getpid());
}

/* Sorts the samples. */
static inline int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static inline double median(double *samples, int cnt)
{
	qsort(samples, (size_t)cnt, sizeof(*samples), by_value);
	return (samples[(cnt - 1) / 2] + samples[cnt / 2]) / 2;
}

/* ---- modes and threads ---- */

/* What a program does, by a word of its command line. */
struct mode {
	const char *name;
	void (*run)(char **args); /* the words after it, then NULL */
};

#define MODE_RUN(modes, words) mode_run(modes, ARRAY_SIZE(modes), words)
static inline void mode_run(const struct mode *mode, size_t cnt, char **words)
{
	MUST(words[0]);
	for (const struct mode *end = mode + cnt; strcmp(mode->name, words[0]);)
		MUST(++mode < end);
	mode->run(words + 1);
}

/* Runs threads at once, and waits for them. Their arguments are first, first + 1, … */
static inline void threads_run(int cnt, void *(*body)(void *arg), long first)
{
	pthread_t t[cnt];

	for (int i = 0; i < cnt; i++)
		MUST(!pthread_create(&t[i], NULL, body, (void *)(first + i)));
	for (int i = 0; i < cnt; i++)
		MUST(!pthread_join(t[i], NULL));
}

/* ---- books ---- */

struct expect_row {
	const char *fn;
	int peer;
	unsigned long long calls, sent, received, empty, cut;
};

static struct expect_row expect_rows[EXPECT_ROWS_MAX];
static int expect_row_cnt;
static pthread_mutex_t expect_lock = PTHREAD_MUTEX_INITIALIZER;

static inline struct expect_row *expect_find(const char *fn, int peer)
{
	struct expect_row *r = expect_rows;

	for (; r < &expect_rows[expect_row_cnt]; r++)
		if (r->peer == peer && !strcmp(r->fn, fn))
			return r;
	MUST(expect_row_cnt < EXPECT_ROWS_MAX);
	expect_row_cnt++;
	r->fn = fn;
	r->peer = peer;
	return r;
}

static inline void expect_add(const char *fn, int peer, unsigned long long calls,
			      unsigned long long sent, unsigned long long received,
			      unsigned long long empty)
{
	struct expect_row *r;

	pthread_mutex_lock(&expect_lock);
	r = expect_find(fn, peer);
	r->calls += calls;
	r->sent += sent;
	r->received += received;
	r->empty += empty;
	pthread_mutex_unlock(&expect_lock);
}

static inline void expect_add_cut(const char *fn, int peer)
{
	pthread_mutex_lock(&expect_lock);
	expect_find(fn, peer)->cut++;
	pthread_mutex_unlock(&expect_lock);
}

/* A call with a peer and bytes; without a peer; with neither. Each yields the MPI return value. */
#define CALL(fn, peer, sent, received, ...) \
	(expect_add(#fn, peer, 1, sent, received, 0), fn(__VA_ARGS__))
#define MOVE(fn, sent, received, ...) CALL(fn, NO_PEER, sent, received, __VA_ARGS__)
#define DO(fn, ...) CALL(fn, NO_PEER, 0, 0, __VA_ARGS__)

/* Repeats a call. */
#define REPEAT(times, call)                          \
	do {                                         \
		for (int i_ = 0; i_ < (times); i_++) \
			(void)(call);                \
	} while (0)

/*
 * A call that will not return: the process is killed in it, or jumps out of it. If necessary, books
 * are written before.
 */
#define CUT(fn, peer, sent, received) \
	(expect_add(#fn, peer, 1, sent, received, 0), expect_add_cut(#fn, peer))

/* A poll; `found` is evaluated after the call and is true if it found something. */
#define POLL(fn, found, ...)                                 \
	do {                                                 \
		fn(__VA_ARGS__);                             \
		expect_add(#fn, NO_PEER, 1, 0, 0, !(found)); \
	} while (0)

#define POLL_UNTIL(fn, found, ...)            \
	do                                    \
		POLL(fn, found, __VA_ARGS__); \
	while (!(found))

/* Replaces a program that needs a newer MPI. */
#define NEEDS(fn)                                                                             \
	int main(void)                                                                        \
	{                                                                                     \
		fprintf(stderr, "%s: the library has no %s\n", program_invocation_short_name, \
			#fn);                                                                 \
		return 77;                                                                    \
	}

/* Sets the path of this rank's books, or "" if they go to stdout. */
static inline void expect_path(char path[512], const char *prog, int rank)
{
	const char *dir = getenv("POV_EXPECT");

	path[0] = '\0';
	if (dir && *dir)
		snprintf(path, 512, "%s/%s.%d.%d.jsonl", dir, prog, rank, (int)getpid());
}

static inline FILE *expect_open(const char *prog, int rank)
{
	char path[512];
	FILE *f = stdout;

	expect_path(path, prog, rank);
	if (path[0])
		f = fopen(path, "w");
	MUST(f);
	return f;
}

static inline void expect_close(FILE *f)
{
	if (fflush(f) || (f != stdout && fclose(f)))
		perror("expect: write");
}

/* Opens $POV_EXPECT/<name>.<rank> for writing. */
static inline FILE *expect_open_plain(const char *name, int rank)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%d", getenv("POV_EXPECT"), name, rank);
	f = fopen(path, "w");
	MUST(f);
	return f;
}

static inline void expect_print(FILE *f, const char *prog, int rank, const struct expect_row *r)
{
	char peer[16];

	snprintf(peer, sizeof(peer),
		 r->peer == NO_PEER	  ? "null" :
		 r->peer == MPI_PROC_NULL ? "\"nobody\"" :
					    "%d",
		 r->peer);
	fprintf(f,
		"{\"prog\":\"%s\",\"rank\":%d,\"pid\":%d,\"fn\":\"%s\",\"peer\":%s,\"calls\":%llu,"
		"\"sent\":%llu,\"received\":%llu,\"empty\":%llu,\"cut\":%llu}\n",
		prog, rank, (int)getpid(), r->fn, peer, r->calls, r->sent, r->received, r->empty,
		r->cut);
}

static inline void expect_write(const char *prog, int rank)
{
	FILE *f = expect_open(prog, rank);
	static char buf[1 << 17];

	setvbuf(f, buf, _IOFBF, sizeof(buf));
	for (int i = 0; i < expect_row_cnt; i++)
		expect_print(f, prog, rank, &expect_rows[i]);
	expect_close(f);
}

#ifndef EXPECT_WITHOUT_MPI
static int rank, size; /* in MPI_COMM_WORLD */

/* Starts MPI and gets rank and size. Counts the calls for that. */
static inline void expect_init(int *argc, char ***argv)
{
	DO(MPI_Init, argc, argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
}

/* Same for threads; exits with 77 if the library does not support the level. */
static inline void expect_init_thread(int *argc, char ***argv, int level)
{
	int got;

	DO(MPI_Init_thread, argc, argv, level, &got);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	if (got >= level)
		return;
	fprintf(stderr, "%s: this MPI has no such threads\n", program_invocation_short_name);
	MPI_Finalize();
	exit(77);
}

/* Ends MPI and writes the books. */
static inline void expect_finish(void)
{
	DO(MPI_Finalize);
	expect_write(program_invocation_short_name, rank);
}
#endif

#endif
