/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which job a process belongs to if its launcher does not name it. Real processes get Hydra's
 * environment, some of them behind a shell like those of wrapper scripts.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit/test.h"
#include "target/proc.h"
#include "unit/trace_help.h"

/* Prints its pid and stops: the environment cannot be read while a program is being executed. */
#define STAY "echo $$; kill -STOP $$"
#define WRAPPED "sh -c '" STAY "' & wait"

/*
 * A child of this process. Its shell prints the pid of the process under test, which is killed
 * afterwards as well.
 */
struct child {
	pid_t shell, pid;
	struct proc_rank rank;
	struct proc_rank mpich, openmpi; /* for users of that MPI … */
	/* … and according to another MPI's launchers */
	struct proc_rank other_mpich, other_openmpi;
	struct proc_rank of_three, alone; /* as reported by MPI: rank 1 of 3, 0 of 1 */
	struct proc_rank root;		  /* rank that spawned it */
	bool spawned;
};

static struct child look_at(const char *path, char *const *argv, char *const *env)
{
	struct child c = {0};
	char text[32] = "";
	int pipe_fd[2];

	assert_int_equal(pipe(pipe_fd), 0);
	c.shell = fork();
	if (!c.shell) {
		setpgid(0, 0); /* its own group, with all that it starts */
		dup2(pipe_fd[1], STDOUT_FILENO);
		execve(path, argv, env);
		_exit(127);
	}
	close(pipe_fd[1]);
	for (size_t n = 0; n + 1 < sizeof(text) && read(pipe_fd[0], text + n, 1) == 1; n++)
		if (text[n] == '\n')
			break;
	close(pipe_fd[0]);
	c.pid = atoi(text);
	assert_true(c.pid > 0);
	assert_int_equal(proc_rank_read(c.pid, NULL, &c.rank, NULL), 0);
	assert_int_equal(proc_rank_read(c.pid, "mpich", &c.mpich, &c.other_mpich), 0);
	assert_int_equal(proc_rank_read(c.pid, "openmpi", &c.openmpi, &c.other_openmpi), 0);
	proc_rank_of(c.pid, "mpich", 1, 3, &c.of_three);
	proc_rank_of(c.pid, "mpich", 0, 1, &c.alone);
	c.spawned = proc_spawned_by(c.pid, &c.root);
	kill(-c.shell, SIGKILL);
	waitpid(c.shell, NULL, 0);
	return c;
}

/* Asserts the job's name: the launcher, its pid and its start time. */
static void job_is(const char *job, const char *launcher, pid_t pid)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "%s-%d-", launcher, pid);
	assert_memory_equal(job, begin, strlen(begin));
	assert_true(strlen(job) > strlen(begin));
}

/* Returns the job of a rank, started directly or behind a shell. */
static struct child hydra_rank(int rank, bool wrapped, char *fd_var)
{
	char rank_var[32];
	char *argv[] = {"sh", "-c", wrapped ? WRAPPED : STAY, NULL};
	char *env[] = {rank_var, "PMI_SIZE=2", fd_var, "PATH=/usr/bin:/bin", NULL};
	struct child c;

	snprintf(rank_var, sizeof(rank_var), "PMI_RANK=%d", rank);
	c = look_at("/bin/sh", argv, env);
	assert_int_equal(c.rank.rank, rank);
	assert_int_equal(c.rank.size, 2);
	assert_string_equal(c.rank.launcher, "hydra");
	return c;
}

TEST(wrapped)
{
	struct child direct = hydra_rank(0, false, "PMI_FD=6");
	struct child wrapped = hydra_rank(1, true, "PMI_FD=8");

	assert_string_equal(direct.rank.job, wrapped.rank.job);
	job_is(direct.rank.job, "hydra", getpid());
}

/*
 * A launcher started by a rank inherits that rank's variables. Its own ranks are a job of their
 * own.
 */
TEST(launched_by_rank)
{
	char *argv[] = {"mpiexec", "-c", WRAPPED, NULL};
	char *env[] = {"PMI_RANK=0", "PMI_SIZE=2", "PMI_FD=6", "PATH=/usr/bin:/bin", NULL};
	struct child c;

	assert_int_equal(symlink("/bin/sh", temp_path("mpiexec")), 0);
	c = look_at(temp_path("mpiexec"), argv, env);
	job_is(c.rank.job, "hydra", c.shell);
}

