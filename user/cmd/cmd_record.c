/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Options and help of povtrace record, and the options that povtrace stat shares with it. */
#include "lib/option.h"
#include "cmd/recording/options.h"
#include "layers/func_table.h"

static const char *const sched_names[] = {"off", "ranks", "all", NULL};
static const char *const capture_names[] = {"auto", "probes", "preload", NULL};
static const char *const api_names[] = {"auto", "multi", "perf", NULL};

#define FIELD(name) offsetof(struct record_options, name)
const struct option_def record_option_rows[] = {
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "Attach to a running process, its threads and its children; a launcher's PID "
		 "attaches to its ranks. Several are separated by commas."},
	{"all", 'a', OPTION_FLAG, FIELD(all),
	 .help = "Every MPI process of the node, also those started later."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS",
	 .help = "Stop recording after this time. The recorded programs keep running."},
	{"max-size", 0, OPTION_BYTES, FIELD(max_bytes), "BYTES",
	 .help = "Stop recording when the file has this size. The recorded programs keep running."},
	{"mpi", 0, OPTION_STRING, FIELD(mpi), "GROUPS", .words = func_table_groups_print,
	 .help = "Groups of MPI functions, separated by commas; -GROUP removes one. "
		 "\"default\": everything except local queries; \"all\" includes them. Handle "
		 "conversions are recorded only if named (\"all,conv\"), because Open MPI's "
		 "Fortran bindings convert each handle by a call that would look like the "
		 "program's. Cheap local calls (those that make, commit and free datatypes) are "
		 "only counted unless their group is named: \"default,type\" records each."},
	{"layers", 0, OPTION_STRING, FIELD(layers), "LAYERS", .words = func_table_layers_print,
	 .help = "What to record besides MPI, separated by commas; these calls are shown "
		 "inside the MPI calls that cause them: calls to UCX (ucp), from UCX to its "
		 "transports (uct), the steps of Open MPI's own protocols (ob1), calls to "
		 "libfabric (ofi), work requests to RDMA adapters (verbs), and system calls that "
		 "move data through sockets and between processes (os). Ranks' times and messages "
		 "stay those of MPI. \"posts\": all layers whose posts can be counted as traffic; "
		 "\"all\": every layer."},
	{"functions", 'f', OPTION_LIST, FIELD(functions), "GLOB",
	 .help = "Record functions of any layer by name (shell pattern), in addition to --mpi's "
		 "and --layers'; without those options, record only these. May be given several "
		 "times."},
	{"no-functions", 0, OPTION_LIST, FIELD(no_functions), "GLOB",
	 .help = "Functions to leave out. May be given several times."},
	{"region", 0, OPTION_LIST, FIELD(regions), "FUNC",
	 .help = "A function of the program, or of a library that it loads, whose calls are phases "
		 "of the run: the timeline shows them and the report sums them up. FUNC is its "
		 "symbol as nm prints it; a static function will do. May be given several times; "
		 "\"main\" is the whole program. A function of a Go program is refused by name, "
		 "and so is one whose return instructions cannot all be found. A region costs more "
		 "than a recorded call: do not use it for functions that are called all the time."},
	{"sched", 0, OPTION_CHOICE, FIELD(sched), "WHOSE", .dflt = "all", .choices = sched_names,
	 .help = "Scheduler events of all tasks (this shows who took a core), of the recorded "
		 "programs' threads only, or of none."},
	{"irq", 0, OPTION_FLAG, FIELD(irq), .help = "Also record interrupts and softirqs."},
	{"spin-gap", 0, OPTION_SECONDS, FIELD(spin_gap_ns), "TIME", .dflt = "1ms",
	 .help = "Polls that find nothing (MPI_Test, MPI_Iprobe …) are merged into one record "
		 "unless they are further apart than this."},
	{"ring-size", 0, OPTION_BYTES, FIELD(ring_bytes), "BYTES", .max = 1ull << 30,
	 .help = "Size of each ring buffer between kernel and collector, rounded up to a power of "
		 "two. If not given: 16M, or less on many CPUs, so that all of them take at most "
		 "256M."},
	{"cpus-per-ring", 0, OPTION_U64, FIELD(cpus_per_ring), "N", .max = 1024,
	 .help = "CPUs that share a ring buffer. If not given: as many as keep the number of rings "
		 "at 32 or less."},
	{"user", 'u', OPTION_STRING, FIELD(user), "NAME",
	 .help = "Run COMMAND as this user. If not given: as the user who ran sudo, in the "
		 "environment of the shell where sudo was typed. With root, COMMAND runs as root, "
		 "and the files are root's."},
	{"capture", 0, OPTION_CHOICE, FIELD(capture), "HOW", .dflt = "auto",
	 .choices = capture_names,
	 .help = "How MPI calls are recorded: by probes; or (preload) by a library that COMMAND's "
		 "processes load, at a twentieth of the cost, and by probes in processes that "
		 "cannot load it or bypass it. \"auto\" is preload if there is a COMMAND and "
		 "neither --layers nor --region, which need probes."},
	{"max-overhead", 0, OPTION_STRING, FIELD(max_overhead), "PERCENT", .dflt = "auto",
	 .help = "Share of each second of a process that recording may take. Above this share, "
		 "povtrace only counts calls of the costliest functions that do not wait for "
		 "others. If counting alone exceeds it, their probes are removed. Both last for "
		 "the rest of the recording. The report shows which, and since when. \"auto\": 5 "
		 "for probes, and no limit for processes that record their calls themselves. 0 or "
		 "\"off\": no limit, every call is recorded."},
	{"kernel-api", 0, OPTION_CHOICE, FIELD(kernel_api), "API", .dflt = "auto",
	 .choices = api_names,
	 .help = "How probes are attached: one uprobe_multi link for many (Linux 6.6), or a perf "
		 "event each."},
	{.name = NULL},
};
#undef FIELD

