/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where the library's eager protocol ends, by what it does: rank 0 sends to rank 1, which begins to receive PAUSE_MS later. A send that
 * returns before that did not wait for a receive: it was eager. Meanwhile rank 1 is either in MPI ("polls"), or it sleeps outside MPI
 * ("sleeps"): a send that returns even then needed nobody. Clocks of one machine are compared.
 *
 *	eager_cut polls|sleeps cut MAX		largest size that is eager, by bisection, if MAX bytes are not; else "above MAX"
 *	eager_cut polls|sleeps is N…		of each size: "N eager" or "N waits"
 *	eager_cut polls|sleeps many N MAX	how many messages of N bytes are sent, one after the other, before one waits: at most MAX
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_MS 150
#define TAG 7

static int rank, polls;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void pause_ms(int ms)
{
	double end = now_s() + ms * 1e-3;
	int found;

	if (!polls)
		nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
	while (now_s() < end)
		MPI_Iprobe(0, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* How many of cnt sends returned before rank 1 began to receive; on both ranks. */
static int early_cnt(char *data, int bytes, int cnt)
{
	double *returned = calloc(cnt, sizeof(*returned)), begin;
	int early = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		for (int i = 0; i < cnt; i++) {
			MPI_Send(data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
			returned[i] = now_s();
		}
		MPI_Recv(&begin, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		while (early < cnt && returned[early] < begin)
			early++;
	} else {
		pause_ms(PAUSE_MS);
		begin = now_s();
		for (int i = 0; i < cnt; i++)
			MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&begin, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
	}
	MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
	free(returned);
	return early;
}

static void cut_find(char *data, int max)
{
	int lo = 0, hi = max;

	if (early_cnt(data, max, 1)) {
		if (!rank)
			printf("above %d\n", max);
		return;
	}
	while (hi - lo > 1) {
		int mid = lo + (hi - lo) / 2;

		if (early_cnt(data, mid, 1))
			lo = mid;
		else
			hi = mid;
	}
	if (!rank)
		printf("%d\n", lo);
}

/* Words behind the first two are numbers. */
static void run(const char *what, char *data, int cnt, char **number)
{
	if (!strcmp(what, "cut"))
		cut_find(data, atoi(number[0]));
	for (int i = 0; i < cnt && !strcmp(what, "is"); i++) {
		int early = early_cnt(data, atoi(number[i]), 1);

		if (!rank)
			printf("%s %s\n", number[i], early ? "eager" : "waits");
	}
	if (!strcmp(what, "many") && cnt > 1) {
		int early = early_cnt(data, atoi(number[0]), atoi(number[1]));

		if (!rank)
			printf("%d\n", early);
	}
}

int main(int argc, char **argv)
{
	int max = 1;
	char *data;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 4) {
		fputs("usage: eager_cut polls|sleeps cut|is|many N...\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	polls = !strcmp(argv[1], "polls");
	for (int i = 3; i < argc; i++)
		max = atoi(argv[i]) > max ? atoi(argv[i]) : max;
	data = calloc(max, 1);
	if (rank < 2) {
		early_cnt(data, 1, 1); /* connects the two */
		run(argv[2], data, argc - 3, argv + 3);
	}
	free(data);
	MPI_Finalize();
	return 0;
}
