/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * trace_bench [MILLIONS]: what the trace file costs, on so many million records: bytes a call on
 * disk, time to encode, add, decode and merge a record, memory to read. Medians of one run; times
 * also as ratios to copying the same records. Prints TAP, the measurements as "# " lines.
 *
 * The records are made up, of a plausible job: four ranks on four cores, two rings, exchanging
 * halos (Irecv, Isend, Waitall, now and then Allreduce) between computations of random length;
 * pointers and request handles as a library makes them, reused out of order; context switches and
 * wake-ups. The same in every run.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/event.h"
#include "base/log.h"
#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace/trace_read.h"
#include "trace/trace_write.h"

#define MIX_RANKS 4
#define MIX_PEERS 4
#define MIX_BATCH 64
#define MIX_RECORD_BYTES 1024

struct mix_rank {
	uint64_t now_ns;
	uint32_t tid;
	uint64_t send_req[MIX_PEERS], recv_req[MIX_PEERS];
	uint64_t bufs;
	uint32_t step; /* of the iteration */
	uint32_t iteration;
};

struct mix {
	uint64_t random;
	struct mix_rank rank[MIX_RANKS];
	/*
	 * The last batch: all records of one step of one rank, batch[0 … nbatch-1] of this stream.
	 */
	unsigned int stream;
	uint32_t nbatch;
	uint64_t batch[MIX_BATCH][MIX_RECORD_BYTES / 8];
	uint64_t calls; /* so far */
};

/* ---- the job ---- */

enum {
	FUNC_IRECV = 40,
	FUNC_ISEND = 44,
	FUNC_WAITALL = 120,
	FUNC_ALLREDUCE = 140,
};

static uint64_t rnd(struct mix *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random;
}

/*
 * Around mean, skewed to the right as durations are: most within a quarter, a few several times
 * longer.
 */
static uint64_t noisy(struct mix *m, uint64_t mean)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum += rnd(m) % (mean / 4 + 1);
	sum = mean * 3 / 4 + sum / 2;
	return rnd(m) % 50 ? sum : sum * (2 + rnd(m) % 4);
}

static void *record(struct mix *m, uint8_t kind, uint32_t tid, uint64_t ts_ns, uint16_t size)
{
	struct pov_hdr *h = (struct pov_hdr *)m->batch[m->nbatch++];

	memset(h, 0, size);
	*h = (struct pov_hdr){.size = size, .kind = kind, .tid = tid, .ts_ns = ts_ns};
	return h;
}

static struct pov_call *call(struct mix *m, struct mix_rank *r, uint16_t func, uint64_t mean_ns,
			     const uint64_t *args, uint8_t nargs)
{
	uint64_t dur = noisy(m, mean_ns);
	struct pov_call *c;

	r->now_ns += noisy(m, 70) + dur;
	c = record(m, POV_KIND_CALL, r->tid, r->now_ns, (uint16_t)(sizeof(*c) + 8 * nargs));
	c->dur_ns = dur;
	c->tgid = r->tid;
	c->func = func;
	c->nargs = nargs;
	c->site = 0x55d0c0de1000 + func * 0x40u;
	c->cpu = (uint16_t)(r->tid & 3);
	c->lib = 1;
	memcpy(c->args, args, nargs * 8u);
	r->now_ns += 30;
	m->calls++;
	return c;
}

static void *field(struct pov_call *c, uint8_t type, uint8_t arg, uint16_t size, uint32_t cnt)
{
	struct pov_field *f = (struct pov_field *)((char *)c + c->hdr.size);

	memset(f, 0, sizeof(*f) + size);
	*f = (struct pov_field){.type = type, .arg = arg, .size = size, .cnt = cnt};
	c->hdr.size = (uint16_t)(c->hdr.size + sizeof(*f) + (size + 7u) / 8 * 8);
	return f + 1;
}

static void post(struct mix *m, struct mix_rank *r, bool send, int peer)
{
	uint64_t req = send ? r->send_req[peer] : r->recv_req[peer];
	uint64_t args[7] = {
		r->bufs + (uint64_t)(send * MIX_PEERS + peer) * 0x10000 +
			(r->iteration & 1) * 0x100000,
		r->iteration % 8 ? 1024 : 4096,
		0x7f12a4e01d40,
		(uint64_t)(peer + 1),
		(uint64_t)(100 + peer),
		0x7f12a4e02c80,
		0x7ffd00001000 + r->tid * 0x100000ull + (uint64_t)(send * MIX_PEERS + peer) * 8,
	};
	struct pov_call *c = call(m, r, send ? FUNC_ISEND : FUNC_IRECV, send ? 420 : 210, args, 7);
	uint64_t v = 8;

	memcpy(field(c, POV_FIELD_TYPE_SIZE, 2, 8, 1), &v, 8);
	memcpy(field(c, POV_FIELD_OUT, 6, 8, 1), &req, 8);
}