/* Slurm's daemon sets PMI's variables, too. A launcher that it started names its own job. */
TEST(started_by_slurm)
{
	char *env[] = {"PMI_RANK=1",	  "PMI_SIZE=2",	    "PMI_FD=6",		  "SLURM_JOB_ID=7",
		       "SLURM_STEP_ID=3", "SLURM_PROCID=0", "PATH=/usr/bin:/bin", NULL};
	char *argv[] = {"sh", "-c", WRAPPED, NULL};
	struct child c;

	assert_int_equal(symlink("/bin/sh", temp_path("slurmstepd")), 0);
	c = look_at(temp_path("slurmstepd"), argv, env);
	assert_string_equal(c.rank.launcher, "slurm");
	assert_string_equal(c.rank.job, "7.3");
	assert_int_equal(c.rank.rank, 1);
	assert_int_equal(c.rank.size, 2);
	c = look_at("/bin/sh", argv, env);
	assert_string_equal(c.rank.launcher, "hydra");
}

TEST(singleton)
{
	char *argv[] = {"sh", "-c", STAY, NULL}, *env[] = {"PATH=/usr/bin:/bin", NULL};
	struct child c = look_at("/bin/sh", argv, env);

	assert_int_equal(c.pid, c.shell);
	assert_string_equal(c.rank.launcher, "singleton");
	job_is(c.rank.job, "pid", c.pid);
}

static void rank_is(const struct proc_rank *r, const char *launcher, int rank, int size)
{
	assert_string_equal(r->launcher, launcher);
	assert_int_equal(r->rank, rank);
	assert_int_equal(r->size, size);
}

/* Another MPI's mpirun started the process, or left its variables. */
TEST(flavours)
{
	char *argv[] = {"sh", "-c", STAY, NULL};
	char *env[] = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=3", "PMIX_NAMESPACE=ns",
		       "PATH=/usr/bin:/bin", NULL};
	char *both[] = {"OMPI_COMM_WORLD_RANK=1",
			"OMPI_COMM_WORLD_SIZE=3",
			"PMI_RANK=0",
			"PMI_SIZE=2",
			"PATH=/usr/bin:/bin",
			NULL};
	struct child c = look_at("/bin/sh", argv, env);

	rank_is(&c.rank, "openmpi", 1, 3);
	rank_is(&c.openmpi, "openmpi", 1, 3);
	assert_string_equal(c.openmpi.job, "ns");
	assert_int_equal(c.other_openmpi.rank, -1);
	rank_is(&c.mpich, "singleton", 0, 1);
	job_is(c.mpich.job, "pid", c.pid);
	rank_is(&c.other_mpich, "openmpi", 1, 3);
	assert_string_equal(c.other_mpich.job, "ns");

	c = look_at("/bin/sh", argv, both);
	rank_is(&c.mpich, "hydra", 0, 2);
	rank_is(&c.other_mpich, "openmpi", 1, 3);
	rank_is(&c.openmpi, "openmpi", 1, 3);
	rank_is(&c.other_openmpi, "hydra", 0, 2);
}

static void spawned_is(char *var, bool spawned, const char *job, int rank)
{
	char *argv[] = {"sh", "-c", STAY, NULL}, *env[] = {"PATH=/usr/bin:/bin", var, NULL};
	struct child c = look_at("/bin/sh", argv, env);

	assert_int_equal(c.spawned, spawned);
	assert_string_equal(c.root.job, job);
	assert_int_equal(c.root.rank, rank);
}

TEST(spawned)
{
	spawned_is("OMPI_PARENT_PORT=715587585.1:486745026", true, "715587585", 1);
	spawned_is("OMPI_PARENT_PORT=prterun-node.site-12@1.13:300", true, "prterun-node.site-12@1",
		   13);
	spawned_is("OMPI_PARENT_PORT=tcp://1", true, "", -1);
	spawned_is("OMPI_PARENT_PORT=", true, "", -1);
	spawned_is("PMI_SPAWNED=1", true, "", -1);
	spawned_is("PMI_SPAWNED=0", false, "", -1);
	spawned_is(NULL, false, "", -1);
}

