/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_pieces PROVIDER: posts requests whose pieces of memory lie before them, behind them and far away, aligned or not, where the
 * memory that can be read begins or ends, and lists of several. Prints of each post its requests and their bytes.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_loopback.h"

#define PAGE 4096
#define PAGES 3
#define LIST_MAX 300

static struct ibv_qp qp = {.qp_num = 17, .qp_type = IBV_QPT_RC};
static unsigned int length = 1;

static void post(struct ibv_send_wr *wr, int requests, unsigned int bytes)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(&qp, wr, &bad))
		exit(1);
	printf("%d %u\n", requests, bytes);
}

/* One request at a place in memory, and its pieces at another. */
static void post_at(char *request, char *pieces, int cnt)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .num_sge = cnt, .sg_list = (void *)pieces};
	struct ibv_sge piece;
	unsigned int bytes = 0;

	memset(pieces, 0x55, cnt * sizeof(piece));
	for (int i = 0; i < cnt; i++) {
		piece = (struct ibv_sge){.addr = 0x1000, .length = length++, .lkey = 1};
		bytes += piece.length;
		memcpy(pieces + i * sizeof(piece), &piece, sizeof(piece));
	}
	memcpy(request, &wr, sizeof(wr));
	post((struct ibv_send_wr *)request, 1, bytes);
}

static void post_list(int cnt)
{
	static struct ibv_send_wr wr[LIST_MAX];
	static struct ibv_sge piece[LIST_MAX];
	unsigned int bytes = 0;

	for (int i = 0; i < cnt; i++) {
		piece[i].length = length++;
		bytes += piece[i].length;
		wr[i] = (struct ibv_send_wr){.opcode = IBV_WR_SEND,
					     .sg_list = &piece[i],
					     .num_sge = 1,
					     .next = i + 1 < cnt ? &wr[i + 1] : NULL};
	}
	post(wr, cnt, bytes);
}

int main(int argc, char **argv)
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	char *begin = memory + PAGE, *middle = begin + PAGE / 2, *end = begin + PAGE;
	int size = sizeof(struct ibv_send_wr);
	loopback_open_fn *open = NULL;

	if (lib)
		*(void **)&open = dlsym(lib, "loopback_open");
	if (!open || memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE) ||
	    mprotect(end, PAGE, PROT_NONE)) {
		fprintf(stderr, "usage: %s PROVIDER\n", argv[0]);
		return 2;
	}
	qp.context = open(LOOPBACK_FIRST);
	for (int off = 16; off < 64; off += 4) {
		post_at(middle, middle - off, 1);
		post_at(middle, middle + size - 16 + off, 1);
	}
	post_at(middle, begin, 1);
	post_at(middle, begin, 0);
	post_at(middle, middle - 32, 2);
	post_at(middle, middle + size, 2);
	for (int off = 0; off <= 64; off += 16) { /* at the edges of what can be read */
		post_at(begin + off, begin + off + size, 1);
		post_at(end - size - off, end - size - off - 16, 1);
	}
	for (int cnt = 2; cnt < 12; cnt++)
		post_list(cnt);
	post_list(41);
	return 0;
}
