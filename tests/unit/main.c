/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * unit [FILE [TEST]]: runs the tests of tests/unit/FILE.c, or one of them. Without an argument it
 * lists the files. POV_UNIT_LOG=1 shows the messages of the code under test.
 */
#include "unit/test.h"

static struct unit_entry *first, **last = &first;

void unit_register(struct unit_entry *e)
{
	*last = e;
	last = &e->next;
}

/*
 * Finds the file's name in a path ("test_map" in "tests/unit/test_map.c") and returns its length.
 */
static int stem(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	return (int)strcspn(*name, ".");
}

static int files_list(void)
{
	const char *shown = "", *name;

	for (const struct unit_entry *e = first; e; e = e->next) {
		int len = stem(e->file, &name);

		if (strcmp(e->file, shown) != 0)
			printf("%.*s\n", len, name);
		shown = e->file;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest *tests = NULL, each = {0}, all = {0};
	size_t cnt = 0;
	int failed;

	if (argc < 2)
		return files_list();
	log_set_level(getenv("POV_UNIT_LOG") ? LOG_DEBUG : LOG_QUIET);
	for (const struct unit_entry *e = first; e; e = e->next) {
		const char *name;
		int len = stem(e->file, &name);

		if (strncmp(argv[1], name, len) != 0 || argv[1][len])
			continue;
		if (e->kind == UNIT_EACH)
			each = e->test;
		else if (e->kind == UNIT_ALL)
			all = e->test;
		else if (argc < 3 || !strcmp(argv[2], e->test.name)) {
			tests = realloc(tests, (cnt + 1) * sizeof(*tests));
			tests[cnt++] = e->test;
		}
	}
	if (!cnt) {
		fprintf(stderr, "unit: no test %s in %s\n", argc > 2 ? argv[2] : "", argv[1]);
		return 2;
	}
	for (size_t i = 0; i < cnt; i++) {
		if (tests[i].setup_func || tests[i].teardown_func)
			continue;
		tests[i].setup_func = each.setup_func;
		tests[i].teardown_func = each.teardown_func;
	}
	failed = _cmocka_run_group_tests(argv[1], tests, cnt, all.setup_func, all.teardown_func);
	free(tests);
	return failed != 0;
}
