/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See library_internal.h. Everything that may fail is prepared before the fork. The child only
 * makes system calls.
 */
#include "advise/library_internal.h"
#include "lib/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/file.h"
#include "lib/person.h"

#define ANSWER_BYTES_MAX (1u << 20)
#define VALUE_BYTES_MAX 256
#define ENVIRONMENT_MAX 128
#define GRACE_MS 1000 /* time for the launcher to end its ranks */

/* ---- variables that are passed on ---- */

/*
 * Variables that choose among parts of the library, or are sizes. None names files, programs or
 * hosts.
 */
static const char *const passed[] = {"OMPI_MCA_pml",
				     "OMPI_MCA_btl",
				     "OMPI_MCA_mtl",
				     "OMPI_MCA_btl_*_limit",
				     "OMPI_MCA_btl_*_max_send_size",
				     "OMPI_MCA_btl_*_segment_size",
				     "OMPI_MCA_btl_*_free_list_*",
				     "OMPI_MCA_btl_*_flags",
				     "OMPI_MCA_btl_*_max_inline_send",
				     "OMPI_MCA_btl_*_single_copy_mechanism",
				     "OMPI_MCA_btl_tcp_if_*",
				     "OMPI_MCA_btl_tcp_progress_thread",
				     "OMPI_MCA_pml_ucx_tls",
				     "OMPI_MCA_pml_ucx_devices",
				     "OMPI_MCA_mpi_yield_when_idle",
				     "UCX_TLS",
				     "UCX_*_THRESH",
				     "UCX_*_SEG_SIZE",
				     "MPIR_CVAR_*EAGER*",
				     "MPIR_CVAR_*_CELL*",
				     "MPIR_CVAR_NOLOCAL",
				     "MPIR_CVAR_ODD_EVEN_CLIQUES",
				     "MPIR_CVAR_ASYNC_PROGRESS",
				     "FI_PROVIDER",
				     "I_MPI_FABRICS",
				     "I_MPI_*EAGER*",
				     "I_MPI_OFI_PROVIDER",
				     "MV2_*EAGER*",
				     "MV2_VBUF_*",
				     "MV2_SMP_*",
				     NULL};

/* Patterns of the variables to report. */
static const char *const asked[] = {"pml",
				    "btl",
				    "btl_*_eager_limit",
				    "btl_*_free_list_*",
				    "btl_*_segment_size",
				    "btl_*_flags",
				    "btl_*_max_inline_send",
				    "btl_*_max_send_size",
				    "btl_tcp_progress_thread",
				    "mpi_yield_when_idle",
				    "MPIR_CVAR_*EAGER*",
				    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_*",
				    "MPIR_CVAR_ASYNC_PROGRESS",
				    "MPIR_CVAR_NOLOCAL",
				    "I_MPI_*EAGER*",
				    "MV2_*EAGER*",
				    "MV2_VBUF_*",
				    NULL};

bool library_ask_passes(const char *name, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_.,:^+-";

	if (strlen(value) > VALUE_BYTES_MAX || value[strspn(value, plain)])
		return false;
	for (int i = 0; passed[i]; i++) {
		if (!fnmatch(passed[i], name, 0))
			return true;
	}
	return false;
}

/* ---- the launcher ---- */

struct launcher_names {
	const char *command[5]; /* names to look for */
	const char *real[6];	/* names accepted after symbolic links are resolved */
};

/* Names that the distributions and the libraries' own make install use. */
static const struct launcher_names *launcher_names(enum library_family family)
{
	static const struct launcher_names openmpi = {
		{"mpirun.openmpi", "mpirun", "orterun", "prterun", NULL},
		{"mpirun.openmpi", "mpirun", "orterun", "prterun", "prte", NULL}};
	static const struct launcher_names hydra = {{"mpiexec.hydra", "mpiexec.mpich", "mpiexec",
						     NULL},
						    {"mpiexec.hydra", "mpiexec.mpich", NULL}};

	return family == LIBRARY_OPENMPI ? &openmpi : &hydra;
}

static bool has_base(const char *path, const char *const *names)
{
	const char *slash = strrchr(path, '/');

	for (; slash && *names; names++) {
		if (!strcmp(slash + 1, *names))
			return true;
	}
	return false;
}

/* True if a file is a launcher of this family that the user may run. */
static bool launcher_fits(const char *path, const char *build_id, enum library_family family,
			  uid_t user)
{
	char real[PATH_MAX], *why;
	bool fits;

	if (!realpath(path, real) || !has_base(real, launcher_names(family)->real))
		return false;
	why = library_file_distrust(path, build_id, user);
	fits = !why && !access(path, X_OK);
	if (why)
		log_debug("%s", why);
	free(why);
	return fits;
}

