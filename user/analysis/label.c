/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See label.h. */
#include "analysis/label.h"

#include <stdio.h>

const char *rank_label(const struct model *m, const struct model_process *p, char *buf)
{
	if (!p->is_rank)
		return "-";
	if (p->rank < 0)
		return "?";
	if (model_get_info(m)->njobs > 1)
		snprintf(buf, RANK_LABEL_BYTES, "%d:%d", p->job_idx, p->rank);
	else
		snprintf(buf, RANK_LABEL_BYTES, "%d", p->rank);
	return buf;
}

const char *cpu_label(const struct model *m, uint32_t cpu, char *buf)
{
	const struct model_host *h;
	uint32_t local;

	if (model_get_info(m)->nhosts < 2) {
		snprintf(buf, CPU_LABEL_BYTES, "%u", cpu);
		return buf;
	}
	h = model_host_of_cpu(m, cpu, &local);
	snprintf(buf, CPU_LABEL_BYTES, "%.32s:%u", h->label, local);
	return buf;
}
