/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The table of record kinds, and what makes a record well-formed. Knows the ABI's structs, nothing
 * of MPI or of the model.
 */
#include "trace/record_kinds.h"

#include <inttypes.h>
#include <string.h>

#define M(type, m, name, form, role)                                                      \
	{                                                                                 \
		name, offsetof(struct type, m), sizeof(((struct type *)0)->m), form, role \
	}
#define DEC(type, m, name) M(type, m, name, FORM_DEC, ROLE_PLAIN)
#define HEX(type, m, name) M(type, m, name, FORM_HEX, ROLE_PLAIN)
#define TASK(type, m, name) M(type, m, name, FORM_DEC, ROLE_TASK)
#define CPU(type, m, name) M(type, m, name, FORM_DEC, ROLE_CPU)
#define TIME(type, m, name) M(type, m, name, FORM_DEC, ROLE_TIME)
#define DUR(type, m, name) M(type, m, name, FORM_DEC, ROLE_DURATION)
#define FUNC(type, m, name) M(type, m, name, FORM_DEC, ROLE_FUNCTION)
#define LIB(type, m, name) M(type, m, name, FORM_DEC, ROLE_LIBRARY)
#define REGION(type, m, name) M(type, m, name, FORM_DEC, ROLE_REGION)
#define INODE(type, m, name) M(type, m, name, FORM_DEC, ROLE_INODE)
#define MEMBERS(...) ((const struct record_member[]){__VA_ARGS__, {NULL, 0, 0, 0, 0}})
#define FLAGS(...) ((const struct record_flag[]){__VA_ARGS__, {NULL, 0}})
#define NO_FLAGS ((const struct record_flag[]){{NULL, 0}})
#define RECORD(K, name, type, least, ...) \
	[POV_KIND_##K] = {POV_KIND_##K, name, #type, sizeof(struct type), least, __VA_ARGS__}

const char *const record_class_names[POV_CLASS_CNT] = {
	[POV_CLASS_CALL] = "call",   [POV_CLASS_SPIN] = "spin", [POV_CLASS_MORE] = "more",
	[POV_CLASS_SCHED] = "sched", [POV_CLASS_IRQ] = "irq",	[POV_CLASS_TASK] = "task",
};

const char *const record_field_names[RECORD_FIELD_NAMES_CNT] = {
	[POV_FIELD_IN] = "in",	       [POV_FIELD_OUT] = "out",
	[POV_FIELD_SUM] = "sum",       [POV_FIELD_TYPE_SIZE] = "tsize",
	[POV_FIELD_COMM] = "comm",     [POV_FIELD_WORK] = "work",
	[POV_FIELD_ENDS] = "ends",     [POV_FIELD_MESSAGE] = "message",
	[POV_FIELD_MEMBER] = "member",
};

#define CALL_MEMBERS                                                                               \
	MEMBERS(DUR(pov_call, dur_ns, "dur"), TASK(pov_call, tgid, "tgid"),                        \
		FUNC(pov_call, func, "func"), DEC(pov_call, depth, "depth"),                       \
		HEX(pov_call, ret, "ret"), HEX(pov_call, site, "site"), CPU(pov_call, cpu, "cpu"), \
		LIB(pov_call, lib, "lib"), M(pov_call, unknown, "unknown", FORM_MASK, ROLE_PLAIN))
#define CALL_FLAGS                                                                               \
	FLAGS({"open", POV_CALL_OPEN}, {"unwound", POV_CALL_UNWOUND}, {"fault", POV_CALL_FAULT}, \
	      {"more", POV_CALL_MORE}, {"partial", POV_CALL_PARTIAL},                            \
	      {"end_only", POV_CALL_END_ONLY}, {"preloaded", POV_CALL_PRELOADED},                \
	      {"earlier", POV_CALL_EARLIER})
#define TASK_MEMBERS                                                                \
	MEMBERS(TASK(pov_task, tgid, "tgid"), TASK(pov_task, ppid, "ppid"),         \
		DEC(pov_task, state, "state"), CPU(pov_task, cpu, "cpu"),           \
		DEC(pov_task, on_cpu, "on_cpu"), DEC(pov_task, kthread, "kthread"), \
		M(pov_task, comm, "comm", FORM_COMM, ROLE_PLAIN),                   \
		TIME(pov_task, start_ns, "start"))

const struct record_kind record_kinds[256] = {
	RECORD(SWITCH, "switch", pov_switch, sizeof(struct pov_switch),
	       MEMBERS(CPU(pov_switch, cpu, "cpu"), TASK(pov_switch, next_tid, "next"),
		       DEC(pov_switch, prev_state, "state"),
		       DEC(pov_switch, prev_prio, "prev_prio"),
		       DEC(pov_switch, next_prio, "next_prio")),
	       FLAGS({"preempted", POV_SWITCH_PREEMPTED})),
	RECORD(WAKING, "waking", pov_waking, sizeof(struct pov_waking),
	       MEMBERS(TASK(pov_waking, target_tid, "target"), CPU(pov_waking, cpu, "cpu"),
		       CPU(pov_waking, target_cpu, "target_cpu"), DEC(pov_waking, prio, "prio")),
	       FLAGS({"new", POV_WAKING_NEW}, {"irq", POV_WAKING_INTERRUPT})),
	RECORD(MIGRATE, "migrate", pov_migrate, sizeof(struct pov_migrate),
	       MEMBERS(CPU(pov_migrate, orig_cpu, "from"), CPU(pov_migrate, dest_cpu, "to"),
		       CPU(pov_migrate, cpu, "cpu")),
	       NO_FLAGS),
	RECORD(IRQ, "irq", pov_irq, sizeof(struct pov_irq),
	       MEMBERS(DUR(pov_irq, dur_ns, "dur"), CPU(pov_irq, cpu, "cpu"),
		       DEC(pov_irq, vec, "vec")),
	       FLAGS({"soft", POV_IRQ_SOFT})),
	RECORD(SAMPLE, "sample", pov_sample, sizeof(struct pov_sample),
	       MEMBERS(TASK(pov_sample, tgid, "tgid"), HEX(pov_sample, ip, "ip")),
	       FLAGS({"stack", POV_SAMPLE_STACK}, {"cut", POV_SAMPLE_CUT})),
	RECORD(CALL, "call", pov_call, sizeof(struct pov_call), CALL_MEMBERS, CALL_FLAGS),
	RECORD(UNSHOWN, "unshown", pov_call, sizeof(struct pov_call), CALL_MEMBERS, CALL_FLAGS),
	RECORD(CALL_BEGIN, "callbegin", pov_call_begin, sizeof(struct pov_call_begin),
	       MEMBERS(TIME(pov_call_begin, begin_ns, "begin"), TASK(pov_call_begin, tgid, "tgid"),
		       FUNC(pov_call_begin, func, "func"), DEC(pov_call_begin, depth, "depth")),
	       NO_FLAGS),
	RECORD(SPIN, "spin", pov_spin, sizeof(struct pov_spin),
	       MEMBERS(DUR(pov_spin, dur_ns, "dur"), HEX(pov_spin, site, "site"),
		       TASK(pov_spin, tgid, "tgid"), DEC(pov_spin, depth, "depth"),
		       CPU(pov_spin, cpu, "cpu")),
	       FLAGS({"open", POV_SPIN_OPEN}, {"preloaded", POV_SPIN_PRELOADED})),
	RECORD(MORE, "more", pov_more, sizeof(struct pov_more),
	       MEMBERS(TIME(pov_more, begin_ns, "begin"), DEC(pov_more, first, "first"),
		       M(pov_more, type, "type", FORM_TYPE, ROLE_PLAIN), DEC(pov_more, arg, "arg")),
	       NO_FLAGS),
	RECORD(REGION, "region", pov_region, sizeof(struct pov_region),
	       MEMBERS(HEX(pov_region, sp, "sp"), TASK(pov_region, tgid, "tgid"),
		       REGION(pov_region, region, "region"), CPU(pov_region, cpu, "cpu")),
	       FLAGS({"end", POV_REGION_END}, {"chained", POV_REGION_CHAINED},
		     {"earlier", POV_REGION_EARLIER}, {"unwound", POV_REGION_UNWOUND})),
	RECORD(COUNTED, "counted", pov_counted, offsetof(struct pov_counted, bytes),
	       MEMBERS(DUR(pov_counted, dur_ns, "dur"), DEC(pov_counted, calls, "calls"),
		       DEC(pov_counted, busy_ns, "busy"), TASK(pov_counted, tgid, "tgid"),
		       FUNC(pov_counted, func, "func"), LIB(pov_counted, lib, "lib"),
		       DEC(pov_counted, bytes, "bytes"), DEC(pov_counted, sized, "sized")),
	       FLAGS({"nested", POV_COUNTED_NESTED}, {"preloaded", POV_COUNTED_PRELOADED})),
	RECORD(ROOM, "room", pov_room, sizeof(struct pov_room),
	       MEMBERS(DUR(pov_room, dur_ns, "dur"), TASK(pov_room, tgid, "tgid")), NO_FLAGS),
	RECORD(TASK, "task", pov_task, sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS),
	RECORD(FORK, "fork", pov_fork, sizeof(struct pov_fork),
	       MEMBERS(TASK(pov_fork, child_tid, "child"), TASK(pov_fork, child_tgid, "tgid"),
		       TASK(pov_fork, parent_tgid, "parent_tgid"),
		       M(pov_fork, comm, "comm", FORM_COMM, ROLE_PLAIN)),
	       NO_FLAGS),
	RECORD(EXEC, "exec", pov_task, sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS),
	RECORD(EXIT, "exit", pov_exit, sizeof(struct pov_exit),
	       MEMBERS(TASK(pov_exit, tgid, "tgid"),
		       M(pov_exit, code, "code", FORM_SIGNED, ROLE_PLAIN)),
	       FLAGS({"process", POV_EXIT_PROCESS}, {"oom", POV_EXIT_OOM})),
	RECORD(SIGNAL, "signal", pov_signal, sizeof(struct pov_signal),
	       MEMBERS(TASK(pov_signal, tgid, "tgid"), DEC(pov_signal, signo, "signo"),
		       DEC(pov_signal, from, "from"),
		       M(pov_signal, code, "code", FORM_SIGNED, ROLE_PLAIN),
		       TASK(pov_signal, sender, "sender"),
		       M(pov_signal, comm, "comm", FORM_COMM, ROLE_PLAIN),
		       HEX(pov_signal, ip, "ip"), HEX(pov_signal, address, "address")),
	       FLAGS({"to_process", POV_SIGNAL_TO_PROCESS})),
	RECORD(WRITTEN, "written", pov_written, sizeof(struct pov_written),
	       MEMBERS(TASK(pov_written, tgid, "tgid"), DEC(pov_written, bytes, "bytes"),
		       DEC(pov_written, calls, "calls")),
	       FLAGS({"begin", POV_WRITTEN_BEGIN})),
	RECORD(RENAME, "rename", pov_task, sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS),
	RECORD(AFFINITY, "affinity", pov_affinity, sizeof(struct pov_affinity),
	       MEMBERS(TASK(pov_affinity, tgid, "tgid"), DEC(pov_affinity, nr_cpus, "nr")),
	       NO_FLAGS),
	RECORD(IMAGE, "image", pov_image, offsetof(struct pov_image, stamp),
	       MEMBERS(TASK(pov_image, tgid, "tgid"), HEX(pov_image, dev, "dev"),
		       INODE(pov_image, ino, "ino"), HEX(pov_image, start, "start"),
		       HEX(pov_image, len, "len"), HEX(pov_image, off, "off"),
		       HEX(pov_image, stamp, "stamp")),
	       FLAGS({"new", POV_IMAGE_NEW})),
	RECORD(CALLER, "caller", pov_caller, sizeof(struct pov_caller),
	       MEMBERS(TASK(pov_caller, tgid, "tgid")), NO_FLAGS),
	RECORD(LOST, "lost", pov_lost, sizeof(struct pov_lost),
	       MEMBERS(TIME(pov_lost, since_ns, "since"), DEC(pov_lost, cnt, "cnt"),
		       DEC(pov_lost, ring, "ring"),
		       M(pov_lost, class, "class", FORM_CLASS, ROLE_PLAIN)),
	       NO_FLAGS),
	RECORD(LIMIT, "limit", pov_limit, sizeof(struct pov_limit),
	       MEMBERS(TIME(pov_limit, since_ns, "since"), TASK(pov_limit, tgid, "tgid"),
		       FUNC(pov_limit, func, "func"), DEC(pov_limit, state, "state"),
		       DEC(pov_limit, cost_ppm, "cost_ppm"),
		       DEC(pov_limit, limit_ppm, "limit_ppm")),
	       NO_FLAGS),
	/* No file has these. */
	[POV_KIND_PATH] = {.least_bytes = UINT16_MAX},
	[POV_KIND_HANDED] = {.least_bytes = UINT16_MAX},
	[POV_KIND_UNREACHED] = {.least_bytes = UINT16_MAX},
	[POV_KIND_INIT] = {.least_bytes = UINT16_MAX},
	[POV_KIND_STACK] = {.least_bytes = UINT16_MAX},
	[POV_KIND_LOSS_BEGIN] = {.least_bytes = UINT16_MAX},
	[POV_KIND_LOSS_END] = {.least_bytes = UINT16_MAX},
};

const struct record_kind *record_kind_find(uint8_t kind)
{
	return record_kinds[kind].name ? &record_kinds[kind] : NULL;
}

const struct record_kind *record_kind_next(const struct record_kind *k)
{
	for (k = k ? k + 1 : record_kinds; k < record_kinds + 256; k++)
		if (k->name)
			return k;
	return NULL;
}

/* ---- well-formedness ---- */

static bool call_ok(const struct pov_call *c)
{
	size_t off = sizeof(*c) + 8u * c->nargs;
	const struct pov_field *f;

	while (off + sizeof(*f) <= c->hdr.size) {
		f = (const struct pov_field *)((const char *)c + off);
		off += sizeof(*f) + ((f->size + 7u) & ~7u);
		if (f->type == POV_FIELD_COMM && f->size < sizeof(struct pov_field_comm))
			return false;
		if ((f->type == POV_FIELD_SUM || f->type == POV_FIELD_TYPE_SIZE) && f->size < 8)
			return false;
	}
	return c->nargs <= POV_CALL_ARGS_MAX && off == c->hdr.size;
}

bool record_well_formed(const struct pov_hdr *rec)
{
	const struct pov_spin *spin = (const struct pov_spin *)rec;
	const struct pov_more *more = (const struct pov_more *)rec;

	if (rec->size < sizeof(*rec) || rec->size < record_kinds[rec->kind].least_bytes)
		return false;
	if (pov_is_call(rec))
		return call_ok((const struct pov_call *)rec);
	if (rec->kind == POV_KIND_SPIN)
		return rec->size >= sizeof(*spin) + sizeof(*spin->func) * spin->nfuncs;
	return rec->kind != POV_KIND_MORE || rec->size >= sizeof(*more) + more->size;
}

/* ---- records as text ---- */

/* Prints records by the table of their kinds. */

static void print_comm(const char *comm, FILE *out)
{
	fputc('"', out);
	for (int i = 0; i < POV_COMM_LEN && comm[i]; i++) {
		unsigned char c = (unsigned char)comm[i];

		if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static uint64_t load(const void *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

/* Name of a class or field type; NULL if it has none. */
static const char *value_name(uint8_t form, uint64_t v)
{
	if (form == FORM_CLASS)
		return v < POV_CLASS_CNT ? record_class_names[v] : NULL;
	return form == FORM_TYPE && v < RECORD_FIELD_NAMES_CNT ? record_field_names[v] : NULL;
}

static void print_member(const struct pov_hdr *rec, const struct record_member *m, FILE *out)
{
	const char *p = (const char *)rec + m->offset, *name;
	uint64_t v = m->form == FORM_COMM ? 0 : load(p, m->bytes);

	if (m->form == FORM_MASK && !v)
		return;
	name = value_name(m->form, v);
	fprintf(out, " %s=", m->name);
	if (m->form == FORM_COMM)
		print_comm(p, out);
	else if (name)
		fputs(name, out);
	else if (m->form == FORM_HEX || m->form == FORM_MASK)
		fprintf(out, "0x%" PRIx64, v);
	else if (m->form == FORM_SIGNED)
		fprintf(out, "%" PRId64, m->bytes == 4 ? (int32_t)v : (int64_t)v);
	else
		fprintf(out, "%" PRIu64, v);
}

/* Prints whole words as 0x…, the rest as i (4 bytes) and b (bytes). */
static void print_data(const uint8_t *p, size_t bytes, FILE *out)
{
	const char *sep = "";

	for (; bytes >= 8; p += 8, bytes -= 8, sep = ",")
		fprintf(out, "%s0x%" PRIx64, sep, load(p, 8));
	for (; bytes >= 4; p += 4, bytes -= 4, sep = ",")
		fprintf(out, "%si%" PRId32, sep, (int32_t)load(p, 4));
	for (; bytes; p++, bytes--, sep = ",")
		fprintf(out, "%sb%02x", sep, *p);
}

static void print_field(const struct pov_field *f, FILE *out)
{
	const uint8_t *data = (const uint8_t *)(f + 1);

	if (f->type < RECORD_FIELD_NAMES_CNT && record_field_names[f->type])
		fprintf(out, " %s=%u/%u:", record_field_names[f->type], f->arg, f->cnt);
	else
		fprintf(out, " field%u=%u/%u:", f->type, f->arg, f->cnt);
	if (f->type == POV_FIELD_COMM) {
		const struct pov_field_comm *c = (const struct pov_field_comm *)data;

		fprintf(out, "0x%" PRIx64 ",i%d,i%d", (uint64_t)c->context_id, c->rank, c->size);
		return;
	}
	print_data(data, f->size, out);
}

static void print_call_tail(const struct pov_call *c, FILE *out)
{
	size_t off = sizeof(*c) + 8u * c->nargs;

	for (uint32_t i = 0; i < c->nargs; i++)
		fprintf(out, "%s0x%" PRIx64, i ? "," : " args=", (uint64_t)c->args[i]);
	while (off < c->hdr.size) {
		const struct pov_field *f = (const struct pov_field *)((const char *)c + off);

		print_field(f, out);
		off += sizeof(*f) + ((f->size + 7u) & ~7u);
	}
}

static void print_spin_tail(const struct pov_spin *s, FILE *out)
{
	for (uint32_t i = 0; i < s->nfuncs; i++)
		fprintf(out, "%s%u:%" PRIu64 ":%" PRIu64 ":0x%" PRIx64 ":%u",
			i ? "," : " funcs=", s->func[i].func, (uint64_t)s->func[i].cnt,
			(uint64_t)s->func[i].busy_ns, (uint64_t)s->func[i].arg, s->func[i].lib);
}

static void print_callers(const struct pov_sample *s, FILE *out)
{
	for (uint32_t i = 0; i < pov_sample_callers(s); i++)
		fprintf(out, "%s0x%" PRIx64, i ? "," : " callers=", (uint64_t)s->caller[i]);
}

static void print_cpus(const struct pov_affinity *a, FILE *out)
{
	uint32_t n = POV_CPUMASK_WORDS * 64, from;
	const char *sep = " cpus=";

	for (uint32_t c = 0; c < n; c++) {
		if (!(a->mask[c / 64] >> (c % 64) & 1))
			continue;
		from = c;
		while (c + 1 < n && a->mask[(c + 1) / 64] >> ((c + 1) % 64) & 1)
			c++;
		fprintf(out, c > from ? "%s%u-%u" : "%s%u", sep, from, c);
		sep = ",";
	}
}

static void print_flags(const struct pov_hdr *rec, const struct record_kind *k, FILE *out)
{
	const char *sep = " flags=";
	uint8_t left = rec->flags;

	for (const struct record_flag *f = k->flag; f->name; f++) {
		if (!(rec->flags & f->bit))
			continue;
		fprintf(out, "%s%s", sep, f->name);
		left &= (uint8_t)~f->bit;
		sep = ",";
	}
	if (left)
		fprintf(out, "%s%u", sep, left);
}

static void print_unknown(const struct pov_hdr *rec, FILE *out)
{
	fprintf(out, "raw ts=%" PRIu64 " tid=%u kind=%u flags=%u", (uint64_t)rec->ts_ns, rec->tid,
		rec->kind, rec->flags);
	if (rec->size > sizeof(*rec)) {
		fputs(" data=", out);
		print_data((const uint8_t *)(rec + 1), rec->size - sizeof(*rec), out);
	}
}

void trace_record_print(const struct pov_hdr *rec, FILE *out)
{
	const struct record_kind *k = record_kind_find(rec->kind);

	if (!k) {
		print_unknown(rec, out);
		return;
	}
	fprintf(out, "%s ts=%" PRIu64 " %s=%u", k->name, (uint64_t)rec->ts_ns,
		rec->kind == POV_KIND_SWITCH ? "prev" : "tid", rec->tid);
	for (const struct record_member *m = k->member; m->name; m++)
		/* older records lack appended members */
		if (m->offset + m->bytes <= rec->size)
			print_member(rec, m, out);
	if (rec->flags)
		print_flags(rec, k, out);
	if (pov_is_call(rec))
		print_call_tail((const struct pov_call *)rec, out);
	else if (rec->kind == POV_KIND_SPIN)
		print_spin_tail((const struct pov_spin *)rec, out);
	else if (rec->kind == POV_KIND_SAMPLE)
		print_callers((const struct pov_sample *)rec, out);
	else if (rec->kind == POV_KIND_AFFINITY)
		print_cpus((const struct pov_affinity *)rec, out);
	else if (rec->kind == POV_KIND_MORE) {
		const struct pov_more *more = (const struct pov_more *)rec;

		fputs(" data=", out);
		print_data(more->data, more->size, out);
	}
}
