/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The table of record kinds, what makes a record well-formed, and its text form. Knows the ABI's
 * structs, nothing of MPI or of the model.
 */
#include "trace/trace_text.h"

#include <inttypes.h>
#include <string.h>

#define BYTES_OF(type, m) sizeof(((struct type *)0)->m)
#define M(type, m, name, form)                                          \
	{                                                               \
		name, offsetof(struct type, m), BYTES_OF(type, m), form \
	}
#define DEC(type, m, name) M(type, m, name, TEXT_DEC)
#define HEX(type, m, name) M(type, m, name, TEXT_HEX)
#define MEMBERS(...) ((const struct text_member[]){__VA_ARGS__, {NULL, 0, 0, 0}})
#define FLAGS(...) ((const struct text_flag[]){__VA_ARGS__, {NULL, 0}})
#define NO_FLAGS ((const struct text_flag[]){{NULL, 0}})

const char *const text_class_names[POV_CLASS_CNT] = {
	[POV_CLASS_CALL] = "call",   [POV_CLASS_SPIN] = "spin", [POV_CLASS_MORE] = "more",
	[POV_CLASS_SCHED] = "sched", [POV_CLASS_IRQ] = "irq",	[POV_CLASS_TASK] = "task",
};

const char *const text_field_names[TEXT_FIELD_NAMES_CNT] = {
	[POV_FIELD_IN] = "in",	       [POV_FIELD_OUT] = "out",
	[POV_FIELD_SUM] = "sum",       [POV_FIELD_TYPE_SIZE] = "tsize",
	[POV_FIELD_COMM] = "comm",     [POV_FIELD_WORK] = "work",
	[POV_FIELD_ENDS] = "ends",     [POV_FIELD_MESSAGE] = "message",
	[POV_FIELD_MEMBER] = "member",
};

#define CALL_MEMBERS                                                                               \
	MEMBERS(DEC(pov_call, dur_ns, "dur"), DEC(pov_call, tgid, "tgid"),                         \
		DEC(pov_call, func, "func"), DEC(pov_call, depth, "depth"),                        \
		HEX(pov_call, ret, "ret"), HEX(pov_call, site, "site"), DEC(pov_call, cpu, "cpu"), \
		DEC(pov_call, lib, "lib"), M(pov_call, unknown, "unknown", TEXT_MASK))
#define CALL_FLAGS                                                                               \
	FLAGS({"open", POV_CALL_OPEN}, {"unwound", POV_CALL_UNWOUND}, {"fault", POV_CALL_FAULT}, \
	      {"more", POV_CALL_MORE}, {"partial", POV_CALL_PARTIAL},                            \
	      {"end_only", POV_CALL_END_ONLY}, {"preloaded", POV_CALL_PRELOADED},                \
	      {"earlier", POV_CALL_EARLIER})
#define TASK_MEMBERS                                                                \
	MEMBERS(DEC(pov_task, tgid, "tgid"), DEC(pov_task, ppid, "ppid"),           \
		DEC(pov_task, state, "state"), DEC(pov_task, cpu, "cpu"),           \
		DEC(pov_task, on_cpu, "on_cpu"), DEC(pov_task, kthread, "kthread"), \
		M(pov_task, comm, "comm", TEXT_COMM), DEC(pov_task, start_ns, "start"))

