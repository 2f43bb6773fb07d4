/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Probes that do nothing: what the kernel itself asks for being called. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

SEC("?uprobe.multi")
int multi_entry(void *ctx)
{
	return 0;
}

SEC("?uretprobe.multi")
int multi_return(void *ctx)
{
	return 0;
}

SEC("?uprobe")
int perf_entry(void *ctx)
{
	return 0;
}

SEC("?uretprobe")
int perf_return(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
