/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See library.h. */
#include "advise/library_internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"
#include "model/model.h"
#include "abi/config.h"
#include "analysis/advice.h"
#include "trace/trace_read.h"

#define NAME_BYTES 256

/* ---- identity ---- */

static bool is_mpi(const json_t *meta)
{
	const json_t *of = json_object_get(meta, "layers");

	return json_is_type(meta, "library") && json_get_int(meta, "id") != POV_LIB_KERNEL &&
	       (of ? json_has_text(of, "mpi") : *json_get_text(meta, "flavour"));
}

static const json_t *library_find(const struct trace *t)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		if (is_mpi(trace_meta_get(t, i)))
			return trace_meta_get(t, i);
	}
	return NULL;
}

/* Finds the first mapped file whose name starts with `base`. */
static const json_t *image_find(const struct trace *t, const char *base)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);
		const char *path = json_get_text(meta, "path"), *slash = strrchr(path, '/');

		if (json_is_type(meta, "image") && slash && !strncmp(slash + 1, base, strlen(base)))
			return meta;
	}
	return NULL;
}

static bool has_setting(const json_t *environment, const char *prefix)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)environment, name, value)
	{
		if (text_begins(name, prefix))
			return true;
	}
	return false;
}

/*
 * Derivatives of MPICH are recorded with its flavour. The directory of their files names the
 * vendor, or the ranks' environment has variables that only the derivative reads.
 */
static enum library_family family_of(const struct library *l)
{
	const char *flavour = json_get_text(l->meta, "flavour"),
		   *path = json_get_text(l->meta, "path");

	if (!strcmp(flavour, "openmpi"))
		return LIBRARY_OPENMPI;
	if (strcmp(flavour, "mpich") != 0)
		return LIBRARY_OTHER;
	if (strcasestr(path, "mvapich") || has_setting(l->environment, "MV2_"))
		return LIBRARY_MVAPICH;
	if (strcasestr(path, "intel") || strcasestr(path, "oneapi") || strcasestr(path, "impi"))
		return LIBRARY_INTEL;
	return has_setting(l->environment, "I_MPI_") ? LIBRARY_INTEL : LIBRARY_MPICH;
}

/* A trace's names may hold any bytes. Takes ownership of text. */
static char *printable(char *text)
{
	char *clean = text ? text_printable(text, UINT_MAX) : NULL;

	free(text);
	return clean;
}

static char *name_of(const struct library *l)
{
	static const char *const names[] = {
		[LIBRARY_OTHER] = "",	       [LIBRARY_OPENMPI] = "Open MPI",
		[LIBRARY_MPICH] = "MPICH",     [LIBRARY_INTEL] = "Intel MPI",
		[LIBRARY_MVAPICH] = "MVAPICH",
	};
	const char *name = names[l->family], *version = json_get_text(l->meta, "version");

	return printable(
		xasprintf("%s%s%s", name, *name && *version ? " " : "", *name ? version : ""));
}

struct library *library_new(const struct model *m, bool ask)
{
	struct library *l = xcalloc(1, sizeof(*l));

	l->trace = model_get_trace(m);
	l->meta = library_find(l->trace);
	l->environment = setting_environment(l->trace);
	l->family = family_of(l);
	l->name = name_of(l);
	l->ask = ask;
	l->inquiry = xcalloc(1, sizeof(*l->inquiry));
	return l;
}

void library_free(struct library *l)
{
	if (!l)
		return;
	library_answer_release(&l->inquiry->answer);
	free(l->inquiry->why_not);
	free(l->inquiry);
	free(l->name);
	free(l);
}

enum library_family library_family(const struct library *l)
{
	return l->family;
}

const char *library_name(const struct library *l)
{
	return l->name;
}

const char *library_environment(const struct library *l, const char *name)
{
	return json_string_value(json_object_get(l->environment, name));
}

/* ---- the library's answer ---- */

/* Finds the recorded launcher, by the names that the library's family uses. */
static const json_t *launcher_image(const struct library *l)
{
	static const char *const openmpi[] = {"mpirun.openmpi", "orterun", "prterun", "mpirun",
					      NULL};
	static const char *const hydra[] = {"mpiexec.hydra", NULL};
	const char *const *name = l->family == LIBRARY_OPENMPI ? openmpi : hydra;

	for (; *name; name++) {
		const json_t *image = image_find(l->trace, *name);

		if (image)
			return image;
	}
	return NULL;
}

static char *ask(const struct library *l)
{
	const json_t *launcher = launcher_image(l);
	struct library_question q = {
		.family = l->family,
		.path = json_get_text(l->meta, "path"),
		.build_id = json_get_text(l->meta, "build_id"),
		.launcher = json_get_text(launcher, "path"),
		.launcher_id = json_get_text(launcher, "build_id"),
		.settings = l->environment,
	};

	if (!l->ask)
		return xstrdup("--no-ask was given");
	if (l->family == LIBRARY_OTHER)
		return xstrdup(l->meta ? "its family is unknown" : "no MPI library was recorded");
	return library_ask(&q, &l->inquiry->answer);
}