const struct text_kind text_kinds[] = {
	{POV_KIND_SWITCH, "switch", sizeof(struct pov_switch),
	 MEMBERS(DEC(pov_switch, cpu, "cpu"), DEC(pov_switch, next_tid, "next"),
		 DEC(pov_switch, prev_state, "state"), DEC(pov_switch, prev_prio, "prev_prio"),
		 DEC(pov_switch, next_prio, "next_prio")),
	 FLAGS({"preempted", POV_SWITCH_PREEMPTED})},
	{POV_KIND_WAKING, "waking", sizeof(struct pov_waking),
	 MEMBERS(DEC(pov_waking, target_tid, "target"), DEC(pov_waking, cpu, "cpu"),
		 DEC(pov_waking, target_cpu, "target_cpu"), DEC(pov_waking, prio, "prio")),
	 FLAGS({"new", POV_WAKING_NEW}, {"irq", POV_WAKING_INTERRUPT})},
	{POV_KIND_MIGRATE, "migrate", sizeof(struct pov_migrate),
	 MEMBERS(DEC(pov_migrate, orig_cpu, "from"), DEC(pov_migrate, dest_cpu, "to"),
		 DEC(pov_migrate, cpu, "cpu")),
	 NO_FLAGS},
	{POV_KIND_IRQ, "irq", sizeof(struct pov_irq),
	 MEMBERS(DEC(pov_irq, dur_ns, "dur"), DEC(pov_irq, cpu, "cpu"), DEC(pov_irq, vec, "vec")),
	 FLAGS({"soft", POV_IRQ_SOFT})},
	{POV_KIND_SAMPLE, "sample", sizeof(struct pov_sample),
	 MEMBERS(DEC(pov_sample, tgid, "tgid"), HEX(pov_sample, ip, "ip")),
	 FLAGS({"stack", POV_SAMPLE_STACK})},
	{POV_KIND_CALL, "call", sizeof(struct pov_call), CALL_MEMBERS, CALL_FLAGS},
	{POV_KIND_UNSHOWN, "unshown", sizeof(struct pov_call), CALL_MEMBERS, CALL_FLAGS},
	{POV_KIND_CALL_BEGIN, "callbegin", sizeof(struct pov_call_begin),
	 MEMBERS(DEC(pov_call_begin, begin_ns, "begin"), DEC(pov_call_begin, tgid, "tgid"),
		 DEC(pov_call_begin, func, "func"), DEC(pov_call_begin, depth, "depth")),
	 NO_FLAGS},
	{POV_KIND_SPIN, "spin", sizeof(struct pov_spin),
	 MEMBERS(DEC(pov_spin, dur_ns, "dur"), HEX(pov_spin, site, "site"),
		 DEC(pov_spin, tgid, "tgid"), DEC(pov_spin, depth, "depth"),
		 DEC(pov_spin, cpu, "cpu")),
	 FLAGS({"open", POV_SPIN_OPEN}, {"preloaded", POV_SPIN_PRELOADED})},
	{POV_KIND_MORE, "more", sizeof(struct pov_more),
	 MEMBERS(DEC(pov_more, begin_ns, "begin"), DEC(pov_more, first, "first"),
		 M(pov_more, type, "type", TEXT_TYPE), DEC(pov_more, arg, "arg")),
	 NO_FLAGS},
	{POV_KIND_REGION, "region", sizeof(struct pov_region),
	 MEMBERS(HEX(pov_region, sp, "sp"), DEC(pov_region, tgid, "tgid"),
		 DEC(pov_region, region, "region"), DEC(pov_region, cpu, "cpu")),
	 FLAGS({"end", POV_REGION_END}, {"chained", POV_REGION_CHAINED},
	       {"earlier", POV_REGION_EARLIER}, {"unwound", POV_REGION_UNWOUND})},
	{POV_KIND_COUNTED, "counted", sizeof(struct pov_counted),
	 MEMBERS(DEC(pov_counted, dur_ns, "dur"), DEC(pov_counted, calls, "calls"),
		 DEC(pov_counted, busy_ns, "busy"), DEC(pov_counted, tgid, "tgid"),
		 DEC(pov_counted, func, "func"), DEC(pov_counted, lib, "lib"),
		 DEC(pov_counted, bytes, "bytes"), DEC(pov_counted, sized, "sized")),
	 FLAGS({"nested", POV_COUNTED_NESTED}, {"preloaded", POV_COUNTED_PRELOADED})},
	{POV_KIND_ROOM, "room", sizeof(struct pov_room),
	 MEMBERS(DEC(pov_room, dur_ns, "dur"), DEC(pov_room, tgid, "tgid")), NO_FLAGS},
	{POV_KIND_TASK, "task", sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS},
	{POV_KIND_FORK, "fork", sizeof(struct pov_fork),
	 MEMBERS(DEC(pov_fork, child_tid, "child"), DEC(pov_fork, child_tgid, "tgid"),
		 DEC(pov_fork, parent_tgid, "parent_tgid"), M(pov_fork, comm, "comm", TEXT_COMM)),
	 NO_FLAGS},
	{POV_KIND_EXEC, "exec", sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS},
	{POV_KIND_EXIT, "exit", sizeof(struct pov_exit),
	 MEMBERS(DEC(pov_exit, tgid, "tgid"), M(pov_exit, code, "code", TEXT_SIGNED)),
	 FLAGS({"process", POV_EXIT_PROCESS}, {"oom", POV_EXIT_OOM})},
	{POV_KIND_SIGNAL, "signal", sizeof(struct pov_signal),
	 MEMBERS(DEC(pov_signal, tgid, "tgid"), DEC(pov_signal, signo, "signo"),
		 DEC(pov_signal, from, "from"), M(pov_signal, code, "code", TEXT_SIGNED),
		 DEC(pov_signal, sender, "sender"), M(pov_signal, comm, "comm", TEXT_COMM),
		 HEX(pov_signal, ip, "ip"), HEX(pov_signal, address, "address")),
	 FLAGS({"to_process", POV_SIGNAL_TO_PROCESS})},
	{POV_KIND_WRITTEN, "written", sizeof(struct pov_written),
	 MEMBERS(DEC(pov_written, tgid, "tgid"), DEC(pov_written, bytes, "bytes"),
		 DEC(pov_written, calls, "calls")),
	 FLAGS({"begin", POV_WRITTEN_BEGIN})},
	{POV_KIND_RENAME, "rename", sizeof(struct pov_task), TASK_MEMBERS, NO_FLAGS},
	{POV_KIND_AFFINITY, "affinity", sizeof(struct pov_affinity),
	 MEMBERS(DEC(pov_affinity, tgid, "tgid"), DEC(pov_affinity, nr_cpus, "nr")), NO_FLAGS},
	{POV_KIND_IMAGE, "image", sizeof(struct pov_image),
	 MEMBERS(DEC(pov_image, tgid, "tgid"), HEX(pov_image, dev, "dev"),
		 DEC(pov_image, ino, "ino"), HEX(pov_image, start, "start"),
		 HEX(pov_image, len, "len"), HEX(pov_image, off, "off"),
		 HEX(pov_image, stamp, "stamp")),
	 FLAGS({"new", POV_IMAGE_NEW})},
	{POV_KIND_CALLER, "caller", sizeof(struct pov_caller),
	 MEMBERS(DEC(pov_caller, tgid, "tgid")), NO_FLAGS},
	{POV_KIND_LOST, "lost", sizeof(struct pov_lost),
	 MEMBERS(DEC(pov_lost, since_ns, "since"), DEC(pov_lost, cnt, "cnt"),
		 DEC(pov_lost, ring, "ring"), M(pov_lost, class, "class", TEXT_CLASS)),
	 NO_FLAGS},
	{POV_KIND_LIMIT, "limit", sizeof(struct pov_limit),
	 MEMBERS(DEC(pov_limit, since_ns, "since"), DEC(pov_limit, tgid, "tgid"),
		 DEC(pov_limit, func, "func"), DEC(pov_limit, state, "state"),
		 DEC(pov_limit, cost_ppm, "cost_ppm"), DEC(pov_limit, limit_ppm, "limit_ppm")),
	 NO_FLAGS},
	{0, NULL, 0, NULL, NULL},
};

