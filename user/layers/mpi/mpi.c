/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The MPI layer: decodes the calls of a trace by the trace's own function table
 * (user/layers/mpi/mpi.def explains the rows). Supports Open MPI, MPICH and its relatives, and the
 * MPI standard's ABI. mpi_decode.h lists the steps of decoding; mpi_process.h holds what is learned
 * from one call for later ones.
 */
#include <errno.h>
#include <string.h>

#include "lib/table.h"
#include "layers/mpi/mpi_decode.h"

#define LAYER_DEF "layers/mpi/mpi.def"
#include "layers/layer_rows.h"

static const struct func_word words[] = {
	{"COMM_SIZE", 0, POV_LEARN_COMM_SIZE},
	{"COMM_RANK", 0, POV_LEARN_COMM_RANK},
	{"REMOTE_SIZE", 0, POV_LEARN_REMOTE_SIZE},
	{"CART", 0, POV_LEARN_CART},
	{"DIST_ADJ", 0, POV_LEARN_DIST_ADJ},
	{"DEGREES", 0, POV_LEARN_DEGREES},
	{"GRAPH_DEGREE", 0, POV_LEARN_GRAPH_DEGREE},
	{"COMM_FREE", 0, POV_LEARN_COMM_FREE},
	{"TYPE_FREE", 0, POV_LEARN_TYPE_FREE},
	{"MEMBERS", 0, POV_LEARN_MEMBERS},
	{"COPY", 0, POV_LEARN_COPY},
	{"INTER", 0, POV_LEARN_INTER},
	{"ALIKE", 0, POV_LEARN_ALIKE},
	{NULL, 0, 0},
};

/* Index of the argument that a poll asks about (request, communicator, window), or -1. */
static int spin_arg_find(const struct signature *sig)
{
	static const char *const names[] = {"req", "comm", "win"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int arg = signature_find(sig, names[i]);

		if (arg >= 0)
			return arg;
	}
	return -1;
}

/* ---- recipes ---- */

/*
 * Returns true for datatypes whose size is read: those that describe a buffer of this process. The
 * size of the target's datatype is not needed then. If a function also returns a result, the
 * origin's datatype is not read: with MPI_NO_OP, MPI ignores it, and it may be invalid.
 */
static bool wants_size(const struct signature *sig, const struct sig_arg *a)
{
	static const char *const buffers[] = {"buf", "sendbuf", "inbuf", "origin"};

	if (a->kind != SIG_KIND_DTYPE || a->dir != SIG_VALUE || !strcmp(a->role, "tdtype") ||
	    (!strcmp(a->role, "odtype") && signature_find_value(sig, "result_dtype") >= 0))
		return false;
	return table_any(sizeof(buffers) / sizeof(*buffers), i,
			 signature_find_value(sig, buffers[i]) >= 0);
}

static int poll_set(const struct signature *sig, struct pov_fn *fn)
{
	int flag = signature_find(sig, "flag"), cnt = signature_find(sig, "outcount");
	int spin = spin_arg_find(sig);

	if (flag < 0 && cnt < 0)
		return -EINVAL;
	fn->flags |= flag >= 0 ? POV_FN_POLL : POV_FN_POLL | POV_FN_BY_COUNT;
	fn->poll_arg = flag >= 0 ? flag : cnt;
	fn->spin_arg = spin >= 0 ? spin : POV_ARG_NONE;
	return 0;
}

static void moved_set(const struct signature *sig, int count, int type, int peer, struct pov_fn *fn)
{
	if (type < 0)
		return;
	fn->type_arg = type;
	fn->count_arg = count >= 0 ? count : POV_ARG_NONE;
	fn->count_bytes = count >= 0 && sig->arg[count].type == SIG_WIDE ? 8 : 4;
	fn->peer_arg = peer >= 0 ? peer : POV_ARG_NONE;
}

/*
 * Sets how the bytes of counted calls are computed. They are known if one count and one datatype
 * give them, and data move one way only, or equally both ways.
 */
static void moved_find(const struct signature *sig, struct pov_fn *fn)
{
	int dest = signature_find_value(sig, "dest"), source = signature_find_value(sig, "source");
	int target = signature_find_value(sig, "target"), type = signature_find_value(sig, "dtype");
	int peer = dest >= 0 ? dest : source;
	bool to_file = signature_find_value(sig, "file") >= 0;

	if (signature_find_value(sig, "origin") >= 0 && target >= 0) {
		if (type >= 0) /* one element is fetched or compared */
			moved_set(sig, -1, type, target, fn);
		else if (signature_find_value(sig, "result_dtype") < 0)
			moved_set(sig, signature_find_value(sig, "ocount"),
				  signature_find_value(sig, "odtype"), target, fn);
	} else if (signature_find_value(sig, "buf") >= 0 &&
		   signature_find_value(sig, "count") >= 0 &&
		   signature_find_value(sig, "partitions") < 0 && !(dest >= 0 && source >= 0) &&
		   (peer >= 0 || to_file || signature_find(sig, "message") >= 0)) {
		moved_set(sig, signature_find_value(sig, "count"), type, peer, fn);
	}
}

static uint8_t arg_or_none(int arg)
{
	return arg >= 0 ? (uint8_t)arg : POV_ARG_NONE;
}

/*
 * Returns the index of the argument that names the only rank with which an argument's data are
 * exchanged, or -1.
 */
