/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What povtrace concludes from a recording's data about its MPI library, and from lines of
 * povtrace-mpi-t (cases.h). No library runs here. tests/live/threshold.test compares the same with
 * real libraries.
 *
 *   meta JSON               an object of the recording
 *   said JSON               a line of povtrace-mpi-t; without one the library is not asked
 *   show paths|asked        only paths; the library may be asked
 */
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "advise/library_internal.h"
#include "analysis/advice.h"
#include "unit/cases.h"
#include "unit/model_fixture.h"

#define NUMBER_IN 10000	      /* threshold in bytes, within a host … */
#define NUMBER_BETWEEN 100000 /* … and between hosts */

struct play {
	struct mfix f;
	struct library *l;
	char *said; /* NULL: the library is not asked */
	FILE *out;
};

static const char *const families[] = {"other", "openmpi", "mpich", "intel", "mvapich"};
static const char *const paths[] = {"unknown", "shm", "tcp", "ucx", "ofi"};
static const char *const told_by[] = {"unknown", "MPI_T", "environment", "seen"};

static void said_add(struct play *p, const char *line)
{
	char *longer = xasprintf("%s%s\n", p->said ? p->said : "", line);

	free(p->said);
	p->said = longer;
}

static void value_print(FILE *out, const char *what, struct library_value v)
{
	fprintf(out, "%s: %s", what, told_by[v.by]);
	if (v.by != LIBRARY_VALUE_UNKNOWN)
		fprintf(out, " %s %lld", v.name, (long long)v.value);
	fputc('\n', out);
}

static void setting_print(FILE *out, const char *what, char *setting)
{
	if (setting)
		fprintf(out, "%s: %s\n", what, setting);
	free(setting);
}

static void memory_print(struct play *p, bool between, uint64_t bytes)
{
	char *how;
	uint64_t memory = library_threshold_memory(p->l, between, bytes, &how);

	if (memory)
		fprintf(p->out, "memory: %llu, %s\n", (unsigned long long)memory, how);
	free(how);
}

static void all_print(struct play *p)
{
	FILE *out = p->out;

	value_print(out, "threshold within", library_threshold(p->l, false));
	value_print(out, "alone", library_threshold_alone(p->l, false));
	value_print(out, "between", library_threshold(p->l, true));
	value_print(out, "alone", library_threshold_alone(p->l, true));
	value_print(out, "UCX_RNDV_THRESH", library_variable(p->l, "UCX_RNDV_THRESH"));
	setting_print(out, "within", library_threshold_setting(p->l, false, NUMBER_IN));
	memory_print(p, false, NUMBER_IN);
	setting_print(out, "between", library_threshold_setting(p->l, true, NUMBER_BETWEEN));
	memory_print(p, true, NUMBER_BETWEEN);
	setting_print(out, "progress", library_progress_setting(p->l, true, false));
	setting_print(out, "with cores", library_progress_setting(p->l, true, true));
	setting_print(out, "within a host", library_progress_setting(p->l, false, true));
	setting_print(out, "yield", setting_yield(p->l->trace));
	setting_print(out, "binding", setting_cores(p->l->trace, 2));
	if (library_environment(p->l, "OMP_NUM_THREADS"))
		fprintf(out, "threads: %s\n", library_environment(p->l, "OMP_NUM_THREADS"));
	if (library_not_asked(p->l))
		fprintf(out, "not asked: %s\n", library_not_asked(p->l));
}

static void library_play(const struct script *lines, FILE *out)
{
	struct play p = {.out = out};

	mfix_begin(&p.f, "");
	for (size_t i = 0; i < lines->cnt; i++) {
		const char *line = lines->line[i];

		if (words_after(line, "meta"))
			mfix_meta(&p.f, words_after(line, "meta"));
		else if (words_after(line, "said"))
			said_add(&p, words_after(line, "said"));
	}
	mfix_end(&p.f, 2000);
	mfix_open(&p.f, false);
	p.l = library_new(p.f.model, cases_shows(lines, "asked"));
	if (p.said) {
		assert_true(library_answer_read(p.said, &p.l->inquiry->answer));
		p.l->inquiry->asked = p.l->inquiry->answered = true;
	}
	fprintf(out, "%s \"%s\", paths %s and %s\n", families[library_family(p.l)],
		library_name(p.l), paths[library_path(p.l, false)], paths[library_path(p.l, true)]);
	if (!cases_shows(lines, "paths"))
		all_print(&p);
	free(p.said);
	library_free(p.l);
	mfix_release(&p.f);
}

TEST(library)
{
	cases_run("library", library_play);
}

/* ---- what is said, and what is passed on ---- */

TEST(answer)
{
	static const char *const not_whole[] = {"",
						"{\"ranks\":2}\n",
						"{\"ranks\":1}\n{\"end\":0}\n",
						"{\"end\":0}\n",
						"{\"ranks\":2}\n{\"end\":",
						"[2]\n\"end\"\n"};
	struct library_answer a;

	for (size_t i = 0; i < sizeof(not_whole) / sizeof(not_whole[0]); i++) {
		char *text = xstrdup(not_whole[i]);

		assert_false(library_answer_read(text, &a));
		free(text);
	}
}

TEST(passes)
{
	assert_true(library_ask_passes("OMPI_MCA_btl", "self,tcp"));
	assert_true(library_ask_passes("OMPI_MCA_btl_vader_eager_limit", "8192"));
	assert_true(library_ask_passes("UCX_TLS", "^ib"));
	/* Paths, programs and unknown variables are refused. */
	assert_false(library_ask_passes("OMPI_MCA_btl", "/tmp/x"));
	assert_false(library_ask_passes("OMPI_MCA_btl", "$(x)"));
	assert_false(library_ask_passes("OMPI_MCA_mca_base_component_path", "x"));
	assert_false(library_ask_passes("OMPI_MCA_plm_rsh_agent", "x"));
	assert_false(library_ask_passes("UCX_LOG_FILE", "x"));
	assert_false(library_ask_passes("UCX_MODULE_DIR", "x"));
	assert_false(library_ask_passes("HYDRA_LAUNCHER_EXEC", "x"));
	assert_false(library_ask_passes("FI_PROVIDER_PATH", "x"));
	assert_false(library_ask_passes("LD_PRELOAD", "x"));
}

static void is_refused(const char *path, const char *build_id, const char *why)
{
	char *said = library_file_distrust(path, build_id, geteuid());

	assert_non_null(said);
	if (!strstr(said, why))
		fail_msg("\"%s\" does not say \"%s\"", said, why);
	free(said);
}

TEST(trust)
{
	char path[] = "/tmp/povtest.XXXXXX";
	int fd = mkstemp(path);
	char *why;

	assert_true(fd >= 0);
	close(fd);
	is_refused("/nowhere/libmpi.so", "", "is not on this machine");
	is_refused("libmpi.so", "", "is not on this machine");
	is_refused("/usr", "", "not a regular file");
	is_refused("/bin/sh", "00", "another build ID");
	is_refused(path, "00", "another build ID");
	/* Anyone may write to this directory. */
	is_refused(path, "", "/tmp is writable by others");
	unlink(path);
	why = library_file_distrust("/bin/sh", "", geteuid());
	if (why)
		print_message("SKIP: %s\n", why);
	free(why);
}