const struct text_kind *text_kind_find(uint8_t kind)
{
	for (const struct text_kind *k = text_kinds; k->name; k++)
		if (k->kind == kind)
			return k;
	return NULL;
}

/* ---- well-formed or not ---- */

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

/* A record's struct as it was at first; kinds that are not known have none. */
static const uint16_t least_bytes[256] = {
	[POV_KIND_SWITCH] = sizeof(struct pov_switch),
	[POV_KIND_WAKING] = sizeof(struct pov_waking),
	[POV_KIND_MIGRATE] = sizeof(struct pov_migrate),
	[POV_KIND_IRQ] = sizeof(struct pov_irq),
	[POV_KIND_SAMPLE] = sizeof(struct pov_sample),
	[POV_KIND_CALL] = sizeof(struct pov_call),
	[POV_KIND_CALL_BEGIN] = sizeof(struct pov_call_begin),
	[POV_KIND_SPIN] = sizeof(struct pov_spin),
	[POV_KIND_MORE] = sizeof(struct pov_more),
	[POV_KIND_UNSHOWN] = sizeof(struct pov_call),
	[POV_KIND_REGION] = sizeof(struct pov_region),
	[POV_KIND_COUNTED] = offsetof(struct pov_counted, bytes),
	[POV_KIND_ROOM] = sizeof(struct pov_room),
	[POV_KIND_TASK] = sizeof(struct pov_task),
	[POV_KIND_FORK] = sizeof(struct pov_fork),
	[POV_KIND_EXEC] = sizeof(struct pov_task),
	[POV_KIND_EXIT] = sizeof(struct pov_exit),
	[POV_KIND_SIGNAL] = sizeof(struct pov_signal),
	[POV_KIND_WRITTEN] = sizeof(struct pov_written),
	[POV_KIND_RENAME] = sizeof(struct pov_task),
	[POV_KIND_AFFINITY] = sizeof(struct pov_affinity),
	[POV_KIND_IMAGE] = offsetof(struct pov_image, stamp),
	[POV_KIND_CALLER] = sizeof(struct pov_caller),
	[POV_KIND_LOST] = sizeof(struct pov_lost),
	[POV_KIND_LIMIT] = sizeof(struct pov_limit),
	[POV_KIND_PATH] = UINT16_MAX, /* no file has these */
	[POV_KIND_HANDED] = UINT16_MAX,
	[POV_KIND_UNREACHED] = UINT16_MAX,
	[POV_KIND_INIT] = UINT16_MAX,
	[POV_KIND_LOSS_BEGIN] = UINT16_MAX,
	[POV_KIND_LOSS_END] = UINT16_MAX,
};

