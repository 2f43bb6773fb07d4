/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace-mpi-t prints what an MPI library reports through its tool interface, as lines of JSON
 * from rank 0. povtrace starts it with the library's launcher (advise/library_ask.c). By hand:
 * mpirun -np 2 povtrace-mpi-t /path/of/libmpi.so [PATTERN…]
 *
 *	{"library": text}		MPI_Get_library_version
 *	{"ranks": n}			size of MPI_COMM_WORLD; MPI_Init opens some components only
 *					if there are other ranks to talk to
 *	{"components": [names]}		shared objects still loaded after MPI_Init: those not chosen
 *					have been unloaded
 *	{"pml": name}			Open MPI's, by the functions it calls; only if known
 *	{"name": …, "value": integer or text, "choice": name of the value}
 *	{"end": number of variables}	the last line
 *
 * It is not linked with any MPI. Handles are only passed back, never examined: whether the library
 * declares them as int or as a pointer, they fit a register. A variable's type is known by its name
 * (MPI_Type_get_name).
 */
#include <dlfcn.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "advise/library.h"

#define NAME_BYTES 256
/* room for one value; libraries report the room that a value needs, not its length */
#define TEXT_BYTES 65536
#define VERSION_BYTES 8192

typedef uintptr_t handle; /* an MPI handle of any type */

struct library {
	void *file;
	int (*init)(int *argc, char ***argv);
	int (*finalize)(void);
	int (*version)(char *text, int *len);
	int (*comm_size)(handle comm, int *size);
	int (*comm_rank)(handle comm, int *rank);
	int (*type_name)(handle type, char *name, int *len);
	int (*t_init)(int required, int *provided);
	int (*cvar_num)(int *cnt);
	int (*cvar_info)(int idx, char *name, int *name_len, int *verbosity, handle *type,
			 handle *choices, char *desc, int *desc_len, int *bind, int *scope);
	int (*cvar_alloc)(int idx, void *object, handle *out, int *cnt);
	int (*cvar_read)(handle cvar, void *value);
	int (*cvar_free)(handle *cvar);
	int (*enum_info)(handle choices, int *cnt, char *name, int *len);
	int (*enum_item)(handle choices, int idx, int *value, char *name, int *len);
};

/* ISO C cannot convert between pointers to data and to functions; dlsym() requires it. */
static bool function_find(const struct library *l, const char *name, void *function)
{
	void *address = dlsym(l->file, name);

	memcpy(function, &address, sizeof(address));
	if (!address)
		log_error("this library has no %s", name);
	return address;
}

static bool library_load(struct library *l, const char *path)
{
	l->file = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!l->file) {
		log_error("%s", dlerror());
		return false;
	}
	return function_find(l, "MPI_Init", &l->init) &&
	       function_find(l, "MPI_Finalize", &l->finalize) &&
	       function_find(l, "MPI_Get_library_version", &l->version) &&
	       function_find(l, "MPI_Comm_size", &l->comm_size) &&
	       function_find(l, "MPI_Comm_rank", &l->comm_rank) &&
	       function_find(l, "MPI_Type_get_name", &l->type_name) &&
	       function_find(l, "MPI_T_init_thread", &l->t_init) &&
	       function_find(l, "MPI_T_cvar_get_num", &l->cvar_num) &&
	       function_find(l, "MPI_T_cvar_get_info", &l->cvar_info) &&
	       function_find(l, "MPI_T_cvar_handle_alloc", &l->cvar_alloc) &&
	       function_find(l, "MPI_T_cvar_read", &l->cvar_read) &&
	       function_find(l, "MPI_T_cvar_handle_free", &l->cvar_free) &&
	       function_find(l, "MPI_T_enum_get_info", &l->enum_info) &&
	       function_find(l, "MPI_T_enum_get_item", &l->enum_item);
}

/*
 * Open MPI's handles are addresses of objects. In the common ABI of MPICH and its descendants, they
 * are numbers.
 */
static handle library_comm_world(const struct library *l)
{
	void *object = dlsym(l->file, "ompi_mpi_comm_world");

	return object ? (handle)object : 0x44000000;
}

static void line_say(json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);

	if (text)
		puts(text);
	free(text);
	json_decref(line);
}

/* ---- components in use ---- */

static bool is_component(const char *name)
{
	static const char *const kinds[] = {"mca_pml_*", "mca_btl_*",  "mca_mtl_*",
					    "libucp*",	 "libfabric*", NULL};

	for (int i = 0; kinds[i]; i++) {
		if (!fnmatch(kinds[i], name, 0))
			return true;
	}
	return false;
}

static bool has_name(const json_t *list, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!strcmp(json_string_value(one), name))
			return true;
	}
	return false;
}

/* "mca_btl_vader" for "…/mca_btl_vader.so" */
static json_t *components_loaded(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	json_t *list = json_array();
	char line[8192];

	while (maps && fgets(line, sizeof(line), maps)) {
		char *name = strrchr(line, '/');

		if (!name)
			continue;
		name++;
		name[strcspn(name, ".\n")] = '\0';
		if (is_component(name) && !has_name(list, name))
			json_array_append_new(list, json_string(name));
	}
	if (maps)
		fclose(maps);
	return list;
}

/* The library exports a table with the functions of the chosen component. */
static void pml_say(const struct library *l)
{
	static const char prefix[] = "mca_pml_";
	void *const *table = dlsym(l->file, "mca_pml");
	char name[NAME_BYTES];
	const char *at = NULL;
	Dl_info where;

	if (!table || !dladdr(table[0], &where))
		return;
	if (where.dli_fname)
		at = strstr(where.dli_fname, prefix);
	if (!at && where.dli_sname && where.dli_saddr == table[0])
		at = strstr(where.dli_sname, prefix);
	if (!at)
		return;
	snprintf(name, sizeof(name), "%s", at + strlen(prefix));
	name[strcspn(name, "_.")] = '\0';
	line_say(json_pack("{s:s}", "pml", name));
}

