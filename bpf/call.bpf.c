// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Entry and return of every traced function, whatever the layer. A call's record grows in its
 * thread's frame from entry on, by the function's recipe (struct pov_fn), and leaves in one piece at
 * return. Polls that found nothing never leave alone: they are merged into the thread's spin.
 * Nothing is decoded here.
 */
#include "core.bpf.h"

#define ARRAY_CHUNKS_MAX 64	/* continuation records of one array */
#define SUM_CHUNK 32		/* integers read at once when summing */
#define SUM_MAX 16384		/* longest array summed */
#define STACK_WORDS_MAX (POV_CALL_ARGS_MAX - 6)
#define SAME_STACK_BYTES (1ull << 20)

/* Layouts of the libraries found, by library id. Filled by the collector before it attaches. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, POV_LIBS_MAX);
	__type(key, u32);
	__type(value, struct pov_lib);
} libs SEC(".maps");

/* What learning functions told about communicators. */
struct comm_key {
	u64 handle;
	u32 tgid;
	u32 pad;
};

struct comm_info { /* -1 = not known */
	s32 size;
	s32 remote_size;
	s32 rank;
	s32 indegree;
	s32 outdegree;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, COMMS_MAX);
	__type(key, struct comm_key);
	__type(value, struct comm_info);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct pov_thread);
} blank_thread SEC(".maps");

static __always_inline struct pov_call *frame_call(struct pov_frame *f)
{
	return (struct pov_call *)f->rec;
}

static __always_inline u64 frame_arg(struct pov_frame *f, u32 i)
{
	if (i >= POV_CALL_ARGS_MAX)
		return 0;
	return ((u64 *)(f->rec + sizeof(struct pov_call)))[index_mask(i, POV_CALL_ARGS_MAX)];
}

__noinline int frame_emit(struct pov_thread *t, u32 idx, u64 end_ns, u64 ret, u32 flags)
{
	struct pov_frame *f;
	struct pov_call *c;
	u64 size;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	size = f->used;
	barrier_var(size);
	if (size < sizeof(*c) || size > POV_FRAME_FULL)
		return -1;
	c->dur_ns = end_ns - c->hdr.ts_ns;
	c->hdr.ts_ns = end_ns;
	c->hdr.size = size;
	c->hdr.flags |= flags;
	c->ret = ret;
	c->cpu = bpf_get_smp_processor_id();
	return emit(f->rec, size, POV_CLASS_CALL);
}

__noinline int spin_flush(struct pov_thread *t, u32 flags)
{
	struct pov_spin *s;
	u64 n, size;

	if (!t)
		return -1;
	s = (struct pov_spin *)t->spin;
	n = s->nfuncs;
	if (!n)
		return 0;
	if (n > POV_SPIN_FUNCS_MAX)
		n = POV_SPIN_FUNCS_MAX;
	size = sizeof(*s) + n * sizeof(struct pov_spin_func);
	barrier_var(size);
	if (size > sizeof(t->spin))
		return -1;
	s->hdr.size = size;
	s->hdr.flags = flags;
	emit(t->spin, size, POV_CLASS_SPIN);
	s->nfuncs = 0;
	return 0;
}

