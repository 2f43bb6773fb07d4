/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is made of a recording's own words on its MPI library, and of the library's (lines of povtrace-mpi-t): no library is run here;
 * tests/live/threshold.test compares the same with what libraries do.
 */
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "advise/library_file.h"
#include "advise/library_internal.h"
#include "base/log.h"
#include "model_fixture.h"

#define LIBRARY(path, flavour, version)                                              \
	"{\"type\":\"library\",\"id\":0,\"path\":\"" path                            \
	"\",\"layers\":[\"mpi\"],\"flavour\":\"" flavour "\",\"version\":\"" version \
	"\",\"build_id\":\"ab\"}"
#define RANK(launcher, settings)                                                                                       \
	"{\"type\":\"process\",\"ts_ns\":1000,\"pid\":10,\"rank\":0,\"size\":2,\"job\":\"j\",\"launcher\":\"" launcher \
	"\",\"settings\":{" settings "}}"
#define IMAGE(path) \
	"{\"type\":\"image\",\"dev\":1,\"ino\":2,\"path\":\"" path "\",\"build_id\":\"\"}"

struct world {
	struct mfix f;
	struct library *l;
};

/* said: lines of povtrace-mpi-t; NULL: it is not asked. */
static void world_open(struct world *w, const char *const *metas, const char *said)
{
	char *text;

	mfix_begin(&w->f, "");
	for (; *metas; metas++)
		mfix_meta(&w->f, *metas);
	mfix_end(&w->f, 2000);
	mfix_open(&w->f, false);
	w->l = library_new(w->f.model, false);
	if (!said)
		return;
	text = xstrdup(said);
	assert_true(library_answer_read(text, &w->l->telling->answer));
	w->l->telling->over = w->l->telling->told = true;
	free(text);
}

static void world_close(struct world *w)
{
	library_free(w->l);
	mfix_release(&w->f);
}

static void is_setting(char *setting, const char *want)
{
	if (want)
		assert_string_equal(setting, want);
	else
		assert_null(setting);
	free(setting);
}

static void is_value(struct library_value v, enum library_told by, int64_t value, const char *name)
{
	assert_int_equal(v.by, by);
	if (by == TOLD_NOT)
		return;
	assert_int_equal(v.value, value);
	assert_string_equal(v.name, name);
}

/* ---- Open MPI ---- */

#define SAID_4                                                                              \
	"{\"library\":\"Open MPI v4.1.4\"}\n{\"ranks\":2}\nsome noise\n{\"pml\":\"ob1\"}\n" \
	"{\"components\":[\"mca_pml_ob1\",\"mca_btl_vader\",\"mca_btl_tcp\"]}\n"            \
	"{\"name\":\"btl_vader_eager_limit\",\"value\":4096}\n"                             \
	"{\"name\":\"btl_vader_flags\",\"value\":98319}\n"                                  \
	"{\"name\":\"btl_vader_max_inline_send\",\"value\":256}\n"                          \
	"{\"name\":\"btl_vader_free_list_max\",\"value\":512}\n"                            \
	"{\"name\":\"btl_vader_segment_size\",\"value\":4194304}\n"                         \
	"{\"name\":\"btl_tcp_eager_limit\",\"value\":65536}\n"                              \
	"{\"name\":\"btl_tcp_free_list_max\",\"value\":-1}\n"                               \
	"{\"name\":\"btl_tcp_progress_thread\",\"value\":0}\n{\"end\":8}\n"