/* The environment is gone. Another process of the same launcher and size has one, or none has. */
TEST(environment_gone)
{
	char *beside[] = {"mpirun", "-c",
			  "PMI_RANK=0 PMI_SIZE=3 sh -c 'unset PMI_RANK PMI_SIZE; sh -c \"echo "
			  "\\$\\$; kill -STOP \\$\\$\"; :'; :",
			  NULL};
	char *alone[] = {"mpirun", "-c", "sh -c '" STAY "' & wait", NULL};
	char *env[] = {"PATH=/usr/bin:/bin", NULL};
	struct child c;

	assert_int_equal(symlink("/bin/sh", temp_path("mpirun")), 0);
	c = look_at(temp_path("mpirun"), beside, env);
	rank_is(&c.of_three, "hydra", 1, 3);
	job_is(c.of_three.job, "hydra", c.shell);
	rank_is(&c.alone, "singleton", 0, 1);
	job_is(c.alone.job, "pid", c.pid);

	c = look_at(temp_path("mpirun"), alone, env);
	rank_is(&c.of_three, "", 1, 3);
	job_is(c.of_three.job, "launcher", c.shell);
}

/* ---- settings: what is taken of an environment, within bounds ---- */

static void settings_are(const char *env, size_t bytes, const char *wanted, unsigned int wanted_out)
{
	unsigned int left_out = 77;
	json_t *o = proc_settings_of(env, bytes, &left_out);
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(text, wanted);
	assert_int_equal(left_out, wanted_out);
	free(text);
	json_decref(o);
}

TEST(settings)
{
	static const char env[] = "PATH=/bin\0"
				  "OMPI_MCA_btl=self,tcp\0"
				  "OMPI_MCA_orte_precondition_transports=67f4-39c8\0"
				  "UCX_TLS=\0"
				  "OMP_NUM_THREADS=2,3\0"
				  "AWS_SECRET_ACCESS_KEY=x\0"
				  "MKL_NUM_THREADS=4\0"
				  "OMP_ODD\0"
				  "FI_PROVIDER=tcp=x\0"
				  "MPIR_CVAR_CUT=1";
	static const char not_utf8[] = "UCX_A=\xff\0UCX_B=\xc3\xa4";

	settings_are(
		env, sizeof(env) - 1,
		"{\"FI_PROVIDER\":\"tcp=x\",\"MKL_NUM_THREADS\":\"4\",\"OMPI_MCA_btl\":\"self,tcp\","
		"\"OMP_NUM_THREADS\":\"2,3\",\"UCX_TLS\":\"\"}",
		0);
	settings_are(not_utf8, sizeof(not_utf8), "{\"UCX_B\":\"\xc3\xa4\"}", 1);
	settings_are("", 0, "{}", 0);
}

/* Fills in n variables of that many bytes each. */
static void fill(unsigned int n, size_t bytes, unsigned int kept, unsigned int left_out_wanted)
{
	char *env = xcalloc(n, bytes + 16), *p = env;
	unsigned int left_out;
	json_t *o;

	for (unsigned int i = 0; i < n; i++) {
		p += sprintf(p, "UCX_%04u=", i);
		memset(p, 'a', bytes);
		p += bytes + 1;
	}
	o = proc_settings_of(env, (size_t)(p - env), &left_out);
	assert_int_equal(json_object_size(o), kept);
	assert_int_equal(left_out, left_out_wanted);
	json_decref(o);
	free(env);
}

TEST(settings_bounds)
{
	const unsigned int most = SETTINGS_BYTES_MAX / (SETTING_VALUE_BYTES_MAX + 8);

	fill(SETTINGS_MAX, 1, SETTINGS_MAX, 0);
	fill(SETTINGS_MAX + 3, 1, SETTINGS_MAX, 3);
	fill(1, SETTING_VALUE_BYTES_MAX, 1, 0);
	fill(2, SETTING_VALUE_BYTES_MAX + 1, 0, 2);
	fill(20, SETTING_VALUE_BYTES_MAX, most, 20 - most);
}

static void *thread_pause(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* The first thread of this process ends; /proc shows the process's memory for the other one. */
TEST(first_thread_gone)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct proc_maps maps;
	pid_t pid = fork(), with_memory = pid;
	pthread_t t;

	if (!pid) {
		pthread_create(&t, NULL, thread_pause, NULL);
		pthread_exit(NULL);
	}
	for (int i = 0; i < 10000 && with_memory == pid; i++) {
		nanosleep(&nap, NULL);
		with_memory = proc_memory_of(pid);
	}
	assert_int_not_equal(with_memory, pid);
	assert_true(proc_alive(pid));
	assert_int_equal(proc_process_of(with_memory), pid);
	assert_int_equal(proc_process_of(pid), pid);
	assert_int_equal(proc_maps_read(pid, &maps), 0);
	assert_true(maps.cnt > 0);
	proc_maps_release(&maps);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_false(proc_alive(pid));
	assert_int_equal(proc_memory_of(pid), pid);
	waitpid(pid, NULL, 0);
	assert_false(proc_alive(pid));
}
