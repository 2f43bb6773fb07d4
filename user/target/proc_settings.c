/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Variables are chosen by the beginnings of their names. */
#include "lib/text.h"
#include "target/proc.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/file.h"
#include "lib/table.h"

#define ENVIRONMENT_BYTES_MAX (4u << 20)

static const char *const wanted[] = {
	"OMPI_MCA_",
	"PRTE_MCA_",
	"PMIX_MCA_",
	"UCX_",
	"MPIR_CVAR_",
	"MPICH_",
	"HYDRA_",
	"I_MPI_",
	"MV2_",
	"MVP_",
	"FI_",
	"PSM2_",
	"OMP_",
	"GOMP_",
	"KMP_",
	"MKL_NUM_THREADS",
	"OPENBLAS_NUM_THREADS",
	"BLIS_NUM_THREADS",
	"GOTO_NUM_THREADS",
	NULL,
};

/*
 * Variables with such names in which launchers pass job information to their ranks: addresses and
 * keys, not settings.
 */
static const char *const not_wanted[] = {
	"OMPI_MCA_orte_",
	"OMPI_MCA_ess",
	"OMPI_MCA_pmix",
	"OMPI_MCA_initial_wdir",
	"OMPI_MCA_shmem_RUNTIME_",
	"PMIX_MCA_mca_base_component_show_load_errors",
	"PRTE_MCA_prte_",
	"PRTE_MCA_ess",
	"I_MPI_HYDRA_",
	"I_MPI_INFO_",
	"MV2_COMM_WORLD_",
	NULL,
};

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Lists the wanted variables, as pointers into env. env is cut where it does not end in a zero
 * byte. The caller frees the list.
 */
static const char **variables_find(const char *env, size_t len, size_t *cnt)
{
	const char **found = NULL;

	*cnt = 0;
	for (const char *p = env; p < env + len; p += strlen(p) + 1) {
		if (!memchr(p, '\0', (size_t)(env + len - p)))
			break;
		if (!strchr(p, '=') || !text_begins_any(p, wanted) ||
		    text_begins_any(p, not_wanted))
			continue;
		*table_append(found, *cnt) = p;
	}
	if (*cnt)
		qsort(found, *cnt, sizeof(*found), name_compare);
	return found;
}

json_t *proc_settings_of(const char *env, size_t len, unsigned int *left_out)
{
	json_t *o = json_object();
	size_t cnt, bytes = 0, kept = 0;
	const char **v = variables_find(env, len, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		size_t name = strcspn(v[i], "="), value = strlen(v[i] + name + 1);
		char *key = xasprintf("%.*s", (int)name, v[i]);
		bool fits = kept < SETTINGS_MAX && value <= SETTING_VALUE_BYTES_MAX &&
			    bytes + name + value <= SETTINGS_BYTES_MAX;

		if (fits && !json_object_get(o, key) &&
		    !json_object_set_new(o, key, json_string(v[i] + name + 1))) {
			bytes += name + value;
			kept++;
		}
		free(key);
	}
	*left_out = (unsigned int)(cnt - kept);
	free(v);
	return o;
}

json_t *proc_settings_read(pid_t pid, unsigned int *left_out)
{
	json_t *o;
	size_t len;
	char *env = proc_file_read(proc_memory_of(pid), "environ", ENVIRONMENT_BYTES_MAX, &len);

	if (!env)
		return NULL;
	o = proc_settings_of(env, len, left_out);
	free(env);
	return o;
}
