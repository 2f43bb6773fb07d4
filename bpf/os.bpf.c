// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Kernel calls by which targets move data: through sockets, and between processes. Such calls
 * use the same frames as calls seen by probes in programs, so each is nested in the calls in flight
 * on its thread. There are several ways to see them; a kernel may support any or none. The
 * collector finds these programs by name: it begins with that of a row of os.def
 * (record/kernel_functions.c).
 */
#include "core.bpf.h"
#include "fetch.bpf.h"
#include "frame.bpf.h"

#include <bpf/bpf_endian.h>

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define EAGAIN 11
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPV6_BYTES 16

#ifdef __TARGET_ARCH_x86
#define SYSCALL(name) "__x64_sys_" #name
#else
#define SYSCALL(name) "__arm64_sys_" #name
#endif

/* Rows of the layer. */
enum row {
#define POV_FUNC(name, group, attributes, signature) ROW_##name,
#include "layers/os/os.def"
};

/*
 * State of the current thread; null if its process is no target. This runs for all threads of the
 * node.
 */
static __always_inline struct pov_thread *thread_of_target(struct task_struct *self)
{
	u32 tid = self->pid, tgid = self->tgid;
	struct pov_thread *t = thread_slot(tid);

	if (t && t->tid == tid)
		return t;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return NULL;
	return bpf_task_storage_get(&threads, self, NULL, 0);
}

/*
 * As thread_of_target, at a call's start. Sets up the state of threads that make no other traced
 * calls.
 */
static __always_inline struct pov_thread *thread_of_caller(struct task_struct *self)
{
	struct pov_thread *t = thread_of_target(self);
	u32 tgid = self->tgid;

	if (t || !bpf_map_lookup_elem(&targets, &tgid))
		return t;
	t = thread_claim(self, self->pid);
	if (t)
		t->tgid = tgid;
	return t;
}

/* Arguments of a call in the kernel. */
struct args {
	u64 word[6];
	u32 cnt;
	bool polls; /* the call may return -EAGAIN: it found nothing */
};

/*
 * True if this call is part of the one in flight: another function with the same socket
 * (udpv6_sendmsg calls udp_sendmsg for an IPv4 address). If it is the same function, the return of
 * the call in flight was missed, and that call is dropped.
 */
static __always_inline bool call_folds(struct pov_thread *t, u32 func, u64 first_arg, u64 now)
{
	u32 top = t->depth - 1;
	struct pov_frame *f;

	if (top >= POV_CALL_DEPTH_MAX)
		return false;
	f = frame_at(t, top);
	if (!sp_in_kernel(f->sp) || frame_arg(f, 0) != first_arg)
		return false;
	if (frame_call(f)->func != func) {
		f->folded++;
		return true;
	}
	t->depth = top;
	frame_emit(t, top, now, 0, POV_CALL_UNWOUND);
	return false;
}

/*
 * Turns an address into a number, because global functions take nothing else. To the verifier, a
 * value read from a map is a number.
 */
static __always_inline u64 as_number(struct pov_thread *t, u64 address)
{
	volatile u64 *scratch = (u64 *)t->more;

	*scratch = address;
	return *scratch;
}

/*
 * Begins a call's record in a new frame, not yet in flight. Null: the call is not to be recorded.
 */
static __always_inline struct pov_frame *call_frame(struct pov_thread *t, enum row row,
						    const struct args *args, u64 here, u64 now)
{
	u64 cookie = POV_COOKIE(cfg.kernel_row + row, POV_LIB_KERNEL), *words;
	struct pov_frame *f;
	u32 d, i;

	if (calls_over(now))
		return NULL;
	if (t->depth)
		frames_drop_stale(t, return_trampoline(), as_number(t, here), now);
	if (call_folds(t, cfg.kernel_row + row, args->word[0], now))
		return NULL;
	d = t->depth;
	if (d >= POV_CALL_DEPTH_MAX) {
		count(POV_COUNT_MISS(POV_MISS_DEPTH));
		return NULL;
	}
	f = frame_begin(t, d, cookie, args->cnt, here, now);
	words = (u64 *)(f->rec + sizeof(struct pov_call));
#pragma unroll
	for (i = 0; i < sizeof(args->word) / 8; i++)
		words[i] = args->word[i];
	return f;
}

static __always_inline struct pov_frame *call_begins(u64 here, enum row row,
						     const struct args *args)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct pov_thread *t = thread_of_caller(self);
	struct pov_frame *f;

	if (!t)
		return NULL;
	f = call_frame(t, row, args, here, bpf_ktime_get_ns());
	if (!f)
		return NULL;
	if (!args->polls && t->spinning >> t->depth)
		spin_flush(t, t->depth, ALL_TIMES);
	barrier();
	t->depth++;
	return f;
}

