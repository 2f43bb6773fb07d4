/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Thresholds come from control variables of the tool interface, which both families of libraries
 * provide, selected by patterns of their names. A library without these variables reports nothing.
 * No variable reports which components of the library are in use. The shared objects that are
 * still loaded after MPI_Init do, because the library unloads components that it did not choose.
 */
#include "run.h"

#include "lib/log.h"
#include "core/comm_mpi.h"
#include "core/host.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 8192 /* libraries report the room they need, not the length */

static void put_ranks(struct comm *c, json_t *into)
{
	struct rank_place own, *all = NULL;
	json_t *list = json_array();

	rank_place_get(&mpi_of(c)->process->allowed, &own);
	if (!c->rank)
		all = xcalloc((size_t)c->size, sizeof(*all));
	MPI_Gather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, 0, mpi_of(c)->comm);
	for (int i = 0; all && i < c->size; i++)
		json_array_append_new(list, rank_place_json(&all[i]));
	if (into)
		json_object_set_new(into, "ranks", list);
	else
		json_decref(list);
	free(all);
}

static const char *thread_level_name(int level)
{
	switch (level) {
	case MPI_THREAD_SINGLE:
		return "single";
	case MPI_THREAD_FUNNELED:
		return "funneled";
	case MPI_THREAD_SERIALIZED:
		return "serialized";
	case MPI_THREAD_MULTIPLE:
		return "multiple";
	}
	return "unknown";
}

/* Text after `key` in the library's description, up to the end of the line; null if absent. */
static json_t *described(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	return json_stringn(at, strcspn(at, "\n"));
}

static json_t *library_factors(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "", standard[32];
	json_t *mpi = json_object(), *device;
	int len, version, subversion;

	MPI_Get_library_version(text, &len);
	MPI_Get_version(&version, &subversion);
	snprintf(standard, sizeof(standard), "%d.%d", version, subversion);
	/*
	 * MPICH adds a page on its configuration. "Device" there is the transport it was built
	 * for.
	 */
	device = described(text, "Device:");
	text[strcspn(text, "\n")] = '\0';
	for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab, '\t'))
		*tab = ' ';
	json_object_set_new(mpi, "library", json_string(text));
	json_object_set_new(mpi, "standard", json_string(standard));
	if (device)
		json_object_set_new(mpi, "device", device);
	return mpi;
}

/* SMPI_H is defined by the header of SimGrid's MPI, which has no tool interface. */
#ifndef SMPI_H

/* ---- control variables ---- */

static const char *const wanted[] = {
	/* Open MPI */
	"pml", "btl", "mtl", "mpi_yield_when_idle", "btl_*_eager_limit", "btl_*_max_send_size",
	"btl_*_single_copy_mechanism", "btl_tcp_if_include", "pml_ob1_use_early_completion",
	"pml_ucx_tls",
	/* MPICH and its descendants */
	"MPIR_CVAR_CH4_NETMOD", "MPIR_CVAR_CH4_SHM", "MPIR_CVAR_CH4_*EAGER*",
	"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
	"MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ", "MPIR_CVAR_ASYNC_PROGRESS",
	"MPIR_CVAR_POLLS_BEFORE_YIELD", "MPIR_CVAR_REQUEST_POLL_FREQ", NULL};

struct cvar {
	char name[256];
	int idx;
	MPI_Datatype type;
	MPI_T_enum choices;
};

static bool cvar_wanted(const char *name)
{
	for (int i = 0; wanted[i]; i++) {
		if (!fnmatch(wanted[i], name, 0))
			return true;
	}
	return false;
}

/* The name of a choice, for integers that number named choices. */
static json_t *choice_name(MPI_T_enum choices, int value)
{
	char name[256];
	int cnt, found, len;

	if (choices == MPI_T_ENUM_NULL)
		return NULL;
	len = (int)sizeof(name);
	if (MPI_T_enum_get_info(choices, &cnt, name, &len))
		return NULL;
	for (int i = 0; i < cnt; i++) {
		len = (int)sizeof(name);
		if (!MPI_T_enum_get_item(choices, i, &found, name, &len) && found == value)
			return json_string(name);
	}
	return NULL;
}

