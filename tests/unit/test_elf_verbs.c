/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions of verbs providers, both installed ones and one made for the test. The installed
 * libibverbs confirms the layout of the tables: it gets a table of numbers and shows where it puts
 * which of them.
 */
#include <dlfcn.h>
#include <glob.h>

#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "target/elf/passed_table.h"
#include "layers/verbs/library_verbs.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

#define PROVIDERS "/usr/lib/*/libibverbs/*-rdmav*.so"
#define FUNCTIONS_MAX 32
#define TABLE_SLOTS 128
#define PRIVATE_BYTES 8192

static struct elf_file *library_open(void)
{
	glob_t found;
	struct elf_file *f = NULL;

	if (!glob("/usr/lib/*/libibverbs.so.1", 0, NULL, &found))
		assert_int_equal(elf_file_open(found.gl_pathv[0], &f), 0);
	globfree(&found);
	if (!f)
		skip_because("libibverbs is not installed");
	return f;
}

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>

TEST(slots)
{
	struct elf_file *f = library_open();
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW), *table[TABLE_SLOTS],
	     *in_context[VERBS_OP_CNT];
	struct verbs_context *v = calloc(1, sizeof(*v));
	void (*set_ops)(struct verbs_context * context, void *const *ops);
	struct verbs_slots slots;

	*(void **)&set_ops = lib ? dlsym(lib, "verbs_set_ops") : NULL;
	assert_non_null(set_ops);
	v->sz = sizeof(*v);
	v->priv = calloc(1, PRIVATE_BYTES);
	for (uintptr_t i = 0; i < TABLE_SLOTS; i++)
		table[i] = (void *)(i * sizeof(void *) + 1);
	set_ops(v, table);
	in_context[VERBS_POST_SEND] = (void *)v->context.ops.post_send;
	in_context[VERBS_POST_RECV] = (void *)v->context.ops.post_recv;
	in_context[VERBS_POST_SRQ_RECV] = (void *)v->context.ops.post_srq_recv;
	in_context[VERBS_POLL_CQ] = (void *)v->context.ops.poll_cq;
	assert_int_equal(verbs_slots_read(f, &slots), 0);
	for (int op = 0; op < VERBS_OP_CNT; op++)
		assert_int_equal(slots.offset[op], (uintptr_t)in_context[op] - 1);
	free(v->priv);
	free(v);
	dlclose(lib);
	elf_file_close(f);
}

#else

TEST(slots)
{
	skip_because("libibverbs-dev is not installed");
}

#endif

/* Other functions with the same shape are not trusted. */
TEST(no_slots)
{
	struct elf_file *self;
	struct verbs_slots slots;
	struct passed passed;

	assert_int_equal(elf_file_open("/proc/self/exe", &self), 0);
	assert_true(verbs_slots_read(self, &slots) < 0);
	passed_find(self, "verbs_set_ops", 1, &passed);
	assert_int_equal(passed.address_cnt + passed.offset_cnt, 0);
	elf_file_close(self);
}

/*
 * Asserts that each is a function and that none is missing. Returns the number of poll functions.
 */
static unsigned int functions_check(const struct elf_file *provider, const char *path,
				    const struct verbs_function *functions, size_t cnt)
{
	unsigned int of_op[VERBS_OP_CNT] = {0};
	struct elf_symbol sym;

	for (size_t i = 0; i < cnt; i++) {
		assert_true(elf_file_function_at(provider, functions[i].addr, &sym));
		of_op[functions[i].op]++;
	}
	if (!of_op[VERBS_POST_SEND] || !of_op[VERBS_POST_RECV] || !of_op[VERBS_POLL_CQ])
		fail_msg("%s: not all of its functions", path);
	return of_op[VERBS_POLL_CQ];
}

TEST(providers)
{
	struct elf_file *library = library_open(), *provider;
	struct verbs_function functions[FUNCTIONS_MAX];
	struct verbs_slots slots;
	size_t cnt, tables, polls;
	glob_t found;

	assert_int_equal(verbs_slots_read(library, &slots), 0);
	elf_file_close(library);
	if (glob(PROVIDERS, 0, NULL, &found))
		skip_because("ibverbs-providers is not installed");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		assert_int_equal(elf_file_open(found.gl_pathv[i], &provider), 0);
		cnt = verbs_functions_find(provider, &slots, functions, FUNCTIONS_MAX, &tables);
		polls = functions_check(provider, found.gl_pathv[i], functions, cnt);
		/*
		 * mlx5 has two functions, for two versions of completions, each with its own table.
		 */
		if (strstr(found.gl_pathv[i], "mlx5"))
			assert_true(polls == 2 && tables >= 2);
		else
			assert_true(tables > 0);
		elf_file_close(provider);
	}
	globfree(&found);
}

