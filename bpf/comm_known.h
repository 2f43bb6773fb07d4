/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Data on communicators learned from calls, by handle. The kernel half keeps this for all
 * processes, the preloaded library for its own (user/preload/comm_known.c).
 */
#ifndef POV_COMM_KNOWN_H
#define POV_COMM_KNOWN_H

#define REMOTE_SOME (-2) /* an intercommunicator, whose remote size is unknown */
struct comm_info {	 /* -1 = unknown */
	s32 size;
	s32 remote_size; /* stays -1 if there is only one group */
	s32 rank;
	s32 indegree;
	s32 outdegree;
};

#ifdef POV_IN_PROCESS
struct comm_info *comm_find(u64 handle); /* NULL: nothing is known */
/* As comm_find, but adds an entry without knowledge if there is none; NULL: no room. */
struct comm_info *comm_make(u64 handle);
int comm_drop(u64 handle);
#else

#define COMMS_MAX 65536

/*
 * A handle within one program that a process executes. The process's next program, or a later
 * process with the same id, may use the same handle for another communicator: MPICH's handles are
 * constants.
 */
struct comm_key {
	u64 handle;
	u64 start_ns;
	u32 tgid;
	u32 exec_id; /* number of programs that the process has executed so far */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, COMMS_MAX);
	__type(key, struct comm_key);
	__type(value, struct comm_info);
} comms SEC(".maps");

/*
 * A global function, so that the verifier checks it only once: following a task's pointers takes it
 * 1 ms. The verifier requires the check that key is not null.
 */
__noinline int key_fill(struct comm_key *key, u64 handle)
{
	struct task_struct *self = bpf_get_current_task_btf();

	if (!key)
		return -1;
	key->handle = handle;
	key->start_ns = self->group_leader->start_time;
	key->tgid = self->tgid;
	key->exec_id = self->self_exec_id;
	return 0;
}

static __always_inline struct comm_info *comm_find(u64 handle)
{
	struct comm_key key = {};

	key_fill(&key, handle);
	return bpf_map_lookup_elem(&comms, &key);
}

static __always_inline struct comm_info *comm_make(u64 handle)
{
	struct comm_info none = {-1, -1, -1, -1, -1}, *info;
	struct comm_key key = {};

	key_fill(&key, handle);
	info = bpf_map_lookup_elem(&comms, &key);
	if (info)
		return info;
	bpf_map_update_elem(&comms, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&comms, &key);
}

static __always_inline int comm_drop(u64 handle)
{
	struct comm_key key = {};

	key_fill(&key, handle);
	return bpf_map_delete_elem(&comms, &key);
}

#endif
#endif