TEST(openmpi)
{
	const char *const metas[] = {LIBRARY("/usr/lib/libmpi.so.40", "openmpi", "4.1.4"),
				     RANK("openmpi", "\"OMP_NUM_THREADS\":\"3\""), NULL};
	struct world w;
	char *how;

	world_open(&w, metas, SAID_4);
	assert_int_equal(library_family(w.l), LIBRARY_OPENMPI);
	assert_string_equal(library_name(w.l), "Open MPI 4.1.4");
	assert_int_equal(library_path(w.l, false), PATH_SHM);
	assert_int_equal(library_path(w.l, true), PATH_TCP);
	is_value(library_threshold(w.l, false), TOLD_MPI_T, 4040, "btl_vader_eager_limit");
	is_value(library_threshold_alone(w.l, false), TOLD_MPI_T, 256, "btl_vader_max_inline_send");
	is_value(library_threshold(w.l, true), TOLD_MPI_T, 65480, "btl_tcp_eager_limit");
	is_value(library_threshold_alone(w.l, true), TOLD_MPI_T, 65480, "btl_tcp_eager_limit");
	is_setting(library_threshold_setting(w.l, false, 10000),
		   "mpirun --mca btl_vader_eager_limit 10056 --mca btl_vader_segment_size 9375744 "
		   "--mca btl_vader_flags 98311");
	is_setting(library_threshold_setting(w.l, true, 100000),
		   "mpirun --mca btl_tcp_eager_limit 100056");
	assert_int_equal(library_threshold_memory(w.l, false, 10000, 7, &how), 512 * 10120);
	assert_string_equal(how, "512 buffers of 9.9 KiB");
	free(how);
	assert_int_equal(library_threshold_memory(w.l, true, 10000, 7, &how), 0);
	free(how);
	is_setting(library_progress_setting(w.l, true, false),
		   "mpirun --mca btl_tcp_progress_thread 1");
	is_setting(library_progress_setting(w.l, false, true), NULL);
	is_setting(library_yield_setting(w.l), "mpirun --mca mpi_yield_when_idle 1");
	is_setting(library_binding_setting(w.l, 2), "mpirun --map-by slot:PE=2 --bind-to core");
	assert_string_equal(library_environment(w.l, "OMP_NUM_THREADS"), "3");
	assert_null(library_not_asked(w.l));
	world_close(&w);
}

/* Open MPI 5: vader is called sm, and ob1's largest header is another. */
TEST(openmpi_5)
{
	const char *const metas[] = {LIBRARY("/opt/libmpi.so.40", "openmpi", "5.0.3"),
				     RANK("slurm", ""), NULL};
	struct world w;

	world_open(&w, metas,
		   "{\"ranks\":2}\n{\"name\":\"pml\",\"value\":\"ob1\"}\n"
		   "{\"name\":\"btl_sm_eager_limit\",\"value\":4096}\n{\"end\":2}\n");
	is_value(library_threshold(w.l, false), TOLD_MPI_T, 4016, "btl_sm_eager_limit");
	is_value(library_threshold_alone(w.l, false), TOLD_NOT, 0, NULL);
	is_setting(library_threshold_setting(w.l, false, 10000),
		   "OMPI_MCA_btl_sm_eager_limit=10080 srun");
	assert_int_equal(library_path(w.l, true), PATH_UNKNOWN);
	world_close(&w);
}

/* Nobody was asked: what was given to the launcher. */
TEST(openmpi_environment)
{
	const char *const metas[] = {LIBRARY("/usr/lib/libmpi.so.40", "openmpi", "4.1.4"),
				     RANK("openmpi",
					  "\"OMPI_MCA_pml\":\"ob1\",\"OMPI_MCA_btl\":\"self,tcp\","
					  "\"OMPI_MCA_btl_tcp_eager_limit\":\"8192\","
					  "\"OMPI_MCA_mpi_yield_when_idle\":\"1\""),
				     NULL};
	struct world w;

	world_open(&w, metas, NULL);
	assert_int_equal(library_path(w.l, false), PATH_TCP);
	is_value(library_threshold(w.l, false), TOLD_ENVIRONMENT, 8192 - 56,
		 "OMPI_MCA_btl_tcp_eager_limit");
	is_setting(library_yield_setting(w.l), NULL);
	assert_string_equal(library_not_asked(w.l), "it was not to be asked (--no-ask)");
	world_close(&w);
}

TEST(openmpi_ucx)
{
	const char *const metas[] = {LIBRARY("/usr/lib/libmpi.so.40", "openmpi", "4.1.4"),
				     RANK("openmpi", "\"UCX_RNDV_THRESH\":\"64k\""), NULL};
	struct world w;

	world_open(&w, metas, "{\"ranks\":2}\n{\"pml\":\"ucx\"}\n{\"end\":0}\n");
	assert_int_equal(library_path(w.l, false), PATH_UCX);
	assert_int_equal(library_path(w.l, true), PATH_UCX);
	is_value(library_threshold(w.l, true), TOLD_ENVIRONMENT, 65535, "UCX_RNDV_THRESH");
	is_setting(library_threshold_setting(w.l, true, 100000),
		   "mpirun -x UCX_RNDV_THRESH=100001");
	world_close(&w);
}

