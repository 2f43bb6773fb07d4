/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where it is kept what learning functions told about communicators, by handle: in the kernel half that of all processes, in the
 * library that is preloaded that of its own (user/preload/comm_known.c).
 */
#ifndef POV_COMM_KNOWN_H
#define POV_COMM_KNOWN_H

struct comm_info { /* -1 = not known */
	s32 size;
	s32 remote_size;
	s32 rank;
	s32 indegree;
	s32 outdegree;
};

#ifdef POV_IN_PROCESS
struct comm_info *comm_find(u64 handle); /* NULL: nothing is known */
struct comm_info *
comm_make(u64 handle); /* the same, with nothing known if it is new; NULL: no room */
int comm_drop(u64 handle);
#else

#define COMMS_MAX 65536

/*
 * Of one program that a process executes. The next one, and the next process of that number, may give the same handle to another
 * communicator: those of MPICH are constants.
 */
struct comm_key {
	u64 handle;
	u64 start_ns;
	u32 tgid;
	u32 exec_id; /* counts the programs that the process has executed */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, COMMS_MAX);
	__type(key, struct comm_key);
	__type(value, struct comm_info);
} comms SEC(".maps");

/* A function that the verifier goes through once: a look through a task's pointers takes it a ms. It wants to be told that key is there. */
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