/* Adds the poll in frame idx, which found nothing, to the thread's spin. */
__noinline int spin_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 arg)
{
	struct pov_spin_func *sf;
	struct pov_spin *s;
	struct pov_call *c;
	u64 begin_ns;
	u32 i;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	c = frame_call(frame_at(t, idx));
	s = (struct pov_spin *)t->spin;
	sf = (struct pov_spin_func *)(t->spin + sizeof(*s));
	begin_ns = c->hdr.ts_ns;
	if (s->nfuncs &&
	    (s->depth != c->depth || begin_ns - s->hdr.ts_ns > cfg.spin_gap_ns))
		spin_flush(t, 0);
	for (i = 0; i < POV_SPIN_FUNCS_MAX; i++) {
		if (i >= s->nfuncs || (sf[i].func == c->func && sf[i].lib == c->lib))
			break;
	}
	if (i >= POV_SPIN_FUNCS_MAX) {
		spin_flush(t, 0);
		i = 0;
	}
	if (!s->nfuncs) {
		hdr_init(&s->hdr, POV_KIND_SPIN, 0, c->hdr.tid, begin_ns);
		s->dur_ns = 0;
		s->site = c->site;
		s->tgid = c->tgid;
		s->depth = c->depth;
	}
	if (i >= s->nfuncs) {
		sf[i].cnt = 0;
		sf[i].busy_ns = 0;
		sf[i].arg = arg;
		sf[i].func = c->func;
		sf[i].lib = c->lib;
		sf[i].pad = 0;
		s->nfuncs = i + 1;
	}
	sf[i].cnt++;
	sf[i].busy_ns += end_ns - begin_ns;
	s->dur_ns += end_ns - s->hdr.ts_ns;
	s->hdr.ts_ns = end_ns;
	s->cpu = bpf_get_smp_processor_id();
	return 0;
}

static __always_inline bool is_memory(const struct pov_lib *lib, u64 p)
{
	return p && p != lib->skip[0] && p != lib->skip[1] && p != lib->skip[2] &&
	       p != lib->skip[3];
}

/* Members of the group that collective arrays are indexed by; -1 unknown. */
static __always_inline s32 comm_size(const struct pov_lib *lib, const struct comm_info *known,
				     u64 comm)
{
	u64 group = 0, remote = 0;
	s32 n = -1;

	if (known && known->remote_size >= 0)
		return known->remote_size;
	if (known && known->size >= 0)
		return known->size;
	if (!(lib->flags & POV_LIB_HANDLE_PTR) || lib->comm_group_off == POV_OFF_NONE ||
	    lib->group_count_off == POV_OFF_NONE)
		return -1;
	if (lib->comm_remote_off != POV_OFF_NONE)
		bpf_probe_read_user(&remote, 8, (void *)(comm + lib->comm_remote_off));
	bpf_probe_read_user(&group, 8, (void *)(comm + lib->comm_group_off));
	if (remote)
		group = remote;
	if (!group || bpf_probe_read_user(&n, 4, (void *)(group + lib->group_count_off)))
		return -1;
	return n;
}

static __always_inline s32 comm_rank(const struct pov_lib *lib, const struct comm_info *known,
				     u64 comm)
{
	s32 n = -1;

	if (known && known->rank >= 0)
		return known->rank;
	if (!(lib->flags & POV_LIB_HANDLE_PTR) || lib->comm_rank_off == POV_OFF_NONE ||
	    bpf_probe_read_user(&n, 4, (void *)(comm + lib->comm_rank_off)))
		return -1;
	return n;
}

/* Elements a fetch covers: ≥ 0, -1 not known, -2 does not apply here. */
static __always_inline s64 fetch_len(struct pov_frame *f, const volatile struct pov_fn *fn,
				     const volatile struct pov_fetch *fe, const struct pov_lib *lib)
{
	struct comm_key key = {};
	struct comm_info *known;
	u64 word = frame_arg(f, fe->len_arg);
	s32 n = 0, root;

	switch (fe->len) {
	case POV_LEN_ONE:
		return 1;
	case POV_LEN_ARG:
		return (s32)word < 0 ? 0 : (s32)word;
	case POV_LEN_OUT_ARG:
		if (!word || bpf_probe_read_user(&n, 4, (void *)word))
			return -1;
		return n < 0 ? 0 : n;
	}
	key.handle = frame_arg(f, fn->comm_arg);
	if (!(lib->flags & POV_LIB_HANDLE_PTR))
		key.handle = (u32)key.handle;
	key.tgid = frame_call(f)->tgid;
	known = bpf_map_lookup_elem(&comms, &key);
	switch (fe->len) {
	case POV_LEN_ROOT_SIZE:
		root = frame_arg(f, fe->root_arg);
		if (root != lib->root) {
			n = comm_rank(lib, known, key.handle);
			if (n < 0)
				return -1;
			if (n != root)
				return -2;
		}
		return comm_size(lib, known, key.handle);
	case POV_LEN_COMM_SIZE:
		return comm_size(lib, known, key.handle);
	case POV_LEN_IN_DEGREE:
		return known ? known->indegree : -1;
	case POV_LEN_OUT_DEGREE:
		return known ? known->outdegree : -1;
	}
	return -1;
}

