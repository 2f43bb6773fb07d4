/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libfabric contains most providers, and loads files with one provider each. The providers'
 * functions have no symbols: library_ofi_flow.c finds where tables of them are stored in objects.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/ofi/library_ofi.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/helper/library_kind.h"
#include "target/x86/x86_code.h"

/* ---- functions in tables ---- */

/*
 * A table's kind follows from the offset at which objects hold it. One offset is used by objects of
 * many kinds: the one after the members that all objects have in common. For tables at that offset,
 * the kind follows from the function that opens the object: the code that a domain's cq_open calls
 * makes completion queues. A domain's own table is the longest one at that offset. A table that is
 * held at two different offsets has no known kind. The layouts are libfabric's ABI since 1.0
 * (rdma/fabric.h, fi_endpoint.h, fi_tagged.h, fi_rma.h, fi_cm.h, fi_eq.h, fi_domain.h); additions
 * are at the tables' ends.
 */

#define NAMES_MAX 9
#define COMMON_OFF 16 /* offset, in every object, of the table of common operations */
#define COMMON_MEMBERS_MAX 6
#define OPS_OFF 24     /* offset, in every object, of its type-specific ops table */
#define OPS_MAX 64     /* offset of an endpoint's last table */
#define NEAR_BYTES 512 /* stores nearer in the code than this are for one object */
#define DOMAIN_MEMBERS_MIN 10
#define OPENERS 8   /* the first members of a domain's table, which open objects */
#define DEPTH_MAX 4 /* call depth from an opener to the store of the table */

enum opener { AV_OPEN, CQ_OPEN, ENDPOINT, OPENER_DOMAIN = OPENERS, OPENER_ANY };

