/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI's own part of a recipe: sizes of datatypes, polls that report success by an argument, and
 * what the kernel half learns about communicators.
 */
#include "layers/mpi/mpi_func.h"

#include <errno.h>
#include <string.h>

const struct func_row mpi_rows[MPI_ROW_CNT] = {
#define POV_FUNC(name, group, attrs, sig) {#name, #group, #attrs, sig},
#include "layers/mpi/mpi.def"
};

const struct sig_role mpi_sig_roles[] = {
#define POV_ROLE(role, type, kind) {#role, SIG_##type, SIG_KIND_##kind},
#include "layers/mpi/mpi.def"
	{NULL, 0, 0},
};

const struct func_word mpi_words[] = {
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
	{NULL, 0, 0},
};

int mpi_spin_arg(const struct signature *sig)
{
	static const char *const names[] = {"req", "comm", "win"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int arg = signature_find(sig, names[i]);

		if (arg >= 0)
			return arg;
	}
	return -1;
}

/*
 * A datatype's size is useful where a buffer of it is moved; that of the target's is not needed
 * then.
 */
static bool wants_size(const struct signature *sig, const struct sig_arg *a)
{
	static const char *const buffers[] = {"buf", "sendbuf", "inbuf", "origin"};

	if (a->kind != SIG_KIND_DTYPE || a->dir != SIG_VALUE || !strcmp(a->role, "tdtype"))
		return false;
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		if (signature_find_value(sig, buffers[i]) >= 0)
			return true;
	return false;
}

static int poll_set(const struct signature *sig, struct pov_fn *fn)
{
	int flag = signature_find(sig, "flag"), cnt = signature_find(sig, "outcount");
	int spin = mpi_spin_arg(sig);

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
		if (type >= 0) /* of one element, which is fetched or compared */
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

int mpi_recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out)
{
	int comm = signature_find_value(sig, "comm"), newcomm = signature_find(sig, "newcomm");
	struct pov_fn fn;
	int err = 0;

	recipe_init(sig, &fn);
	fn.flags = POV_FN_WRAPPED;
	if (comm >= 0)
		fn.comm_arg = comm;
	fn.learn = attrs->flags & FUNC_INIT  ? POV_LEARN_WORLD :
		   attrs->flags & FUNC_FINAL ? POV_LEARN_FINAL :
					       attrs->learn;
	if (newcomm >= 0) {
		fn.learn_arg = newcomm;
		if (POV_LEARN_RECORDED(fn.learn))
			fn.flags |= POV_FN_MAKES_COMM;
	}
	moved_find(sig, &fn);
	fn.made_arg = arg_or_none(signature_find(sig, "newtype"));
	fn.old_arg = arg_or_none(signature_find_value(sig, "oldtype"));
	if (attrs->flags & FUNC_POLL)
		err = poll_set(sig, &fn);
	if (!err)
		err = recipe_add_fetches(sig, wants_size, &fn);
	if (!err)
		*out = fn;
	return err;
}