/*
 * A provider that reads its tables' addresses from a variable, and from its data about the adapters
 * that it registers.
 */
static const char kept_source[] =
	"typedef void fn(void);\n"
	"struct ops { fn *slot[76]; };\n"
	"struct kept { int version; struct ops ops; };\n"
	"struct match { const void *data, *alias; short vendor, device; char kind; };\n"
	"struct driver { const char *name; int min, max; const struct match *match; };\n"
	"struct device { void *context; const struct kept *kept; };\n"
	"void verbs_set_ops(void *context, const struct ops *ops);\n"
	"void verbs_register_driver_34(const struct driver *driver);\n"
	"static volatile int calls;\n"
	"#define FUNCTIONS(name, n) \\\n"
	"	static void name##_send(void) { calls += 10 * n + 1; } \\\n"
	"	static void name##_recv(void) { calls += 10 * n + 2; } \\\n"
	"	static void name##_poll(void) { calls += 10 * n + 3; }\n"
	"FUNCTIONS(first, 1) FUNCTIONS(second, 2) FUNCTIONS(broken, 3)\n"
	"FUNCTIONS(unlisted, 4) FUNCTIONS(variable, 5)\n"
	"#define SLOTS(name) [53] = name##_poll, [54] = name##_recv, [55] = name##_send\n"
	"static const struct kept first = {1, {{SLOTS(first)}}};\n"
	"static const struct kept second = {2, {{SLOTS(second)}}};\n"
	"static const struct kept broken = {3, {{SLOTS(broken), [9] = (fn *)&broken}}};\n"
	"static const struct kept unlisted = {4, {{SLOTS(unlisted)}}};\n"
	"static const struct ops variable = {{SLOTS(variable)}};\n"
	"const struct ops *chosen = &variable;\n"
	"static const struct match matches[] = {{&first, 0, 1, 1, 1}, {0, 0, 1, 2, 1},\n"
	"	{&broken, 0, 1, 3, 1}, {&second, 0, 1, 4, 3}, {0}, {&unlisted, 0, 1, 5, 1}};\n"
	"static const struct driver driver = {\"kept\", 1, 2, matches};\n"
	"void open_kept(struct device *d) { verbs_set_ops(d->context, &d->kept->ops); }\n"
	"void open_chosen(struct device *d) { verbs_set_ops(d->context, chosen); }\n"
	"__attribute__((constructor)) void begin(void) { verbs_register_driver_34(&driver); }\n";

TEST(kept_tables)
{
	static const char *const wanted[] = {"first_poll",    "first_recv",    "first_send",
					     "second_poll",   "second_recv",   "second_send",
					     "variable_poll", "variable_recv", "variable_send"};
	static const char *const endings[VERBS_OP_CNT] = {[VERBS_POST_SEND] = "_send",
							  [VERBS_POST_RECV] = "_recv",
							  [VERBS_POST_SRQ_RECV] = "none",
							  [VERBS_POLL_CQ] = "_poll"};
	const struct verbs_slots slots = {.offset = {440, 432, 456, 424}, .table_bytes = 576};
	struct verbs_function functions[FUNCTIONS_MAX];
	struct elf_symbol sym;
	struct elf_file *f;
	size_t cnt, tables, seen;

	f = fixture_open("kept.c", kept_source, "-shared -fPIC -O2 -fvisibility=hidden");
	cnt = verbs_functions_find(f, &slots, functions, FUNCTIONS_MAX, &tables);
	assert_int_equal(tables, 3);
	assert_int_equal(cnt, COUNT(wanted));
	for (size_t i = 0; i < cnt; i++) {
		seen = 0;
		for (size_t k = 0; k < cnt; k++)
			seen += elf_file_function_at(f, functions[k].addr, &sym) &&
				!strcmp(sym.name, wanted[i]) &&
				strstr(sym.name, endings[functions[k].op]);
		assert_int_equal(seen, 1);
	}
	elf_file_close(f);
}

#else
TEST(decoding)
{
	skip_because("code is decoded on x86-64 only");
}
#endif