/* Begins a field behind what the frame holds; where its data go, or null if nothing more fits. */
static __always_inline u8 *field_begin(struct pov_frame *f, u8 type, u8 arg, u32 cnt, u64 bytes)
{
	u64 used = f->used;
	struct pov_field *head;

	barrier_var(used);
	if (used > POV_FRAME_FULL - sizeof(*head) || used + sizeof(*head) + bytes > POV_FRAME_FULL)
		return NULL;
	head = (struct pov_field *)(f->rec + used);
	head->type = type;
	head->arg = arg;
	head->size = bytes;
	head->cnt = cnt;
	return f->rec + used + sizeof(*head);
}

static __always_inline void field_end(struct pov_frame *f, u32 bytes)
{
	f->used += sizeof(struct pov_field) + ((bytes + 7) & ~7u);
}

/* Sum over m ≤ SUM_CHUNK integers at p. Straight-line, so that the verifier takes long arrays. */
__noinline int sum_chunk(u64 p, u32 m, u32 width, u64 *out)
{
	s64 buf[SUM_CHUNK] = {};
	u64 bytes = (u64)m * width;
	s64 sum = 0;
	u32 k;

	if (!out)
		return -1;
	barrier_var(bytes);
	if (bytes > sizeof(buf) || bpf_probe_read_user(buf, bytes, (void *)p))
		return -1;
	if (width == 8) {
		for (k = 0; k < SUM_CHUNK; k++)
			sum += buf[k];
	} else {
		for (k = 0; k < SUM_CHUNK; k++)
			sum += ((s32 *)buf)[k];
	}
	*out += sum;
	return 0;
}

/* Sum over n integers of 4 or 8 bytes at p. */
static __always_inline int sum_array(u64 p, u32 n, u32 width, u64 *out)
{
	u32 done = 0, i;

	for (i = 0; i < SUM_MAX / SUM_CHUNK; i++) {
		u32 m = n - done;

		if (done >= n)
			return 0;
		if (m > SUM_CHUNK)
			m = SUM_CHUNK;
		if (sum_chunk(p + (u64)done * width, m, width, out))
			return -1;
		done += m;
	}
	return done < n;
}

/* Copies the elements behind the first `first` ones out as continuation records. */
__noinline int more_emit(struct pov_thread *t, u32 idx, u64 p, u64 what, u64 now)
{
	u32 first = (u32)what & 0xffff, n = what >> 32, width = (what >> 16) & 0xff;
	u8 type = (what >> 24) & 0xf, arg = (what >> 28) & 0xf;
	struct pov_more *more;
	struct pov_call *c;
	u32 per, i;
	u8 *data;

	if (!t || idx >= POV_CALL_DEPTH_MAX || !width || width > 64)
		return -1;
	c = frame_call(frame_at(t, idx));
	more = (struct pov_more *)t->more;
	data = t->more + sizeof(*more);
	per = POV_MORE_BYTES / width;
	for (i = 0; i < ARRAY_CHUNKS_MAX; i++) {
		u64 bytes;
		u32 m;

		if (first >= n)
			return 0;
		m = n - first;
		if (m > per)
			m = per;
		bytes = (u64)m * width;
		barrier_var(bytes);
		if (bytes > POV_MORE_BYTES)
			return -1;
		hdr_init(&more->hdr, POV_KIND_MORE, 0, c->hdr.tid, now);
		more->begin_ns = c->hdr.ts_ns;
		more->first = first;
		more->size = bytes;
		more->type = type;
		more->arg = arg;
		if (bpf_probe_read_user(data, bytes, (void *)(p + (u64)first * width))) {
			c->hdr.flags |= POV_CALL_FAULT;
			return -1;
		}
		bytes = (sizeof(*more) + bytes + 7) & ~7ull;
		barrier_var(bytes);
		more->hdr.size = bytes;
		if (bytes > sizeof(t->more))
			return -1;
		c->hdr.flags |= POV_CALL_MORE;
		emit(t->more, bytes, POV_CLASS_MORE);
		first += m;
	}
	return first < n;
}