bool trace_record_ok(const struct pov_hdr *rec)
{
	const struct pov_spin *spin = (const struct pov_spin *)rec;
	const struct pov_more *more = (const struct pov_more *)rec;

	if (rec->size < sizeof(*rec) || rec->size < least_bytes[rec->kind])
		return false;
	if (pov_is_call(rec))
		return call_ok((const struct pov_call *)rec);
	if (rec->kind == POV_KIND_SPIN)
		return rec->size >= sizeof(*spin) + sizeof(*spin->func) * spin->nfuncs;
	return rec->kind != POV_KIND_MORE || rec->size >= sizeof(*more) + more->size;
}

/* ---- text ---- */

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

/* Of a class or type of field; NULL if it has none. */
static const char *value_name(uint8_t form, uint64_t v)
{
	if (form == TEXT_CLASS)
		return v < POV_CLASS_CNT ? text_class_names[v] : NULL;
	return form == TEXT_TYPE && v < TEXT_FIELD_NAMES_CNT ? text_field_names[v] : NULL;
}

static void print_member(const struct pov_hdr *rec, const struct text_member *m, FILE *out)
{
	const char *p = (const char *)rec + m->offset, *name;
	uint64_t v = m->form == TEXT_COMM ? 0 : load(p, m->bytes);

	if (m->form == TEXT_MASK && !v)
		return;
	name = value_name(m->form, v);
	fprintf(out, " %s=", m->name);
	if (m->form == TEXT_COMM)
		print_comm(p, out);
	else if (name)
		fputs(name, out);
	else if (m->form == TEXT_HEX || m->form == TEXT_MASK)
		fprintf(out, "0x%" PRIx64, v);
	else if (m->form == TEXT_SIGNED)
		fprintf(out, "%" PRId64, m->bytes == 4 ? (int32_t)v : (int64_t)v);
	else
		fprintf(out, "%" PRIu64, v);
}

/* Whole words as 0x…, what is left as i (4 bytes) and b (bytes). */
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

	if (f->type < TEXT_FIELD_NAMES_CNT && text_field_names[f->type])
		fprintf(out, " %s=%u/%u:", text_field_names[f->type], f->arg, f->cnt);
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

static void print_flags(const struct pov_hdr *rec, const struct text_kind *k, FILE *out)
{
	const char *sep = " flags=";
	uint8_t left = rec->flags;

	for (const struct text_flag *f = k->flag; f->name; f++) {
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
	const struct text_kind *k = text_kind_find(rec->kind);

	if (!k) {
		print_unknown(rec, out);
		return;
	}
	fprintf(out, "%s ts=%" PRIu64 " %s=%u", k->name, (uint64_t)rec->ts_ns,
		rec->kind == POV_KIND_SWITCH ? "prev" : "tid", rec->tid);
	for (const struct text_member *m = k->member; m->name; m++)
		if (m->offset + m->bytes <=
		    rec->size) /* appended members are not in older records */
			print_member(rec, m, out);
	if (rec->flags)
		print_flags(rec, k, out);
	if (pov_is_call(rec))
		print_call_tail((const struct pov_call *)rec, out);
	else if (rec->kind == POV_KIND_SPIN)
		print_spin_tail((const struct pov_spin *)rec, out);
	else if (rec->kind == POV_KIND_AFFINITY)
		print_cpus((const struct pov_affinity *)rec, out);
	else if (rec->kind == POV_KIND_MORE) {
		const struct pov_more *more = (const struct pov_more *)rec;

		fputs(" data=", out);
		print_data(more->data, more->size, out);
	}
}
