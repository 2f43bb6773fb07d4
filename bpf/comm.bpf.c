// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Knowledge of communicators in the kernel half: arrays of collective calls are as long as the
 * communicator has members. It is read from the library's own object where its layout is known.
 * Otherwise it is learned from calls that the program makes anyway, like MPI_Comm_size. The rest
 * stays unknown.
 */
#include "core.bpf.h"
#include "fetch.bpf.h"

#include "comm_known.h"

/* Key of a handle in comms: MPICH's handles are ints, so the upper half of the word is noise. */
static __always_inline u64 handle_of(const struct pov_lib *lib, u64 word)
{
	return lib->flags & POV_LIB_HANDLE_PTR ? word : (u32)word;
}

/* The frame of a call, and its library's layout in *lib; NULL if either is missing. */
static __always_inline struct pov_frame *frame_of(struct pov_thread *t, u32 idx,
						  struct pov_lib **lib)
{
	struct pov_frame *f;
	u32 lib_id;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return NULL;
	f = frame_at(t, idx);
	lib_id = frame_call(f)->lib;
	*lib = lib_find(lib_id);
	return *lib ? f : NULL;
}

/* Reads the handle that an argument points to. */
static __always_inline long handle_read(const struct pov_lib *lib, struct pov_frame *f, u32 arg,
					u64 *handle)
{
	*handle = 0;
	return bpf_probe_read_user(handle, lib->flags & POV_LIB_HANDLE_PTR ? 8 : 4,
				   (void *)frame_arg(f, arg));
}

/*
 * Size of the group by which collective arrays are indexed: mostly the remote one, if there is one.
 * -1: unknown.
 */
