/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One option table for all benchmarks, so that results and benchmarks use the same words. The
 * letters of the OSU benchmarks (-m, -i, -x, -W, -p, -c) mean the same here. Options that are not
 * given take their values from one of two presets.
 */
#include "run.h"

#include "lib/human.h"
#include "lib/log.h"
#include "core/cpu_list.h"
#include "core/result_file.h"
#include "core/sweep.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES_MAX (1ull << 30) /* MPI counts are int; strided data spans twice the size */
#define COMPUTE_NS_MAX 60000000000ull
#define WARMUP_MAX 1000000

static const char *const kind_choices[] = {"deadline", "work", NULL};
static const char *const cores_choices[] = {"one", "all", "openmp", NULL};

#define AT(member) offsetof(struct args, member)

const struct option_def args_options[] = {
	{"bytes", 'm', OPTION_STRING, AT(bytes), "MIN:MAX",
	 .help = "Message sizes, such as 64:4M. Full: 1:128M. Quick: 64:4M. Benchmarks of pt2pt "
		 "and one_sided that run alone: powers of two up to 4M."},
	{"compute", 'd', OPTION_STRING, AT(compute), "MIN:MAX",
	 .help = "Computation times, such as 20us:10ms. Full: 1us:20ms. Quick: 1us:6ms. Without "
		 "this option a map ends, for each size, where the ratio becomes unknown."},
	{"step", 0, OPTION_STRING, AT(step), "FACTOR",
	 .help = "Factor from one size or time to the next: above 1, or sqrt2. Full: sqrt2. "
		 "Quick: 4."},
	{"samples", 'i', OPTION_U64, AT(opt.samples), "N", .min = 1, .max = 1000000,
	 .help = "Samples of each point. Without this option at least 50, and as many as --ci "
		 "needs."},
	{"ci", 0, OPTION_STRING, AT(ci), "PERCENT",
	 .help = "Sample each point until the 95 % confidence interval of its median is within "
		 "plus and minus this share of it; 0 uses --samples only. Without --samples: 2."},
	{"samples-max", 0, OPTION_U64, AT(opt.samples_max), "N", .dflt = "1000", .min = 1,
	 .max = 1000000, .help = "Maximum samples per point (with --ci)."},
	{"warmup", 'x', OPTION_STRING, AT(warmup), "N",
	 .help = "Samples discarded before each point. Without this option: 2, and for a new "
		 "size or reference at least 100, until times stop falling. In the broadcast "
		 "group: operations before the first report, 100 without this option."},
	{"point-time", 0, OPTION_SECONDS, AT(opt.point_ns), "TIME", .min = 1,
	 .help = "A point ends after this time even with fewer samples. Full: 3s. Quick: 250ms."},
	{"compute-kind", 0, OPTION_CHOICE, AT(opt.compute.kind), "KIND", .dflt = "deadline",
	 .choices = kind_choices,
	 .help = "Compute until a deadline, or do a calibrated amount of work, which takes longer "
		 "if CPU time is stolen."},
	{"compute-cores", 0, OPTION_CHOICE, AT(opt.compute.cores), "CORES", .dflt = "one",
	 .choices = cores_choices,
	 .help = "Which threads compute: the one that communicates, one on each core that the "
		 "rank may use, or an OpenMP parallel region."},
	{"threads", 't', OPTION_U64, AT(opt.threads_max), "N", .max = 4096,
	 .help = "Threads that load the cores or that communicate, at most; 0 is as many as "
		 "fit the benchmark."},
	{"bind", 'b', OPTION_FLAG, AT(opt.bind),
	 .help = "Bind each thread of the load to a processing unit, first to units without a "
		 "bound rank."},
	{"load-cpus", 0, OPTION_STRING, AT(opt.load_cpus), "LIST",
	 .help = "Bind them in turn to these processing units, such as 1,4-7. The list decides "
		 "whether the thread that communicates shares its core with them."},
	{"window", 'W', OPTION_U64, AT(opt.window), "N", .min = 1, .max = 4096,
	 .help = "Requests pending at once, if there are several: 64 for bandwidths and rates, "
		 "16 for maps."},
	{"pairs", 'p', OPTION_U64, AT(opt.pairs), "N", .min = 1, .max = 1000000,
	 .help = "Pairs of ranks that send at once (message_rate): the first N ranks send to the "
		 "next N. Without this option: half of the ranks."},
	{"repeat", 'M', OPTION_U64, AT(opt.repeat), "N",
	 .help = "Broadcasts in one report, or other operations timed together. Full: 100. Quick: "
		 "20.",
	 .min = 1, .max = 1000000},
	{"tasks", 0, OPTION_STRING, AT(opt.tasks), "LIST",
	 .help = "Numbers of tasks for the broadcast group, such as 2-9,12,16. Without this "
		 "option: 2, 4, 8 ... and all ranks."},
	{"algorithm", 0, OPTION_STRING, AT(opt.algorithm), "VALUE",
	 .help = "The library's algorithm for a blocking collective (allreduce_latency ...): a "
		 "value from \"povbench algorithms NAME\", or default for the library's own "
		 "choice. Each algorithm is a result of its own, so that all fit in one FILE. "
		 "povbench-algorithms measures all of them."},
	{"validate", 'c', OPTION_FLAG, AT(opt.validate),
	 .help = "Check the data that arrive; wrong ones end the run."},
	{"keep-samples", 'k', OPTION_FLAG, AT(opt.keep_samples),
	 .help = "Write all samples to the file instead of their distribution."},
	{"thread-multiple", 0, OPTION_FLAG, AT(thread_multiple),
	 .help = "Ask for MPI_THREAD_MULTIPLE, which makes every call slower in some libraries. "
		 "A benchmark that needs it and runs alone asks by itself."},
	{"quick", 'q', OPTION_FLAG, AT(quick),
	 .help = "Few sizes and times: minutes for the suite, which does so by default."},
	{"full", 'f', OPTION_FLAG, AT(full),
	 .help = "The whole space in steps of the square root of two. This is the default of a "
		 "benchmark that runs alone, except for sizes of pt2pt and one_sided."},
	{"only", 0, OPTION_LIST, AT(only), "NAME",
	 .help = "Run only this benchmark or group of the suite. May be given several times."},
	{"peers", 0, OPTION_FLAG, AT(peers),
	 .help = "Print all times and figures of a map, also those that OSU's, Intel's, Sandia's "
		 "benchmarks and mpiperf would give."},
	{"output", 'o', OPTION_STRING, AT(output), "FILE",
	 .help = "Write the results as JSON. If FILE exists, add this run to it as a further "
		 "launch. povbench refuses before it measures if machine, settings or options "
		 "differ."},
	{"resume", 0, OPTION_FLAG, AT(resume),
	 .help = "Continue the last launch in FILE, which was interrupted, and measure only what "
		 "it lacks. If it is complete, povbench reports that and measures nothing."},
	{.name = NULL},
};