/* A free list hands out what was freed last; now and then two change places. */
static void shuffle(struct mix *m, uint64_t *req)
{
	unsigned int a = rnd(m) % MIX_PEERS, b = rnd(m) % MIX_PEERS;
	uint64_t x = req[a];

	if (rnd(m) % 4)
		return;
	req[a] = req[b];
	req[b] = x;
}

static void put_status(struct pov_more *more, int i, int peer, uint64_t bytes)
{
	int32_t head[4] = {peer + 1, 100 + peer, 0, 0};

	memcpy(more->data + 24 * i, head, sizeof(head));
	memcpy(more->data + 24 * i + 16, &bytes, 8);
}

static void waitall(struct mix *m, struct mix_rank *r)
{
	uint64_t args[3] = {2 * MIX_PEERS, 0x7ffd00001000 + r->tid * 0x100000ull,
			    0x7ffd00002000 + r->tid * 0x100000ull};
	uint64_t reqs[2 * MIX_PEERS];
	struct pov_more *more;
	struct pov_call *c;

	more = record(m, POV_KIND_MORE, r->tid, 0, sizeof(*more) + 2 * MIX_PEERS * 24);
	c = call(m, r, FUNC_WAITALL, 9000, args, 3);
	more->hdr.ts_ns = c->hdr.ts_ns;
	more->begin_ns = c->hdr.ts_ns - c->dur_ns;
	more->size = 2 * MIX_PEERS * 24;
	more->type = POV_FIELD_OUT;
	more->arg = 2;
	for (int i = 0; i < 2 * MIX_PEERS; i++)
		put_status(more, i, i % MIX_PEERS, (r->iteration % 8 ? 1024 : 4096) * 8);
	c->hdr.flags = POV_CALL_MORE;
	memcpy(reqs, r->recv_req, sizeof(r->recv_req));
	memcpy(reqs + MIX_PEERS, r->send_req, sizeof(r->send_req));
	memcpy(field(c, POV_FIELD_IN, 1, sizeof(reqs), 2 * MIX_PEERS), reqs, sizeof(reqs));
	shuffle(m, r->send_req);
	shuffle(m, r->recv_req);
}

static void switch_away(struct mix *m, struct mix_rank *r)
{
	uint32_t other = 900 + (uint32_t)(rnd(m) % 6);
	uint16_t cpu = (uint16_t)(r->tid & 3);
	struct pov_waking *w;
	struct pov_switch *s;

	w = record(m, POV_KIND_WAKING, r->tid, r->now_ns, sizeof(*w));
	w->target_tid = other;
	w->cpu = w->target_cpu = cpu;
	w->prio = 120;
	for (int back = 0; back < 2; back++) {
		r->now_ns += noisy(m, back ? 6000 : 1500);
		s = record(m, POV_KIND_SWITCH, back ? other : r->tid, r->now_ns, sizeof(*s));
		s->next_tid = back ? r->tid : other;
		s->hdr.flags = back ? 0 : POV_SWITCH_PREEMPTED;
		s->prev_state = back ? 1 : 0;
		s->cpu = cpu;
		s->prev_prio = s->next_prio = 120;
	}
}

static void allreduce(struct mix *m, struct mix_rank *r)
{
	uint64_t args[6] = {r->bufs,	    r->bufs + 64,   1,
			    0x7f12a4e01d40, 0x7f12a4e03000, 0x7f12a4e02c80};
	struct pov_call *c = call(m, r, FUNC_ALLREDUCE, 14000, args, 6);
	uint64_t v = 8;

	memcpy(field(c, POV_FIELD_TYPE_SIZE, 3, 8, 1), &v, 8);
}

static void mix_init(struct mix *m, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	m->random = seed * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < MIX_RANKS; i++) {
		struct mix_rank *r = &m->rank[i];

		r->tid = 41200 + (uint32_t)i;
		r->now_ns = 86400000000000ull + (uint64_t)i * 977;
		r->bufs = 0x7f1200000000 + (uint64_t)i * 0x4000000;
		for (int p = 0; p < MIX_PEERS; p++) {
			r->send_req[p] = 0x55d0d0000000 + (uint64_t)p * 0x3c0 +
					 (uint64_t)i * 0x20000;
			r->recv_req[p] = 0x55d0e0000000 + (uint64_t)p * 0x380 +
					 (uint64_t)i * 0x20000;
		}
	}
}

