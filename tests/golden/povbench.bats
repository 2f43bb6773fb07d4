#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# What povbench does without a launcher: list, help, version, wrong usage.

load bench

setup() {
	begin
	find_povbench
}

names() { "$POVBENCH" list | awk '/^  [a-z]/ {print $1}'; }

refused() { refuses 2 "povbench: $1" "$POVBENCH" "${@:2}"; } # MESSAGE WORD...

@test "version" {
	run -0 "$POVBENCH" --version
	[[ $output =~ ^povbench\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "no arguments: help on stderr, status 2" {
	run -2 --separate-stderr "$POVBENCH"
	[ -z "$output" ]
}

@test "the list has every benchmark, by groups, with its source and its ranks" {
	sed -n 's/^const struct bench bench_\([a-z0-9_]*\) =.*/\1/p' "$BATS_TEST_DIRNAME"/../../bench/*/*.c | sort >defined
	names | sort >listed
	diff -u defined listed
	"$POVBENCH" list | awk '/^[a-z]/ {print $1}' >groups
	diff -u - groups <<-'L'
		pt2pt
		one_sided
		reference
		overlap
		load
		collective
		broadcast
		stencil
		timers
	L
	[ "$("$POVBENCH" list | grep -cE '^ {23}.*; [0-9]+ ranks?( or more)?$')" = "$(wc -l <defined)" ]
}

@test "a benchmark of two names is found by both" {
	"$POVBENCH" list | grep -A 1 '^  latency ' | grep -q '^ *also called pingpong$'
	"$POVBENCH" help pingpong | cmp - <("$POVBENCH" help latency)
	refused 'no benchmark "pingpon"; did you mean "pingpong"?' pingpon
	refused 'no benchmark "zzz"' suite --only pingpong --only zzz
}

@test "names and letters of options that users of OSU and IMB know" {
	for name in latency bandwidth bi_bandwidth message_rate {put,get}_{latency,bandwidth} \
		i{barrier,bcast,gather,scatter,reduce,allreduce,allgather,alltoall,alltoallv}; do
		"$POVBENCH" list | grep -A 2 "^  $name " | grep -qE 'OSU' || { echo "$name"; return 1; }
	done
	for option in 'm, --bytes ' 'i, --samples ' 'x, --warmup ' 'W, --window ' 'p, --pairs ' 'c, --validate '; do
		"$POVBENCH" help bandwidth | grep -qF -- "  -$option" || { echo "$option"; return 1; }
	done
}

@test "help, --help and -h say the same, with three examples or more, within 80 columns" {
	"$POVBENCH" help >help
	"$POVBENCH" --help | cmp - help
	"$POVBENCH" -h | cmp - help
	for word in list help; do
		"$POVBENCH" help "$word" | cmp - help
	done
	grep -q "^Usage: povbench " help
	help_is_good help
}

@test "every benchmark and the suite explain themselves, and name existing options in their examples" {
	for name in $(names) suite; do
		"$POVBENCH" help "$name" >help
		"$POVBENCH" "$name" --help | cmp - help
		[[ $(head -n 1 help) == "Usage: povbench $name [options]" ]]
		[ -n "$(sed -n 3p help)" ]
		help_is_good help 1 || { echo "$name"; return 1; }
	done
}

@test "an unknown benchmark is refused with the nearest name" {
	refused 'no benchmark "sendr"; did you mean "sender"?' sendr
	refused 'no benchmark "zzzzzz"; "povbench list" names them' zzzzzz
	refused 'no benchmark "sendr"; did you mean "sender"?' help sendr
	refused 'no benchmark "loads"; did you mean "load"?' suite --only sender --only loads
}

@test "an unknown option, and words that are no options" {
	refused 'sender: no option --hlep; did you mean --help?' sender --hlep
	refused 'try "povbench help sender"' sender --hlep
	refused '"x": only options may follow "sender"' sender x
	refused 'no benchmark "--quick"' --quick sender
}

@test "a bad value is refused, and the message names valid ones" {
	for bytes in 5:1 x 64:x 2G :4 64: ''; do
		refused "--bytes: \"$bytes\" is not a range of sizes such as 64:4M, up to 1G" sender -m "$bytes"
	done
	for time in 2:1 10ps 1us:2h; do
		refused "--compute: \"$time\" is not a range of times such as 20us:10ms, up to 1m" sender -d "$time"
	done
	for step in 1 0.5 -2 nan 2x ''; do
		refused "--step: \"$step\" is not a factor such as 1.4, 2 or sqrt2" sender --step "$step"
	done
	for percent in x -1 101 nan ''; do
		refused "--ci: \"$percent\" is not percent such as 2.5" sender --ci "$percent"
	done
	for cpus in x '' 0,x; do
		refused "--load-cpus: \"$cpus\" is not a list of processing units such as 1,4-7" \
			nload --load-cpus "$cpus"
	done
	for cpus in 9999 0,9999 0-9999 0,9999- 9998,9999; do
		unit=$(grep -o '999[89]' <<<"$cpus" | head -n 1)
		[ "$cpus" != 0-9999 ] || unit=
		refused "--load-cpus: \"$cpus\": this node has no processing unit $unit" nload --load-cpus "$cpus"
	done
	refused 'sender: --samples: "1.5" is not a whole number' sender -i 1.5
	refused 'sender: --samples: "9999999" is too large; the most is 1000000' sender -i 9999999
	for option in samples repeat pairs; do
		refused "sender: --$option: \"0\" is too small; the least is 1" sender "--$option" 0
	done
	refused 'sender: --point-time: "0" is too small; the least is 1 ns' sender --point-time 0
	refused '--output: "" is not a file' sender -o ''
	refused 'sender: --samples-max: "0" is too small; the least is 1' sender --samples-max 0
	refused 'sender: --window: "0" is too small; the least is 1' sender -W 0
	refused 'sender: --point-time: "x" is not a time such as 1.5 (seconds), 10ms or 2m' sender --point-time x
	refused 'sender: --compute-kind: no "wrk"; did you mean "work"?' sender --compute-kind wrk
	refused 'sender: --compute-cores: "x" is not one of its choices' sender --compute-cores x
	refused 'sender: --output wants FILE' sender -o
	refused 'sender: --bind takes no value' sender --bind=1
	refused '--quick or --full, not both' sender --quick --full
	refused '--only chooses among benchmarks of a suite; "sender" is a single one' sender --only receiver
	refused '--only chooses among benchmarks of a suite; "sender" is a single one' sender --only sender
	refused '--resume needs -o FILE' sender --resume
}

@test "a time in the help has its unit" {
	"$POVBENCH" help sender | tr -s ' \n' ' ' | grep -qF "Full: 3s. Quick: 250ms."
}

@test "only rank 0 prints errors" {
	for variable in OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK; do
		run -2 env "$variable=1" "$POVBENCH" sendr
		[ -z "$output" ]
		run -2 env "$variable=0" "$POVBENCH" sendr
		[[ $output == *"did you mean"* ]]
	done
}

@test "a stdout that cannot be written is a failure" {
	for words in --version list help --man; do
		disk_is_full 1 "$POVBENCH" $words
	done
}

@test "the manual page is valid roff" {
	page_is_good "povbench - " "$POVBENCH" --man
}

@test "completion knows benchmarks, options and choices" {
	"$POVBENCH" --completion >completion
	offered=$(completes povbench "")
	for name in list suite compare $(names); do
		[[ " $offered " == *" $name "* ]] || { echo "$name: $offered"; return 1; }
	done
	"$POVBENCH" --help >help
	offered=$(completes povbench sender --)
	for option in $(options_of help); do
		[[ " $offered " == *" $option "* ]] || { echo "$option: $offered"; return 1; }
	done
	[ "$(completes povbench suite --compute-kind "")" = "deadline work" ]
}