/* Asks the library once. Returns NULL if it may not be asked or did not answer. */
static const struct library_answer *library_answer(const struct library *l)
{
	struct library_inquiry *t = l->inquiry;

	if (!t->asked) {
		t->why_not = printable(ask(l));
		t->answered = !t->why_not;
		t->asked = true;
	}
	return t->answered ? &t->answer : NULL;
}

const char *library_not_asked(const struct library *l)
{
	return l->inquiry->why_not;
}

/*
 * True if a component of the library, such as "mca_btl_tcp", is in use. Unknown components count as
 * not in use.
 */
static bool library_uses(const struct library *l, const char *component)
{
	const struct library_answer *a = library_answer(l);

	return a && json_has_text(a->components, component);
}

/*
 * Open MPI's parameters have a prefix in the environment. Other variables have the same name there.
 */
static const char *environment_name(const struct library *l, const char *name, char *room)
{
	if (l->family != LIBRARY_OPENMPI || isupper((unsigned char)*name))
		return name;
	snprintf(room, NAME_BYTES, "OMPI_MCA_%s", name);
	return room;
}

/* Returns a variable's text from MPI_T or the environment; NULL: unknown. */
static const char *library_text(const struct library *l, const char *name)
{
	const struct library_answer *a = library_answer(l);
	const char *text = a ? json_string_value(json_object_get(a->variable, name)) : NULL;
	char room[NAME_BYTES];

	return text ? text : library_environment(l, environment_name(l, name, room));
}

/* Reads "4096", "64k", "1mb" or "inf". Returns false for other texts. */
static bool number_read(const char *text, int64_t *out)
{
	static const char units[] = "kmgt";
	const char *unit;
	char *end;
	long long n;
	int shift = 0;

	if (!strcasecmp(text, "inf")) {
		*out = INT64_MAX;
		return true;
	}
	n = strtoll(text, &end, 10);
	if (end == text)
		return false;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (tolower((unsigned char)*end) == 'b')
		end++;
	if (*end || n > INT64_MAX >> shift || n < -(INT64_MAX >> shift))
		return false;
	*out = n * (INT64_C(1) << shift);
	return true;
}

/* Returns the object's own copy of a key, which lives as long as the object. */
static const char *key_of(const json_t *object, const char *name)
{
	return json_object_iter_key(json_object_iter_at((json_t *)object, name));
}

struct library_value library_variable(const struct library *l, const char *name)
{
	const struct library_answer *a = library_answer(l);
	const json_t *value = a ? json_object_get(a->variable, name) : NULL;
	char room[NAME_BYTES];
	const char *set;
	int64_t n;

	if (json_is_integer(value))
		return (struct library_value){LIBRARY_VALUE_MPI_T, key_of(a->variable, name),
					      json_integer_value(value)};
	name = environment_name(l, name, room);
	set = library_environment(l, name);
	if (!set || !number_read(set, &n))
		return (struct library_value){.by = LIBRARY_VALUE_UNKNOWN};
	return (struct library_value){LIBRARY_VALUE_ENVIRONMENT, key_of(l->environment, name), n};
}

/* ---- transports ---- */

/* "self,vader,tcp" contains tcp. "^tcp" and an unset list contain nothing. */
static bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	if (!list || *list == '^')
		return false;
	for (; *list; list += strspn(list, ",")) {
		if (strcspn(list, ",") == len && !strncmp(list, name, len))
			return true;
		list += strcspn(list, ",");
	}
	return false;
}

/* A component's variables exist while it is open. Open MPI closes a BTL that has no peer. */
static bool btl_open(const struct library *l, const char *btl)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "btl_%s_eager_limit", btl);
	if (library_answer(l))
		return library_variable(l, name).by == LIBRARY_VALUE_MPI_T;
	return list_has(library_environment(l, "OMPI_MCA_btl"), btl);
}

const char *library_openmpi_shm(const struct library *l)
{
	if (btl_open(l, "vader"))
		return "vader";
	/* Open MPI 4 has a component "sm" that only refers to vader. */
	return btl_open(l, "sm") ? "sm" : NULL;
}

static const char *pml_of(const struct library *l)
{
	const struct library_answer *a = library_answer(l);
	const char *set;

	if (a && *a->pml)
		return a->pml;
	set = library_text(l, "pml");
	return set && *set && *set != '^' && !strchr(set, ',') ? set : "";
}