static __always_inline s32 comm_size(const struct pov_lib *lib, const struct comm_info *known,
				     u64 comm, bool local)
{
	u64 group = 0, remote = 0;
	s32 n = -1;

	if (known && known->remote_size >= 0 && !local)
		return known->remote_size;
	if (known && known->size >= 0 && (local || known->remote_size != REMOTE_SOME))
		return known->size;
	if (!(lib->flags & POV_LIB_HANDLE_PTR) || lib->comm_group_off == POV_OFF_NONE ||
	    lib->group_count_off == POV_OFF_NONE)
		return -1;
	if (lib->comm_remote_off != POV_OFF_NONE && !local)
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

/*
 * True if a communicator has two groups, as far as is known. In the library's object of a
 * communicator with one group, both pointers lead to that group.
 */
static __always_inline bool comm_is_inter(const struct pov_lib *lib, const struct comm_info *known,
					  u64 comm)
{
	u64 group = 0, remote = 0;

	if (known && known->remote_size != -1)
		return true;
	if (!(lib->flags & POV_LIB_HANDLE_PTR) || lib->comm_group_off == POV_OFF_NONE ||
	    lib->comm_remote_off == POV_OFF_NONE)
		return false;
	bpf_probe_read_user(&remote, 8, (void *)(comm + lib->comm_remote_off));
	bpf_probe_read_user(&group, 8, (void *)(comm + lib->comm_group_off));
	return remote && remote != group;
}

__noinline int comm_len(struct pov_thread *t, u32 idx, u32 comm_arg, u32 len, u32 root_arg)
{
	struct comm_info *known;
	struct pov_frame *f;
	struct pov_lib *lib;
	s32 rank, root;
	u64 comm;

	f = frame_of(t, idx, &lib);
	if (!f)
		return -1;
	comm = handle_of(lib, frame_arg(f, comm_arg));
	known = comm_find(comm);
	switch (len) {
	case POV_LEN_ROOT_SIZE:
		root = frame_arg(f, root_arg);
		if (root != lib->root) {
			if (comm_is_inter(lib, known, comm))
				return -2; /* a rank of the other group */
			rank = comm_rank(lib, known, comm);
			if (rank < 0)
				return -1;
			if (rank != root)
				return -2;
		}
		return comm_size(lib, known, comm, false);
	case POV_LEN_COMM_SIZE:
	case POV_LEN_LOCAL_SIZE:
		return comm_size(lib, known, comm, len == POV_LEN_LOCAL_SIZE);
	case POV_LEN_IN_DEGREE:
		return known ? known->indegree : -1;
	case POV_LEN_OUT_DEGREE:
		return known ? known->outdegree : -1;
	case POV_LEN_DIMS: /* two neighbours per dimension; -1 stays -1 */
		return known ? known->indegree >> 1 : -1;
	}
	return -1;
}

__noinline int comm_describe(struct pov_thread *t, u32 idx, u32 func)
{
	struct pov_field_comm *field;
	const struct pov_fn *fn;
	struct pov_frame *f;
	struct pov_lib *lib;
	u64 comm, context = ~0ull;

	fn = fn_find(func);
	f = frame_of(t, idx, &lib);
	if (!fn || !f || !(lib->flags & POV_LIB_HANDLE_PTR) ||
	    handle_read(lib, f, fn->learn_arg, &comm) || !comm)
		return -1;
	if (lib->comm_context_off != POV_OFF_NONE && lib->comm_context_bytes == 4) {
		context = 0;
		bpf_probe_read_user(&context, 4, (void *)(comm + lib->comm_context_off));
	}
	field = (struct pov_field_comm *)field_begin(f, POV_FIELD_COMM, fn->learn_arg, 1,
						     sizeof(*field));
	if (!field)
		return -1;
	field->context_id = context;
	field->rank = comm_rank(lib, NULL, comm);
	field->size = comm_size(lib, NULL, comm, false);
	field_end(f, sizeof(*field));
	return 0;
}

__noinline int comm_learn(struct pov_thread *t, u32 idx, u32 func)
{
	const struct pov_fn *fn;
	struct comm_info *info;
	struct pov_frame *f;
	struct pov_lib *lib;
	s32 v = 0, w = 0;
	bool known;
	u64 handle;
	u32 learn;

	fn = fn_find(func);
	f = frame_of(t, idx, &lib);
	if (!fn || !f)
		return -1;
	learn = fn->learn;
	handle = frame_arg(f, 0);
	if (learn == POV_LEARN_CART || learn == POV_LEARN_DIST_ADJ) {
		/* the new communicator is the one that the call stored */
		if (handle_read(lib, f, fn->learn_arg, &handle))
			return -1;
		v = frame_arg(f, 1);
		w = frame_arg(f, 4);
		if (learn == POV_LEARN_CART)
			v = w = 2 * v;
	} else if (learn == POV_LEARN_GRAPH_DEGREE) {
		handle = handle_of(lib, handle);
		/* a program may ask about any rank */
		if ((s32)frame_arg(f, 1) != comm_rank(lib, comm_find(handle), handle) ||
		    bpf_probe_read_user(&v, 4, (void *)frame_arg(f, 2)))
			return -1;
		w = v;
	} else {
		if (bpf_probe_read_user(&v, 4, (void *)frame_arg(f, 1)))
			return -1;
		if (learn == POV_LEARN_DEGREES &&
		    bpf_probe_read_user(&w, 4, (void *)frame_arg(f, 2)))
			return -1;
	}
	info = comm_make(handle_of(lib, handle));
	if (!info)
		return -1;
	switch (learn) {
	case POV_LEARN_COMM_SIZE:
		known = info->size == v;
		info->size = v;
		break;
	case POV_LEARN_REMOTE_SIZE:
		known = info->remote_size == v;
		info->remote_size = v;
		break;
	case POV_LEARN_COMM_RANK:
		known = info->rank == v;
		info->rank = v;
		break;
	default:
		known = info->indegree == v && info->outdegree == w;
		info->indegree = v;
		info->outdegree = w;
	}
	return !known;
}

__noinline int comm_join(struct pov_thread *t, u32 idx, u32 func)
{
	const struct pov_fn *fn;
	struct comm_info *info;
	struct pov_frame *f;
	struct pov_lib *lib;
	u64 handle;

	fn = fn_find(func);
	f = frame_of(t, idx, &lib);
	if (!fn || !f || handle_read(lib, f, fn->learn_arg, &handle) ||
	    (fn->learn == POV_LEARN_ALIKE &&
	     !comm_is_inter(lib, comm_find(handle_of(lib, frame_arg(f, 0))), frame_arg(f, 0))))
		return -1;
	info = comm_make(handle);
	if (info && info->remote_size < 0)
		info->remote_size = REMOTE_SOME;
	return 0;
}

__noinline int comm_copy(struct pov_thread *t, u32 idx, u32 func)
{
	struct comm_info *known, *copy, values;
	const struct pov_fn *fn;
	struct pov_frame *f;
	struct pov_lib *lib;
	u64 handle;

	fn = fn_find(func);
	f = frame_of(t, idx, &lib);
	if (!fn || !f)
		return -1;
	known = comm_find(handle_of(lib, frame_arg(f, 0)));
	if (!known || handle_read(lib, f, fn->learn_arg, &handle))
		return -1;
	values = *known;
	copy = comm_make(handle);
	if (!copy)
		return -1;
	*copy = values;
	return 0;
}

__noinline int comm_forget(struct pov_thread *t, u32 idx)
{
	struct pov_frame *f;
	struct pov_lib *lib;
	u64 handle;

	f = frame_of(t, idx, &lib);
	if (!f || handle_read(lib, f, 0, &handle))
		return -1;
	return comm_drop(handle);
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
