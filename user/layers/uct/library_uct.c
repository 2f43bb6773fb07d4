/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * UCX's lower layer: libuct, and modules that add transports, each with its own part of the table.
 * A file is one of them if it defines a function that a transport has and that no other layer
 * calls.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "layers/uct/library_uct.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/helper/library_kind.h"
#include "target/x86/x86_code.h"

/* ---- tables of operations ---- */

/*
 * A transport's class object (uct_ud_verbs_iface_t_class) is exported, and is in the same section
 * as its table. The table's function for closing an interface refers to this class, so a slot with
 * such a function is the table's slot for it. The table's version follows from which slots around
 * it are set. x86-64 only.
 */

#define CLASS_NAME_BYTES 64

static bool class_name(const char *transport, char name[CLASS_NAME_BYTES])
{
	return snprintf(name, CLASS_NAME_BYTES, "uct_%s_iface_t_class", transport) <
	       CLASS_NAME_BYTES;
}

bool uct_ops_has(const struct elf_file *f, const char *transport)
{
	char name[CLASS_NAME_BYTES];

	return class_name(transport, name) && elf_file_defines(f, name);
}

#define SEARCH_BYTES 65536 /* bytes searched around the class object */
#define CLOSE_INSNS_MAX 10
#define SLOT_BYTES 8

/* The first slots of a datagram transport's table, in each version. */
enum { PUT_SHORT, AM_SHORT, AM_SHORT_IOV, AM_BCOPY, AM_ZCOPY, OPS };
static const char *const op_names[OPS] = {
	[PUT_SHORT] = "put_short", [AM_SHORT] = "am_short", [AM_SHORT_IOV] = "am_short_iov",
	[AM_BCOPY] = "am_bcopy",   [AM_ZCOPY] = "am_zcopy",
};
static const struct form {
	uint8_t slot[OPS]; /* NO_SLOT: this version has none */
	uint8_t close;
} forms[] = {
#define NO_SLOT 0xff
	{{0, 6, 7, 8, 9}, 45},	     /* 1.11 and later: 50 slots */
	{{0, 6, NO_SLOT, 7, 8}, 43}, /* 1.9, 1.10 */
	{{0, 6, NO_SLOT, 7, 8}, 42}, /* 1.8 */
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))
#define OPERATION_SLOTS 15 /* slots for data operations, in every version */

/*
 * Returns true if code at addr soon refers to an object, directly or through a slot with its
 * address.
 */
static bool code_names(const struct elf_file *f, uint64_t addr, const struct elf_symbol *object)
{
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;
	const char *symbol;
	uint64_t at;

	for (int i = 0; i < CLOSE_INSNS_MAX && x86_decode(&reader, addr, &insn); i++) {
		for (int o = 0; o < insn.z.operand_count_visible; o++) {
			if (!x86_rip_operand(&insn, &insn.op[o], &at))
				continue;
			symbol = elf_file_slot_symbol(f, at);
			if (at == object->addr || (symbol && !strcmp(symbol, object->name)))
				return true;
		}
		if (x86_ends_block(&insn))
			return false;
		addr += insn.z.length;
	}
	return false;
}

/*
 * Returns true if a table fits a version: its slots for data operations are set, they point to
 * functions of this file, and none of the other first slots is set.
 */
static bool table_is(const struct elf_file *f, uint64_t table, const struct form *form)
{
	struct elf_symbol sym;
	uint64_t function;

	for (uint8_t slot = 0; slot < OPERATION_SLOTS; slot++) {
		bool is_set = elf_file_pointer(f, table + SLOT_BYTES * slot, &function);

		if (is_set != (memchr(form->slot, slot, OPS) != NULL) ||
		    (is_set && !elf_file_function_at(f, function, &sym)))
			return false;
	}
	return true;
}

/* Returns the version of the table whose slot for closing is at slot_addr, or NULL. */
static const struct form *form_of(const struct elf_file *f, uint64_t slot_addr)
{
	return table_where(forms, FORMS, i,
			   slot_addr >= SLOT_BYTES * forms[i].close &&
				   table_is(f, slot_addr - SLOT_BYTES * forms[i].close, &forms[i]));
}