/* ---- MPICH and its relatives ---- */

static void mpich_is(const char *version, const char *setting, enum library_path within,
		     enum library_path between)
{
	char *rank = xasprintf(RANK("hydra", "%s"), setting);
	char *said =
		xasprintf("{\"ranks\":2}\n{\"library\":\"MPICH Version: 4.0.2 Device: %s\"}\n"
			  "{\"name\":\"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS\",\"value\":64}\n"
			  "{\"end\":1}\n",
			  version);
	const char *const metas[] = {LIBRARY("/usr/lib/libmpich.so.12", "mpich", "4.0.2"), rank,
				     NULL};
	struct world w;

	world_open(&w, metas, said);
	assert_int_equal(library_family(w.l), LIBRARY_MPICH);
	assert_int_equal(library_path(w.l, false), within);
	assert_int_equal(library_path(w.l, true), between);
	world_close(&w);
	free(rank);
	free(said);
}

TEST(mpich_path)
{
	mpich_is("ch4:ucx configure: --with-device=ch4:ucx", "", PATH_UCX, PATH_UCX);
	mpich_is("ch4:ucx --with-ch4-shmmods=auto", "", PATH_UCX, PATH_UCX);
	mpich_is("ch4:ucx --with-ch4-shmmods=posix", "", PATH_SHM, PATH_UCX);
	mpich_is("ch4:ofi", "", PATH_SHM, PATH_OFI);
	mpich_is("ch4:ofi --without-ch4-shmmods", "", PATH_OFI, PATH_OFI);
	mpich_is("ch4:ofi --with-ch4-shmmods=none", "", PATH_OFI, PATH_OFI);
	mpich_is("ch4:ofi", "\"MPIR_CVAR_NOLOCAL\":\"1\"", PATH_OFI, PATH_OFI);
	mpich_is("ch3:nemesis", "", PATH_UNKNOWN, PATH_UNKNOWN);
}

TEST(mpich)
{
	const char *const metas[] = {LIBRARY("/usr/lib/libmpich.so.12", "mpich", "4.0.2"),
				     RANK("hydra", "\"UCX_RNDV_THRESH\":\"auto\""),
				     IMAGE("/lib/libucp.so.0"), NULL};
	struct world w;
	char *how;

	world_open(&w, metas, NULL);
	assert_int_equal(library_path(w.l, false), PATH_UCX);
	is_value(library_threshold(w.l, false), TOLD_NOT, 0, NULL);
	is_setting(library_threshold_setting(w.l, false, 65536),
		   "mpiexec -genv UCX_RNDV_THRESH 65537");
	is_setting(library_progress_setting(w.l, false, true),
		   "mpiexec -genv MPIR_CVAR_ASYNC_PROGRESS 1");
	is_setting(library_progress_setting(w.l, false, false), NULL);
	is_setting(library_yield_setting(w.l), NULL);
	is_setting(library_binding_setting(w.l, 4), "mpiexec -bind-to core:4");
	assert_int_equal(library_threshold_memory(w.l, false, 65536, 3, &how), 0);
	free(how);
	world_close(&w);
}

TEST(mpich_cells)
{
	const char *const metas[] = {LIBRARY("/usr/lib/libmpi.so.12", "mpich", "4.2.0"),
				     RANK("hydra", ""), NULL};
	struct world w;
	char *how;

	world_open(&w, metas,
		   "{\"ranks\":2}\n{\"library\":\"Device: ch4:ofi\"}\n"
		   "{\"name\":\"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS\",\"value\":64}\n"
		   "{\"end\":1}\n");
	is_value(library_threshold(w.l, false), TOLD_NOT, 0, NULL);
	is_setting(library_threshold_setting(w.l, false, 100000),
		   "mpiexec -genv MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE 102400");
	assert_int_equal(library_threshold_memory(w.l, false, 100000, 3, &how), 64 * 102400);
	assert_string_equal(how, "64 cells of 100 KiB");
	free(how);
	is_setting(library_threshold_setting(w.l, true, 100000), NULL);
	world_close(&w);
}