/* Copies an array into the frame, and what does not fit into continuation records. */
__noinline int fetch_copy(struct pov_thread *t, u32 idx, u64 p, u64 what, u64 now)
{
	u32 n = what >> 32, width = (what >> 16) & 0xff, fits, room;
	u8 type = (what >> 24) & 0xf, arg = (what >> 28) & 0xf;
	struct pov_frame *f;
	struct pov_call *c;
	u64 bytes;
	u8 *data;

	if (!t || idx >= POV_CALL_DEPTH_MAX || !width)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	if (f->used > POV_FRAME_FULL - sizeof(struct pov_field))
		return -1;
	room = POV_FRAME_FULL - sizeof(struct pov_field) - f->used;
	if (room > POV_CALL_FIELD_BYTES)
		room = POV_CALL_FIELD_BYTES;
	fits = room / width;
	if (fits > n)
		fits = n;
	bytes = (u64)fits * width;
	barrier_var(bytes);
	if (bytes > POV_CALL_FIELD_BYTES)
		return -1;
	data = field_begin(f, type, arg, n, bytes);
	if (!data)
		return -1;
	if (bpf_probe_read_user(data, bytes, (void *)p)) {
		c->hdr.flags |= POV_CALL_FAULT;
		return -1;
	}
	field_end(f, bytes);
	if (fits < n && more_emit(t, idx, p, what | fits, now))
		c->hdr.flags |= POV_CALL_PARTIAL;
	return 0;
}

static __always_inline void fetch_sum(struct pov_frame *f, u8 arg, u64 p, u32 n, u32 width)
{
	u64 sum = 0;
	u8 *data;

	if (sum_array(p, n, width, &sum)) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return;
	}
	data = field_begin(f, POV_FIELD_SUM, arg, n, 8);
	if (!data)
		return;
	*(u64 *)data = sum;
	field_end(f, 8);
}

static __always_inline void fetch_type_size(struct pov_frame *f, u8 arg, const struct pov_lib *lib)
{
	u64 type = frame_arg(f, arg);
	u64 size;
	u8 *data;

	if (!(lib->flags & POV_LIB_HANDLE_PTR) || lib->type_size_off == POV_OFF_NONE || !type)
		return;
	if (bpf_probe_read_user(&size, 8, (void *)(type + lib->type_size_off))) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return;
	}
	data = field_begin(f, POV_FIELD_TYPE_SIZE, arg, 1, 8);
	if (!data)
		return;
	*(u64 *)data = size;
	field_end(f, 8);
}

/* Carries out fetch k of function func for the frame at idx. */
__noinline int fetch_one(struct pov_thread *t, u32 idx, u32 func, u32 k, u64 now)
{
	const volatile struct pov_fetch *fe;
	const volatile struct pov_fn *fn;
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id, width;
	s64 n;
	u64 p;

	if (!t || idx >= POV_CALL_DEPTH_MAX || func >= POV_FUNCS_MAX || k >= POV_FETCH_MAX)
		return -1;
	f = frame_at(t, idx);
	fn = fn_at(func);
	fe = &fn->fetch[index_mask(k, POV_FETCH_MAX)];
	lib_id = frame_call(f)->lib;
	lib = bpf_map_lookup_elem(&libs, &lib_id);
	if (!lib)
		return -1;
	if (fe->op == POV_FETCH_TYPE_SIZE) {
		fetch_type_size(f, fe->arg, lib);
		return 0;
	}
	p = frame_arg(f, fe->arg);
	if (!is_memory(lib, p))
		return 0;
	n = fetch_len(f, fn, fe, lib);
	if (n < 0)
		return 0;
	width = lib->elem_bytes[index_mask(fe->elem, POV_ELEM_CNT)];
	if (fe->op == POV_FETCH_SUM)
		fetch_sum(f, fe->arg, p, n, width);
	else if (n > 0)
		fetch_copy(t, idx, p,
			   (u64)n << 32 | (u64)(fe->arg & 0xf) << 28 | (u64)fe->op << 24 |
				   (u64)width << 16,
			   now);
	return 0;
}