#define FIELD(name) offsetof(struct record_command_options, name)
static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE", .dflt = "run.pov",
	 .help = "Output file. If FILE ends in .json, .json.gz, .pftrace, .svg or .folded, the "
		 "trace is exported to it after recording, and kept beside it as .pov. An existing "
		 "recording is kept as FILE.old, one that is still being written as FILE.old.2 … "
		 "if FILE.old exists."},
	{"last", 0, OPTION_STRING, FIELD(last), "SECONDS|BYTES",
	 .help = "Keep only the newest part of the recording, in memory: this much time (10s), or "
		 "this many bytes as in a file (64M). It is written when recording ends, and on "
		 "request by `povtrace dump`, SIGUSR1, or --when, then to run.1.pov, run.2.pov … "
		 "if FILE is run.pov."},
	{"when", 0, OPTION_LIST, FIELD(whens), "CONDITION",
	 .help = "Write what --last keeps when a call took too long: 'MPI_Allreduce > 50ms' "
		 "(a function, or a shell pattern as in --functions, and a time). The same "
		 "condition does not trigger again within --last's time; calls that match "
		 "meanwhile are counted. May be given several times."},
	{"stacks", 0, OPTION_FLAG, FIELD(record.stacks),
	 .help = "Also find who called the functions in which ranks compute, for each of the 97 "
		 "samples a second that are taken of a core. The report then names the program's "
		 "function that called a library's; `export` to .folded and .pftrace has whole "
		 "stacks. x86-64 only."},
	{.name = NULL},
};

static const char *const examples[] = {
	"sudo povtrace record -o run.pov -- mpirun -np 2 ./app",
	"record a job from its first instruction",
	"sudo povtrace record -d 10 -p $(pgrep mpirun)",
	"ten seconds of a running job",
	"sudo povtrace record -o run.pftrace --mpi p2p,req -- mpirun -np 2 ./app",
	"only point-to-point calls and completions, exported for ui.perfetto.dev",
	"sudo povtrace record --all --sched ranks -d 60",
	"every MPI process of the node for a minute",
	"sudo povtrace record --region solve --region exchange -- mpirun -np 2 ./app",
	"the time in two functions of the program, and the MPI calls in them",
	"sudo povtrace record --last 10s --when 'MPI_Allreduce > 50ms' -- mpirun -np 2 ./app",
	"keep ten seconds in memory, and write them when a call took too long",
	"sudo povtrace record --stacks -o run.folded -- mpirun -np 2 ./app",
	"where the ranks compute, as stacks for a flame graph",
	NULL,
};

const struct command cmd_record = {
	.name = "record",
	.brief = "Record MPI calls and scheduling of a job into a trace file.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Runs COMMAND, or attaches to running processes, and records every MPI call of "
		"every rank together with what the scheduler did. The programs need no change. The "
		"command starts when the libraries that it will load have been inspected and the "
		"probes are live. Its forks, execs and libraries loaded later are followed: a "
		"thread that maps a library that was not inspected waits in the kernel, at most 10 "
		"s, until its probes are in (before Linux 6.1 it does not wait, and late probes "
		"are reported). No process is stopped or signalled. With -p or --all a line that "
		"begins with \"povtrace: recording\" shows that the probes are live.\n\n"
		"Recording ends when the command or the processes end, after --duration, at "
		"--max-size, or with Ctrl-C. povtrace itself ends with the command, unless a "
		"signal ended the recording. The exit status is the command's, or 1 if recording "
		"failed. If processes that the command left in the background are still running, a "
		"warning names them; record them with -p.\n\n"
		"With --last nothing is written until requested. A file then has all of the newest "
		"part, at least the time given and at most a quarter more, and reads like a "
		"recording that began there. Recording continues while it is written. A trigger "
		"(--when) waits 0.2 s, so that other ranks' calls that ended at about that time "
		"are in the file, too; a call that never returns triggers nothing.\n\n"
		"Under sudo the command runs as the user who typed it, with the PATH, "
		"LD_LIBRARY_PATH and all other variables of that user's shell. The files are "
		"written with that user's rights and belong to that user; --user root runs and "
		"writes as root.",
	.examples = examples,
	.options = options,
	.shared = record_option_rows,
	.options_bytes = sizeof(struct record_command_options),
	.run = record_command_run,
};
