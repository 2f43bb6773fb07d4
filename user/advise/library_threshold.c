/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Limits of the eager protocol, their settings and their memory. kmod-docs/ADVISE.md lists which of
 * these facts were measured, with which version, and which come from the libraries' documentation.
 */
#include "advise/library_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "analysis/advice.h"

#define NAME_BYTES 256
#define FLAG_SEND_INPLACE 8	/* a bit of btl_*_flags */
#define VADER_HEADER_BYTES 64	/* a fragment's header and the padding in its list */
#define CELL_HEADERS_BYTES 1024 /* upper bound of MPICH's headers in a cell */
#define VBUF_HEADER_BYTES 128	/* upper bound of MVAPICH's headers in a buffer */

static struct library_value value_unknown(void)
{
	return (struct library_value){.by = LIBRARY_VALUE_UNKNOWN};
}

/* ---- Open MPI's ob1 ---- */

/*
 * ob1 subtracts its largest header from the limit, whatever header a message needs. That is 56
 * bytes in Open MPI 4 and 80 in 5, where an extended communicator ID precedes the largest header.
 * Returns 0 for other versions.
 */
static int64_t ob1_header_bytes(const struct library *l)
{
	int major = atoi(json_get_text(l->meta, "version"));

	return major == 4 ? 56 : major == 5 ? 80 : 0;
}

/* Returns "vader", "sm" or "tcp"; NULL: another transport. */
static const char *ob1_btl(const struct library *l, bool between_hosts)
{
	if (l->family != LIBRARY_OPENMPI || !ob1_header_bytes(l))
		return NULL;
	switch (library_path(l, between_hosts)) {
	case PATH_SHM:
		return library_openmpi_shm(l);
	case PATH_TCP:
		return "tcp";
	default:
		return NULL;
	}
}

static struct library_value btl_variable(const struct library *l, const char *btl, const char *of)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "btl_%s_%s", btl, of);
	return library_variable(l, name);
}

/* ---- the threshold ---- */

/* UCX_RNDV_THRESH is the smallest size that UCX sends by rendezvous. */
static struct library_value ucx_threshold(const struct library *l)
{
	struct library_value v = library_variable(l, "UCX_RNDV_THRESH");

	if (v.by != LIBRARY_VALUE_UNKNOWN && v.value != INT64_MAX)
		v.value--;
	return v.by != LIBRARY_VALUE_UNKNOWN && v.value < 0 ? value_unknown() : v;
}

/*
 * Reads a variable if it is positive. Some libraries report -1 for values that they choose by the
 * machine.
 */
static struct library_value positive(const struct library *l, const char *name)
{
	struct library_value v = library_variable(l, name);

	return v.value > 0 ? v : value_unknown();
}

struct library_value library_threshold(const struct library *l, bool between_hosts)
{
	const char *btl = ob1_btl(l, between_hosts);
	struct library_value v;

	if (btl) {
		v = btl_variable(l, btl, "eager_limit");
		v.value -= ob1_header_bytes(l);
		return v.value < 0 ? value_unknown() : v;
	}
	if (l->family == LIBRARY_INTEL)
		return positive(l, "I_MPI_EAGER_THRESHOLD");
	if (l->family == LIBRARY_MVAPICH)
		return positive(l, between_hosts ? "MV2_IBA_EAGER_THRESHOLD" : "MV2_SMP_EAGERSIZE");
	return library_path(l, between_hosts) == PATH_UCX ? ucx_threshold(l) : value_unknown();
}

struct library_value library_threshold_alone(const struct library *l, bool between_hosts)
{
	struct library_value v = library_threshold(l, between_hosts), flags, inline_max;
	const char *btl = ob1_btl(l, between_hosts);

	if (v.by == LIBRARY_VALUE_UNKNOWN || !btl || !strcmp(btl, "tcp"))
		return v;
	flags = btl_variable(l, btl, "flags");
	inline_max = btl_variable(l, btl, "max_inline_send");
	if (flags.by == LIBRARY_VALUE_UNKNOWN || inline_max.by == LIBRARY_VALUE_UNKNOWN)
		return value_unknown();
	if ((flags.value & FLAG_SEND_INPLACE) && inline_max.value < v.value)
		return inline_max;
	return v;
}

/* ---- settings ---- */

#define PAIRS_MAX 4

struct pairs {
	char name[PAIRS_MAX][NAME_BYTES];
	struct setting_pair pair[PAIRS_MAX];
	uint32_t n;
};

static void pair_add(struct pairs *p, uint64_t value, const char *name)
{
	snprintf(p->name[p->n], NAME_BYTES, "%s", name);
	p->pair[p->n] = (struct setting_pair){p->name[p->n], value};
	p->n++;
}

static void btl_pair_add(struct pairs *p, const char *btl, const char *of, uint64_t value)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "OMPI_MCA_btl_%s_%s", btl, of);
	pair_add(p, value, name);
}