/* Fetches of one moment: all but OUT at entry, OUT at return. */
static __always_inline void fetch_all(struct pov_thread *t, u32 idx, u32 func, bool at_return,
				      u64 now)
{
	const volatile struct pov_fn *fn = fn_at(func);
	u32 k;

	for (k = 0; k < POV_FETCH_MAX; k++) {
		if (k >= fn->nfetch)
			break;
		if ((fn->fetch[index_mask(k, POV_FETCH_MAX)].op == POV_FETCH_OUT) == at_return)
			fetch_one(t, idx, func, k, now);
	}
}

static __always_inline struct pov_thread *thread_get(u32 tgid, u32 tid)
{
	struct pov_thread *t = bpf_map_lookup_elem(&threads, &tid);
	struct pov_caller r = {};
	u32 zero = 0;
	void *blank;

	if (t)
		return t;
	if (!is_target(tgid))
		return NULL;
	blank = bpf_map_lookup_elem(&blank_thread, &zero);
	if (!blank)
		return NULL;
	bpf_map_update_elem(&threads, &tid, blank, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t) {
		count(POV_COUNT_MISS(POV_MISS_THREADS));
		return NULL;
	}
	t->tgid = tgid;
	hdr_init(&r.hdr, POV_KIND_CALLER, sizeof(r), tid, bpf_ktime_get_ns());
	r.tgid = tgid;
	emit_control(&r, sizeof(r));
	return t;
}

/*
 * Frames whose function was left without returning (longjmp, exception): the stack has been unwound past
 * them. Another stack (coroutine) is far away and proves nothing.
 */
static __always_inline void frames_drop_stale(struct pov_thread *t, u64 sp, u64 now)
{
	u32 i, d;

	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1;
		if (d >= POV_CALL_DEPTH_MAX)
			break;
		if (frame_at(t, d)->sp > sp || sp - frame_at(t, d)->sp > SAME_STACK_BYTES)
			break;
		t->depth = d;
		frame_emit(t, d, now, 0, POV_CALL_UNWOUND);
	}
}

static __always_inline void frame_fill(struct pov_frame *f, struct pt_regs *ctx, u32 nargs)
{
	u64 *args = (u64 *)(f->rec + sizeof(struct pov_call));
	u64 stack[1 + STACK_WORDS_MAX];
	u32 words = nargs > 6 ? nargs - 5 : 1, i;

	args[0] = PT_REGS_PARM1(ctx);
	args[1] = PT_REGS_PARM2(ctx);
	args[2] = PT_REGS_PARM3(ctx);
	args[3] = PT_REGS_PARM4(ctx);
	args[4] = PT_REGS_PARM5(ctx);
#ifdef __TARGET_ARCH_x86
	args[5] = ctx->r9;
	if (words > 1 + STACK_WORDS_MAX)
		words = 1 + STACK_WORDS_MAX;
	if (bpf_probe_read_user(stack, words * 8, (void *)PT_REGS_SP(ctx))) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return;
	}
	frame_call(f)->site = stack[0];
	for (i = 0; i < STACK_WORDS_MAX; i++) {
		if (i + 1 >= words)
			break;
		args[6 + i] = stack[1 + i];
	}
#else
	args[5] = PT_REGS_PARM6(ctx);
#endif
}