/* Makes the next batch. */
static void mix_next(struct mix *m)
{
	struct mix_rank *r = &m->rank[0];

	for (int i = 1; i < MIX_RANKS; i++)
		if (m->rank[i].now_ns < r->now_ns)
			r = &m->rank[i];
	m->nbatch = 0;
	m->stream = (r->tid & 3) / 2;
	if (r->step < 2 * MIX_PEERS) {
		post(m, r, r->step >= MIX_PEERS, (int)(r->step % MIX_PEERS));
		r->step++;
		return;
	}
	waitall(m, r);
	r->now_ns += noisy(m, 40000);
	if (rnd(m) % 3 == 0)
		switch_away(m, r);
	if (r->iteration % 10 == 9)
		allreduce(m, r);
	r->iteration++;
	r->step = 0;
}

/* ---- measuring ---- */

#define CHUNK_WORDS (1u << 19)
#define CHUNKS_MAX 4096

struct chunk {
	uint64_t words[CHUNK_WORDS + MIX_BATCH * MIX_RECORD_BYTES / 8];
	size_t nwords;
	size_t records;
	uint64_t bytes;
};

struct samples {
	double v[CHUNKS_MAX];
	size_t cnt;
};

struct bench {
	struct mix mix;
	struct chunk chunk;
	uint64_t copy[CHUNK_WORDS + MIX_BATCH * MIX_RECORD_BYTES / 8];
	struct codec_encoder enc[2];
	struct codec_block block[2];
	uint64_t decoded[TRACE_RECBYTES_MAX / 8];
	uint8_t payload[TRACE_RAW_MAX];
	struct samples copy_ns, encode_ns, decode_ns, add_ns;
	uint64_t records, bytes;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sample(struct samples *s, uint64_t ns, size_t records)
{
	if (s->cnt < CHUNKS_MAX && records)
		s->v[s->cnt++] = (double)ns / (double)records;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(struct samples *s)
{
	qsort(s->v, s->cnt, sizeof(s->v[0]), double_compare);
	return s->cnt ? s->v[s->cnt / 2] : 0;
}

/* Fills the chunk: stream, record, stream, record … */
static void make_chunk(struct bench *b)
{
	struct chunk *c = &b->chunk;

	c->nwords = c->records = 0;
	c->bytes = 0;
	while (c->nwords < CHUNK_WORDS) {
		mix_next(&b->mix);
		for (uint32_t i = 0; i < b->mix.nbatch; i++) {
			const struct pov_hdr *h = (const struct pov_hdr *)b->mix.batch[i];

			c->words[c->nwords++] = b->mix.stream;
			memcpy(&c->words[c->nwords], h, h->size);
			c->nwords += h->size / 8;
			c->bytes += h->size;
			c->records++;
		}
	}
}

static void measure_copy(struct bench *b)
{
	const struct chunk *c = &b->chunk;
	uint64_t *to = b->copy, began = now_ns();

	for (size_t i = 0; i < c->nwords;) {
		const struct pov_hdr *h = (const struct pov_hdr *)&c->words[i + 1];

		memcpy(to, h, h->size);
		to += h->size / 8;
		i += 1 + h->size / 8;
	}
	sample(&b->copy_ns, now_ns() - began, c->records);
}

/* Returns the time the decoding took, to be kept out of the encoding's. */
static uint64_t measure_decode(struct bench *b, struct codec_block *block)
{
	uint64_t began = now_ns(), decoding;
	uint32_t len = codec_block_store(block, b->payload);

	decoding = now_ns();
	if (codec_decode(b->payload, len, block->nrecords, block->record_bytes, b->decoded))
		die("trace_bench: what was encoded cannot be decoded");
	sample(&b->decode_ns, now_ns() - decoding, block->nrecords);
	return now_ns() - began;
}

static void measure_codec(struct bench *b)
{
	const struct chunk *c = &b->chunk;
	uint64_t began = now_ns(), other = 0;

	for (size_t i = 0; i < c->nwords;) {
		const struct pov_hdr *h = (const struct pov_hdr *)&c->words[i + 1];
		uint64_t s = c->words[i];

		if (codec_encode_full(&b->enc[s], &b->block[s], h->size)) {
			other += measure_decode(b, &b->block[s]);
			codec_encode_begin(&b->enc[s], &b->block[s]);
		}
		codec_encode(&b->enc[s], &b->block[s], h);
		i += 1 + h->size / 8;
	}
	sample(&b->encode_ns, now_ns() - began - other, c->records);
}

static void measure_add(struct bench *b, struct trace_writer *w)
{
	const struct chunk *c = &b->chunk;
	uint64_t began = now_ns();

	for (size_t i = 0; i < c->nwords;) {
		const struct pov_hdr *h = (const struct pov_hdr *)&c->words[i + 1];

		if (trace_writer_add(w, (unsigned int)c->words[i], h))
			exit(1);
		i += 1 + h->size / 8;
	}
	sample(&b->add_ns, now_ns() - began, c->records);
	b->records += c->records;
	b->bytes += c->bytes;
}

static void write_trace(struct bench *b, const char *path, uint64_t records)
{
	struct trace_writer_options opt = {0};
	struct trace_writer_stats stats;
	struct trace_writer *w;

	mix_init(&b->mix, 1);
	for (int s = 0; s < 2; s++) {
		for (int c = 0; c < CODEC_COL_CNT; c++)
			b->block[s].col[c] = xmalloc(codec_col_bytes(c));
		codec_encode_begin(&b->enc[s], &b->block[s]);
	}
	if (trace_writer_open(path, &opt, &w))
		exit(1);
	while (b->records < records) {
		make_chunk(b);
		measure_copy(b);
		measure_codec(b);
		measure_add(b, w);
	}
	trace_writer_get_stats(w, &stats);
	printf("# written: %.1f M records, %.1f M of them calls; the adding thread waited %llu times\n",
	       (double)b->records / 1e6, (double)b->mix.calls / 1e6,
	       (unsigned long long)stats.waits);
	if (trace_writer_finish(w))
		exit(1);
}

/* In a child, so that its memory is the reading's alone. Records a second, through a pipe. */
static void read_trace(const char *path, int to)
{
	const struct pov_hdr *rec;
	struct trace_merge *m;
	uint64_t n = 0, began = now_ns();
	struct trace *t;
	double rate;

	if (trace_open(path, &t) || trace_merge_open(t, NULL, &m))
		_exit(1);
	while (trace_merge_next(m, &rec) > 0)
		n++;
	rate = (double)n * 1e9 / (double)(now_ns() - began);
	trace_merge_close(m);
	trace_close(t);
	_exit(write(to, &rate, sizeof(rate)) != sizeof(rate));
}

static off_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_size;
}

static double measure_read(const char *self, const char *path, double *mib)
{
	struct rusage used;
	double rate = 0;
	int fd[2], status;
	char to[16];
	pid_t pid;

	if (pipe(fd))
		die("trace_bench: no pipe");
	snprintf(to, sizeof(to), "%d", fd[1]);
	pid = fork();
	if (!pid) {
		execl(self, self, "read", path, to, (char *)NULL);
		_exit(1);
	}
	if (wait4(pid, &status, 0, &used) != pid || status ||
	    read(fd[0], &rate, sizeof(rate)) != sizeof(rate))
		die("trace_bench: reading failed");
	*mib = (double)used.ru_maxrss / 1024;
	return rate;
}

static int aim(int n, const char *what, bool met)
{
	printf("%sok %d - %s\n", met ? "" : "not ", n, what);
	return !met;
}

int main(int argc, char **argv)
{
	static struct bench b;
	uint64_t records = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
	char path[] = "/tmp/trace_bench.XXXXXX";
	double per_call, copy, encode, add, decode, merge, mib, size;
	int bad = 0;

	if (argc == 4 && !strcmp(argv[1], "read"))
		read_trace(argv[2], atoi(argv[3]));
	close(mkstemp(path));
	write_trace(&b, path, records);
	merge = measure_read(argv[0], path, &mib);
	size = (double)file_bytes(path);
	unlink(path);

	per_call = size / (double)b.mix.calls;
	copy = median(&b.copy_ns);
	encode = median(&b.encode_ns);
	add = median(&b.add_ns);
	decode = median(&b.decode_ns);
	printf("# file: %.2f bytes a call, all other records included; %.2f a record, ratio to raw %.1f\n",
	       per_call, size / (double)b.records, (double)b.bytes / size);
	printf("# encode: %.1f ns a record, %.1f times a copy; add: %.1f ns, compression beside it\n",
	       encode, encode / copy, add);
	printf("# decode: %.1f M records/s; open and merge: %.1f M records/s, %.1f MiB\n",
	       1e3 / decode, merge / 1e6, mib);
	puts("1..5");
	bad += aim(1, "10 bytes a call or less", per_call <= 10);
	bad += aim(2, "50 ns to encode a record or less", encode <= 50);
	bad += aim(3, "10 M records decoded a second or more", decode <= 100);
	bad += aim(4, "5 M records merged a second or more", merge >= 5e6);
	bad += aim(5, "100 MiB to read or less", mib <= 100);
	return bad ? 1 : 0;
}