/* ---- who is at the other end ---- */

static __always_inline struct pov_field_ends *ends_begin(struct pov_frame *f)
{
	struct pov_field_ends *e = (struct pov_field_ends *)field_begin(f, POV_FIELD_ENDS, 0, 1,
									sizeof(*e));

	if (e)
		__builtin_memset(e, 0, sizeof(*e));
	return e;
}

static __always_inline u64 socket_inode(struct socket *sock)
{
	return sock ? BPF_CORE_READ((struct socket_alloc *)sock, vfs_inode.i_ino) : 0;
}

/* For a datagram on an unconnected socket: the call itself names the other end, as a sockaddr. */
static __always_inline void ends_of_message(struct pov_field_ends *e, struct msghdr *msg)
{
	void *name = BPF_CORE_READ(msg, msg_name);
	u16 family = 0, port = 0;

	if (!name || bpf_probe_read_kernel(&family, sizeof(family), name))
		return;
	bpf_probe_read_kernel(&port, sizeof(port), name + 2);
	if (family == AF_INET)
		bpf_probe_read_kernel(e->remote, 4, name + 4);
	else if (family == AF_INET6)
		bpf_probe_read_kernel(e->remote, IPV6_BYTES, name + 8);
	else
		return;
	if (family != e->family) { /* an IPv4 address on an IPv6 socket */
		__builtin_memcpy(e->remote + 12, e->remote, 4);
		__builtin_memset(e->remote, 0, 4);
		e->remote[10] = e->remote[11] = 0xff;
	}
	e->remote_port = bpf_ntohs(port);
}

static __always_inline void ends_of_inet(struct pov_field_ends *e, struct sock *sk,
					 struct msghdr *msg)
{
	const struct sock_common *c = &sk->__sk_common;

	e->local_port = BPF_CORE_READ(c, skc_num);
	e->remote_port = bpf_ntohs(BPF_CORE_READ(c, skc_dport));
	if (e->family == AF_INET) {
		bpf_core_read(e->local, 4, &c->skc_rcv_saddr);
		bpf_core_read(e->remote, 4, &c->skc_daddr);
	} else if (bpf_core_field_exists(c->skc_v6_daddr)) {
		bpf_core_read(e->local, IPV6_BYTES, &c->skc_v6_rcv_saddr);
		bpf_core_read(e->remote, IPV6_BYTES, &c->skc_v6_daddr);
	}
	if (!e->remote_port && msg)
		ends_of_message(e, msg);
}

static __always_inline void ends_of_unix(struct pov_field_ends *e, struct sock *sk)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);

	if (peer)
		e->remote_id = socket_inode(BPF_CORE_READ(peer, sk_socket));
}

/* msg: NULL if unknown. */
static __always_inline void ends_add(struct pov_frame *f, struct sock *sk, struct msghdr *msg)
{
	struct pov_field_ends *e = ends_begin(f);

	if (!e)
		return;
	e->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	e->local_id = socket_inode(BPF_CORE_READ(sk, sk_socket));
	if (e->family == AF_UNIX)
		ends_of_unix(e, sk);
	else
		ends_of_inet(e, sk, msg);
	field_end(f, sizeof(*e));
}

/* ---- the end of a call ---- */

/* If the call at depth d was a poll that found nothing, adds it to the spin and returns true. */
static __always_inline bool found_nothing(struct pov_thread *t, u32 d, u64 now, s64 ret)
{
	if (ret != -EAGAIN)
		return false;
	spin_add(t, d, now, frame_arg(frame_at(t, d), 0));
	return true;
}

/* Index of the frame of the call that returns, or a number ≥ POV_CALL_DEPTH_MAX. */
static __always_inline u32 frame_returns(struct pov_thread *t, u64 here, u64 now)
{
	u32 d = frame_match(t, here), top = t->depth - 1;

	if (d < POV_CALL_DEPTH_MAX)
		frames_drop_above(t, d, now);
	else if (top < POV_CALL_DEPTH_MAX && frame_at(t, top)->folded)
		frame_at(t, top)->folded--;
	else
		count(POV_COUNT_MISS(POV_MISS_NO_ENTRY));
	return d;
}

/* ---- sockets, by the kernel functions in which all system calls for them end ---- */

static __always_inline int socket_begins(void *ctx, enum row row, struct sock *sk,
					 struct msghdr *msg, u64 size, u32 flags)
{
	struct args a = {{(u64)sk, flags, size, (u64)msg}, .cnt = 4, .polls = true};

	call_begins((u64)ctx, row, &a);
	return 0;
}

