/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Settings that exist in the versions at hand. kmod-docs/BENCH_PICTURES.md, "What to change"
 * reports which ones were tried and what they brought. Larger eager limits are not suggested,
 * because they made some messages faster and others slower.
 */
#include "setting.h"

#include "lib/log.h"
#include "core/cpu_list.h"

#include <stdlib.h>
#include <string.h>

enum path { PATH_UNKNOWN, PATH_SHARED, PATH_TCP };

static const char *text_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

enum setting_library setting_library(const struct data_file *f, const char **name)
{
	const char *text = text_in(json_object_get(f->factors, "mpi"), "library");

	*name = "";
	if (text_begins(text, "Open MPI ")) {
		*name = "Open MPI";
		return SETTING_OPENMPI;
	}
	if (text_begins(text, "MPICH ")) {
		*name = "MPICH";
		return SETTING_MPICH;
	}
	if (*text)
		*name = "this library";
	return SETTING_OTHER;
}

/* ---- Open MPI ---- */

static bool has_component(const struct data_file *f, const char *name)
{
	const json_t *list = json_object_get(f->factors, "components"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_is_string(one) && text_begins(json_string_value(one), name))
			return true;
	}
	return false;
}

/* 1: all ranks were on one host; 0: unknown. */
static size_t host_cnt(const struct data_file *f)
{
	const json_t *ranks = json_object_get(f->factors, "ranks");
	const char *first = text_in(json_array_get(ranks, 0), "host");
	const json_t *rank;
	size_t i;

	json_array_foreach(ranks, i, rank)
	{
		if (strcmp(text_in(rank, "host"), first))
			return 2;
	}
	return *first ? 1 : 0;
}

/* Judges by the loaded components, because the library unloads those that it does not choose. */
static enum path openmpi_path(const struct data_file *f)
{
	static const char *const networks[] = {"mca_btl_openib",   "mca_btl_uct",
					       "mca_btl_ofi",	   "mca_btl_usnic",
					       "mca_btl_portals4", "mca_btl_ugni"};
	size_t hosts = host_cnt(f), i;

	if (!hosts || !has_component(f, "mca_pml_ob1"))
		return PATH_UNKNOWN;
	for (i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		if (has_component(f, networks[i]))
			return PATH_UNKNOWN;
	}
	if (hosts == 1 && (has_component(f, "mca_btl_vader") || has_component(f, "mca_btl_sm")))
		return PATH_SHARED;
	return has_component(f, "mca_btl_tcp") ? PATH_TCP : PATH_UNKNOWN;
}

static char *openmpi_progress(const struct data_file *f)
{
	const json_t *env = json_object_get(f->factors, "environment");

	if (openmpi_path(f) != PATH_TCP ||
	    !strcmp(text_in(env, "OMPI_MCA_btl_tcp_progress_thread"), "1"))
		return NULL;
	return xstrdup(
		"try mpirun --mca btl_tcp_progress_thread 1. A library thread then moves the data "
		"and uses CPU time of its own, so compare the total times");
}

/* ---- MPICH ---- */

/* True if rank 0 may use twice as many CPUs as there are ranks that share them. */
static bool has_free_cores(const struct data_file *f)
{
	const json_t *ranks = json_object_get(f->factors, "ranks");
	const json_t *first = json_array_get(ranks, 0), *rank;
	cpu_set_t cpus;
	size_t i, sharing = 0;

	if (!cpu_set_read(&cpus, text_in(first, "cpus")))
		return false;
	json_array_foreach(ranks, i, rank)
	{
		sharing += !strcmp(text_in(rank, "host"), text_in(first, "host")) &&
			   !strcmp(text_in(rank, "cpus"), text_in(first, "cpus"));
	}
	return (size_t)CPU_COUNT(&cpus) >= 2 * sharing;
}

static char *mpich_progress(const struct data_file *f)
{
	const json_t *set = json_object_get(json_object_get(f->factors, "transport"),
					    "MPIR_CVAR_ASYNC_PROGRESS");

	if (!json_is_integer(set) || json_integer_value(set) || !has_free_cores(f))
		return NULL;
	return xstrdup(
		"try MPIR_CVAR_ASYNC_PROGRESS=1, since each rank has a free core for the thread "
		"that polls then");
}

/* ---- both ---- */

char *setting_progress(const struct data_file *f)
{
	const char *name;

	switch (setting_library(f, &name)) {
	case SETTING_OPENMPI:
		return openmpi_progress(f);
	case SETTING_MPICH:
		return mpich_progress(f);
	default:
		return NULL;
	}
}

char *setting_cores(const struct data_file *f)
{
	const char *name;

	switch (setting_library(f, &name)) {
	case SETTING_OPENMPI:
		return xstrdup("mpirun --map-by slot:PE=N --bind-to core");
	case SETTING_MPICH:
		return xstrdup("mpiexec -bind-to core:N");
	default:
		return xstrdup("the launcher's binding");
	}
}
