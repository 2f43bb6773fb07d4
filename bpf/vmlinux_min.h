/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The parts of the kernel's types that the kernel half reads, for builds where the kernel does not
 * describe its own (no /sys/kernel/btf/vmlinux: containers, old build machines). Only names and
 * types matter: offsets are relocated when programs are loaded. Members that kernels have renamed
 * since 5.15 are here under each of their names.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef int pid_t;
typedef __u32 dev_t;
typedef __s64 time64_t;
typedef long long loff_t;

#ifdef __TARGET_ARCH_arm64
#include <asm/ptrace.h>
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#endif

typedef struct {
	int counter;
} atomic_t;

typedef struct cpumask {
	unsigned long bits[1];
} cpumask_t;

struct super_block {
	dev_t s_dev;
};

struct timespec64 {
	time64_t tv_sec;
	long tv_nsec;
};

struct inode {
	unsigned long i_ino;
	loff_t i_size;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct maple_tree {
	void *ma_root;
};

struct ma_state {
	struct maple_tree *tree;
	unsigned long index, last;
};

struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct maple_tree mm_mt;
	struct uprobes_state uprobes_state;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct signal_struct {
	atomic_t live;
	unsigned int flags;
	int group_exit_code;
	struct mm_struct *oom_mm;
};

struct sigaction {
	void (*sa_handler)(int signo);
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

union __sifields {
	struct {
		void *_addr;
	} _sigfault;
};

struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	union __sifields _sifields;
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct thread_info {
	u32 cpu;
};

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct sched_entity {
	u64 exec_start, sum_exec_runtime;
};

struct sched_info {
	unsigned long pcount;
	u64 last_arrival;
};

struct task_io_accounting {
	u64 wchar, syscw;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	int on_cpu;
	int prio;
	int nr_cpus_allowed;
	cpumask_t cpus_mask;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_state, exit_code;
	pid_t pid, tgid;
	struct pid *thread_pid;
	struct task_struct *real_parent, *group_leader;
	unsigned long nivcsw;
	u64 self_exec_id;
	u64 start_time;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct uprobe_task *utask;
	struct task_io_accounting ioac;
};

struct msghdr {
	void *msg_name;
	unsigned int msg_flags;
};

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct socket;

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type, sk_protocol;
	struct socket *sk_socket;
};

struct unix_sock {
	struct sock *peer;
};

struct socket {
	struct sock *sk;
};

struct socket_alloc {
	struct inode vfs_inode;
};

struct trace_event_raw_sys_enter {
	unsigned long args[6];
};

struct trace_event_raw_sys_exit {
	long ret;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
