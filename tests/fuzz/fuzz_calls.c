/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Fuzzes the processing of calls: layers decode them, the model nests them, the timeline and the
 * report show them. The input is not a file but a script of bytes, and every byte is valid. It
 * makes functions of any layer, some with the signature of another one. It makes records of calls,
 * continuations, regions, polls and losses, with few threads, queues and numbers, so that they
 * interact. Both formats of the timeline must have the same totals.
 *
 *	input	output: 0 a timeline, 1 all formats of the timeline, 2 reports
 *		number of functions; each: its layer, its row (2 bytes), 0, or 1 and the row whose
 *		signature it gets instead
 *		records: kind, thread, ns since the previous one, then as in records_add()
 *	word	below 0x80 itself; below 0xc0 an address; below 0xe0 one of extremes; else the
 *		8 bytes that follow
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/log.h"
#include "layers/func_table.h"
#include "report/report.h"
#include "trace/trace_format.h"
#include "trace/trace_read.h"
#include "trace/record_kinds.h"
#include "trace/trace_write.h"
#include "timeline/args.h"
#include "timeline/writer.h"
#include "timeline/timeline.h"

#define START 1000
#define FUNCS_MAX 16

static const char *const metas[] = {
	"{\"type\":\"recording\",\"abi\":1,\"start_ns\":1000,\"config\":{\"sched\":\"all\",\"rings\":2,"
	"\"cpus_per_ring\":1,\"regions\":[\"solve\",\"halo\",\"x\"]}}",
	"{\"type\":\"host\",\"hostname\":\"h\",\"kernel\":\"6.1\",\"machine\":\"x86_64\",\"cpus\":2}",
	"{\"type\":\"adapters\",\"devices\":[{\"name\":\"mlx5_0\",\"ports\":[{\"port\":1,\"link\":\"Ethernet\",\"lid\":0,"
	"\"gids\":[{\"index\":0,\"gid\":\"::ffff:10.0.0.2\"},{\"index\":3,\"gid\":\"fe80::1\"}]},"
	"{\"port\":2,\"link\":\"InfiniBand\",\"lid\":7,\"gids\":[]}]}]}",
	"{\"type\":\"library\",\"id\":1,\"path\":\"/l\",\"flavour\":\"mpich\",\"version\":\"4.0.2\",\"layout\":"
	"{\"handle_bytes\":4,\"status_bytes\":20,\"type_in_handle\":true,\"undefined\":-32766},\"named\":"
	"[[\"MPI_COMM_WORLD\",\"0x44000000\",0],[\"MPI_INT\",\"0x4c000405\",4]]}",
	"{\"type\":\"process\",\"ts_ns\":1000,\"pid\":101,\"exe\":\"/a\",\"rank\":0,\"size\":2,\"job\":\"j\","
	"\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}",
	"{\"type\":\"process\",\"ts_ns\":1000,\"pid\":102,\"exe\":\"/a\",\"rank\":1,\"size\":2,\"job\":\"j\","
	"\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}",
	"{\"type\":\"process\",\"ts_ns\":1000,\"pid\":50,\"exe\":\"/b\",\"mpi\":false}",
};

static const struct {
	uint32_t tid, tgid;
} threads[] = {{101, 101}, {102, 102}, {103, 101}, {50, 50}};

/* ---- the input ---- */

struct input {
	const uint8_t *at, *end;
};

static uint8_t byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint64_t word(struct input *in)
{
	static const uint64_t extreme[] = {UINT64_MAX, INT64_MAX,  1ull << 63, UINT32_MAX,
					   INT32_MAX,  1ull << 31, UINT16_MAX, 0x44000000,
					   0x4c000405, 1ull << 32, 1ull << 62};
	uint8_t b = byte(in);
	uint64_t w = 0;

	if (b < 0x80)
		return b;
	if (b < 0xc0)
		return 0x7f0000001000 + 8 * (b & 0x3full);
	if (b < 0xe0)
		return extreme[b % (sizeof(extreme) / sizeof(extreme[0]))];
	for (int i = 0; i < 8; i++)
		w |= (uint64_t)byte(in) << 8 * i;
	return w;
}

