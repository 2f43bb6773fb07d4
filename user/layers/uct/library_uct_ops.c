/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A transport's class object (uct_ud_verbs_iface_t_class) is exported, and lies in the same section as its table. The function that the
 * table has for closing an interface names that class to UCX's classes, so a slot that leads to such a function is the table's slot
 * for it; the table's form follows from which slots around it are set. x86-64.
 */
#include "layers/uct/library_uct_ops.h"

#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

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

#if defined(__x86_64__)

#define SEARCH_BYTES 65536 /* around the class object */
#define CLOSE_INSNS_MAX 10
#define SLOT_BYTES 8

/* What a table of datagrams has of its first slots, in each form that there was. */
enum { PUT_SHORT, AM_SHORT, AM_SHORT_IOV, AM_BCOPY, AM_ZCOPY, OPS };
static const char *const op_names[OPS] = {
	[PUT_SHORT] = "put_short", [AM_SHORT] = "am_short", [AM_SHORT_IOV] = "am_short_iov",
	[AM_BCOPY] = "am_bcopy",   [AM_ZCOPY] = "am_zcopy",
};
static const struct form {
	uint8_t slot[OPS]; /* NO_SLOT: it has none */
	uint8_t close;
} forms[] = {
#define NO_SLOT 0xff
	{{0, 6, 7, 8, 9}, 45},	     /* 1.11 and later: 50 slots */
	{{0, 6, NO_SLOT, 7, 8}, 43}, /* 1.9, 1.10 */
	{{0, 6, NO_SLOT, 7, 8}, 42}, /* 1.8 */
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))
#define OPERATION_SLOTS 15 /* of data, in every form */

/* Whether code that begins at addr soon refers to an object, by itself or through a slot that is filled with its address. */
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

/* Of the first slots, exactly those of the form's operations lead to functions of this file. */
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

/* The form of the table of which slot_addr is the slot for closing, or NULL. */
static const struct form *form_of(const struct elf_file *f, uint64_t slot_addr)
{
	for (size_t i = 0; i < FORMS; i++)
		if (slot_addr >= SLOT_BYTES * forms[i].close &&
		    table_is(f, slot_addr - SLOT_BYTES * forms[i].close, &forms[i]))
			return &forms[i];
	return NULL;
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

#else

bool uct_ops_find(const struct elf_file *f, const char *transport, const char *operation,
		  struct elf_symbol *out)
{
	(void)f;
	(void)transport;
	(void)operation;
	(void)out;
	return false;
}

#endif
