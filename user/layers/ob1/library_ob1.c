/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Open MPI's point-to-point layer ob1. Its component description (mca_base_component_t, unchanged
 * since Open MPI 1.9) has its name and version. How it receives messages depends on the version.
 * The length of its shortest header depends on how it was built, and is read from the code that
 * checks it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "target/helper/library_kind.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

struct component { /* the beginning of mca_base_component_t */
	int mca_version[3];
	char project[16];
	int project_version[3];
	char type[32];
	int type_version[3];
	char name[64];
};

/*
 * Where a callback has the list of a message's parts: in mca_btl_base_descriptor_t, or in
 * mca_btl_base_receive_descriptor_t.
 */
static const struct {
	int major, minor_max;
	uint8_t arg;
	uint16_t off;
} handed[] = {
	{4, 1, 2, 56}, /* (btl, tag, descriptor, data) */
	{5, 0, 1, 8},  /* (btl, descriptor) */
};

static bool component_read(const struct elf_file *f, struct component *out)
{
	const struct elf_symbol *s = elf_file_find(f, "mca_pml_ob1_component");

	return s && s->is_object && s->size >= sizeof(*out) &&
	       elf_file_read_addr(f, s->addr, out, sizeof(*out)) == (long)sizeof(*out) &&
	       !strncmp(out->project, "ompi", sizeof(out->project)) &&
	       !strncmp(out->type, "pml", sizeof(out->type)) &&
	       !strncmp(out->name, "ob1", sizeof(out->name));
}

#define PROLOGUE_INSNS 64
#define PART_LENGTH_OFF 8

/* Reads the header's length: the function first returns if the message's first part is shorter. */
static int match_header_bytes(const struct elf_file *f)
{
	const struct elf_symbol *s = elf_file_find(f, "mca_pml_ob1_recv_frag_callback_match");
	struct x86_reader reader = {.f = f};
	uint64_t addr = s && s->is_func ? s->addr : 0;
	struct x86_insn insn;

	for (int i = 0; addr && i < PROLOGUE_INSNS && x86_decode(&reader, addr, &insn); i++) {
		const ZydisDecodedOperand *op = insn.op;

		addr += insn.z.length;
		if (insn.z.mnemonic != ZYDIS_MNEMONIC_CMP ||
		    op[0].type != ZYDIS_OPERAND_TYPE_MEMORY || op[0].size != 64 ||
		    op[0].mem.disp.value != PART_LENGTH_OFF ||
		    op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		/* "at most 13", "less than 14"; or 16 if its padding is sent, too */
		return op[1].imm.value.u == 13 || op[1].imm.value.u == 14 ? 14 :
		       op[1].imm.value.u == 15 || op[1].imm.value.u == 16 ? 16 :
									    0;
	}
	return 0;
}

static struct pov_lib layout_of(const int *version)
{
	struct pov_lib l = POV_LIB_UNKNOWN;

	for (size_t i = 0; i < sizeof(handed) / sizeof(handed[0]); i++) {
		if (version[0] != handed[i].major || version[1] > handed[i].minor_max)
			continue;
		l.message_arg = handed[i].arg;
		l.message_off = handed[i].off;
		l.flags = POV_LIB_HANDLE_PTR;
		l.type_size_off = 0x18; /* opal_datatype_t.size */
	}
	return l;
}

static bool ob1_describe(const struct elf_file *f, struct library_facts *out)
{
	struct component c;
	char version[64];

	if (!elf_file_defines(f, "mca_pml_ob1_component") || !component_read(f, &c))
		return false;
	snprintf(version, sizeof(version), "%d.%d.%d", c.project_version[0], c.project_version[1],
		 c.project_version[2]);
	out->layout = layout_of(c.project_version);
	out->meta = json_pack("{s:s,s:s,s:s,s:i}", "flavour", "ob1", "version", version, "unsure",
			      out->layout.message_off == POV_OFF_NONE ?
				      "unknown version: arriving messages are not read" :
				      "",
			      "match_header_bytes", match_header_bytes(f));
	out->copies = NULL;
	return true;
}

static unsigned int ob1_find(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2])
{
	syms[0] = elf_file_find(f, name);
	return syms[0] && syms[0]->is_func && syms[0]->has_offset;
}

const struct library_kind library_kind_ob1 = {
	.layer = "ob1",
	.describe = ob1_describe,
	.find = ob1_find,
};