/* ---- the file ---- */

struct file {
	struct trace_writer *w;
	uint64_t now_ns;
};

static void record_put(struct file *f, const struct pov_hdr *rec, unsigned int stream)
{
	if (record_well_formed(rec) && trace_writer_add(f->w, stream, rec))
		abort();
}

static void file_begin(struct file *f, int fd)
{
	if (trace_writer_open("fuzz", &(struct trace_writer_options){.fd = fd}, &f->w))
		abort();
	f->now_ns = START;
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++)
		trace_writer_meta_text(f->w, metas[i], 0);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct pov_task t = {.hdr = {.size = sizeof(t),
					     .kind = POV_KIND_TASK,
					     .tid = threads[i].tid,
					     .ts_ns = START},
				     .tgid = threads[i].tgid,
				     .comm = "t"};

		record_put(f, &t.hdr, TRACE_STREAM_TASKS);
	}
}

/* Writes a meta object and frees its text. */
static void meta_put(struct file *f, char *json)
{
	trace_writer_meta_text(f->w, json, 0);
	free(json);
}

/* ---- functions ---- */

static const struct layer *layer_by(uint8_t number)
{
	size_t n = 0;

	while (layers[n])
		n++;
	return layers[number % n];
}

static const struct func_row *row_by(const struct layer *layer, struct input *in)
{
	uint8_t low = byte(in);

	return &layer->rows[(low | byte(in) << 8) % layer->row_cnt];
}

static void func_put(struct file *f, struct input *in, unsigned int id)
{
	const struct layer *layer = layer_by(byte(in));
	const struct func_row *row = row_by(layer, in), *sig = byte(in) ? row_by(layer, in) : row;

	meta_put(
		f,
		xasprintf(
			"{\"type\":\"functions\",\"layer\":\"%s\",\"rows\":[{\"id\":%u,\"name\":\"%s\",\"group\":\"%s\","
			"\"attrs\":\"%s\",\"sig\":\"%s\"}]}",
			layer->name, id, row->name, row->group, row->attrs, sig->sig));
}

/* ---- records ---- */

/* Takes data of a call or its continuation: a length, then the bytes. */
static size_t data_take(struct input *in, void *out, size_t room)
{
	size_t bytes = byte(in), have = (size_t)(in->end - in->at);

	if (bytes >= 0x80)
		bytes = (bytes - 0x80) * 8;
	bytes = bytes < room ? bytes : room;
	memset(out, 0, bytes);
	memcpy(out, in->at, bytes < have ? bytes : have);
	in->at += bytes < have ? bytes : have;
	return bytes;
}

static void field_add(struct input *in, uint8_t *rec, size_t *size, size_t room)
{
	struct pov_field head = {.type = byte(in), .arg = byte(in)};

	if (room - *size < sizeof(head) + 256)
		return;
	head.cnt = (uint32_t)word(in);
	head.size = (uint16_t)data_take(in, rec + *size + sizeof(head), 256);
	memcpy(rec + *size, &head, sizeof(head));
	*size += sizeof(head) + ((head.size + 7u) & ~7u);
}

static void call_put(struct file *f, struct input *in, struct pov_hdr hdr, uint32_t tgid)
{
	union {
		struct pov_call call;
		uint8_t bytes[TRACE_RECORD_MAX];
	} r = {.call = {.hdr = hdr, .tgid = tgid}};
	size_t size = sizeof(r.call);

	r.call.hdr.kind = hdr.tid == 50 || byte(in) % 8 ? POV_KIND_CALL : POV_KIND_UNSHOWN;
	r.call.hdr.flags = byte(in) & (byte(in) % 4 ? 0 : 0xff);
	r.call.func = byte(in) % (FUNCS_MAX + 1);
	r.call.depth = byte(in) % 10;
	r.call.dur_ns = word(in);
	r.call.ret = word(in);
	r.call.lib = 1;
	r.call.nargs = byte(in) % (POV_CALL_ARGS_MAX + 1);
	for (uint8_t i = 0; i < r.call.nargs; i++, size += 8) {
		uint64_t w = word(in);

		memcpy(r.bytes + size, &w, sizeof(w));
	}
	for (uint8_t n = byte(in) % 5; n; n--)
		field_add(in, r.bytes, &size, sizeof(r));
	r.call.hdr.size = (uint16_t)size;
	record_put(f, &r.call.hdr, 0);
}