static uint64_t ob1_limit(const struct library *l, uint64_t bytes)
{
	return bytes + (uint64_t)ob1_header_bytes(l);
}

/*
 * Returns the size of a segment that has room for its present contents and for as many fragments as
 * its list may hold. 0: unknown.
 */
static uint64_t segment_bytes(const struct library *l, const char *btl, uint64_t bytes)
{
	struct library_value cnt = btl_variable(l, btl, "free_list_max");
	struct library_value now = btl_variable(l, btl, "segment_size");

	if (cnt.value <= 0 || now.value <= 0 || bytes > UINT32_MAX)
		return 0;
	return (uint64_t)now.value +
	       (uint64_t)cnt.value * (ob1_limit(l, bytes) + VADER_HEADER_BYTES);
}

/*
 * The segment must grow with the limit: if the first fragments do not fit, Open MPI does without
 * shared memory and prints nothing. Without FLAG_SEND_INPLACE, a send ends when its data is copied;
 * with it, when the other side has taken the data.
 */
static void shm_pairs_add(const struct library *l, struct pairs *p, const char *btl, uint64_t bytes)
{
	struct library_value flags = btl_variable(l, btl, "flags");
	struct library_value limit = btl_variable(l, btl, "eager_limit");
	uint64_t segment = segment_bytes(l, btl, bytes);

	if (segment && (int64_t)ob1_limit(l, bytes) > limit.value)
		btl_pair_add(p, btl, "segment_size", segment);
	if (flags.by == LIBRARY_VALUE_MPI_T && (flags.value & FLAG_SEND_INPLACE))
		btl_pair_add(p, btl, "flags", (uint64_t)(flags.value & ~FLAG_SEND_INPLACE));
}

static uint64_t cell_bytes(uint64_t bytes)
{
	return (bytes + CELL_HEADERS_BYTES + 4095) & ~UINT64_C(4095);
}

static void mvapich_pairs_add(struct pairs *p, bool between_hosts, uint64_t bytes)
{
	if (!between_hosts) {
		pair_add(p, bytes, "MV2_SMP_EAGERSIZE");
		return;
	}
	pair_add(p, bytes, "MV2_IBA_EAGER_THRESHOLD");
	pair_add(p, bytes + VBUF_HEADER_BYTES, "MV2_VBUF_TOTAL_SIZE");
}

static void pairs_make(const struct library *l, bool between_hosts, uint64_t bytes, struct pairs *p)
{
	const char *btl = ob1_btl(l, between_hosts);

	p->n = 0;
	if (btl) {
		/* The limit is never lowered. */
		if ((int64_t)ob1_limit(l, bytes) > btl_variable(l, btl, "eager_limit").value)
			btl_pair_add(p, btl, "eager_limit", ob1_limit(l, bytes));
		if (strcmp(btl, "tcp") != 0)
			shm_pairs_add(l, p, btl, bytes);
	} else if (l->family == LIBRARY_INTEL) {
		pair_add(p, bytes, "I_MPI_EAGER_THRESHOLD");
	} else if (l->family == LIBRARY_MVAPICH) {
		mvapich_pairs_add(p, between_hosts, bytes);
	} else if (library_path(l, between_hosts) == PATH_UCX) {
		pair_add(p, bytes + 1, "UCX_RNDV_THRESH");
	} else if (l->family == LIBRARY_MPICH && library_path(l, between_hosts) == PATH_SHM) {
		pair_add(p, cell_bytes(bytes), "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE");
	}
}

char *library_threshold_setting(const struct library *l, bool between_hosts, uint64_t bytes)
{
	struct pairs p;

	pairs_make(l, between_hosts, bytes, &p);
	return p.n ? setting_pairs(l->trace, p.pair, p.n) : NULL;
}

/* ---- memory ---- */

static uint64_t buffers(int64_t cnt, const char *what, uint64_t bytes, char **text)
{
	char size[HUMAN_BYTES];

	*text = xasprintf("%" PRId64 " %s of %s", cnt, what,
			  human_bytes(size, sizeof(size), bytes));
	return (uint64_t)cnt * bytes;
}

uint64_t library_threshold_memory(const struct library *l, bool between_hosts, uint64_t bytes,
				  char **text)
{
	const char *btl = ob1_btl(l, between_hosts);
	struct library_value cnt = value_unknown();

	if (btl) {
		cnt = btl_variable(l, btl, "free_list_max");
		if (cnt.value > 0)
			return buffers(cnt.value, "buffers",
				       ob1_limit(l, bytes) + VADER_HEADER_BYTES, text);
	} else if (l->family == LIBRARY_MPICH && library_path(l, between_hosts) == PATH_SHM) {
		cnt = library_variable(l, "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS");
		if (cnt.value > 0)
			return buffers(cnt.value, "cells", cell_bytes(bytes), text);
	}
	*text = xstrdup("");
	return 0;
}