/* MPI_Comm_free(comm *): its handle may be given out again, so forget what was learned. */
static __always_inline void comm_forget(struct pov_frame *f)
{
	struct comm_key key = {};
	u32 lib_id = frame_call(f)->lib;
	struct pov_lib *lib = bpf_map_lookup_elem(&libs, &lib_id);

	if (!lib)
		return;
	key.tgid = frame_call(f)->tgid;
	if (!bpf_probe_read_user(&key.handle, lib->flags & POV_LIB_HANDLE_PTR ? 8 : 4,
				 (void *)frame_arg(f, 0)))
		bpf_map_delete_elem(&comms, &key);
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u64 id = bpf_get_current_pid_tgid();
	u32 func = POV_COOKIE_FUNC(cookie), tid = id, tgid = id >> 32, d, nargs;
	u64 sp = PT_REGS_SP(ctx), now;
	const volatile struct pov_fn *fn;
	struct pov_thread *t;
	struct pov_frame *f;
	struct pov_call *c;

	if (func >= POV_FUNCS_MAX)
		return 0;
	t = thread_get(tgid, tid);
	if (!t)
		return 0;
	fn = fn_at(func);
	now = bpf_ktime_get_ns();
	d = t->depth;
	if (d) {
		frames_drop_stale(t, sp, now);
		d = t->depth;
	}
	if (d && d <= POV_CALL_DEPTH_MAX) {
		f = frame_at(t, d - 1);
		c = frame_call(f);
		if (c->func == func && frame_arg(f, 0) == PT_REGS_PARM1(ctx)) {
			f->folded++;
			count(POV_COUNT_STAT(POV_STAT_FOLDED));
			return 0;
		}
	}
	if (d >= POV_CALL_DEPTH_MAX) {
		count(POV_COUNT_MISS(POV_MISS_DEPTH));
		return 0;
	}
	if (((struct pov_spin *)t->spin)->nfuncs && !(fn->flags & (POV_FN_POLL | POV_FN_SILENT)))
		spin_flush(t, 0);
	f = frame_at(t, d);
	c = frame_call(f);
	nargs = fn->nargs;
	if (nargs > POV_CALL_ARGS_MAX)
		nargs = POV_CALL_ARGS_MAX;
	hdr_init(&c->hdr, POV_KIND_CALL, 0, tid, now);
	c->tgid = tgid;
	c->func = func;
	c->depth = d;
	c->nargs = nargs;
	c->site = 0;
	c->lib = POV_COOKIE_LIB(cookie);
	c->pad = 0;
	f->sp = sp;
	f->folded = 0;
	f->announced = 0;
	frame_fill(f, ctx, nargs);
	f->used = sizeof(*c) + 8 * nargs;
	if (fn->nfetch)
		fetch_all(t, d, func, false, now);
	if (fn->learn == POV_LEARN_COMM_FREE)
		comm_forget(f);
	barrier();
	t->depth = d + 1;
	return 0;
}

/* What a return teaches about communicators. */
__noinline int comm_learn(struct pov_thread *t, u32 idx, u32 func)
{
	struct comm_info none = { -1, -1, -1, -1, -1 }, *info;
	const volatile struct pov_fn *fn;
	struct comm_key key = {};
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id, learn;
	s32 v = 0, w = 0;

	if (!t || idx >= POV_CALL_DEPTH_MAX || func >= POV_FUNCS_MAX)
		return -1;
	fn = fn_at(func);
	f = frame_at(t, idx);
	learn = fn->learn;
	lib_id = frame_call(f)->lib;
	lib = bpf_map_lookup_elem(&libs, &lib_id);
	if (!lib)
		return -1;
	key.tgid = frame_call(f)->tgid;
	key.handle = frame_arg(f, 0);
	if (learn == POV_LEARN_CART || learn == POV_LEARN_DIST_ADJ) {
		/* the new communicator is what the call wrote */
		key.handle = 0;
		if (bpf_probe_read_user(&key.handle, lib->flags & POV_LIB_HANDLE_PTR ? 8 : 4,
					(void *)frame_arg(f, fn->learn_arg)))
			return -1;
		v = frame_arg(f, 1);
		w = frame_arg(f, 4);
		if (learn == POV_LEARN_CART)
			v = w = 2 * v;
	} else if (learn == POV_LEARN_GRAPH_DEGREE) {
		if (bpf_probe_read_user(&v, 4, (void *)frame_arg(f, 2)))
			return -1;
		w = v;
	} else {
		if (bpf_probe_read_user(&v, 4, (void *)frame_arg(f, 1)))
			return -1;
		if (learn == POV_LEARN_DEGREES &&
		    bpf_probe_read_user(&w, 4, (void *)frame_arg(f, 2)))
			return -1;
	}
	if (!(lib->flags & POV_LIB_HANDLE_PTR))
		key.handle = (u32)key.handle;
	info = bpf_map_lookup_elem(&comms, &key);
	if (!info) {
		bpf_map_update_elem(&comms, &key, &none, BPF_NOEXIST);
		info = bpf_map_lookup_elem(&comms, &key);
		if (!info)
			return -1;
	}
	switch (learn) {
	case POV_LEARN_COMM_SIZE:
		info->size = v;
		break;
	case POV_LEARN_REMOTE_SIZE:
		info->remote_size = v;
		break;
	case POV_LEARN_COMM_RANK:
		info->rank = v;
		break;
	default:
		info->indegree = v;
		info->outdegree = w;
	}
	return 0;
}