static void more_put(struct file *f, struct input *in, struct pov_hdr hdr)
{
	union {
		struct pov_more more;
		uint8_t bytes[sizeof(struct pov_more) + POV_MORE_BYTES];
	} r = {.more = {.hdr = hdr, .first = byte(in), .type = byte(in), .arg = byte(in)}};

	r.more.begin_ns = hdr.ts_ns - byte(in);
	r.more.size = (uint16_t)data_take(in, r.bytes + sizeof(r.more), POV_MORE_BYTES);
	r.more.hdr.kind = POV_KIND_MORE;
	r.more.hdr.size = (uint16_t)(sizeof(r.more) + ((r.more.size + 7u) & ~7u));
	record_put(f, &r.more.hdr, 0);
}

static void region_put(struct file *f, struct input *in, struct pov_hdr hdr, uint32_t tgid)
{
	struct pov_region r = {.hdr = hdr, .tgid = tgid, .sp = word(in), .region = byte(in) % 5};

	r.hdr.size = sizeof(r);
	r.hdr.kind = POV_KIND_REGION;
	r.hdr.flags = byte(in) % 4;
	record_put(f, &r.hdr, 0);
}

static void spin_put(struct file *f, struct input *in, struct pov_hdr hdr, uint32_t tgid)
{
	union {
		struct pov_spin spin;
		uint8_t bytes[sizeof(struct pov_spin) + sizeof(struct pov_spin_func)];
	} r = {.spin = {.hdr = hdr, .tgid = tgid, .depth = byte(in) % 4, .nfuncs = 1}};
	struct pov_spin_func func = {.func = byte(in) % FUNCS_MAX, .cnt = byte(in)};

	r.spin.dur_ns = word(in);
	func.arg = word(in);
	memcpy(r.bytes + sizeof(r.spin), &func, sizeof(func));
	r.spin.hdr.size = sizeof(r);
	r.spin.hdr.kind = POV_KIND_SPIN;
	record_put(f, &r.spin.hdr, 0);
}

static void other_put(struct file *f, struct input *in, struct pov_hdr hdr)
{
	uint8_t what = byte(in);
	struct pov_switch s = {.hdr = hdr, .next_tid = threads[byte(in) % 4].tid};
	struct pov_lost l = {.hdr = hdr, .since_ns = hdr.ts_ns - byte(in), .cnt = 1};

	if (what % 4) {
		s.hdr.size = sizeof(s);
		s.hdr.kind = POV_KIND_SWITCH;
		record_put(f, &s.hdr, 0);
		return;
	}
	l.hdr.size = sizeof(l);
	l.hdr.kind = POV_KIND_LOST;
	l.class = what / 4 % POV_CLASS_CNT;
	record_put(f, &l.hdr, 0);
}

/* Adds calls that were only counted, and the record of that decision. */
static void limit_put(struct file *f, struct input *in, struct pov_hdr hdr, uint32_t tgid)
{
	struct pov_counted c = {.hdr = hdr, .tgid = tgid, .func = byte(in) % FUNCS_MAX};
	struct pov_limit l = {.hdr = hdr, .tgid = tgid, .func = c.func, .state = byte(in) % 6};

	c.dur_ns = word(in);
	c.busy_ns = word(in);
	c.calls = byte(in);
	c.bytes = word(in);
	c.sized = byte(in);
	c.hdr.size = l.state & 2 ? offsetof(struct pov_counted, bytes) : sizeof(c);
	c.hdr.kind = POV_KIND_COUNTED;
	c.hdr.flags = l.state & 1;
	record_put(f, &c.hdr, 0);
	l.since_ns = hdr.ts_ns - c.calls;
	l.hdr.size = sizeof(l);
	l.hdr.kind = POV_KIND_LIMIT;
	record_put(f, &l.hdr, 0);
}

