/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Probes that do nothing, to measure what the kernel's own part of a probe costs. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

SEC("uprobe.multi")
int entry(void *ctx)
{
	return 0;
}

SEC("uretprobe.multi")
int at_return(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
