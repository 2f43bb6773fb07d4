/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls all readers of an ELF file, however damaged. For the unit test and the fuzzer. */
#ifndef POV_TESTS_ELF_EXERCISE_H
#define POV_TESTS_ELF_EXERCISE_H

#include <stdlib.h>
#include <string.h>

#include "target/elf/function_callers.h"
#include "target/elf/elf_file.h"
#include "layers/mpi/library_mpi_layout.h"
#include "target/elf/passed_table.h"
#include "target/elf/probe_site.h"
#include "target/elf/sdt_notes.h"
#include "layers/verbs/library_verbs.h"
#include "layers/uct/library_uct.h"

#define EXERCISE_SYMBOLS_MAX 256

/*
 * Returns a sum over all results, so that a result with uninitialised or out-of-bounds bytes is
 * detected.
 */
static inline unsigned long elf_exercise(const struct elf_file *f)
{
	const struct elf_headers *h = elf_file_headers(f);
	const struct elf_symbol *sym, *two[2];
	struct verbs_slots slots = {.offset = {440, 432, 456, 424}, .table_bytes = 608};
	struct verbs_function verbs[8];
	struct binding_step *steps;
	struct sdt_note *notes;
	struct passed passed;
	struct mpi_library lib;
	unsigned long sum = h->dynamic;
	size_t cnt;
	uint64_t addr, bytes;
	char byte;

	sum += elf_file_defines(f, "PMPI_Init") + elf_file_defines(f, "main");
	sum += strlen(h->build_id) + strlen(h->soname) + strlen(h->runpath) +
	       strlen(h->interpreter);
	if (elf_file_section(f, ".rodata", &addr, &bytes))
		sum += addr + bytes;
	for (size_t i = 0; i < h->needed_cnt; i++)
		sum += strlen(h->needed[i]);
	cnt = elf_file_symbols(f, &sym);
	for (size_t i = 0; i < cnt && i < EXERCISE_SYMBOLS_MAX; i++) {
		struct elf_symbol found;
		struct probe_site site;
		const char *slot;

		sum += strlen(sym[i].name) + (elf_file_find(f, sym[i].name) != NULL);
		sum += elf_file_symbol_from(f, sym[i].addr) != NULL;
		if (elf_file_function_at(f, sym[i].addr + i % 2, &found))
			sum += found.size + strlen(found.name);
		if (elf_file_read_addr(f, sym[i].addr, &byte, 1) == 1)
			sum += (unsigned char)byte;
		if (sym[i].has_offset && !elf_file_offset_to_addr(f, sym[i].offset, &addr))
			sum += addr;
		if (!probe_site_choose(f, &sym[i], 6, &site))
			sum += site.skipped + strlen(site.insn) + strlen(site.why);
		slot = elf_file_slot_symbol(f, sym[i].addr);
		sum += slot ? strlen(slot) : 0;
		sum += elf_file_find_mpi(f, sym[i].name, two);
		if (elf_file_pointer(f, sym[i].addr, &addr))
			sum += addr;
		if (elf_file_function_around(f, sym[i].addr, &addr, &bytes))
			sum += addr + bytes;
		passed_find(f, sym[i].name, i % 2, &passed);
		sum += passed.address_cnt + passed.offset_cnt;
		sum += uct_ops_find(f, "ud_verbs", "am_bcopy", &found) ? found.addr : 0;
	}
	sum += verbs_functions_find(f, &slots, verbs, 8, &cnt);
	for (cnt = sdt_notes_read(f, &notes); cnt--;)
		sum += notes[cnt].addr + notes[cnt].offset + strlen(notes[cnt].provider) +
		       strlen(notes[cnt].name);
	free(notes);
	for (cnt = binding_steps_find(f, &steps); cnt--;)
		sum += steps[cnt].addr + steps[cnt].words;
	free(steps);
	if (!verbs_slots_read(f, &slots))
		sum += slots.offset[VERBS_POLL_CQ];
	if (mpi_library_probe(f, &lib) == 1) {
		sum += lib.named_cnt + strlen(lib.version) + strlen(lib.unsure) +
		       lib.layout.type_size_off;
		mpi_library_release(&lib);
	}
	return sum;
}

#endif
