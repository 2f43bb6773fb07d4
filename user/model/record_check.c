/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Rejects records that the model cannot process: a damaged file may contain anything. */
#include "model/who.h"

bool record_ok(const struct pov_hdr *rec)
{
	switch (rec->kind) {
	case POV_KIND_SWITCH:
		return ((const struct pov_switch *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_WAKING:
		return ((const struct pov_waking *)rec)->cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_waking *)rec)->target_cpu < MODEL_CPUS_MAX;
	case POV_KIND_MIGRATE:
		return ((const struct pov_migrate *)rec)->orig_cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_migrate *)rec)->dest_cpu < MODEL_CPUS_MAX;
	case POV_KIND_IRQ:
		return ((const struct pov_irq *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
		return rec->tid && ((const struct pov_call *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_SPIN:
		return rec->tid && ((const struct pov_spin *)rec)->cpu < MODEL_CPUS_MAX &&
		       ((const struct pov_spin *)rec)->nfuncs;
	case POV_KIND_CALL_BEGIN:
	case POV_KIND_COUNTED:
		return rec->tid;
	case POV_KIND_REGION:
		return rec->tid && ((const struct pov_region *)rec)->cpu < MODEL_CPUS_MAX;
	case POV_KIND_TASK:
	case POV_KIND_EXEC:
		return ((const struct pov_task *)rec)->cpu < MODEL_CPUS_MAX;
	}
	return true;
}
