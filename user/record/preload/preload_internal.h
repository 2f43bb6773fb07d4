/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* State that preload.c and preload_requests.c share. */
#ifndef POV_RECORD_PRELOAD_INTERNAL_H
#define POV_RECORD_PRELOAD_INTERNAL_H

#include "abi/preload.h"
#include "lib/map.h"
#include "record/host/host.h"
#include "record/preload/preload.h"
#include "record/preload/preload_area.h"

#define ASKING_MAX (PRELOAD_POLLED - 2)

/* A connection. */
struct asking {
	int conn;
	uint64_t since_ns;
	uint32_t tgid; /* the peer process, once it has asked */
	/* Runs when the process's questions are answered; NULL: it waits for nothing. */
	void (*then)(struct preload *p, struct asking *from);
	bool has_pool;
	/*
	 * The process has its plan and changes its own code. It may be stopped meanwhile for any
	 * time.
	 */
	bool planned;
};

struct preload {
	struct preload_options opt;
	char *path; /* path of the socket */
	int fd, setup_fd;
	int far_fd; /* socket for processes in another root; below 0: none */
	struct pov_preload_setup *setup;
	uint64_t setup_bytes;
	uint32_t hook_cnt;
	struct {
		const struct library *lib;
		uint32_t first;
	} hooks[POV_LIB_NUMBERS]; /* a library's hooks in the setup; lib NULL: not there yet */
	struct cycle_rate cycle_rate;
	uint32_t first_row, rows;
	bool *wanted;
	struct asking asking[ASKING_MAX];
	unsigned int asking_cnt;
	struct map pools;   /* process → pool; owned */
	struct map threads; /* thread → process, for all threads that may record */
	uint32_t thread_cnt, damaged, missed;
	uint64_t spare;	   /* bytes still available for larger rings, shared by all threads */
	int turn;	   /* code_turn_open; below 0: there are no locks */
	bool worlds_asked; /* processes may wait for the answer about their rank */
	struct preload_counts gone; /* counts of freed pools */
};

/* ---- preload.c ---- */

/* Reads the records of a process's threads. True: a ring is so full that it is read again soon. */
bool preload_pool_read(struct preload *p, struct preload_pool *pool);
/* Frees a process's pool, whose counts are kept. */
void preload_pool_end(struct preload *p, struct preload_pool *pool);
/* Releases the processes whose MPI library has been asked for their rank. */
void preload_worlds_answer(struct preload *p);

#endif
