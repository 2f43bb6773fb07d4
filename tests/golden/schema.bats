#!/usr/bin/env bats
# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
# The JSON Schemas: reports, scaling tables and comparisons conform to them, no removed member remains, and the tables of members in
# kmod-docs are made from the same rows.

load lib

top=$here/../..
members=$top/user/report/members.tsv

# json NAME COMMAND...: writes NAME.json.
json() { "$POVTRACE" "${@:2}" >"$1.json"; }

# Reports with every option that adds members, of recordings that together have nearly all of them.
setup_file() {
	local text name
	command -v python3 >/dev/null || return 0
	begin
	mkdir report scaling diff
	for text in "$data"/{export_{findings,phases,posts,run},report_run,traffic_run}.txt; do
		name=$(basename "$text" .txt)
		"$make" "$text" "$name.pov"
		json "report/$name" report --json --callsite --places --threads "$name.pov"
		json "report/$name-plain" report --json "$name.pov"
	done
	json report/section report --json --section 1ms..9ms report_run.pov
	json report/phase report --json --section sender export_phases.pov
	# a function that was only counted and then not at all, a library that was late, a process that recorded its own calls, a wrong launcher, a
	# fault, a sample
	sed '/"type":"end"/s/^/limit ts=4000000 tid=0 since=3500000 tgid=100 func=2 state=1 cost_ppm=484000 limit_ppm=50000\
limit ts=4000000 tid=0 since=4000000 tgid=200 func=2 state=2 cost_ppm=300000 limit_ppm=50000\
limit ts=5000000 tid=0 since=4000000 tgid=200 func=2 state=2 cost_ppm=300000 limit_ppm=50000\
meta {"type":"preload","call_ns":70.5,"counted_ns":9,"threads":1,"damaged":0,"wait_ns":0,"no_area":0,"missed":0}\
sample ts=4000000 tid=100 tgid=100 ip=0x5555000010\
signal ts=10990000 tid=200 tgid=200 signo=11 from=3 code=1 ip=0x10abc address=0x8\
exit ts=10991000 tid=200 tgid=200 code=139 flags=process\
/; s/"rank":\([01]\),"size":2,/&"started":{"launcher":"hydra","rank":\1,"size":2,"job":"J"},/' "$data/report_run.txt" >more.txt
	echo 'meta {"type":"late","ts_ns":1300000,"pid":200,"library":0,"late_ns":31000000}' >>more.txt
	"$make" more.txt more.pov
	json report/more report --json --places more.pov
	# a part of a longer recording, without the scheduler
	trace part <<-'END'
	meta {"type":"recording","abi":1,"start_ns":6000000000,"argv":["./a"],"config":{"sched":"off","rings":1},"kept":{"since_ns":1000000000,"span_ns":2000000000,"forgotten":0}}
	meta {"type":"host","hostname":"node7","kernel":"6.1","machine":"x86_64","cpus":1}
	meta {"type":"functions","layer":"mpi","rows":[{"id":0,"name":"MPI_Barrier","group":"coll","attrs":"WAIT","sig":"comm"}]}
	meta {"type":"process","ts_ns":1000000000,"pid":10,"exe":"/tmp/a","rank":0,"size":1,"job":"j1"}
	task ts=6000000000 tid=10 tgid=10 comm=a start=500000000
	call ts=7000000000 tid=10 tgid=10 dur=3000000000 func=0 args=0x10
	meta {"type":"end","ts_ns":8000000000,"reason":"trigger MPI_Barrier > 2s","trigger":{"when":"MPI_Barrier > 2s","rank":0,"pid":10,"tid":10,"function":"MPI_Barrier","begin_ns":4000000000,"end_ns":7000000000},"triggers":{"matches":3,"written":1}}
	END
	json report/part report --json --threads --callsite part.pov
	# the same job by two recorders
	"$POVTRACE" info --dump report_run.pov >all.txt
	"$tool/split_trace" 0 <all.txt | trace a
	"$tool/split_trace" 1 node8 <all.txt | trace b
	json report/hosts report --json --threads a.pov b.pov
	json scaling/both report --scaling --json report_run.pov export_run.pov part.pov
	json scaling/weak report --scaling --weak --json export_findings.pov export_run.pov
	json diff/same diff --json report_run.pov report_run.pov
	json diff/other diff --json report_run.pov export_findings.pov
	json diff/less diff --json export_run.pov part.pov
	json report.schema report --json-schema
	json scaling.schema report --scaling --json-schema
	json diff.schema diff --json-schema
}

setup() {
	begin
	need python3
}

@test "reports, scaling and diff obey their schemas" {
	local what
	for what in report scaling diff; do
		"$tool/schema_check" $what.schema.json $what/*.json || return
	done
}

@test "each member of the schemas is in some output, or at least in the sources" {
	local what object member
	for what in report scaling diff; do
		"$tool/schema_check" --unseen $what.schema.json $what/*.json
	done >unseen
	[ "$(wc -l <unseen)" -le 12 ]
	while read -r object member; do
		grep -rqF --include='*.[ch]' "\"$member\"" "$top/user" || { echo "no member $member: $object"; return 1; }
	done <unseen
}

# red MEMBERS WHAT: a schema made from these rows does not fit the reports.
red() {
	run -1 "$tool/schema_check" "$1" report/*.json
	echo "$output"
	[[ $output == *"$2"* ]]
}

@test "an unknown member, a missing member and a wrong type are found" {
	need jq
	jq 'del(."$defs".recording.properties.cpus)' report.schema.json >less.json
	red less.json 'recording: the schema has no member: "cpus"'
	jq '."$defs".core.required += ["cpus"]' report.schema.json >more.json
	red more.json "has no member cpus"
	jq '."$defs".core.properties.cpu.type = "string"' report.schema.json >type.json
	red type.json "cpu: is not string"
	jq '."$defs".recording.properties.sched.enum = ["off"]' report.schema.json >word.json
	red word.json "sched: is none of the words"
	jq '."$defs".core.maximum = 1' report.schema.json >keyword.json
	red keyword.json "check_maximum"
}

@test "an independent validator accepts the schemas and the reports, too" {
	local what
	python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema here"
	for what in report scaling diff; do
		python3 - $what.schema.json $what/*.json <<-'END' || return
		import json, sys
		from jsonschema import Draft202012Validator as Validator
		schema, *files = [json.load(open(path)) for path in sys.argv[1:]]
		Validator.check_schema(schema)
		for path, file in zip(sys.argv[2:], files):
		    for error in Validator(schema).iter_errors(file):
		        sys.exit("%s: %s: %s" % (path, error.json_path, error.message[:200]))
		END
	done
}

@test "--json-schema needs no file" {
	local what
	for what in report diff; do
		fails 2 "$what: --json-schema takes no file" "$POVTRACE" $what --json-schema run.pov
	done
	disk_is_full 1 "$POVTRACE" report --json-schema
}

@test "the tables of members in kmod-docs agree with the sources (make tables)" {
	cp -r "$top/kmod-docs" pages
	"$tool/member_tables" "$members" pages
	diff -ur "$top/kmod-docs" pages
	[ "$(grep -l '^<!-- members of ' pages/*.md | wc -l)" -gt 8 ]
}