static char *launcher_in(const char *dir, size_t len, enum library_family family, uid_t user)
{
	const struct launcher_names *n = launcher_names(family);

	for (int i = 0; len && *dir == '/' && n->command[i]; i++) {
		char *path = xasprintf("%.*s/%s", (int)len, dir, n->command[i]);

		if (launcher_fits(path, "", family, user))
			return path;
		free(path);
	}
	return NULL;
}

/* Looks in bin/ of the library's directory and of up to three directories above it. */
static char *launcher_beside(const char *library, enum library_family family, uid_t user)
{
	char *dir = xstrdup(library), *slash, *found = NULL;

	for (int up = 0; up < 4 && !found && (slash = strrchr(dir, '/')) && slash != dir; up++) {
		char *bin;

		*slash = '\0';
		bin = xasprintf("%s/bin", dir);
		found = launcher_in(bin, strlen(bin), family, user);
		free(bin);
	}
	free(dir);
	return found;
}

/*
 * Returns the recorded launcher, else one near the library, else one on PATH; NULL: none. Caller
 * frees.
 */
static char *launcher_find(const struct library_question *q, uid_t user)
{
	const char *path = getenv("PATH");
	char *found;

	if (launcher_fits(q->launcher, q->launcher_id, q->family, user))
		return xstrdup(q->launcher);
	found = launcher_beside(q->path, q->family, user);
	for (; path && *path && !found; path += strspn(path, ":")) {
		found = launcher_in(path, strcspn(path, ":"), q->family, user);
		path += strcspn(path, ":");
	}
	return found;
}

/* ---- the command ---- */

struct command {
	char *argv[64], *envp[ENVIRONMENT_MAX + 32];
	size_t argc, envc;
};

static void argument_add(struct command *c, const char *text)
{
	c->argv[c->argc++] = xstrdup(text);
}

static void variable_add(struct command *c, const char *name, const char *value)
{
	if (value && c->envc < ENVIRONMENT_MAX)
		c->envp[c->envc++] = xasprintf("%s=%s", name, value);
}

