/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povmake [-l MAX_BYTES] SCRIPT OUT.pov: makes a trace from a text script ("-" reads stdin). For
 * tests only. The output of `povtrace info --dump` is a valid script. One statement per line; "#"
 * begins a comment.
 *
 * Statements
 *   meta JSON                  a meta block
 *   stream N                   stream of the following records (start: 0); identity records (task,
 *                              fork, exec, exit, written, rename, affinity, image, caller, signal)
 *                              always go to the task stream
 *   flush                      closes all open blocks
 *   end ts=NS [reason=TEXT] [drops=RING:CLASS:CNT,…]   the "end" meta block
 *   cut                        as if killed: open blocks are written, the end block is missing
 *   repeat N step=NS {         the lines up to "}" N times; in round i every ts, begin and since is
 *     …                        i × NS later. Repeats nest: their shifts add up.
 *   }
 *
 * Records: the kind, then name=value in any order. Missing values are 0. at=BEGIN..END sets ts=END
 * and dur. A function is a number or a name of the built-in table.
 *   switch ts prev next cpu state prev_prio next_prio flags=preempted
 *   waking ts tid target cpu target_cpu prio flags=new|irq            (tid: the waker)
 *   migrate ts tid from to cpu
 *   irq ts tid dur cpu vec flags=soft
 *   sample ts tid tgid ip flags=stack
 *   call ts dur tid tgid func depth ret site cpu lib
 *        flags=open,unwound,fault,more,partial args=A,B,…
 *        in=ARG[/CNT]:DATA out=ARG[/CNT]:DATA sum=ARG[/CNT]:N tsize=ARG:N
 *        comm=ARG:CONTEXT,iRANK,iSIZE
 *        work=ARG/CNT:DATA ends=ARG:DATA message=ARG:DATA
 *                          (struct pov_work, pov_field_ends, pov_field_message)
 *   callbegin ts tid begin tgid func depth
 *   region ts tid tgid region sp cpu flags=end,chained
 *   spin ts dur tid tgid site depth cpu flags=open funcs=FUNC:CNT:BUSY_NS[:ARG[:LIB]],…
 *   more ts tid begin first type=in|out|work arg data=DATA
 *   task, exec, rename ts tid tgid ppid state cpu on_cpu kthread comm start
 *   fork ts tid child tgid parent_tgid comm                           (tgid: the child's)
 *   exit ts tid tgid code flags=process,oom
 *   written ts tid tgid bytes calls flags=begin
 *   signal ts tid tgid signo from code sender comm ip address flags=to_process
 *                                                     (from: enum pov_signal_from)
 *   caller ts tid tgid
 *   affinity ts tid tgid cpus=0-3,7
 *   image ts tid tgid dev ino start len off stamp flags=new
 *   lost ts since cnt ring class=call|spin|more|sched|irq|task
 *   raw ts tid kind flags=N data=DATA                                 any kind
 *
 * Values: 12, 0x1f, -1. Within repeat also BASE+STEP*i, where i is the innermost round. Text: a
 * word or "quoted", with \xNN. DATA: comma-separated; N = 8 bytes, iN = 4 bytes, bHH = 1 byte,
 * 'TEXT' = its bytes, 'TEXT'SIZE = the same with zeros up to that size. CNT defaults to the number
 * of elements.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "tool/povmake/maker.h"

static void script_read(struct script *s, const char *path)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!in)
		die("povmake: cannot open %s: %s", path, strerror(errno));
	while ((n = getline(&line, &room, in)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[n - 1] = 0;
		script_add(s, line);
	}
	free(line);
	fclose(in);
}

int main(int argc, char **argv)
{
	struct trace_writer_options opt = {0};
	struct maker m = {0};
	struct stat st;

	if (argc > 3 && !strcmp(argv[1], "-l")) {
		opt.max_bytes = strtoull(argv[2], NULL, 0);
		argc -= 2;
		argv += 2;
	}
	if (argc != 3) {
		fprintf(stderr,
			"usage: povmake [-l MAX_BYTES] SCRIPT OUT.pov (syntax: top of povmake.c)\n");
		return 2;
	}
	script_read(&m.script, argv[1]);
	if (trace_writer_open(argv[2], &opt, &m.w))
		return 1;
	maker_run(&m);
	if (trace_writer_finish(m.w, NULL))
		return 1;
	if (m.cut && (stat(argv[2], &st) || truncate(argv[2], st.st_size - (off_t)TRACE_END_BYTES)))
		die("povmake: cannot cut %s: %s", argv[2], strerror(errno));
	script_release(&m.script);
	return 0;
}
