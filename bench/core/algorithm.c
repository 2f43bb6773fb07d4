/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Libraries read these variables from the environment in MPI_Init, so they are set before it. The
 * launcher puts its settings into the same environment, and ours override them. After MPI_Init the
 * tool interface reports which setting took effect. MPI_T_finalize is never called, because
 * MPICH 4.0 crashes when its tool interface is initialised a second time.
 */
#include "core/algorithm.h"

#include "lib/log.h"

#include <mpi.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES 2
#define TEXT_BYTES 8192

#if defined(SMPI_H)
/* SimGrid has algorithms but no tool interface. They are chosen on its command line. */
static void variables_of(const char *collective, char *name[VARIABLES])
{
	name[0] = name[1] = NULL;
}
#elif defined(OPEN_MPI)
static void variables_of(const char *collective, char *name[VARIABLES])
{
	name[0] = xasprintf("OMPI_MCA_coll_tuned_%s_algorithm", collective);
	name[1] = xstrdup("OMPI_MCA_coll_tuned_use_dynamic_rules");
}
#else
/* A library unrelated to MPICH ignores this variable, and its list of algorithms is empty. */
static void variables_of(const char *collective, char *name[VARIABLES])
{
	name[0] = xasprintf("MPIR_CVAR_%s_INTRA_ALGORITHM", collective);
	for (char *at = name[0]; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	name[1] = NULL;
}
#endif

static void variables_free(char *name[VARIABLES])
{
	for (int i = 0; i < VARIABLES; i++)
		free(name[i]);
}

bool algorithm_set(const char *collective, const char *value)
{
	bool none = !strcmp(value, ALGORITHM_DEFAULT), known;
	char *name[VARIABLES];

	variables_of(collective, name);
	known = name[0];
	for (int i = 0; i < VARIABLES && name[i]; i++) {
		if (none)
			unsetenv(name[i]);
		else
			setenv(name[i], i ? "1" : value, 1);
	}
	variables_free(name);
	return known;
}

void algorithm_forget(const char *collective, json_t *environment)
{
	char *name[VARIABLES];

	variables_of(collective, name);
	for (int i = 0; i < VARIABLES && name[i]; i++)
		json_object_del(environment, name[i]);
	variables_free(name);
}

#ifndef SMPI_H

/* Returns the index of the tool interface's variable of this name, or -1 if there is none. */
static int cvar_find(const char *name, MPI_T_enum *choices, char *text, int text_bytes)
{
	int cnt;

	if (MPI_T_cvar_get_num(&cnt))
		return -1;
	for (int i = 0; i < cnt; i++) {
		int name_len = 256, text_len = text_bytes, verbosity, bind, scope;
		MPI_Datatype type;
		char own[256];

		if (!MPI_T_cvar_get_info(i, own, &name_len, &verbosity, &type, choices, text,
					 &text_len, &bind, &scope) &&
		    !strcmp(own, name))
			return i;
	}
	return -1;
}

/* The tool interface's name of a variable: the name without the environment's prefix. */
static const char *cvar_name(const char *variable)
{
	static const char prefix[] = "OMPI_MCA_";

	return strncmp(variable, prefix, sizeof(prefix) - 1) ? variable :
							       variable + sizeof(prefix) - 1;
}

static void choices_read(struct algorithm_list *l, MPI_T_enum choices)
{
	char name[256], number[16];
	int cnt, value, len = (int)sizeof(name);

	if (MPI_T_enum_get_info(choices, &cnt, name, &len))
		return;
	for (int i = 0; i < cnt; i++) {
		len = (int)sizeof(name);
		/* 0 is "ignore", which leaves the choice to the library. */
		if (MPI_T_enum_get_item(choices, i, &value, name, &len) || !value)
			continue;
		snprintf(number, sizeof(number), "%d", value);
		algorithm_add(l, number, name);
	}
}

void algorithm_list_init(struct algorithm_list *l, const char *collective)
{
	MPI_T_enum choices = MPI_T_ENUM_NULL;
	char *name[VARIABLES], *text = xcalloc(1, TEXT_BYTES);
	int provided;

	*l = (struct algorithm_list){0};
	variables_of(collective, name);
	if (!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)) {
		if (cvar_find(cvar_name(name[0]), &choices, text, TEXT_BYTES - 1) >= 0) {
			if (choices != MPI_T_ENUM_NULL)
				choices_read(l, choices);
			else
				algorithm_read_text(l, text);
		}
	}
	variables_free(name);
	free(text);
}

bool algorithm_taken(const char *collective, const char *value)
{
	MPI_T_enum choices = MPI_T_ENUM_NULL;
	MPI_T_cvar_handle handle;
	char *name[VARIABLES];
	int provided, idx, cnt, got = 0;
	bool taken = true;

	variables_of(collective, name);
	if (!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)) {
		idx = cvar_find(cvar_name(name[0]), &choices, NULL, 0);
		/*
		 * A variable without named values does not reveal which algorithm a number means.
		 */
		if (idx >= 0 && choices != MPI_T_ENUM_NULL &&
		    !MPI_T_cvar_handle_alloc(idx, NULL, &handle, &cnt)) {
			if (cnt == 1 && !MPI_T_cvar_read(handle, &got))
				taken = got == atoi(value);
			MPI_T_cvar_handle_free(&handle);
		}
	}
	variables_free(name);
	return taken;
}

#else

void algorithm_list_init(struct algorithm_list *l, const char *collective)
{
	*l = (struct algorithm_list){0};
}

bool algorithm_taken(const char *collective, const char *value)
{
	return true;
}

#endif