static const struct bench_options preset_full = {
	.bytes_min = 1,
	.bytes_max = 128 << 20,
	.compute_min_ns = 1000,
	.compute_max_ns = 20000000,
	.step = M_SQRT2,
	.samples = 50,
	.ci_pct = 2,
	.warmup = 2, /* for an operation that was measured a moment ago */
	.point_ns = 3000000000,
	.repeat = 100,
};

static const struct bench_options preset_quick = {
	.bytes_min = 64,
	.bytes_max = 4 << 20,
	.compute_min_ns = 1000,
	.compute_max_ns = 6000000,
	.step = 4,
	.samples = 50,
	.ci_pct = 2,
	.warmup = 2,
	.point_ns = 250000000,
	.repeat = 20,
};

static int option_refuse(const char *option, const char *text, const char *wanted)
{
	log_error("--%s: \"%s\" is not %s", option, text, wanted);
	return -EINVAL;
}

/* Reads "MIN:MAX", or one value for both. */
static int read_range(const char *option, const char *text, int (*parse)(const char *, uint64_t *),
		      uint64_t most, uint64_t *min, uint64_t *max)
{
	const char *colon = strchr(text, ':');
	uint64_t low, high;
	char *first = xasprintf("%.*s", (int)(colon ? colon - text : (long)strlen(text)), text);
	int err = parse(first, &low);

	if (!err)
		err = parse(colon ? colon + 1 : first, &high);
	free(first);
	if (err || low > high || high > most)
		return option_refuse(option, text,
				     most == COMPUTE_NS_MAX ?
					     "a range of times such as 20us:10ms, up to 1m" :
					     "a range of sizes such as 64:4M, up to 1G");
	*min = low;
	*max = high;
	return 0;
}

static int read_factor(const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (!strcmp(text, "sqrt2")) {
		*out = M_SQRT2;
		return 0;
	}
	if (end == text || *end || !(value >= 1.01 && value <= 1e6))
		return option_refuse("step", text, "a factor such as 1.4, 2 or sqrt2");
	*out = value;
	return 0;
}

static int read_percent(const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 100))
		return option_refuse("ci", text, "percent such as 2.5");
	*out = value;
	return 0;
}

static int read_count(const char *option, const char *text, uint64_t most, uint64_t *out)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || !isdigit((unsigned char)text[0]) || *end || value > most)
		return option_refuse(option, text, "a number such as 100, up to 1000000");
	*out = value;
	return 0;
}

static int read_cpus(const char *text)
{
	struct cpu_list units;
	int missing, err = cpu_list_parse(&units, text, &missing);

	cpu_list_release(&units);
	if (err == -ENOENT)
		log_error("--load-cpus: \"%s\": this node has no processing unit %d", text,
			  missing);
	else if (err)
		option_refuse("load-cpus", text, "a list of processing units such as 1,4-7");
	return err;
}

