/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a row of the trace's function table. The row may come from another version of povtrace or
 * from a damaged file. Malformed rows are refused; unknown words are carried along.
 */
#include "layers/mpi/mpi_decode.h"

#include <ctype.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/table.h"

/* What functions of this base name do: an enum mpi_family, mpi_effect or win_event. */
struct named {
	const char *base;
	uint8_t what;
};

static const struct named collectives[] = {
	{"Barrier", FAMILY_BARRIER},
	{"Bcast", FAMILY_BCAST},
	{"Gather", FAMILY_GATHER},
	{"Gatherv", FAMILY_GATHER},
	{"Scatter", FAMILY_SCATTER},
	{"Scatterv", FAMILY_SCATTER},
	{"Allgather", FAMILY_ALLGATHER},
	{"Allgatherv", FAMILY_ALLGATHER},
	{"Alltoall", FAMILY_ALLTOALL},
	{"Alltoallv", FAMILY_ALLTOALL},
	{"Alltoallw", FAMILY_ALLTOALL},
	{"Reduce", FAMILY_REDUCE},
	{"Allreduce", FAMILY_ALLREDUCE},
	{"Scan", FAMILY_ALLREDUCE},
	{"Exscan", FAMILY_EXSCAN},
	{"Reduce_scatter", FAMILY_REDUCE_SCATTER},
	{"Reduce_scatter_block", FAMILY_REDUCE_SCATTER_BLOCK},
	{"Neighbor_allgather", FAMILY_NEIGHBOR_ALLGATHER},
	{"Neighbor_allgatherv", FAMILY_NEIGHBOR_ALLGATHER},
	{"Neighbor_alltoall", FAMILY_NEIGHBOR_ALLTOALL},
	{"Neighbor_alltoallv", FAMILY_NEIGHBOR_ALLTOALL},
	{"Neighbor_alltoallw", FAMILY_NEIGHBOR_ALLTOALL},
	{NULL, FAMILY_OTHER},
};

static const struct named effects[] = {
	{"Type_size", EFFECT_TYPE_SIZE},
	{"Type_size_x", EFFECT_TYPE_SIZE},
	{"Type_free", EFFECT_TYPE_FREE},
	{"Comm_size", EFFECT_COMM_SIZE},
	{"Comm_rank", EFFECT_COMM_RANK},
	{"Comm_remote_size", EFFECT_REMOTE_SIZE},
	{"Comm_split", EFFECT_COMM_SPLIT},
	{"Comm_split_type", EFFECT_COMM_SPLIT},
	{"Comm_create", EFFECT_COMM_CREATE},
	{"Comm_create_group", EFFECT_COMM_OF_GROUP},
	{"Comm_create_from_group", EFFECT_COMM_OF_GROUP},
	{"Comm_dup", EFFECT_COMM_DUP},
	{"Comm_dup_with_info", EFFECT_COMM_DUP},
	{"Comm_idup", EFFECT_COMM_DUP},
	{"Comm_idup_with_info", EFFECT_COMM_DUP},
	{"Stream_comm_create", EFFECT_COMM_DUP},
	{"Stream_comm_create_multiplex", EFFECT_COMM_DUP},
	{"Intercomm_create", EFFECT_INTERCOMM_NEW},
	{"Intercomm_create_from_groups", EFFECT_INTERCOMM_OF_GROUPS},
	{"Intercomm_merge", EFFECT_INTERCOMM_MERGE},
	{"Comm_accept", EFFECT_CONNECT},
	{"Comm_connect", EFFECT_CONNECT},
	{"Comm_join", EFFECT_CONNECT},
	{"Comm_spawn", EFFECT_SPAWN},
	{"Comm_spawn_multiple", EFFECT_SPAWN},
	{"Comm_get_parent", EFFECT_GET_PARENT},
	{"Cart_create", EFFECT_CART},
	{"Cart_sub", EFFECT_CART_SUB},
	{"Graph_create", EFFECT_GRAPH},
	{"Dist_graph_create", EFFECT_DIST_GRAPH},
	{"Dist_graph_create_adjacent", EFFECT_DIST_GRAPH},
	{"Dist_graph_neighbors_count", EFFECT_DEGREES},
	{"Comm_free", EFFECT_COMM_FREE},
	{"Comm_disconnect", EFFECT_COMM_FREE},
	{"Comm_group", EFFECT_COMM_GROUP},
	{"Comm_remote_group", EFFECT_REMOTE_GROUP},
	{"Group_incl", EFFECT_GROUP_INCL},
	{"Group_excl", EFFECT_GROUP_EXCL},
	{"Group_range_incl", EFFECT_GROUP_INCL},
	{"Group_range_excl", EFFECT_GROUP_EXCL},
	{"Group_union", EFFECT_GROUP_UNION},
	{"Group_intersection", EFFECT_GROUP_INTERSECTION},
	{"Group_difference", EFFECT_GROUP_DIFFERENCE},
	{"Group_from_session_pset", EFFECT_GROUP_OTHER},
	{"File_get_group", EFFECT_GROUP_OTHER},
	{"Win_allocate", EFFECT_WIN_NEW},
	{"Win_allocate_shared", EFFECT_WIN_NEW},
	{"Win_create", EFFECT_WIN_NEW},
	{"Win_create_dynamic", EFFECT_WIN_NEW},
	{"Win_free", EFFECT_WIN_FREE},
	{"File_open", EFFECT_FILE_NEW},
	{"File_close", EFFECT_FILE_FREE},
	{"Win_get_group", EFFECT_COMM_GROUP},
	{"Mprobe", EFFECT_MATCHED},
	{"Improbe", EFFECT_MATCHED},
	{NULL, EFFECT_NONE},
};