static const struct kind {
	int64_t off;
	enum opener opener; /* what opens the object with this table at OPS_OFF */
	unsigned int members_min, members_max;
	const char *function[NAMES_MAX]; /* in the order of the table; NULL: not wanted */
} kinds[] = {
	{COMMON_OFF, OPENER_ANY, 4, COMMON_MEMBERS_MAX, {NULL, "fi_bind"}},
	{OPS_OFF, OPENER_DOMAIN, 0, 16, {"fi_av_open", "fi_cq_open", "fi_endpoint"}},
	{OPS_OFF, AV_OPEN, 7, 16, {"fi_av_insert"}},
	{OPS_OFF,
	 CQ_OPEN,
	 7,
	 16,
	 {"fi_cq_read", "fi_cq_readfrom", "fi_cq_readerr", "fi_cq_sread", "fi_cq_sreadfrom"}},
	{32, OPENER_ANY, 9, 9, {NULL, "fi_getname", NULL, "fi_connect"}},
	{40,
	 OPENER_ANY,
	 9,
	 9,
	 {"fi_recv", "fi_recvv", "fi_recvmsg", "fi_send", "fi_sendv", "fi_sendmsg", "fi_inject",
	  "fi_senddata", "fi_injectdata"}},
	{48,
	 OPENER_ANY,
	 9,
	 9,
	 {"fi_read", "fi_readv", "fi_readmsg", "fi_write", "fi_writev", "fi_writemsg",
	  "fi_inject_write", "fi_writedata", "fi_inject_writedata"}},
	{56,
	 OPENER_ANY,
	 9,
	 9,
	 {"fi_trecv", "fi_trecvv", "fi_trecvmsg", "fi_tsend", "fi_tsendv", "fi_tsendmsg",
	  "fi_tinject", "fi_tsenddata", "fi_tinjectdata"}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct table {
	uint64_t addr;
	int64_t off;
	unsigned int members;
	bool elsewhere; /* also held at another offset */
	/* bit set of members of domains' tables whose code leads to its store */
	unsigned int openers;
};

struct tables {
	const struct elf_file *f;
	struct fabric_store *store;
	size_t store_cnt;
	struct table *table;
	size_t cnt;
	struct map by_addr; /* address → struct table */
	unsigned int domain_members;
};

/*
 * Corrects offsets in an object that is a member of a larger one, if the code uses the larger one's
 * address. Such a case shows when the object's first two tables are stored near each other, at the
 * right distance. All offsets stored there are converted to offsets in the object itself.
 */
static void offsets_correct(struct tables *s, size_t i)
{
	struct fabric_store *store = s->store;
	int64_t base = store[i].off - OPS_OFF;
	size_t first = i, last = i;
	bool common = false;

	while (first && store[i].site - store[first - 1].site < NEAR_BYTES)
		first--;
	while (last + 1 < s->store_cnt && store[last + 1].site - store[i].site < NEAR_BYTES)
		last++;
	for (size_t k = first; k <= last; k++)
		common |= store[k].off == base + COMMON_OFF &&
			  fabric_table_members(s->f, store[k].table) <= COMMON_MEMBERS_MAX;
	for (size_t k = first; common && k <= last; k++)
		if (store[k].off >= base + COMMON_OFF && store[k].off <= base + OPS_MAX)
			store[k].off -= base;
}

static void tables_make(struct tables *s)
{
	struct table *t;

	for (size_t i = 0; i < s->store_cnt; i++)
		if (s->store[i].off > OPS_MAX &&
		    fabric_table_members(s->f, s->store[i].table) > COMMON_MEMBERS_MAX)
			offsets_correct(s, i);
	s->table = xcalloc(s->store_cnt + 1, sizeof(*s->table));
	for (size_t i = 0; i < s->store_cnt; i++) {
		const struct fabric_store *store = &s->store[i];

		t = map_get(&s->by_addr, store->table);
		if (t) {
			t->elsewhere |= t->off != store->off;
			continue;
		}
		t = &s->table[s->cnt++];
		*t = (struct table){.addr = store->table,
				    .off = store->off,
				    .members = fabric_table_members(s->f, store->table)};
		map_set(&s->by_addr, t->addr, t);
	}
	for (t = s->table; t < s->table + s->cnt; t++)
		if (!t->elsewhere && t->off == OPS_OFF && t->members > s->domain_members)
			s->domain_members = t->members;
	if (s->domain_members < DOMAIN_MEMBERS_MIN)
		s->domain_members = 0;
}

/* ---- what opens objects ---- */

struct walk {
	struct tables *s;
	unsigned int opener;
	struct map depth; /* function → depth at which it was found + 1, as a pointer */
};

/* Marks tables stored in [start, end) as belonging to what the opener opens. */
static void stores_mark(struct tables *s, uint64_t start, uint64_t end, unsigned int opener)
{
	size_t i = table_first(0, s->store_cnt, k, s->store[k].site >= start);

	for (; i < s->store_cnt && s->store[i].site < end; i++)
		((struct table *)map_get(&s->by_addr, s->store[i].table))->openers |= 1u << opener;
}

static void function_walk(struct walk *w, uint64_t addr, uintptr_t depth)
{
	struct x86_reader reader = {.f = w->s->f};
	uintptr_t met = (uintptr_t)map_get(&w->depth, addr);
	uint64_t end, target;
	struct elf_symbol sym;
	struct x86_insn insn;

	if (depth > DEPTH_MAX || (met && met <= depth) ||
	    !elf_file_function_at(w->s->f, addr, &sym))
		return;
	map_set(&w->depth, addr, (void *)depth);
	end = addr + sym.size;
	stores_mark(w->s, addr, end, w->opener);
	for (uint64_t at = addr; at < end && x86_decode(&reader, at, &insn); at += insn.z.length)
		if (x86_branch_target(&insn, &target) && (target < addr || target >= end))
			function_walk(w, target, depth + 1);
}

static void openers_follow(struct tables *s)
{
	uint64_t function;

	for (unsigned int k = 0; k < OPENERS; k++) {
		struct walk w = {.s = s, .opener = k};

		for (size_t i = 0; i < s->cnt; i++)
			if (s->table[i].off == OPS_OFF && !s->table[i].elsewhere &&
			    s->table[i].members == s->domain_members &&
			    fabric_table_member(s->f, s->table[i].addr, k, &function))
				function_walk(&w, function, 1);
		map_release(&w.depth);
	}
}

static bool shares_function(const struct tables *s, const struct table *a, const struct table *b)
{
	uint64_t of_a, of_b;

	for (unsigned int i = 0; i < a->members && i < b->members; i++)
		if (fabric_table_member(s->f, a->addr, i, &of_a) &&
		    fabric_table_member(s->f, b->addr, i, &of_b) && of_a == of_b)
			return true;
	return false;
}

/* Gives tables without a known opener the openers of tables that share functions with them. */
static void openers_share(struct tables *s)
{
	unsigned int *openers = xcalloc(s->cnt + 1, sizeof(*openers));

	for (size_t i = 0; i < s->cnt; i++)
		for (size_t k = 0; k < s->cnt && !s->table[i].openers; k++)
			if (s->table[k].openers && s->table[i].off == OPS_OFF &&
			    s->table[k].off == OPS_OFF &&
			    shares_function(s, &s->table[i], &s->table[k]))
				openers[i] |= s->table[k].openers;
	for (size_t i = 0; i < s->cnt; i++)
		s->table[i].openers |= openers[i];
	free(openers);
}

/* ---- functions ---- */

static bool is_of_kind(const struct tables *s, const struct table *t, const struct kind *k)
{
	if (t->elsewhere || t->off != k->off || t->members < k->members_min ||
	    t->members > k->members_max)
		return false;
	if (k->opener == OPENER_ANY)
		return true;
	if (k->opener == OPENER_DOMAIN)
		return t->members == s->domain_members;
	return t->members < s->domain_members && t->openers == 1u << k->opener;
}

/* Adds a function. If it is already there with another name, its name becomes unknown. */
static size_t function_add(struct fabric_function *out, size_t cnt, size_t max, uint64_t addr,
			   const char *name)
{
	for (size_t i = 0; i < cnt; i++) {
		if (out[i].addr != addr)
			continue;
		if (out[i].name && strcmp(out[i].name, name))
			out[i].name = NULL;
		return cnt;
	}
	if (cnt == max)
		return cnt;
	out[cnt] = (struct fabric_function){.name = name, .addr = addr};
	return cnt + 1;
}

static size_t functions_of(const struct tables *s, const struct table *t, const struct kind *k,
			   struct fabric_function *out, size_t cnt, size_t max)
{
	uint64_t addr;

	for (unsigned int i = 0; i < NAMES_MAX && i < t->members; i++)
		if (k->function[i] && fabric_table_member(s->f, t->addr, i, &addr))
			cnt = function_add(out, cnt, max, addr, k->function[i]);
	return cnt;
}

size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max)
{
	struct tables s = {.f = f};
	size_t cnt = 0, left = 0;

	s.store_cnt = fabric_flow_stores(f, &s.store);
	tables_make(&s);
	openers_follow(&s);
	openers_share(&s);
	for (size_t t = 0; t < s.cnt; t++)
		for (size_t k = 0; k < KINDS; k++)
			if (is_of_kind(&s, &s.table[t], &kinds[k]))
				cnt = functions_of(&s, &s.table[t], &kinds[k], out, cnt, max);
	for (size_t i = 0; i < cnt; i++)
		if (out[i].name)
			out[left++] = out[i];
	map_release(&s.by_addr);
	free(s.table);
	free(s.store);
	return left;
}

static bool is_fabric(const struct elf_file *f)
{
	return elf_file_defines(f, "fi_getinfo") && elf_file_defines(f, "fi_fabric");
}

/* fi_version returns a number: FI_VERSION(major, minor). */
static void version_read(const struct elf_file *f, char *version, size_t bytes)
{
	const struct elf_symbol *s = elf_file_find(f, "fi_version");
	struct x86_reader reader = {.f = f};
	uint64_t addr = s && s->is_func ? s->addr : 0, v;
	struct x86_insn insn;

	for (int i = 0; addr && i < 3 && x86_decode(&reader, addr, &insn); i++) {
		addr += insn.z.length;
		if (insn.z.mnemonic != ZYDIS_MNEMONIC_MOV ||
		    insn.op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		v = insn.op[1].imm.value.u;
		snprintf(version, bytes, "%u.%u", (unsigned int)(v >> 16 & 0xffff),
			 (unsigned int)(v & 0xffff));
		return;
	}
	version[0] = '\0';
}

static bool ofi_describe(const struct elf_file *f, struct library_facts *out)
{
	char version[32];

	if (!is_fabric(f) && !elf_file_defines(f, "fi_prov_ini"))
		return false;
	version_read(f, version, sizeof(version));
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour",
			      is_fabric(f) ? "libfabric" : "libfabric provider", "version", version,
			      "unsure", "");
	out->copies = NULL;
	return true;
}

/* No function has a symbol. */
static unsigned int ofi_find(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2])
{
	syms[0] = NULL;
	return 0;
}

static size_t ofi_inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	struct fabric_function found[INNER_FUNCTIONS_MAX];
	size_t cnt = fabric_ops_find(f, found, INNER_FUNCTIONS_MAX);

	for (size_t i = 0; i < cnt; i++)
		out[i] = (struct inner_function){.name = found[i].name, .addr = found[i].addr};
	return cnt;
}

const struct library_kind library_kind_ofi = {
	.layer = "ofi",
	.describe = ofi_describe,
	.find = ofi_find,
	.inner = ofi_inner,
};