static const struct form *table_find(const struct elf_file *f, const struct elf_symbol *class,
				     uint64_t *table)
{
	uint64_t at = class->addr > SEARCH_BYTES ? class->addr - SEARCH_BYTES : 0, function;
	const struct form *form;

	for (at = (at + SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES; at < class->addr + SEARCH_BYTES;
	     at += SLOT_BYTES) {
		if (!elf_file_pointer(f, at, &function))
			continue;
		form = form_of(f, at);
		if (!form || !code_names(f, function, class))
			continue;
		*table = at - SLOT_BYTES * form->close;
		return form;
	}
	return NULL;
}

bool uct_ops_find(const struct elf_file *f, const char *transport, const char *operation,
		  struct elf_symbol *out)
{
	const struct elf_symbol *class;
	const struct form *form;
	char name[CLASS_NAME_BYTES];
	uint64_t table, function;
	int op = 0;

	while (op < OPS && strcmp(op_names[op], operation))
		op++;
	if (op == OPS || !class_name(transport, name))
		return false;
	class = elf_file_defines(f, name) ? elf_file_find(f, name) : NULL;
	form = class ? table_find(f, class, &table) : NULL;
	return form && form->slot[op] != NO_SLOT &&
	       elf_file_pointer(f, table + SLOT_BYTES * form->slot[op], &function) &&
	       elf_file_function_at(f, function, out) && out->has_offset;
}

/* ---- the library ---- */

/* Transports with functions in the table; those of scopy and sm are in libuct itself. */
static const char *const transports[] = {"mm",	    "rc_verbs", "rc_mlx5", "dc_mlx5", "ud_verbs",
					 "ud_mlx5", "gga_mlx5", "srd",	   "cma",     "knem"};

static bool uct_describe(const struct elf_file *f, struct library_facts *out)
{
	size_t i = 0, cnt = sizeof(transports) / sizeof(transports[0]);

	while (i < cnt && !uct_ops_has(f, transports[i]))
		i++;
	if (i == cnt)
		return false;
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour", "ucx", "version", "", "unsure", "");
	out->copies = NULL;
	return true;
}

/* The parts of a name: "uct_ud_verbs_ep_am_bcopy" is "ud_verbs" and "am_bcopy". */
struct operation {
	char transport[32];
	const char *name;
};

static bool operation_parse(const char *function, struct operation *out)
{
	const char *transport = function + strlen("uct_"), *mid = strstr(function, "_ep_");
	size_t len = mid ? (size_t)(mid - transport) : 0;

	if (!mid || len >= sizeof(out->transport))
		return false;
	memcpy(out->transport, transport, len);
	out->transport[len] = '\0';
	out->name = mid + strlen("_ep_");
	return true;
}

/*
 * Finds functions that rc_mlx5 shares with related transports, which have their own name since
 * 1.17.
 */
static const struct elf_symbol *find_shared(const struct elf_file *f, const char *name)
{
	struct operation op;
	char shared[96];

	if (!operation_parse(name, &op) || strcmp(op.transport, "rc_mlx5") != 0)
		return NULL;
	snprintf(shared, sizeof(shared), "uct_rc_mlx5_base_ep_%s", op.name);
	return elf_file_find(f, shared);
}

/*
 * Every transport that sends messages has this function; its other functions differ by version and
 * module.
 */
static bool is_sure(const struct elf_file *f, const char *name)
{
	struct operation op;

	return operation_parse(name, &op) && !strcmp(op.name, "am_bcopy") &&
	       uct_ops_has(f, op.transport);
}

static unsigned int uct_find(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2])
{
	syms[0] = elf_file_find(f, name) ?: find_shared(f, name);
	if (syms[0] && syms[0]->is_func && syms[0]->has_offset)
		return 1;
	return is_sure(f, name) ? 0 : FUNCTION_ELSEWHERE;
}

/* Finds the inner functions of the transports for unreliable datagrams. */
static size_t uct_inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	static const char *const names[] = {
		"uct_ud_verbs_ep_put_short",	"uct_ud_verbs_ep_am_short",
		"uct_ud_verbs_ep_am_short_iov", "uct_ud_verbs_ep_am_bcopy",
		"uct_ud_verbs_ep_am_zcopy",	"uct_ud_mlx5_ep_put_short",
		"uct_ud_mlx5_ep_am_short",	"uct_ud_mlx5_ep_am_short_iov",
		"uct_ud_mlx5_ep_am_bcopy",	"uct_ud_mlx5_ep_am_zcopy",
	};
	struct elf_symbol sym;
	struct operation op;
	size_t cnt = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (operation_parse(names[i], &op) && uct_ops_find(f, op.transport, op.name, &sym))
			out[cnt++] = (struct inner_function){names[i], sym.addr};
	return cnt;
}

const struct library_kind library_kind_uct = {
	.layer = "uct",
	.describe = uct_describe,
	.find = uct_find,
	.inner = uct_inner,
};