static void records_add(struct file *f, struct input *in)
{
	while (in->at < in->end) {
		uint8_t what = byte(in), who = byte(in) % 4;
		struct pov_hdr hdr = {.tid = threads[who].tid, .ts_ns = f->now_ns += byte(in)};

		switch (what % 8) {
		case 0:
			more_put(f, in, hdr);
			break;
		case 1:
			region_put(f, in, hdr, threads[who].tgid);
			break;
		case 2:
			spin_put(f, in, hdr, threads[who].tgid);
			break;
		case 3:
			other_put(f, in, hdr);
			break;
		case 4:
			if (what >= 0xc0) {
				limit_put(f, in, hdr, threads[who].tgid);
				break;
			}
			/* fall through */
		default:
			call_put(f, in, hdr, threads[who].tgid);
		}
	}
}

static void file_make(int fd, struct input *in)
{
	uint8_t nfuncs = byte(in) % FUNCS_MAX;
	struct file f;

	file_begin(&f, fd);
	for (unsigned int i = 0; i < nfuncs; i++)
		func_put(&f, in, i);
	records_add(&f, in);
	meta_put(&f, xasprintf("{\"type\":\"end\",\"ts_ns\":%llu,\"reason\":\"exit\",\"drops\":[]}",
			       (unsigned long long)f.now_ns + byte(in)));
	if (trace_writer_finish(f.w, NULL))
		abort();
}

/* ---- outputs ---- */

static void timeline_make(struct model *m, const struct writer *w, FILE *nowhere,
			  struct writer_totals *totals)
{
	static const struct writer_select all;
	struct writer_args *recording = xmalloc(sizeof(*recording));
	struct out *out = out_new(nowhere, false);
	struct timeline_options opt;
	int err;

	*totals = (struct writer_totals){0};
	meta_fill(recording, m, &all);
	timeline_options_fill(&opt, m, &all, recording);
	err = w->write(m, out, &opt, totals);
	if ((err && !(w->kind != WRITER_TIMELINE && err == -ENOENT)) ||
	    out_finish(out, &totals->bytes))
		abort();
	free(recording);
	if (w->kind != WRITER_TIMELINE) /* may have nothing to show, and counts other things */
		return;
	if (totals->slices != totals->calls + totals->spins + totals->counted + totals->irqs +
				      totals->markers + totals->phases + totals->posts +
				      totals->completions + totals->arrivals + totals->messages -
				      totals->misplaced)
		abort();
	totals->bytes = totals->early = 0; /* these differ between formats */
}

static void timelines_make(const struct trace_source *source, bool compare, FILE *nowhere)
{
	const struct model_options opt = {.counters = true};
	struct writer_totals first, totals;
	struct trace *t;
	struct model *m;
	bool gzip;

	if (trace_join_open(source, 1, &t))
		abort();
	if (!model_open(t, &opt, &m)) {
		timeline_make(m, writer_find("json", &gzip), nowhere, &first);
		for (size_t i = 0; compare && writers[i]; i++) {
			timeline_make(m, writers[i], nowhere, &totals);
			if (writers[i]->kind == WRITER_TIMELINE &&
			    memcmp(&totals, &first, sizeof(totals)))
				abort();
		}
		model_close(m);
	}
	trace_close(t);
}

static void reports_make(const struct trace_source *source, FILE *nowhere)
{
	const struct report_options opt = {.threads = true};
	struct report r;

	if (report_open(source, 1, &opt, &r))
		return;
	report_text(&r, nowhere);
	if (report_json(&r, nowhere))
		abort();
	if (!report_traffic_check(&r)) {
		report_traffic(&r, nowhere);
		if (report_traffic_csv(&r, nowhere))
			abort();
	}
	report_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static FILE *nowhere;
	struct input in = {data, data + len};
	struct trace_source source;
	uint8_t what = byte(&in) % 3;
	char path[64];
	int fd;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		log_set_level(LOG_QUIET);
	}
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	file_make(fd, &in);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	source = (struct trace_source){.path = path};
	if (what == 2)
		reports_make(&source, nowhere);
	else
		timelines_make(&source, what, nowhere);
	close(fd);
	return 0;
}