static __always_inline int socket_returns(void *ctx, struct sock *sk, struct msghdr *msg)
{
	struct pov_thread *t = thread_of_target(bpf_get_current_task_btf());
	u64 now, word = 0;
	s64 ret;
	u32 d;

	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (calls_over(now))
		return 0;
	d = frame_returns(t, (u64)ctx, now);
	if (d >= POV_CALL_DEPTH_MAX)
		return 0;
	bpf_get_func_ret(ctx, &word);
	ret = (s32)word;
	if (!found_nothing(t, d, now, ret)) {
		spin_flush(t, d, ALL_TIMES);
		ends_add(frame_at(t, d), sk, msg);
		frame_emit(t, d, now, ret, 0);
	}
	t->depth = d;
	return 0;
}

#define INET_SEND(name)                                                               \
	SEC("?fentry/" #name)                                                         \
	int BPF_PROG(name##_entry, struct sock *sk, struct msghdr *msg, u64 size)     \
	{                                                                             \
		return socket_begins(ctx, ROW_##name, sk, msg, size, msg->msg_flags); \
	}                                                                             \
	SEC("?fexit/" #name)                                                          \
	int BPF_PROG(name##_return, struct sock *sk, struct msghdr *msg)              \
	{                                                                             \
		return socket_returns(ctx, sk, msg);                                  \
	}

#define INET_RECV(name)                                                                      \
	SEC("?fentry/" #name)                                                                \
	int BPF_PROG(name##_entry, struct sock *sk, struct msghdr *msg, u64 size, int flags) \
	{                                                                                    \
		return socket_begins(ctx, ROW_##name, sk, msg, size, flags);                 \
	}                                                                                    \
	SEC("?fexit/" #name)                                                                 \
	int BPF_PROG(name##_return, struct sock *sk, struct msghdr *msg)                     \
	{                                                                                    \
		return socket_returns(ctx, sk, msg);                                         \
	}

INET_SEND(tcp_sendmsg)
INET_RECV(tcp_recvmsg)
INET_SEND(udp_sendmsg)
INET_RECV(udp_recvmsg)
INET_SEND(udpv6_sendmsg)
INET_RECV(udpv6_recvmsg)

SEC("?fentry/unix_stream_sendmsg")
int BPF_PROG(unix_stream_sendmsg_entry, struct socket *sock, struct msghdr *msg, u64 size)
{
	return socket_begins(ctx, ROW_unix_stream_sendmsg, sock->sk, msg, size, msg->msg_flags);
}

SEC("?fexit/unix_stream_sendmsg")
int BPF_PROG(unix_stream_sendmsg_return, struct socket *sock)
{
	return socket_returns(ctx, sock->sk, NULL);
}

SEC("?fentry/unix_stream_recvmsg")
int BPF_PROG(unix_stream_recvmsg_entry, struct socket *sock, struct msghdr *msg, u64 size,
	     int flags)
{
	return socket_begins(ctx, ROW_unix_stream_recvmsg, sock->sk, msg, size, flags);
}

SEC("?fexit/unix_stream_recvmsg")
int BPF_PROG(unix_stream_recvmsg_return, struct socket *sock)
{
	return socket_returns(ctx, sock->sk, NULL);
}

/*
 * ---- sockets, by tracepoints (Linux 6.3), where programs cannot be attached to functions ----
 *
 * They report a call only when it is over: such a call has no duration.
 */

static __always_inline int socket_seen(enum row row, struct sock *sk, s64 ret, u32 flags)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct args a = {{(u64)sk, flags}, .cnt = 2, .polls = true};
	struct pov_thread *t = thread_of_caller(self);
	u64 now = bpf_ktime_get_ns();
	struct pov_frame *f;
	u32 d;

	f = t ? call_frame(t, row, &a, FROM_PROGRAM, now) : NULL;
	if (!f)
		return 0;
	d = t->depth;
	if (found_nothing(t, d, now, ret))
		return 0;
	spin_flush(t, d, ALL_TIMES);
	ends_add(f, sk, NULL);
	frame_emit(t, d, now, ret, POV_CALL_END_ONLY);
	return 0;
}

static __always_inline bool is_tcp(struct sock *sk)
{
	return sk->__sk_common.skc_family != AF_UNIX && sk->sk_protocol == IPPROTO_TCP;
}

static __always_inline bool is_udp(struct sock *sk, u16 family)
{
	return sk->__sk_common.skc_family == family && sk->sk_protocol == IPPROTO_UDP;
}

static __always_inline bool is_unix_stream(struct sock *sk)
{
	return sk->__sk_common.skc_family == AF_UNIX && sk->sk_type == SOCK_STREAM;
}

#define SEEN(name, way, condition)                                              \
	SEC("?tp_btf/sock_" #way "_length")                                     \
	int BPF_PROG(name##_seen, struct sock *sk, int ret, int flags)          \
	{                                                                       \
		return condition ? socket_seen(ROW_##name, sk, ret, flags) : 0; \
	}

SEEN(tcp_sendmsg, send, is_tcp(sk))
SEEN(tcp_recvmsg, recv, is_tcp(sk))
SEEN(udp_sendmsg, send, is_udp(sk, AF_INET))
SEEN(udp_recvmsg, recv, is_udp(sk, AF_INET))
SEEN(udpv6_sendmsg, send, is_udp(sk, AF_INET6))
SEEN(udpv6_recvmsg, recv, is_udp(sk, AF_INET6))
SEEN(unix_stream_sendmsg, send, is_unix_stream(sk))
SEEN(unix_stream_recvmsg, recv, is_unix_stream(sk))

/* ---- copies between processes ---- */

/* A process id given by the caller is the kernel's own only in the initial pid namespace. */
static __always_inline int copy_begins(u64 here, enum row row, const struct args *args)
{
	struct pov_frame *f = call_begins(here, row, args);
	struct task_struct *self = bpf_get_current_task_btf();
	struct pov_field_ends *e = f ? ends_begin(f) : NULL;

	if (!e)
		return 0;
	e->local_id = self->tgid;
	if (!BPF_CORE_READ(self, thread_pid, level))
		e->remote_id = (u32)args->word[0];
	field_end(f, sizeof(*e));
	return 0;
}

static __always_inline int copy_returns(u64 here, s64 ret)
{
	struct pov_thread *t = thread_of_target(bpf_get_current_task_btf());
	u64 now;
	u32 d;

	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (calls_over(now))
		return 0;
	d = frame_returns(t, here, now);
	if (d >= POV_CALL_DEPTH_MAX)
		return 0;
	t->depth = d;
	frame_emit(t, d, now, ret, 0);
	return 0;
}

/*
 * Attached to the whole system call: the function below it has more arguments than programs could
 * be attached to before 6.6 (473e3150e30a).
 */
static __always_inline int copy_entry(void *ctx, enum row row, const struct pt_regs *regs)
{
	struct args a = {{(u32)PT_REGS_PARM1_CORE_SYSCALL(regs), PT_REGS_PARM2_CORE_SYSCALL(regs),
			  PT_REGS_PARM3_CORE_SYSCALL(regs), PT_REGS_PARM4_CORE_SYSCALL(regs),
			  PT_REGS_PARM5_CORE_SYSCALL(regs), PT_REGS_PARM6_CORE_SYSCALL(regs)},
			 .cnt = 6};

	return copy_begins((u64)ctx, row, &a);
}

static __always_inline int copy_return(void *ctx)
{
	u64 ret = 0;

	bpf_get_func_ret(ctx, &ret);
	return copy_returns((u64)ctx, ret);
}

/*
 * The fallback: tracepoints, which send every system call of the node down the kernel's slow path.
 */
static __always_inline int copy_sys_enter(struct trace_event_raw_sys_enter *ctx, enum row row)
{
	struct args a = {{(u32)ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3], ctx->args[4],
			  ctx->args[5]},
			 .cnt = 6};

	return copy_begins((u64)bpf_task_pt_regs(bpf_get_current_task_btf()), row, &a);
}

static __always_inline int copy_sys_exit(struct trace_event_raw_sys_exit *ctx)
{
	return copy_returns((u64)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx->ret);
}

#define COPY(name)                                                  \
	SEC("?fentry/" SYSCALL(name))                               \
	int BPF_PROG(name##_entry, const struct pt_regs *regs)      \
	{                                                           \
		return copy_entry(ctx, ROW_##name, regs);           \
	}                                                           \
	SEC("?fexit/" SYSCALL(name))                                \
	int BPF_PROG(name##_return)                                 \
	{                                                           \
		return copy_return(ctx);                            \
	}                                                           \
	SEC("?tracepoint/syscalls/sys_enter_" #name)                \
	int name##_sys_enter(struct trace_event_raw_sys_enter *ctx) \
	{                                                           \
		return copy_sys_enter(ctx, ROW_##name);             \
	}                                                           \
	SEC("?tracepoint/syscalls/sys_exit_" #name)                 \
	int name##_sys_exit(struct trace_event_raw_sys_exit *ctx)   \
	{                                                           \
		return copy_sys_exit(ctx);                          \
	}

COPY(process_vm_readv)
COPY(process_vm_writev)

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