/* ---- control variables ---- */

struct variable {
	char name[NAME_BYTES], type[NAME_BYTES];
	handle choices;
};

static bool name_is_wanted(const char *name, char *const *pattern)
{
	bool all = !*pattern;

	for (; *pattern && !all; pattern++)
		all = !fnmatch(*pattern, name, 0);
	return all;
}

/* Reads a value whose type has this name. */
static json_t *value_number(const char *type, const void *value)
{
	static const struct {
		const char *name;
		size_t bytes;
		bool is_signed;
	} types[] = {
		{"MPI_INT", sizeof(int), true},
		{"MPI_UNSIGNED", sizeof(int), false},
		{"MPI_LONG", sizeof(long), true},
		{"MPI_UNSIGNED_LONG", sizeof(long), false},
		{"MPI_UNSIGNED_LONG_LONG", sizeof(long long), false},
		{"MPI_COUNT", sizeof(long long), true},
		{"MPI_INT32_T", 4, true},
		{"MPI_UINT32_T", 4, false},
		{"MPI_INT64_T", 8, true},
		{"MPI_UINT64_T", 8, false},
		{NULL, 0, false},
	};
	int64_t wide;
	int32_t narrow;

	for (int i = 0; types[i].name; i++) {
		if (strcmp(type, types[i].name))
			continue;
		memcpy(&narrow, value, sizeof(narrow));
		memcpy(&wide, value, sizeof(wide));
		if (types[i].bytes == sizeof(wide)) /* the largest value means "no limit" */
			return json_integer(wide < 0 && !types[i].is_signed ? INT64_MAX : wide);
		return json_integer(types[i].is_signed ? narrow : (int64_t)(uint32_t)narrow);
	}
	return NULL;
}

/* Some integers are numbers of named choices. */
static json_t *choice_name(const struct library *l, handle choices, json_int_t value)
{
	char name[NAME_BYTES];
	int cnt, found, len = (int)sizeof(name);

	if (!choices || l->enum_info(choices, &cnt, name, &len))
		return NULL;
	for (int i = 0; i < cnt; i++) {
		len = (int)sizeof(name);
		if (!l->enum_item(choices, i, &found, name, &len) && found == value)
			return json_string(name);
	}
	return NULL;
}

static bool variable_value(const struct library *l, const struct variable *v, handle cvar, int cnt,
			   char *room)
{
	bool is_text = !strcmp(v->type, "MPI_CHAR");
	json_t *value, *line, *name;

	memset(room, 0, TEXT_BYTES);
	if (is_text ? cnt >= TEXT_BYTES : cnt != 1)
		return false;
	if (l->cvar_read(cvar, room))
		return false;
	value = is_text ? json_string(room) : value_number(v->type, room);
	if (!value)
		return false;
	line = json_pack("{s:s,s:o}", "name", v->name, "value", value);
	name = is_text ? NULL : choice_name(l, v->choices, json_integer_value(value));
	if (name)
		json_object_set_new(line, "choice", name);
	line_say(line);
	return true;
}

static bool variable_say(const struct library *l, int idx, char *const *pattern, char *room)
{
	int name_len = NAME_BYTES, type_len = 0, desc_len = 0, verbosity, bind, scope, cnt;
	struct variable v = {.choices = 0};
	handle type = 0, cvar = 0;
	bool said;

	if (l->cvar_info(idx, v.name, &name_len, &verbosity, &type, &v.choices, NULL, &desc_len,
			 &bind, &scope) ||
	    !name_is_wanted(v.name, pattern) || l->type_name(type, v.type, &type_len) ||
	    l->cvar_alloc(idx, NULL, &cvar, &cnt))
		return false;
	said = variable_value(l, &v, cvar, cnt, room);
	l->cvar_free(&cvar);
	return said;
}

static void variables_say(const struct library *l, char *const *pattern)
{
	int provided, cnt = 0, said = 0;
	char *room = xmalloc(TEXT_BYTES);

	if (!l->t_init(0, &provided) && l->cvar_num(&cnt))
		cnt = 0;
	for (int i = 0; i < cnt; i++)
		said += variable_say(l, i, pattern, room);
	free(room);
	line_say(json_pack("{s:i}", "end", said));
}

static void all_say(const struct library *l, int ranks, char *const *pattern)
{
	char version[VERSION_BYTES] = "";
	json_t *text;
	int len = 0;

	l->version(version, &len);
	text = json_string(version);
	if (text)
		line_say(json_pack("{s:o}", "library", text));
	line_say(json_pack("{s:i}", "ranks", ranks));
	line_say(json_pack("{s:o}", "components", components_loaded()));
	pml_say(l);
	variables_say(l, pattern);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rank = 0, ranks = 0, none = 0;
	struct library l = {.file = NULL};

	log_set_program("povtrace-mpi-t");
	if (argc < 2 || *argv[1] != '/') {
		fputs("usage: mpirun -np 2 povtrace-mpi-t /PATH/OF/LIBRARY [PATTERN...]\n", stderr);
		return 2;
	}
	alarm(MPI_T_SECONDS); /* the process that started it may be gone */
	if (!library_load(&l, argv[1]))
		return 1;
	if (l.init(&none, NULL)) {
		log_error("MPI_Init failed");
		return 1;
	}
	l.comm_rank(library_comm_world(&l), &rank);
	l.comm_size(library_comm_world(&l), &ranks);
	if (!rank)
		all_say(&l, ranks, argv + 2);
	return l.finalize() ? 1 : 0;
}