/* The frame that returns now, or a number ≥ POV_CALL_DEPTH_MAX. Frames above it never returned. */
static __always_inline u32 frame_match(struct pov_thread *t, u32 func, u64 sp)
{
	u32 i, d;

	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1 - i;
		if (d >= POV_CALL_DEPTH_MAX)
			break;
		if (frame_at(t, d)->sp == sp && frame_call(frame_at(t, d))->func == func)
			return d;
	}
	return POV_CALL_DEPTH_MAX;
}

static __always_inline bool poll_found(struct pov_frame *f, const volatile struct pov_fn *fn, u64 ret)
{
	s32 v = 1;

	if ((u32)ret)
		return true;
	if (bpf_probe_read_user(&v, 4, (void *)frame_arg(f, fn->poll_arg)))
		return true;
	return v != 0;
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u32 func = POV_COOKIE_FUNC(cookie), tid = bpf_get_current_pid_tgid(), d, top, i;
	const volatile struct pov_fn *fn;
	struct pov_thread *t;
	struct pov_frame *f;
	u64 now, ret;

	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t || func >= POV_FUNCS_MAX)
		return 0;
	top = t->depth - 1;
	if (top >= POV_CALL_DEPTH_MAX) {
		count(POV_COUNT_MISS(POV_MISS_NO_ENTRY));
		return 0;
	}
#ifdef __TARGET_ARCH_x86
	d = frame_match(t, func, PT_REGS_SP(ctx) - 8);
#else
	d = frame_match(t, func, PT_REGS_SP(ctx));
#endif
	if (d >= POV_CALL_DEPTH_MAX) {
		f = frame_at(t, top);
		if (frame_call(f)->func == func && f->folded)
			f->folded--;
		else
			count(POV_COUNT_MISS(POV_MISS_NO_ENTRY));
		return 0;
	}
	fn = fn_at(func);
	ret = PT_REGS_RC(ctx);
	now = bpf_ktime_get_ns();
	for (i = 0; i < POV_CALL_DEPTH_MAX && top > d; i++) {
		t->depth = top;
		frame_emit(t, top, now, 0, POV_CALL_UNWOUND);
		top--;
	}
	f = frame_at(t, d);
	if (fn->learn && fn->learn != POV_LEARN_COMM_FREE && !(u32)ret)
		comm_learn(t, d, func);
	if (fn->flags & POV_FN_SILENT) {
		t->depth = d;
		return 0;
	}
	if ((fn->flags & POV_FN_POLL) && !poll_found(f, fn, ret)) {
		spin_add(t, d, now,
			 fn->spin_arg < POV_CALL_ARGS_MAX ? frame_arg(f, fn->spin_arg) : 0);
		t->depth = d;
		return 0;
	}
	if (fn->flags & POV_FN_POLL)
		spin_flush(t, 0);
	if (fn->nfetch)
		fetch_all(t, d, func, true, now);
	t->depth = d;
	frame_emit(t, d, now, ret, 0);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
