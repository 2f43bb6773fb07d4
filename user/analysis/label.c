/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See label.h. */
#include "analysis/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/log.h"

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

const char *signal_label(int32_t signo, char *buf)
{
	const char *name = sigabbrev_np(signo);

	snprintf(buf, SIGNAL_LABEL_BYTES, name ? "SIG%s (signal %d)" : "%ssignal %d", name ?: "",
		 signo);
	return buf;
}

const char *end_label(const struct model_process *p, char *buf)
{
	char signal[SIGNAL_LABEL_BYTES];

	if (!p->ended_ns)
		return strcpy(buf, "not ended");
	if (WIFSIGNALED(p->exit_code))
		snprintf(buf, END_LABEL_BYTES, "killed by %s",
			 signal_label(WTERMSIG(p->exit_code), signal));
	else
		snprintf(buf, END_LABEL_BYTES, "exited with status %d", WEXITSTATUS(p->exit_code));
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

static bool has_cpu(const struct model_mask *cpus, uint32_t cpu)
{
	return cpu < MODEL_MASK_WORDS * 64 && cpus->word[cpu / 64] >> cpu % 64 & 1;
}

char *cpus_label(const struct model *m, uint32_t host_idx, const struct model_mask *cpus,
		 uint32_t most)
{
	bool many = model_get_info(m)->nhosts > 1;
	char *text = xasprintf("%s%s", many ? model_host_get(m, host_idx)->label : "",
			       many ? ":" : "");
	uint32_t cnt = 0, end;

	for (uint32_t cpu = 0; cpu < MODEL_MASK_WORDS * 64; cpu = end) {
		char *longer;

		for (end = cpu; has_cpu(cpus, end);)
			end++;
		if (end == cpu) {
			end++;
			continue;
		}
		if (cnt++ == most) {
			longer = xasprintf("%s …", text);
			free(text);
			return longer;
		}
		longer = end == cpu + 1 ?
				 xasprintf("%s%s%u", text, cnt > 1 ? "," : "", cpu) :
				 xasprintf("%s%s%u-%u", text, cnt > 1 ? "," : "", cpu, end - 1);
		free(text);
		text = longer;
	}
	return text;
}
