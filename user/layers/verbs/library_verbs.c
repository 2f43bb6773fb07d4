/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libibverbs and its providers: one library for each kind of adapter, loaded at run time. Programs
 * reach a provider's functions for work requests only by pointers. The provider passes them to
 * libibverbs' verbs_set_ops, mostly as constant tables, which are found in the file. All others,
 * and those of queue pairs and extended completion queues, are found when they are passed. What a
 * process received before the recording is in its own contexts, queue pairs and completion queues.
 */
#include <stddef.h>
#include <string.h>

#include "target/handed_ops.h"
#include "target/helper/library_kind.h"
#include "target/elf/elf_file.h"
#include "layers/verbs/library_verbs_ops.h"

#define SET_OPS "verbs_set_ops"

/* On other machines the code is not read, and members of the public structs have other offsets. */
#if defined(__x86_64__)
#define IS_X86 true
#else
#define IS_X86 false
#endif

static const char *const op_names[VERBS_OP_CNT] = {
	[VERBS_POST_SEND] = "post_send",
	[VERBS_POST_RECV] = "post_recv",
	[VERBS_POST_SRQ_RECV] = "post_srq_recv",
	[VERBS_POLL_CQ] = "poll_cq",
};

static bool is_library(const struct elf_file *f)
{
	return elf_file_defines(f, SET_OPS);
}

static bool is_provider(const struct elf_file *f)
{
	const struct elf_headers *h = elf_file_headers(f);
	uint64_t slot;

	for (size_t i = 0; i < h->needed_cnt; i++)
		if (!strncmp(h->needed[i], "libibverbs.so", 13))
			return elf_file_slots_of(f, SET_OPS, &slot, 1);
	return false;
}

static bool verbs_describe(const struct elf_file *f, struct library_facts *out)
{
	bool library = is_library(f);

	if (!library && !is_provider(f))
		return false;
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s,s:b}", "flavour",
			      library ? "ibverbs" : "verbs-provider", "version", "", "unsure", "",
			      "met", IS_X86 && !library);
	out->copies = NULL;
	return true;
}

static unsigned int verbs_find(const struct elf_file *f, const char *name,
			       const struct elf_symbol *syms[2])
{
	bool exported = !strncmp(name, "ibv_", 4);

	/*
	 * Run time shows which functions of queue pairs and extended queues a provider has. Static
	 * probes are not functions.
	 */
	if (exported != is_library(f) ||
	    (!exported && (!strncmp(name, "wr_", 3) || !strncmp(name, "cq_", 3) ||
			   !strncmp(name, "rdma_core_", 10))))
		return FUNCTION_ELSEWHERE;
	syms[0] = exported ? elf_file_find(f, name) : NULL;
	return syms[0] && syms[0]->is_func && syms[0]->has_offset;
}

/*
 * Reads the library's slots. A provider is in the directory "libibverbs" beside the library, or, if
 * programs link with it, in the same directory.
 */
static bool library_slots(const struct elf_file *provider, struct verbs_slots *out)
{
	static const char *const names[] = {"../libibverbs.so.1", "libibverbs.so.1"};
	struct elf_file *library;
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++) {
		if (elf_file_open_beside(provider, names[i], &library))
			continue;
		found = !verbs_slots_read(library, out);
		elf_file_close(library);
	}
	return found;
}

static size_t verbs_inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	struct verbs_function functions[INNER_FUNCTIONS_MAX];
	struct verbs_slots slots;
	size_t cnt, tables;

	if (is_library(f) || !library_slots(f, &slots))
		return 0;
	cnt = verbs_functions_find(f, &slots, functions, INNER_FUNCTIONS_MAX, &tables);
	for (size_t i = 0; i < cnt; i++)
		out[i] = (struct inner_function){op_names[functions[i].op], functions[i].addr};
	return cnt;
}

/* Members of struct ibv_qp_ex, which has the same address as its struct ibv_qp. */
static const struct handover queue_pair = {
	.function = "ibv_qp_to_qp_ex",
	.arg = 0,
	.cnt = 20,
	.member = {{"wr_atomic_cmp_swp", 184},
		   {"wr_atomic_fetch_add", 192},
		   {"wr_bind_mw", 200},
		   {"wr_local_inv", 208},
		   {"wr_rdma_read", 216},
		   {"wr_rdma_write", 224},
		   {"wr_rdma_write_imm", 232},
		   {"wr_send", 240},
		   {"wr_send_imm", 248},
		   {"wr_send_inv", 256},
		   {"wr_send_tso", 264},
		   {"wr_set_ud_addr", 272},
		   {"wr_set_xrc_srqn", 280},
		   {"wr_set_inline_data", 288},
		   {"wr_set_inline_data_list", 296},
		   {"wr_set_sge", 304},
		   {"wr_set_sge_list", 312},
		   {"wr_start", 320},
		   {"wr_complete", 328},
		   {"wr_abort", 336}},
};