static void environment_make(struct command *c, const struct library_question *q,
			     const struct person *person)
{
	static const char *const kept[] = {"PATH", "TMPDIR", "LD_LIBRARY_PATH", NULL};
	const char *name;
	json_t *value;

	for (int i = 0; kept[i]; i++)
		variable_add(c, kept[i], getenv(kept[i]));
	variable_add(c, "HOME", person ? person->home : getenv("HOME"));
	variable_add(c, "LC_ALL", "C");
	/* Two ranks must start on any machine, even as root in a container. */
	variable_add(c, "OMPI_ALLOW_RUN_AS_ROOT", "1");
	variable_add(c, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
	variable_add(c, "OMPI_MCA_rmaps_base_oversubscribe", "1");
	variable_add(c, "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
	variable_add(c, "OMPI_MCA_hwloc_base_binding_policy", "none");
	variable_add(c, "PRTE_MCA_hwloc_default_binding_policy", "none");
	variable_add(c, "HYDRA_LAUNCHER", "fork");
	json_object_foreach((json_t *)q->settings, name, value)
	{
		if (json_is_string(value) && library_ask_passes(name, json_string_value(value)))
			variable_add(c, name, json_string_value(value));
	}
}

static void command_make(struct command *c, const struct library_question *q, const char *launcher,
			 const char *program, const struct person *person)
{
	*c = (struct command){.argc = 0};
	argument_add(c, launcher);
	argument_add(c, "-n");
	argument_add(c, "2");
	argument_add(c, program);
	argument_add(c, q->path);
	for (int i = 0; asked[i]; i++)
		argument_add(c, asked[i]);
	environment_make(c, q, person);
}

static void command_release(struct command *c)
{
	while (c->argc)
		free(c->argv[--c->argc]);
	while (c->envc)
		free(c->envp[--c->envc]);
}

/* ---- running it ---- */

static void child_run(const struct command *c, const struct person *person, int out)
{
	struct rlimit all;
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* povtrace lowered the limit for its own reading of the trace. */
	if (!getrlimit(RLIMIT_DATA, &all)) {
		all.rlim_cur = all.rlim_max;
		setrlimit(RLIMIT_DATA, &all);
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	setpgid(0, 0);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || chdir("/") || (person && person_become(person)))
		_exit(126);
	execve(c->argv[0], c->argv, c->envp);
	_exit(127);
}

static int64_t now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

/*
 * Returns the child's output until it closes the pipe, with a terminating zero. NULL: it takes too
 * long or is too large.
 */
static char *output_read(int fd, int64_t until_ms)
{
	char *text = xmalloc(ANSWER_BYTES_MAX + 1);
	size_t bytes = 0;
	ssize_t n = -1;

	while (bytes < ANSWER_BYTES_MAX) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left_ms = until_ms - now_ms();

		if (left_ms <= 0 || (poll(&p, 1, (int)left_ms) < 0 && errno != EINTR))
			break;
		if (!p.revents)
			continue;
		n = read(fd, text + bytes, ANSWER_BYTES_MAX - bytes);
		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	if (n) {
		free(text);
		return NULL;
	}
	text[bytes] = '\0';
	return text;
}

static bool ended(pid_t pid, int64_t until_ms, int *status)
{
	while (waitpid(pid, status, WNOHANG) != pid) {
		if (now_ms() >= until_ms)
			return false;
		usleep(10000);
	}
	return true;
}

/*
 * The launcher may have put its ranks into other process groups. It gets the chance to end them
 * before it is killed. The ranks have a time limit of their own as well.
 */
static void group_kill(pid_t pid)
{
	int status;

	kill(-pid, SIGTERM);
	if (ended(pid, now_ms() + GRACE_MS, &status)) {
		kill(-pid, SIGKILL);
		return;
	}
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* Returns NULL and sets *text to the output, or returns the reason for failure. */
static char *command_run(const struct command *c, const struct person *person, char **text)
{
	int64_t until_ms = now_ms() + MPI_T_SECONDS * 1000;
	int ends[2], status = 0;
	pid_t pid;

	*text = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return xasprintf("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		child_run(c, person, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		*text = output_read(ends[0], until_ms);
	}
	close(ends[0]);
	if (pid < 0)
		return xasprintf("no process: %s", strerror(errno));
	if (*text && ended(pid, until_ms, &status))
		return NULL; /* the status does not matter if the output is complete */
	group_kill(pid);
	free(*text);
	*text = NULL;
	return xasprintf("%s did not end within %d s", c->argv[0], MPI_T_SECONDS);
}

/* ---- the answer ---- */

void library_answer_release(struct library_answer *a)
{
	json_decref(a->variable);
	json_decref(a->components);
	free(a->version);
	free(a->pml);
	*a = (struct library_answer){.variable = NULL};
}

static void text_take(char **to, const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	if (!text)
		return;
	free(*to);
	*to = xstrdup(text);
}

static void line_take(const json_t *line, struct library_answer *a, int64_t *ranks, bool *whole)
{
	const char *name = json_get_text(line, "name");
	json_t *value = json_object_get(line, "value");

	text_take(&a->version, line, "library");
	text_take(&a->pml, line, "pml");
	if (json_is_array(json_object_get(line, "components"))) {
		json_decref(a->components);
		a->components = json_incref(json_object_get(line, "components"));
	}
	if (*name && (json_is_integer(value) || json_is_string(value)))
		json_object_set(a->variable, name, value);
	if (json_object_get(line, "ranks"))
		*ranks = json_get_int(line, "ranks");
	*whole = *whole || json_object_get(line, "end");
}

bool library_answer_read(char *text, struct library_answer *out)
{
	char *rest = NULL;
	int64_t ranks = 0;
	bool whole = false;

	*out = (struct library_answer){
		.variable = json_object(),
		.components = json_array(),
		.version = xstrdup(""),
		.pml = xstrdup(""),
	};
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *said = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		if (json_is_object(said))
			line_take(said, out, &ranks, &whole);
		json_decref(said);
	}
	if (whole && ranks >= 2)
		return true;
	library_answer_release(out);
	return false;
}

/* ---- entry point ---- */

static char *run(const struct library_question *q, const char *launcher, const char *program,
		 const struct person *person, struct library_answer *out)
{
	struct command c;
	char *why, *text;

	command_make(&c, q, launcher, program, person);
	log_debug("asking %s by %s -n 2 %s", q->path, launcher, program);
	why = command_run(&c, person, &text);
	if (!why && !library_answer_read(text, out))
		why = xasprintf(
			"two ranks of %s, started by %s, gave no answer: run %s -n 2 %s %s to "
			"see why",
			program, launcher, launcher, program, q->path);
	free(text);
	command_release(&c);
	return why;
}

char *library_ask(const struct library_question *q, struct library_answer *out)
{
	struct person *person = person_behind();
	uid_t user = person ? person->uid : geteuid();
	char *program = own_file_find("povtrace-mpi-t"), *launcher = NULL, *why = NULL;

	if (getuid() != geteuid() || getgid() != getegid())
		why = xstrdup("nothing is run with more rights than the caller has");
	else
		why = library_file_distrust(q->path, q->build_id, user);
	if (!why && !*q->build_id)
		why = xasprintf("%s was recorded without a build ID", q->path);
	if (!why && !program)
		why = xstrdup("povtrace-mpi-t is not installed beside povtrace");
	if (!why) {
		launcher = launcher_find(q, user);
		why = launcher ? run(q, launcher, program, person, out) :
				 xstrdup("no launcher of this library was found that only root and "
					 "this user may write to");
	}
	free(launcher);
	free(program);
	person_free(person);
	return why;
}