static int read_texts(const struct args *args, struct bench_options *out)
{
	int err = 0;

	if (args->bytes)
		err = read_range("bytes", args->bytes, human_parse_bytes, MESSAGE_BYTES_MAX,
				 &out->bytes_min, &out->bytes_max);
	if (!err && args->compute)
		err = read_range("compute", args->compute, human_parse_ns, COMPUTE_NS_MAX,
				 &out->compute_min_ns, &out->compute_max_ns);
	if (!err && args->step)
		err = read_factor(args->step, &out->step);
	if (!err && out->load_cpus)
		err = read_cpus(out->load_cpus);
	if (!err && out->tasks && !tasks_valid(out->tasks))
		err = option_refuse("tasks", out->tasks,
				    "a list of numbers, 2 or more, such as 2-9,12,16");
	if (!err && args->output && !args->output[0])
		err = option_refuse("output", args->output, "a file name");
	if (!err && args->resume && !args->output) {
		log_error("--resume needs -o FILE");
		err = -EINVAL;
	}
	if (!err && args->ci)
		err = read_percent(args->ci, &out->ci_pct);
	if (!err && args->warmup)
		err = read_count("warmup", args->warmup, WARMUP_MAX, &out->warmup);
	return err;
}

/*
 * Sets the values of options that were not given, and of ranges: from the preset that was asked
 * for, else the benchmark's own, else from the default preset.
 */
static void preset_apply(const struct args *args, const struct bench *alone,
			 struct bench_options *out)
{
	bool quick = args->quick || (!alone && !args->full);
	const struct bench_options *preset = quick ? &preset_quick : &preset_full;
	bool own = !quick && !args->full && alone && alone->sizes.step > 0;

	out->bytes_min = own ? alone->sizes.min : preset->bytes_min;
	out->bytes_max = own ? alone->sizes.max : preset->bytes_max;
	out->step = own ? alone->sizes.step : preset->step;
	out->compute_min_ns = preset->compute_min_ns;
	out->compute_max_ns = preset->compute_max_ns;
	out->ci_pct = out->samples ? 0 : preset->ci_pct;
	out->samples = out->samples ?: preset->samples;
	out->warmup = preset->warmup;
	out->point_ns = out->point_ns ?: preset->point_ns;
	out->repeat = out->repeat ?: preset->repeat;
}

int args_read(const struct args *args, const struct bench *alone, struct bench_options *out)
{
	struct bench_options opt = args->opt;
	int err;

	if (opt.algorithm && !(alone && alone->collective)) {
		log_error("--algorithm needs a benchmark that calls a blocking collective, such as "
			  "allreduce_latency");
		return -EINVAL;
	}
	if (opt.algorithm && !opt.algorithm[0])
		return option_refuse("algorithm", opt.algorithm,
				     "an algorithm; \"povbench algorithms\" lists them");
	if (args->quick && args->full) {
		log_error("--quick or --full, not both");
		return -EINVAL;
	}
	opt.settle = !args->warmup;
	opt.compute_by_ratio = !args->compute;
	preset_apply(args, alone, &opt);
	err = read_texts(args, &opt);
	if (!err)
		*out = opt;
	return err;
}

static void put_count(json_t *object, const char *key, uint64_t value)
{
	json_put(object, key, json_integer((json_int_t)value));
}

json_t *args_json(const struct bench_options *opt)
{
	json_t *j = json_object();

	put_count(j, "bytes_min", opt->bytes_min);
	put_count(j, "bytes_max", opt->bytes_max);
	put_count(j, "compute_min_ns", opt->compute_min_ns);
	put_count(j, "compute_max_ns", opt->compute_max_ns);
	/* As text, so that a value that is read back compares equal. */
	json_put(j, "step", json_sprintf("%.6g", opt->step));
	put_count(j, "samples", opt->samples);
	put_count(j, "samples_max", opt->samples_max);
	json_put(j, "ci_pct", json_sprintf("%.6g", opt->ci_pct));
	put_count(j, "warmup", opt->warmup);
	json_put(j, "settle", json_boolean(opt->settle));
	put_count(j, "point_ns", opt->point_ns);
	json_put(j, "compute_kind", json_string(kind_choices[opt->compute.kind]));
	json_put(j, "compute_cores", json_string(cores_choices[opt->compute.cores]));
	put_count(j, "threads_max", opt->threads_max);
	put_count(j, "window", opt->window);
	put_count(j, "pairs", opt->pairs);
	put_count(j, "repeat", opt->repeat);
	if (opt->tasks)
		json_put(j, "tasks", json_string(opt->tasks));
	if (opt->algorithm)
		json_put(j, "algorithm", json_string(opt->algorithm));
	json_put(j, "bind", json_boolean(opt->bind));
	if (opt->load_cpus)
		json_put(j, "load_cpus", json_string(opt->load_cpus));
	json_put(j, "validate", json_boolean(opt->validate));
	json_put(j, "keep_samples", json_boolean(opt->keep_samples));
	return j;
}