static const struct named window_events[] = {
	{"Win_free", WIN_TOGETHER},
	{"Win_fence", WIN_TOGETHER},
	{"Win_post", WIN_POST},
	{"Win_start", WIN_START},
	{"Win_complete", WIN_COMPLETE},
	{"Win_wait", WIN_WAIT},
	{"Win_test", WIN_WAIT},
	{"Win_lock", WIN_LOCK},
	{"Win_lock_all", WIN_LOCK},
	{"Win_unlock", WIN_UNLOCK},
	{"Win_unlock_all", WIN_UNLOCK},
	{"Win_flush", WIN_FLUSH},
	{"Win_flush_all", WIN_FLUSH},
	{"Win_flush_local", WIN_FLUSH_LOCAL},
	{"Win_flush_local_all", WIN_FLUSH_LOCAL},
	{NULL, WIN_NONE},
};

/* The entry of this name, or the last one of the list. */
static uint8_t named_find(const struct named *list, const char *base)
{
	while (list->base && strcmp(list->base, base))
		list++;
	return list->what;
}

static const char *const no_error_code[] = {
	"MPI_Wtime",
	"MPI_Wtick",
	"MPI_Aint_add",
	"MPI_Aint_diff",
	"MPIX_Query_cuda_support",
	"MPIX_Query_hip_support",
	"MPIX_Query_rocm_support",
	"MPIX_Query_ze_support",
	"MPIX_Request_is_complete",
	"MPIX_Async_get_state",
};

static bool strip_suffix(char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	if (len <= n || strcmp(s + len - n, suffix))
		return false;
	s[len - n] = '\0';
	return true;
}

/* MPI_Ialltoallv_c -> Ialltoallv; *init: it was a persistent operation's MPI_…_init */
static void base_name(const char *name, char *base, size_t bytes, bool *init)
{
	const char *bare = strchr(name, '_');

	strncpy(base, bare ? bare + 1 : name, bytes - 1);
	base[bytes - 1] = '\0';
	strip_suffix(base, "_c");
	*init = strip_suffix(base, "_init");
	strip_suffix(base, "_enqueue");
}

/*
 * Finds a collective's family; removes the I of nonblocking ones from base: Ialltoallv ->
 * Alltoallv.
 */
static uint8_t collective_find(char *base)
{
	uint8_t family;
	char plain[64];

	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		if (nonblocking && (base[0] != 'I' || !islower((unsigned char)base[1])))
			break;
		strcpy(plain, base + nonblocking);
		plain[0] = toupper((unsigned char)plain[0]);
		family = named_find(collectives, plain);
		if (family == FAMILY_OTHER)
			continue;
		strcpy(base, plain);
		return family;
	}
	return FAMILY_OTHER;
}

static bool func_has_role(const struct mpi_func *f, enum mpi_role role)
{
	return f->at[role] >= 0;
}

static bool func_passes_role(const struct mpi_func *f, enum mpi_role role)
{
	return func_has_role(f, role) && f->sig.arg[f->at[role]].dir == SIG_VALUE;
}

static uint8_t family_one_sided(const struct mpi_func *f)
{
	if (func_has_role(f, ROLE_result_buf))
		return FAMILY_GET_PUT;
	return !func_has_role(f, ROLE_op) && strcasestr(f->base, "get") ? FAMILY_GET : FAMILY_PUT;
}