/* Members of struct ibv_cq_ex, which the provider has filled in by then. */
static const struct handover extended_queue = {
	.function = "verbs_init_cq",
	.arg = 0,
	.cnt = 3,
	.member = {{"cq_start_poll", 144}, {"cq_next_poll", 152}, {"cq_end_poll", 160}},
};

static size_t verbs_handovers(const struct elf_file *f, struct handover out[HANDOVERS_MAX])
{
	struct verbs_slots slots;
	struct handover *table = &out[2];

	if (!IS_X86 || !is_library(f))
		return 0;
	out[0] = queue_pair;
	out[1] = extended_queue;
	if (verbs_slots_read(f, &slots))
		return 2;
	*table = (struct handover){.function = SET_OPS, .arg = 1, .cnt = VERBS_OP_CNT};
	for (size_t i = 0; i < VERBS_OP_CNT; i++) {
		table->member[i].name = op_names[i];
		table->member[i].offset = slots.offset[i];
	}
	return 3;
}

/* ---- functions that a process has already received ---- */

/* Offsets in struct ibv_context and in its device. */
#define CONTEXT_BYTES 328
#define CONTEXT_POLL_CQ 96
#define CONTEXT_POST_SEND 208
#define CONTEXT_POST_RECV 216
#define CONTEXT_POST_SRQ_RECV 168
#define CONTEXT_COMPAT 320 /* all ones: more functions are before the context */
#define DEVICE_NAME 24
#define DEVICE_NAME_BYTES 64

static uint64_t member_read(const uint8_t *object, size_t offset)
{
	uint64_t value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

/* Returns true if a device has a plausible name: such names are short file names. */
static bool has_name(const struct handed_ops_memory *m, uint64_t device)
{
	char name[DEVICE_NAME_BYTES];
	size_t len;

	if (!handed_ops_read(m, device + DEVICE_NAME, name, sizeof(name)))
		return false;
	len = strnlen(name, sizeof(name));
	if (!len || len == sizeof(name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/')
			return false;
	return true;
}

static bool is_context(const struct handed_ops_memory *m, const uint8_t *object)
{
	return member_read(object, CONTEXT_COMPAT) == UINT64_MAX &&
	       has_name(m, member_read(object, 0));
}

/* Checks the context: queue pairs and completion queues begin with a pointer to theirs. */
static bool is_of_context(const struct handed_ops_memory *m, const uint8_t *object)
{
	static const uint16_t functions[] = {CONTEXT_POLL_CQ, CONTEXT_POST_SEND, CONTEXT_POST_RECV};
	uint8_t context[CONTEXT_BYTES];

	if (!handed_ops_read(m, member_read(object, 0), context, sizeof(context)))
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!handed_ops_text_of(m, member_read(context, functions[i])))
			return false;
	return is_context(m, context);
}

static const struct handover context_members = {
	.cnt = VERBS_OP_CNT,
	.member = {{"post_send", CONTEXT_POST_SEND},
		   {"post_recv", CONTEXT_POST_RECV},
		   {"post_srq_recv", CONTEXT_POST_SRQ_RECV},
		   {"poll_cq", CONTEXT_POLL_CQ}},
};

static const struct handed_ops_object handed_ops[] = {
	{&context_members,
	 {CONTEXT_POST_SEND, CONTEXT_POST_RECV, CONTEXT_POLL_CQ},
	 CONTEXT_BYTES,
	 is_context},
	{&queue_pair, {320, 328}, 344, is_of_context},
	{&extended_queue, {144, 152, 160}, 168, is_of_context},
	{0},
};

/*
 * Probes of rdma-core 62 and later, built with -DTRACING=USDT. Those of efa and hns have too few
 * arguments (kmod-docs/VERBS.md).
 */
static const struct note_row notes[] = {
	{"rdma_core_mlx5", "post_send", "rdma_core_mlx5_post_send", "post_send"},
	{"rdma_core_rxe", "post_send", "rdma_core_rxe_post_send", "post_send"},
	{NULL, NULL, NULL, NULL},
};

const struct library_kind library_kind_verbs = {
	.layer = "verbs",
	.describe = verbs_describe,
	.find = verbs_find,
	.inner = verbs_inner,
	.handovers = verbs_handovers,
	.handed_ops = IS_X86 ? handed_ops : NULL,
	.notes = notes,
};