TEST(relatives)
{
	const char *const intel[] = {LIBRARY("/opt/intel/oneapi/mpi/2021.13/lib/libmpi.so.12.0.0",
					     "mpich", ""),
				     RANK("hydra", "\"I_MPI_EAGER_THRESHOLD\":\"262144\""), NULL};
	const char *const mvapich[] = {LIBRARY("/opt/mvapich2/lib/libmpi.so.12", "mpich", "2.3.7"),
				       RANK("mvapich2", "\"MV2_IBA_EAGER_THRESHOLD\":\"17k\","
							"\"MV2_SMP_EAGERSIZE\":\"-1\""),
				       NULL};
	struct world w;

	world_open(&w, intel, NULL);
	assert_int_equal(library_family(w.l), LIBRARY_INTEL);
	assert_string_equal(library_name(w.l), "Intel MPI");
	assert_int_equal(library_path(w.l, false), PATH_SHM);
	assert_int_equal(library_path(w.l, true), PATH_OFI);
	is_value(library_threshold(w.l, true), TOLD_ENVIRONMENT, 262144, "I_MPI_EAGER_THRESHOLD");
	is_setting(library_threshold_setting(w.l, true, 524288),
		   "mpiexec -genv I_MPI_EAGER_THRESHOLD 524288");
	world_close(&w);

	world_open(&w, mvapich, NULL);
	assert_int_equal(library_family(w.l), LIBRARY_MVAPICH);
	assert_string_equal(library_name(w.l), "MVAPICH 2.3.7");
	is_value(library_threshold(w.l, true), TOLD_ENVIRONMENT, 17408, "MV2_IBA_EAGER_THRESHOLD");
	is_value(library_threshold(w.l, false), TOLD_NOT, 0, NULL);
	is_setting(library_threshold_setting(w.l, true, 65536),
		   "MV2_IBA_EAGER_THRESHOLD=65536 MV2_VBUF_TOTAL_SIZE=65664 in the environment of "
		   "the ranks");
	world_close(&w);
}

TEST(nothing)
{
	const char *const metas[] = {NULL};
	struct world w;
	char *how;

	world_open(&w, metas, NULL);
	assert_int_equal(library_family(w.l), LIBRARY_OTHER);
	assert_string_equal(library_name(w.l), "");
	assert_int_equal(library_path(w.l, false), PATH_UNKNOWN);
	is_value(library_threshold(w.l, false), TOLD_NOT, 0, NULL);
	is_value(library_variable(w.l, "UCX_RNDV_THRESH"), TOLD_NOT, 0, NULL);
	is_setting(library_threshold_setting(w.l, false, 1), NULL);
	assert_int_equal(library_threshold_memory(w.l, false, 1, 1, &how), 0);
	free(how);
	is_setting(library_binding_setting(w.l, 1),
		   "the launcher's binding to cores, or taskset -c");
	world_close(&w);
}

/* Nothing of a foreign trace reaches the terminal as it is. */
TEST(hostile)
{
	const char *const metas[] = {
		LIBRARY("/no\\u001b[31mwhere", "mpich", "4\\u001b[31m"),
		"{\"type\":\"process\",\"ts_ns\":1000,\"pid\":10,\"rank\":0,\"size\":2,\"job\":\"j\","
		"\"launcher\":7,\"settings\":{\"UCX_RNDV_THRESH\":{},\"I_M\":7,\"UCX_TLS\":[]}}",
		"{\"type\":\"image\",\"path\":7}", NULL};
	struct world w;

	world_open(&w, metas, NULL);
	w.l->ask = true;
	is_value(library_threshold(w.l, false), TOLD_NOT, 0, NULL);
	assert_null(strchr(library_name(w.l), '\033'));
	assert_non_null(strstr(library_not_asked(w.l), "where is not on this machine"));
	assert_null(strchr(library_not_asked(w.l), '\033'));
	assert_null(library_environment(w.l, "UCX_RNDV_THRESH"));
	world_close(&w);
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
	/* Paths, programs, and what is not known. */
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
	is_refused("/usr", "", "no regular file");
	is_refused("/bin/sh", "00", "another build ID");
	is_refused(path, "00", "another build ID");
	/* Anybody may write to this directory. */
	is_refused(path, "", "/tmp may be written by others");
	unlink(path);
	why = library_file_distrust("/bin/sh", "", geteuid());
	if (why)
		print_message("SKIP: %s\n", why);
	free(why);
}