static uint8_t family_find(struct mpi_func *f)
{
	bool buf = func_passes_role(f, ROLE_buf), dest = func_passes_role(f, ROLE_dest),
	     source = func_passes_role(f, ROLE_source);
	uint8_t family = collective_find(f->base);

	if (family != FAMILY_OTHER)
		return family;
	if (func_passes_role(f, ROLE_sendbuf) && dest && source)
		return FAMILY_SENDRECV;
	if (buf && dest && source)
		return FAMILY_SENDRECV_REPLACE;
	if (buf && dest)
		return FAMILY_SEND;
	if (buf && (source || func_has_role(f, ROLE_message)))
		return FAMILY_RECV;
	if (source && func_passes_role(f, ROLE_tag))
		return FAMILY_PROBE;
	if (func_has_role(f, ROLE_origin) && func_has_role(f, ROLE_target))
		return family_one_sided(f);
	if (func_has_role(f, ROLE_file) && buf)
		return strstr(f->base, "write") ? FAMILY_WRITE : FAMILY_READ;
	return FAMILY_OTHER;
}

static uint8_t request_find(const struct mpi_func *f, bool init)
{
	if (!func_has_role(f, ROLE_req))
		return REQUEST_NONE;
	switch (f->sig.arg[f->at[ROLE_req]].dir) {
	case SIG_OUT:
		return init ? REQUEST_INIT : REQUEST_START;
	case SIG_INOUT:
		if (!strncmp(f->base, "Start", 5))
			return REQUEST_RESTART;
		return strcmp(f->base, "Request_free") ? REQUEST_COMPLETE : REQUEST_FREE;
	case SIG_IN:
		return strcmp(f->base, "Cancel") ? REQUEST_NONE : REQUEST_CANCEL;
	default:
		return REQUEST_NONE;
	}
}

static uint8_t effect_find(const struct mpi_func *f)
{
	uint8_t effect = named_find(effects, f->base);

	if (effect != EFFECT_NONE)
		return effect;
	if (func_has_role(f, ROLE_newtype))
		return EFFECT_TYPE_NEW;
	return func_has_role(f, ROLE_newcomm) ? EFFECT_COMM_NEW : EFFECT_NONE;
}

static uint8_t window_find(const struct mpi_func *f)
{
	uint8_t event = named_find(window_events, f->base);

	if (event != WIN_NONE)
		return event;
	if (f->effect == EFFECT_WIN_NEW)
		return WIN_TOGETHER;
	return func_has_role(f, ROLE_win) && func_has_role(f, ROLE_target) ? WIN_ACCESS : WIN_NONE;
}

static uint8_t moves_find(const struct mpi_func *f)
{
	if (f->request == REQUEST_INIT)
		return 0;
	if (f->request == REQUEST_RESTART)
		return MOVES_OUT | MOVES_IN;
	switch (f->family) {
	case FAMILY_OTHER:
	case FAMILY_PROBE:
	case FAMILY_BARRIER:
		return 0;
	case FAMILY_SEND:
	case FAMILY_PUT:
	case FAMILY_WRITE:
		return MOVES_OUT;
	case FAMILY_RECV:
	case FAMILY_GET:
	case FAMILY_READ:
		return MOVES_IN;
	default:
		return MOVES_OUT | MOVES_IN;
	}
}

static bool returns_error(const char *name, const char *group)
{
	if (!strcmp(group, "conv"))
		return !strncmp(name, "MPI_Status_", 11);
	return !table_any(sizeof(no_error_code) / sizeof(*no_error_code), i,
			  !strcmp(no_error_code[i], name));
}

void mpi_func_init(const json_t *row, void *priv, struct func_info *out)
{
	const char *group = json_get_text(row, "group"), *name = json_get_text(row, "name");
	struct mpi_func *f = priv;
	bool init;

	memset(f->at, -1, sizeof(f->at));
	for (uint32_t i = 0; i < f->sig.nargs; i++)
		if (f->sig.arg[i].role_idx >= 0)
			f->at[f->sig.arg[i].role_idx] = i;
	base_name(name, f->base, sizeof(f->base), &init);
	f->family = family_find(f);
	f->request = request_find(f, init);
	f->effect = effect_find(f);
	f->window = window_find(f);
	f->returns_error = returns_error(name, group);
	out->file_io = !strcmp(group, "io");
	if (out->file_io && out->waits) /* the collective ones */
		f->window = WIN_TOGETHER;
	out->waits &= !out->file_io;
	out->moves = moves_find(f);
}