static json_t *cvar_value(const struct cvar *v, MPI_T_cvar_handle handle, int cnt)
{
	union {
		int i;
		unsigned int u;
		unsigned long ul;
		unsigned long long ull;
		double d;
		char text[TEXT_BYTES];
	} value;
	json_t *name;

	memset(&value, 0, sizeof(value));
	if (v->type == MPI_CHAR ? cnt >= TEXT_BYTES : cnt != 1)
		return NULL;
	if (MPI_T_cvar_read(handle, &value))
		return NULL;
	if (v->type == MPI_CHAR)
		return json_string(value.text);
	if (v->type == MPI_INT) {
		name = choice_name(v->choices, value.i);
		return name ? name : json_integer(value.i);
	}
	if (v->type == MPI_UNSIGNED)
		return json_integer(value.u);
	if (v->type == MPI_UNSIGNED_LONG)
		return json_integer((json_int_t)value.ul);
	if (v->type == MPI_UNSIGNED_LONG_LONG)
		return json_integer((json_int_t)value.ull);
	if (v->type == MPI_DOUBLE)
		return json_real(value.d);
	return NULL;
}

static void put_cvar(json_t *into, const struct cvar *v)
{
	MPI_T_cvar_handle handle;
	json_t *value;
	int cnt;

	if (MPI_T_cvar_handle_alloc(v->idx, NULL, &handle, &cnt))
		return;
	value = cvar_value(v, handle, cnt);
	if (value)
		json_object_set_new(into, v->name, value);
	MPI_T_cvar_handle_free(&handle);
}

static json_t *transport_factors(void)
{
	json_t *transport = json_object();
	int provided, cnt;

	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided))
		return transport;
	if (MPI_T_cvar_get_num(&cnt))
		cnt = 0;
	for (int i = 0; i < cnt; i++) {
		struct cvar v = {.idx = i, .choices = MPI_T_ENUM_NULL};
		int name_len = (int)sizeof(v.name), desc_len = 0, verbosity, bind, scope;

		if (!MPI_T_cvar_get_info(i, v.name, &name_len, &verbosity, &v.type, &v.choices,
					 NULL, &desc_len, &bind, &scope) &&
		    cvar_wanted(v.name))
			put_cvar(transport, &v);
	}
	/*
	 * No MPI_T_finalize: MPICH 4.0 crashes if its interface is initialised again
	 * (algorithm.c).
	 */
	return transport;
}

#else

/* SimGrid's simulated transport is set on its command line. */
static json_t *transport_factors(void)
{
	return json_object();
}

#endif

/* ---- parts in use ---- */

/* "mca_btl_vader" from "/usr/lib/…/mca_btl_vader.so"; false if it carries no messages. */
static bool component_name(const char *path, char *name, size_t bytes)
{
	static const char *const kinds[] = {"mca_pml_*",  "mca_btl_*", "mca_mtl_*", "libuct*",
					    "libfabric*", "libucp*",   NULL};
	const char *base = strrchr(path, '/');

	if (!base)
		return false;
	snprintf(name, bytes, "%.*s", (int)strcspn(base + 1, ".\n"), base + 1);
	for (int i = 0; kinds[i]; i++) {
		if (!fnmatch(kinds[i], name, 0))
			return true;
	}
	return false;
}

/* Inserts in alphabetical order without duplicates, because loaders map libraries in any order. */
static void component_add(json_t *list, const char *name)
{
	int order = -1;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		order = strcmp(name, json_string_value(json_array_get(list, i)));
		if (order <= 0)
			break;
	}
	if (i == json_array_size(list) || order)
		json_array_insert_new(list, i, json_string(name));
}

static json_t *component_factors(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	json_t *list = json_array();
	char line[TEXT_BYTES], name[256];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (component_name(line, name, sizeof(name)))
			component_add(list, name);
	}
	if (maps)
		fclose(maps);
	return list;
}

void mpi_factors(struct comm *c, json_t *into)
{
	const struct mpi_process *process = mpi_of(c)->process;

	put_ranks(c, into);
	if (!into)
		return;
	json_object_set_new(into, "mpi", library_factors());
	json_object_set_new(into, "transport", transport_factors());
	json_object_set_new(into, "components", component_factors());
	json_object_set_new(into, "thread_level",
			    json_string(thread_level_name(process->thread_level)));
	json_object_set_new(into, "ops_per_ns", json_real(compute_ops_per_ns(process->engine)));
}
