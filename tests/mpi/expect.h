/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How a test program keeps its own books: every MPI call goes through CALL() or a relative of it, which
 * counts the call and its bytes under (function, peer) and then makes it. At the end each rank writes
 * one JSON line per (function, peer); the live tests compare the tracer's numbers with these.
 *
 * Lines go to $POV_EXPECT/<program>.<rank>.<pid>.jsonl if that is set, else to stdout in one write.
 * `peer` is null for calls that have none, "nobody" for MPI_PROC_NULL. `empty` are polls that found nothing (part of `calls`).
 * `cut` are calls that never returned to their caller: still open at the end, or jumped out of.
 * `sent` is what the call hands over; `received` the capacity it offers, or what its status told.
 */
#ifndef TESTS_MPI_EXPECT_H
#define TESTS_MPI_EXPECT_H

#ifndef EXPECT_WITHOUT_MPI /* a program that meets MPI only at run time */
#include <mpi.h>
#else
#define MPI_PROC_NULL (-1)
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* gcc takes MPI_STATUSES_IGNORE and MPI_UNWEIGHTED, small numbers cast to pointers, for empty arrays */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

#define EXPECT_ROWS_MAX 512
#define NO_PEER (-1000000)

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
	struct expect_row *r;

	for (int i = 0; i < expect_row_cnt; i++)
		if (expect_rows[i].peer == peer && !strcmp(expect_rows[i].fn, fn))
			return &expect_rows[i];
	if (expect_row_cnt == EXPECT_ROWS_MAX) {
		fprintf(stderr, "expect: more than %d rows\n", EXPECT_ROWS_MAX);
		abort();
	}
	r = &expect_rows[expect_row_cnt++];
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

/* One call with a peer and bytes; without a peer; with neither. Each yields the MPI return value. */
#define CALL(fn, peer, sent, received, ...) \
	(expect_add(#fn, peer, 1, sent, received, 0), fn(__VA_ARGS__))
#define MOVE(fn, sent, received, ...) CALL(fn, NO_PEER, sent, received, __VA_ARGS__)
#define DO(fn, ...) CALL(fn, NO_PEER, 0, 0, __VA_ARGS__)

/* A call that will not return: killed in it, or jumped out of. Books are written before, if need be. */
#define CUT(fn, peer, sent, received) \
	(expect_add(#fn, peer, 1, sent, received, 0), expect_add_cut(#fn, peer))

/* A poll; `found` is evaluated after the call and tells whether it found something. */
#define POLL(fn, found, ...)                                 \
	do {                                                 \
		fn(__VA_ARGS__);                             \
		expect_add(#fn, NO_PEER, 1, 0, 0, !(found)); \
	} while (0)

/* CLOCK_MONOTONIC, in seconds. */
static inline double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Stops the job if a condition fails: the books would not be worth reading. */
#define MUST(cond)                                                                         \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* The file of this rank's books, or "" if they go to stdout. */
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
	FILE *f;

	expect_path(path, prog, rank);
	if (!path[0])
		return stdout;
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		abort();
	}
	return f;
}

static inline void expect_print(FILE *f, const char *prog, int rank, const struct expect_row *r)
{
	fprintf(f, "{\"prog\":\"%s\",\"rank\":%d,\"pid\":%d,\"fn\":\"%s\",", prog, rank,
		(int)getpid(), r->fn);
	if (r->peer == NO_PEER)
		fprintf(f, "\"peer\":null,");
	else if (r->peer == MPI_PROC_NULL)
		fprintf(f, "\"peer\":\"nobody\",");
	else
		fprintf(f, "\"peer\":%d,", r->peer);
	fprintf(f, "\"calls\":%llu,\"sent\":%llu,\"received\":%llu,\"empty\":%llu,\"cut\":%llu}\n",
		r->calls, r->sent, r->received, r->empty, r->cut);
}

static inline void expect_write(const char *prog, int rank)
{
	FILE *f = expect_open(prog, rank);
	static char buf[1 << 17];

	setvbuf(f, buf, _IOFBF, sizeof(buf));
	for (int i = 0; i < expect_row_cnt; i++)
		expect_print(f, prog, rank, &expect_rows[i]);
	if (fflush(f) || (f != stdout && fclose(f)))
		perror("expect: write");
}

#ifndef EXPECT_WITHOUT_MPI
/* Starts MPI and tells rank and size, counting what that takes. */
static inline void expect_init(int *argc, char ***argv, int *rank, int *size)
{
	DO(MPI_Init, argc, argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, size);
}

/* Ends MPI and writes the books. */
static inline void expect_finish(const char *prog, int rank)
{
	DO(MPI_Finalize);
	expect_write(prog, rank);
}
#endif

#endif