static enum library_path openmpi_path(const struct library *l, bool between_hosts)
{
	static const char *const networks[] = {"openib", "uct", "ofi", "usnic", "portals4", "ugni"};
	const char *pml = pml_of(l);

	if (!strcmp(pml, "ucx"))
		return PATH_UCX;
	if (!strcmp(pml, "cm") && library_uses(l, "mca_mtl_ofi"))
		return PATH_OFI;
	if (strcmp(pml, "ob1") != 0)
		return PATH_UNKNOWN;
	if (!between_hosts && library_openmpi_shm(l))
		return PATH_SHM;
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		if (btl_open(l, networks[i]))
			return PATH_UNKNOWN;
	}
	return btl_open(l, "tcp") ? PATH_TCP : PATH_UNKNOWN;
}

/*
 * Reads the network from the library's build description, or else from the libraries that it
 * loaded.
 */
static enum library_path mpich_network(const struct library *l)
{
	const struct library_answer *a = library_answer(l);
	const char *device = a ? strstr(a->version, "Device:") : NULL;
	bool ucx, ofi;

	if (device) {
		device += strlen("Device:");
		device += strspn(device, " \t");
		ucx = !strncmp(device, "ch4:ucx", strlen("ch4:ucx"));
		ofi = !strncmp(device, "ch4:ofi", strlen("ch4:ofi"));
	} else {
		ucx = image_find(l->trace, "libucp.so");
		ofi = image_find(l->trace, "libfabric.so");
	}
	return ucx == ofi ? PATH_UNKNOWN : ucx ? PATH_UCX : PATH_OFI;
}

static bool is_set(const struct library *l, const char *name)
{
	const char *text = library_environment(l, name);
	struct library_value v = library_variable(l, name);

	return (v.by != LIBRARY_VALUE_UNKNOWN && v.value) ||
	       (text &&
		(!strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcasecmp(text, "on")));
}

/* Over UCX, MPICH leaves shared memory to UCX, unless it was built with its own. */
static enum library_path mpich_path(const struct library *l, bool between_hosts)
{
	enum library_path network = mpich_network(l);
	const struct library_answer *a = library_answer(l);
	const char *built;

	if (between_hosts || network == PATH_UNKNOWN || is_set(l, "MPIR_CVAR_NOLOCAL"))
		return network;
	built = a ? strstr(a->version, "-ch4-shmmods") : NULL;
	if (!built)
		return network == PATH_UCX ? PATH_UCX : PATH_SHM;
	built += strlen("-ch4-shmmods");
	if (*built != '=' || !strncmp(built, "=none", 5) || !strncmp(built, "=no", 3))
		return network; /* none, or --without-ch4-shmmods */
	return !strncmp(built, "=auto", 5) && network == PATH_UCX ? PATH_UCX : PATH_SHM;
}

/* The default is shm:ofi. A single word sets both. */
static enum library_path intel_path(const struct library *l, bool between_hosts)
{
	const char *set = library_environment(l, "I_MPI_FABRICS");
	const char *between = set ? strchr(set, ':') : NULL;

	between = between ? between + 1 : set;
	if (!between_hosts && (!set || !strncmp(set, "shm", 3)))
		return PATH_SHM;
	return !between || !strcmp(between, "ofi") ? PATH_OFI : PATH_UNKNOWN;
}

enum library_path library_path(const struct library *l, bool between_hosts)
{
	switch (l->family) {
	case LIBRARY_OPENMPI:
		return openmpi_path(l, between_hosts);
	case LIBRARY_MPICH:
		return mpich_path(l, between_hosts);
	case LIBRARY_INTEL:
		return intel_path(l, between_hosts);
	case LIBRARY_MVAPICH:
		return between_hosts ? PATH_UNKNOWN : PATH_SHM;
	default:
		return PATH_UNKNOWN;
	}
}

/* ---- settings other than thresholds ---- */

/* kmod-docs/FINDINGS_OVERLAP.md has the measured effect of these settings. */
char *library_progress_setting(const struct library *l, bool between_hosts, bool free_cores)
{
	const char *name = NULL;

	if (l->family == LIBRARY_OPENMPI && library_path(l, between_hosts) == PATH_TCP &&
	    library_variable(l, "btl_tcp_progress_thread").value != 1)
		name = "OMPI_MCA_btl_tcp_progress_thread";
	if (l->family == LIBRARY_MPICH && free_cores && !is_set(l, "MPIR_CVAR_ASYNC_PROGRESS"))
		name = "MPIR_CVAR_ASYNC_PROGRESS";
	if (l->family == LIBRARY_INTEL && free_cores && !is_set(l, "I_MPI_ASYNC_PROGRESS"))
		name = "I_MPI_ASYNC_PROGRESS";
	return name ? setting_pairs(l->trace, &(struct setting_pair){name, 1}, 1) : NULL;
}
