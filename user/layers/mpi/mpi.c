/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The MPI layer: decodes the calls of a trace by the trace's own function table
 * (user/layers/mpi/mpi.def explains the rows). Supports Open MPI, MPICH and its relatives, and the
 * MPI standard's ABI. mpi_decode.h lists the steps of decoding; mpi_process.h holds what is learned
 * from one call for later ones.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "layers/mpi/mpi_decode.h"

struct layer_decoder {
	struct mpi_processes *processes;
	struct continuations more;
	struct arena arena; /* memory that the current view points to */
	uint64_t left_out;  /* how often calls that concern requests were reported missing */
};

static struct layer_decoder *decoder_new(void)
{
	struct layer_decoder *d = xcalloc(1, sizeof(*d));

	d->processes = mpi_processes_new();
	return d;
}

static void decoder_free(struct layer_decoder *d)
{
	if (!d)
		return;
	mpi_processes_free(d->processes);
	continuations_release(&d->more);
	arena_release(&d->arena);
	free(d);
}

static void decoder_meta(struct layer_decoder *d, const json_t *meta)
{
	mpi_processes_meta(d->processes, meta);
}

static void decoder_more(struct layer_decoder *d, const struct pov_more *more)
{
	continuations_add(&d->more, more);
}

/* Counts it if the missing calls concern requests: a handle may then be another request's. */
static void decoder_left_out(struct layer_decoder *d, const struct func_info *f)
{
	static const char *const groups[] = {"p2p",   "req", "part", "coll",
					     "neigh", "io",  "rma",  "ext"};

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		d->left_out += !strcmp(f->group, groups[i]);
}

static void decode(struct layer_decoder *d, const struct func_info *f, const struct pov_call *call,
		   struct call_view *out)
{
	struct mpi_process *process = mpi_processes_get(d->processes, call->tgid, call->lib,
							call->hdr.ts_ns);
	struct mpi_call c;

	arena_reset(&d->arena);
	out->nvalues = 0;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!mpi_call_open(&c, f, call, process, &d->more, &d->arena))
		return;
	out->roles.requests_forgotten = mpi_process_trim(process, d->left_out);
	if (call->hdr.kind == POV_KIND_UNSHOWN && call->hdr.flags & POV_CALL_OPEN) {
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
	continuations_done(&d->more, call->hdr.tid, c.begin_ns, call->depth);
}

/*
 * Name of a poll's argument of interest. If that points to a request, the word kept is its address.
 */
static const char *spin_arg_name(const struct func_info *f)
{
	const struct mpi_func *fn = f->priv;
	int arg = mpi_spin_arg(&fn->sig);

	if (arg < 0)
		return NULL;
	if (fn->sig.arg[arg].dir == SIG_VALUE)
		return fn->sig.arg[arg].role;
	return fn->sig.arg[arg].len == POV_LEN_ONE ? "req_address" : "reqs_address";
}

const struct layer layer_mpi = {
	.name = "mpi",
	.rows = mpi_rows,
	.row_cnt = MPI_ROW_CNT,
	.roles = mpi_sig_roles,
	.words = mpi_words,
	.recipe = mpi_recipe,
	.is_top = true,
	.func_parse = mpi_func_parse,
	.func_release = func_priv_free,
	.decoder_new = decoder_new,
	.decoder_free = decoder_free,
	.decoder_meta = decoder_meta,
	.decoder_more = decoder_more,
	.decoder_left_out = decoder_left_out,
	.decode = decode,
	.spin_arg_name = spin_arg_name,
};
