/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povmake [-l MAX_BYTES] SCRIPT OUT.pov: makes a trace from a text script ("-" reads stdin). Tests
 * only. What `povtrace info --dump` prints is a valid script. One statement a line; "#" begins a
 * comment.
 *
 * Statements
 *   meta JSON                  a meta block
 *   stream N                   stream of the records that follow (start: 0); identity records (task, fork,
 *                              exec, exit, rename, affinity, image, caller) always go to the task stream
 *   flush                      close all open blocks
 *   end ts=NS [reason=TEXT] [drops=RING:CLASS:CNT,…]   the "end" meta block
 *   cut                        as if killed: open blocks are written, the end block is missing
 *   repeat N step=NS {         the lines up to "}" N times; in round i every ts, begin and since is
 *     …                        i × NS later. Nests: shifts add up.
 *   }
 *
 * Records: the kind, then name=value in any order; what is missing is 0.
 *   switch ts prev next cpu state prev_prio next_prio flags=preempted
 *   waking ts tid target cpu target_cpu prio flags=new|irq            (tid: the waker)
 *   migrate ts tid from to cpu
 *   irq ts tid dur cpu vec flags=soft
 *   sample ts tid tgid ip
 *   call ts dur tid tgid func depth ret site cpu lib flags=open,unwound,fault,more,partial args=A,B,…
 *        in=ARG[/CNT]:DATA out=ARG[/CNT]:DATA sum=ARG[/CNT]:N tsize=ARG:N comm=ARG:CONTEXT,iRANK,iSIZE
 *        work=ARG/CNT:DATA ends=ARG:DATA message=ARG:DATA             (struct pov_work, pov_field_ends, pov_field_message)
 *   callbegin ts tid begin tgid func depth
 *   region ts tid tgid region sp cpu flags=end,chained
 *   spin ts dur tid tgid site depth cpu flags=open funcs=FUNC:CNT:BUSY_NS[:ARG[:LIB]],…
 *   more ts tid begin first type=in|out|work arg data=DATA
 *   task, exec, rename ts tid tgid ppid state cpu on_cpu kthread comm start
 *   fork ts tid child tgid parent_tgid comm                           (tgid: the child's)
 *   exit ts tid tgid code
 *   caller ts tid tgid
 *   affinity ts tid tgid cpus=0-3,7
 *   image ts tid tgid dev ino start len off stamp flags=new
 *   lost ts since cnt ring class=call|spin|more|sched|irq|task
 *   raw ts tid kind flags=N data=DATA                                 any kind
 *
 * Values: 12, 0x1f, -1; within repeat also BASE+STEP*i (i: the innermost round). Text: word or
 * "quoted", with \xNN. DATA: comma-separated, N = 8 bytes, iN = 4 bytes, bHH = 1 byte; CNT
 * defaults to how many.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "tool/povmake/maker.h"

void bad(const struct maker *m, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("povmake: line %zu: %s\n  %s", m->lineno + 1, text, m->script.line[m->lineno]);
}

static void do_record(struct maker *m, const struct text_kind *k, char *args)
{
	bool identity = k->kind >= POV_KIND_TASK && k->kind <= POV_KIND_LIMIT;
	int err;

	record_fill(m, k, args);
	err = trace_writer_add(m->w, identity ? TRACE_STREAM_TASKS : m->stream, &m->rec.hdr);
	if (err == -EFBIG)
		log_warn("povmake: line %zu: size limit reached, record dropped", m->lineno + 1);
	else if (err)
		exit(1);
}

/* RING:CLASS:CNT,… as members of a JSON array; the caller frees. */
static char *drops_json(const struct maker *m, char *s)
{
	char *json = xstrdup(""), *longer, class[16];
	unsigned long long cnt;
	unsigned int ring;

	for (char *d = strtok(s, ","); d; d = strtok(NULL, ",")) {
		if (sscanf(d, "%u:%15[a-z0-9]:%llu", &ring, class, &cnt) != 3)
			bad(m, "expected RING:CLASS:CNT, not %s", d);
		longer = xasprintf("%s%s{\"ring\":%u,\"class\":%u,\"cnt\":%llu}", json,
				   *json ? "," : "", ring,
				   (unsigned int)by_name(m, text_class_names, POV_CLASS_CNT, class),
				   cnt);
		free(json);
		json = longer;
	}
	return json;
}

static void do_end(struct maker *m, char *args)
{
	const char *reason = "exit";
	char *name, *value, *json, *drops = NULL;
	uint64_t ts = 0;

	while (next_pair(m, &args, &name, &value)) {
		if (!strcmp(name, "ts"))
			ts = whole_number(m, value);
		else if (!strcmp(name, "reason"))
			reason = value;
		else if (!strcmp(name, "drops"))
			drops = drops_json(m, value);
		else
			bad(m, "end has no %s", name);
	}
	json = xasprintf("{\"type\":\"end\",\"ts_ns\":%llu,\"reason\":\"%s\",\"drops\":[%s],"
			 "\"misses\":{},\"stats\":{}}",
			 (unsigned long long)(ts + m->shift_ns), reason, drops ? drops : "");
	if (trace_writer_meta(m->w, json))
		exit(1);
	free(drops);
	free(json);
}

static size_t block_end(struct maker *m, size_t from)
{
	int depth = 1;

	for (size_t i = from; i < m->script.cnt; i++) {
		const char *s = m->script.line[i] + strspn(m->script.line[i], " \t");

		if (*s == '}' && !--depth)
			return i;
		if (!strncmp(s, "repeat ", 7))
			depth++;
	}
	bad(m, "no } for this");
}

static void do_lines(struct maker *m, size_t from, size_t to);

static void do_repeat(struct maker *m, const char *args)
{
	size_t first = m->lineno + 1, last = block_end(m, first), self = m->lineno;
	uint64_t shift = m->shift_ns, round = m->round;
	unsigned long long n, step = 0;

	if (sscanf(args, "%llu step=%llu", &n, &step) < 1 || !strchr(args, '{'))
		bad(m, "expected: repeat N step=NS {");
	for (unsigned long long i = 0; i < n; i++) {
		m->shift_ns = shift + i * step;
		m->round = i;
		do_lines(m, first, last);
	}
	m->shift_ns = shift;
	m->round = round;
	m->lineno = self + (last - first) + 1;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(s, word, len);
}

static const struct text_kind *kind_find(const char *name, size_t len)
{
	for (const struct text_kind *k = text_kinds; k->name; k++)
		if (is_word(name, len, k->name))
			return k;
	return NULL;
}

static void do_line(struct maker *m, char *line)
{
	static const struct text_flag no_flag = {NULL, 0};
	static const struct text_member no_member = {NULL, 0, 0, 0};
	static const struct text_kind raw = {0, "raw", sizeof(struct pov_hdr), &no_member,
					     &no_flag};
	char *word = line + strspn(line, " \t");
	size_t len = strcspn(word, " \t");
	char *args = word + len + strspn(word + len, " \t");
	const struct text_kind *k;

	if (!len || *word == '#')
		return;
	k = is_word(word, len, "raw") ? &raw : kind_find(word, len);
	if (k)
		do_record(m, k, args);
	else if (is_word(word, len, "meta")) {
		if (trace_writer_meta(m->w, args))
			exit(1);
	} else if (is_word(word, len, "stream"))
		m->stream = (unsigned int)strtoul(args, NULL, 0);
	else if (is_word(word, len, "flush"))
		trace_writer_flush(m->w, UINT64_MAX);
	else if (is_word(word, len, "end"))
		do_end(m, args);
	else if (is_word(word, len, "cut"))
		m->cut = true;
	else if (is_word(word, len, "repeat"))
		do_repeat(m, args);
	else
		bad(m, "unknown statement");
}

static void do_lines(struct maker *m, size_t from, size_t to)
{
	for (m->lineno = from; m->lineno < to; m->lineno++) {
		char *copy = xstrdup(m->script.line[m->lineno]);

		do_line(m, copy);
		free(copy);
	}
}

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
		s->line = xrealloc(s->line, (s->cnt + 1) * sizeof(*s->line));
		s->line[s->cnt++] = xstrdup(line);
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
	do_lines(&m, 0, m.script.cnt);
	if (trace_writer_finish(m.w))
		return 1;
	if (m.cut && (stat(argv[2], &st) || truncate(argv[2], st.st_size - (off_t)TRACE_END_BYTES)))
		die("povmake: cannot cut %s: %s", argv[2], strerror(errno));
	for (size_t i = 0; i < m.script.cnt; i++)
		free(m.script.line[i]);
	free(m.script.line);
	return 0;
}