static int peer_of(const struct signature *sig, const char *role)
{
	static const char *const peers[] = {"target", "root"};
	int dest = signature_find_value(sig, "dest"), source = signature_find_value(sig, "source");
	int peer = *role == 's' ? dest : *role == 'r' ? source : -1;

	if (peer < 0 && (dest < 0 || source < 0))
		peer = dest >= 0 ? dest : source;
	for (size_t i = 0; peer < 0 && i < sizeof(peers) / sizeof(peers[0]); i++)
		peer = signature_find_value(sig, peers[i]);
	return peer;
}

/*
 * Sets when counts, datatypes and lists are valid. If MPI ignores them in a call, they may point
 * anywhere, and a process that records its own calls must not follow them.
 */
static void limits_set(const struct signature *sig, struct pov_fn *fn)
{
	for (uint32_t i = 0; i < fn->nfetch; i++) {
		struct pov_fetch *fe = &fn->fetch[i];
		const char *role = sig->arg[fe->arg].role;

		if (!strcmp(role, "scount") || !strcmp(role, "sdtype"))
			fe->buf_arg = arg_or_none(signature_find_value(sig, "sendbuf"));
		else if (!strcmp(role, "rcount") || !strcmp(role, "rdtype"))
			fe->buf_arg = arg_or_none(signature_find_value(sig, "recvbuf"));
		if (fe->op == POV_FETCH_TYPE_SIZE && fe->len == POV_LEN_ONE)
			fe->len_arg = arg_or_none(peer_of(sig, role));
	}
}

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int comm = signature_find_value(sig, "comm"), newcomm = signature_find(sig, "newcomm");
	int err = 0;

	fn->flags = POV_FN_WRAPPED;
	if (comm >= 0)
		fn->comm_arg = comm;
	fn->learn = attrs->flags & FUNC_INIT  ? POV_LEARN_WORLD :
		    attrs->flags & FUNC_FINAL ? POV_LEARN_FINAL :
						attrs->learn;
	if (newcomm >= 0) {
		fn->learn_arg = newcomm;
		if (POV_LEARN_RECORDED(fn->learn))
			fn->flags |= POV_FN_MAKES_COMM;
	} else if (fn->learn == POV_LEARN_INTER) {
		fn->learn_arg = signature_find(sig, "parent");
	}
	moved_find(sig, fn);
	fn->made_arg = arg_or_none(signature_find(sig, "newtype"));
	fn->old_arg = arg_or_none(signature_find_value(sig, "oldtype"));
	if (attrs->flags & FUNC_POLL)
		err = poll_set(sig, fn);
	if (!err)
		err = recipe_add_fetches(sig, wants_size, fn);
	limits_set(sig, fn);
	return err;
}

/* ---- decoding ---- */

struct mpi_decoder {
	struct layer_decoder base;
	struct mpi_processes *processes;
	uint64_t left_out; /* how often calls that concern requests were reported missing */
};

static void decoder_init(struct layer_decoder *d)
{
	((struct mpi_decoder *)d)->processes = mpi_processes_new();
}

static void decoder_release(struct layer_decoder *d)
{
	mpi_processes_free(((struct mpi_decoder *)d)->processes);
}

static void decoder_meta(struct layer_decoder *d, const json_t *meta)
{
	mpi_processes_meta(((struct mpi_decoder *)d)->processes, meta);
}

/*
 * Counts missing calls of f if they concern requests: a handle may then stand for another request.
 */
static void decoder_left_out(struct layer_decoder *d, const struct func_info *f)
{
	((struct mpi_decoder *)d)->left_out +=
		(f->group_bit & (GROUP_P2P | GROUP_REQ | GROUP_PART | GROUP_COLL | GROUP_NEIGH |
				 GROUP_IO | GROUP_RMA | GROUP_EXT)) != 0;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct mpi_decoder *d = (struct mpi_decoder *)base;
	const struct pov_call *rec = call->rec;
	struct mpi_process *process = mpi_processes_get(d->processes, rec->tgid, rec->lib,
							rec->hdr.ts_ns);
	struct mpi_call c;

	mpi_call_open(&c, call, process, base);
	out->roles.requests_forgotten = mpi_process_trim(process, d->left_out);
	if (rec->hdr.kind == POV_KIND_UNSHOWN && rec->hdr.flags & POV_CALL_OPEN) {
		mpi_announce(&c);
		return;
	}
	mpi_learn(&c);
	if (!out->roles_only)
		mpi_values(&c, out);
	mpi_roles(&c, out);
	mpi_window(&c, out);
	mpi_requests(&c, out);
	mpi_open(&c, out);
	mpi_mark(&c, out);
	mpi_forget(&c);
}

/*
 * Returns the name of the argument that identifies a poll. If it is a pointer to requests, the
 * recorded word is their address.
 */
static const char *spin_arg_name(const struct func_info *f)
{
	const struct mpi_func *fn = f->priv;
	int arg = spin_arg_find(&fn->sig);

	if (arg < 0)
		return NULL;
	if (fn->sig.arg[arg].dir == SIG_VALUE)
		return fn->sig.arg[arg].role;
	return fn->sig.arg[arg].len == POV_LEN_ONE ? "req_address" : "reqs_address";
}

const struct layer layer_mpi = {
	.name = "mpi",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.is_top = true,
	.func_bytes = sizeof(struct mpi_func),
	.func_init = mpi_func_init,
	.decoder_bytes = sizeof(struct mpi_decoder),
	.decoder_init = decoder_init,
	.decoder_release = decoder_release,
	.has_more = true,
	.decoder_meta = decoder_meta,
	.decoder_left_out = decoder_left_out,
	.decode = decode,
	.spin_arg_name = spin_arg_name,
};
