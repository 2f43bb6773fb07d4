# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# povtrace. Everything built lies under build/; nothing is written among the sources.
#
#   make            the tracer and the benchmarks  make demo    install what is missing, record, show
#   make check      the tests of every change      make lint    format, directions, static checks
#   make check-all  all tests that are exact       make install DESTDIR= PREFIX=/usr/local
#
# Sources are found by wildcard and registries are generated from what is there: a new command,
# layer, writer or test needs no line here.

VERSION := 0.1.0

BUILD ?= build
GEN := build/gen
BPFDIR := build/bpf
PREFIX ?= /usr/local
SAN ?=

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
# Compilers by way of ccache, if it is installed: CCACHE= for none.
ifeq ($(origin CCACHE),undefined)
CCACHE := $(if $(shell command -v ccache),ccache)
endif
# For targets that build much: as many jobs as CPUs, unless make was told how many.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
PKG_CONFIG ?= pkg-config
AR ?= ar
# Ubuntu's /usr/sbin/bpftool is a wrapper that may find nothing for the running kernel.
BPFTOOL ?= $(shell for t in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool \
	/usr/lib/linux-tools-*/bpftool; do $$t version >/dev/null 2>&1 && echo $$t && break; done)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
MAKEFLAGS += --no-print-directory
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
# What is preloaded knows x86-64 only; elsewhere commands are recorded by probes.
PRELOAD := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),$(BUILD)/libpovtrace-preload.so)
all: $(BUILD)/povtrace $(BUILD)/povtrace-record $(BUILD)/povtrace-lines $(BUILD)/povtrace-mpi-t $(PRELOAD)

# ---- flags ----

PKGS := libbpf libelf libdw hwloc libzstd zlib jansson
WARN := -Wall -Wextra -Wshadow -Wno-unused-parameter -Werror
OPT ?= -O2 -g
CPPFLAGS_ALL := -D_GNU_SOURCE -Iuser -Ibpf -I$(GEN) $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) \
	$(CPPFLAGS)
# Records are read as words and as structs.
CFLAGS_ALL := -std=gnu11 -fno-strict-aliasing $(OPT) $(WARN) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined -DPOV_SANITIZED) $(CFLAGS)
LDFLAGS_ALL := $(if $(SAN),-fsanitize=$(SAN) -no-pie) $(LDFLAGS)
MISSING := $(shell $(PKG_CONFIG) --print-errors --exists $(PKGS) 2>&1 | grep -o "'[a-z0-9-]*'" | sort -u; \
	command -v $(PKG_CONFIG) >/dev/null || echo $(PKG_CONFIG))
# povtrace needs few libraries. It executes povtrace-record, which needs all of them, for commands that record.
READ_LIBS := $(shell $(PKG_CONFIG) --libs libzstd zlib jansson 2>/dev/null) -lm -lpthread -ldl
RECORD_LIBS := $(shell $(PKG_CONFIG) --libs libbpf libelf hwloc 2>/dev/null) -lZydis
# So do names of call sites, from files that may be damaged: a program of its own, started when it is needed.
LINES_LIBS := $(shell $(PKG_CONFIG) --libs libdw libelf 2>/dev/null)
# So does asking an MPI library, which may do whatever it likes in the process that loads it.
MPI_T_LIBS := $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null) -ldl
LIBS := $(RECORD_LIBS) $(LINES_LIBS) $(READ_LIBS)

# ---- what there is ----

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:bpf/%.bpf.c=$(BPFDIR)/%.bpf.o)
SKEL := $(if $(BPF_SRC),$(GEN)/povtrace.skel.h)
LIBPOV_SRC := $(wildcard user/clock/libpov/*.c)
PRELOAD_SRC := $(wildcard user/preload/*.c)
USER_SRC := $(sort $(filter-out $(LIBPOV_SRC) $(PRELOAD_SRC),$(wildcard user/*/*.c user/*/*/*.c)))
GEN_SRC := $(GEN)/commands.c $(GEN)/layers.c $(GEN)/library_kinds.c $(GEN)/writers.c $(GEN)/strategies.c \
	$(GEN)/report_style.c $(GEN)/report_schema.c
GEN_HDR := $(GEN)/version.h $(SKEL) $(GEN)/clock.skel.h
USER_OBJ := $(USER_SRC:user/%.c=$(BUILD)/obj/%.o)
GEN_OBJ := $(GEN_SRC:$(GEN)/%.c=$(BUILD)/obj/gen/%.o)
MAIN_OBJ := $(BUILD)/obj/cmd/main.o
LIB := $(BUILD)/libpovtrace.a
LINES_MAIN_OBJ := $(BUILD)/obj/site/lines_main.o
LINES_OBJ := $(LINES_MAIN_OBJ) $(BUILD)/obj/site/debug_info.o
MPI_T_OBJ := $(addprefix $(BUILD)/obj/,advise/mpi_t_main.o lib/log.o)
LIB_OBJ := $(filter-out $(MAIN_OBJ) $(LINES_MAIN_OBJ) $(firstword $(MPI_T_OBJ)),$(USER_OBJ)) $(GEN_OBJ)
# Only povtrace-record is linked with these. In a layer's folder they are what looks into libraries: library*.c.
RECORD_OBJ := $(patsubst user/%.c,$(BUILD)/obj/%.o,$(wildcard user/target/*.c user/target/*/*.c user/record/*.c user/record/*/*.c \
	user/layers/*/library*.c user/clock/*.c user/cmd/recording/*.c)) $(BUILD)/obj/gen/library_kinds.o
READ_OBJ := $(filter-out $(RECORD_OBJ) $(LINES_OBJ) $(firstword $(MPI_T_OBJ)),$(USER_OBJ) $(GEN_OBJ))

# Puts what a command printed to $@.$$$$ in the place of $@ only if that changes it, so that nothing is
# rebuilt for nothing. The name is the shell's own: several makes of one tree may be at it at once.
update = cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

# ---- generated sources ----

# registry(struct, array, header, sources): the array of all "const struct S S_name" in the sources.
define registry
@mkdir -p $(@D); { echo '/* Generated by make from the file names. */'; echo '#include "$(3)"'; \
names=$$(sed -n 's/^const struct $(1) \($(4)_[a-z0-9_]*\) =.*/\1/p' /dev/null $(5) | LC_ALL=C sort); \
for n in $$names; do echo "extern const struct $(1) $$n;"; done; \
echo 'const struct $(1) *const $(2)[] = {'; for n in $$names; do echo "	&$$n,"; done; \
echo '	NULL,'; echo '};'; } >$@.$$$$; $(update)
endef

$(GEN)/commands.c: FORCE
	$(call registry,command,commands,lib/option.h,cmd,$(wildcard user/cmd/cmd_*.c))
$(GEN)/layers.c: FORCE
	$(call registry,layer,layers,layers/layer.h,layer,$(wildcard user/layers/*/*.c))
$(GEN)/library_kinds.c: FORCE
	$(call registry,library_kind,library_kinds,target/helper/library_kind.h,library_kind,$(wildcard user/layers/*/library_*.c))
$(GEN)/writers.c: FORCE
	$(call registry,writer,writers,timeline/writer.h,writer,$(wildcard user/timeline/*.c))
$(GEN)/strategies.c: FORCE
	$(call registry,strategy,strategies,advise/advise.h,strategy,$(wildcard user/advise/strategy_*.c))
# The style of the report's page, as a string.
$(GEN)/report_style.c: user/report/page.css Makefile
	@mkdir -p $(@D); { echo '/* Generated by make from $<. */'; echo 'extern const char report_style[];'; \
	echo 'const char report_style[] ='; sed 's/[\\"?]/\\&/g; s/^/	"/; s/$$/\\n"/' $<; echo '	;'; } >$@.$$$$; mv $@.$$$$ $@
# The members of the report's JSON, as rows.
$(GEN)/report_schema.c: user/report/members.tsv Makefile
	@mkdir -p $(@D); { echo '/* Generated by make from $<. */'; echo '#include "report/report.h"'; \
	echo 'const struct schema_row schema_rows[] = {'; \
	sed -E '/^(#|$$)/d; s/[\"?]/\\&/g; s/^([^\t]+)\t([^\t]+)\t([^\t]+)$$/	{"\1", "\2", "\3"},/' $<; \
	echo '	{0},'; echo '};'; } >$@.$$$$; mv $@.$$$$ $@
$(GEN)/version.h: Makefile
	@mkdir -p $(@D)
	@echo '#define POV_VERSION "$(VERSION)"' >$@

gen: $(GEN_SRC) $(GEN_HDR)

# ---- the kernel half ----

BPF_ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/;s/ppc64le/powerpc/;s/riscv64/riscv/')
BPF_SYSINC := $(shell $(CLANG) -print-multiarch 2>/dev/null || $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -std=gnu11 -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter \
	-D__TARGET_ARCH_$(BPF_ARCH) -Ibpf -Iuser -I$(BPFDIR) -idirafter /usr/include/$(BPF_SYSINC)

# Types come from the running kernel where it tells them, else (and with VMLINUX=min) from the few kept
# here; relocation makes either fit the kernel that they are loaded on.
$(BPFDIR)/vmlinux.h: bpf/vmlinux_min.h
	@mkdir -p $(@D)
	$(say) VMLINUX $@
	@if [ "$(VMLINUX)" != min ] && [ -r /sys/kernel/btf/vmlinux ]; then $(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c >$@; \
	else cp bpf/vmlinux_min.h $@; fi

$(BPFDIR)/%.bpf.o: bpf/%.bpf.c $(BPFDIR)/vmlinux.h
	$(say) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(BPFDIR)/povtrace.linked.o: $(BPF_OBJ)
	$(say) BPFLINK $@
	$(Q)$(BPFTOOL) gen object $@ $^

$(GEN)/povtrace.skel.h: $(BPFDIR)/povtrace.linked.o
	@mkdir -p $(@D)
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name povtrace >$@

# The clock's is an object of its own: who wants only that is not to load the rest.
$(BPFDIR)/clock/clock.linked.o: $(BPFDIR)/clock/clock.bpf.o
	$(say) BPFLINK $@
	$(Q)$(BPFTOOL) gen object $@ $^

$(GEN)/clock.skel.h: $(BPFDIR)/clock/clock.linked.o
	@mkdir -p $(@D)
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name pov_clock >$@

# ---- the user half ----

# Objects are rebuilt when the compiler or its flags change.
$(BUILD)/flags: FORCE
	@[ -z "$(MISSING)" ] || { echo "make: missing $(MISSING): run \"sudo make deps\"" >&2; exit 1; }
	@mkdir -p $(@D)
	@echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL), $(PRELOAD_CFLAGS)' >$@.$$$$; $(update)

$(BUILD)/obj/%.o: user/%.c $(BUILD)/flags | $(GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/obj/gen/%.o: $(GEN)/%.c $(BUILD)/flags | $(GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_OBJ)' >$@.$$$$; $(update)

$(LIB): $(LIB_OBJ) $(BUILD)/objects
	@rm -f $@
	$(Q)$(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/povtrace: $(READ_OBJ) $(BUILD)/objects
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(READ_OBJ) $(READ_LIBS) -o $@

$(BUILD)/povtrace-record: $(READ_OBJ) $(RECORD_OBJ) $(BUILD)/objects
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(READ_OBJ) $(RECORD_OBJ) $(RECORD_LIBS) $(READ_LIBS) -o $@

$(BUILD)/povtrace-lines: $(LINES_OBJ) $(BUILD)/objects
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(LINES_OBJ) $(LINES_LIBS) -o $@

$(BUILD)/povtrace-mpi-t: $(MPI_T_OBJ) $(BUILD)/objects
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(MPI_T_OBJ) $(MPI_T_LIBS) -o $@

# What is preloaded into programs: of the kernel half's sources those that treat calls, compiled for a process. Never with sanitizers:
# the programs have none.
PRELOAD_BPF := fetch spin comm binding
PRELOAD_OBJ := $(PRELOAD_SRC:user/preload/%.c=$(BUILD)/preload-objects/%.o) $(PRELOAD_BPF:%=$(BUILD)/preload-objects/%.bpf.o) \
	$(BUILD)/preload-objects/enter.o
# It needs no C library, and leaves the registers of floating point and vectors alone.
PRELOAD_CFLAGS := -D_GNU_SOURCE -Iuser -Ibpf -I$(GEN) -std=gnu11 -O2 -g $(WARN) -Wno-unknown-pragmas -fPIC -fvisibility=hidden \
	-ffreestanding -fno-strict-aliasing -mgeneral-regs-only -fno-stack-protector -fcf-protection=none -ftls-model=initial-exec -fno-omit-frame-pointer \
	-fasynchronous-unwind-tables -include preload/in_process.h $(CFLAGS)

$(BUILD)/preload-objects/%.o: user/preload/%.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(PRELOAD_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/preload-objects/%.o: user/preload/%.S $(BUILD)/flags
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) -fPIC -c $< -o $@

$(BUILD)/preload-objects/%.bpf.o: bpf/%.bpf.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(PRELOAD_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libpovtrace-preload.so: $(PRELOAD_OBJ)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,defs,-z,now,-z,initfirst,--hash-style=both -Wl,-soname,libpovtrace-preload.so $(PRELOAD_OBJ) -o $@

# ---- test programs ----

# tests/unit/*.c: one program (unit), and one of the benchmark suite's test_bench_*.c, which know nothing of the tracer
# (unit_bench, see bench/build.mk).
UNIT_BENCH_SRC := $(sort $(wildcard tests/unit/test_bench_*.c))
UNIT_SRC := $(sort $(filter-out $(UNIT_BENCH_SRC),$(wildcard tests/unit/*.c)))
UNIT_OBJ := $(UNIT_SRC:tests/%.c=$(BUILD)/obj/tests/%.o)
# tests/tool/*.c: programs the golden tests use (povmake, the maker of traces …).
TOOL_BIN := $(patsubst tests/tool/%.c,$(BUILD)/tests/%,$(wildcard tests/tool/*.c))
# tests/fuzz/fuzz_*.c: libFuzzer targets.
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

$(BUILD)/obj/tests/%.o: tests/%.c $(BUILD)/flags | $(GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# They make traces from text, too.
MAKER_OBJ := $(patsubst tests/%.c,$(BUILD)/obj/tests/%.o,$(wildcard tests/tool/povmake/*.c))
$(BUILD)/tests/unit: $(UNIT_OBJ) $(MAKER_OBJ) $(LIB)
	$(say) LD $@
	@[ ! -d $@ ] || rm -r $@ # each file was a program of its own
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -lcmocka $(LIBS) -o $@

$(TOOL_BIN): $(BUILD)/tests/%: $(BUILD)/obj/tests/tool/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) $(LIB) $(LIBS) -o $@

$(BUILD)/tests/povmake $(BUILD)/tests/job_trace: $(MAKER_OBJ)

$(FUZZ_BIN): $(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer $^ $(LIBS) -o $@

unit: $(BUILD)/tests/unit $(BUILD)/tests/unit_bench
tools: $(TOOL_BIN)
fuzzers: $(FUZZ_BIN)

# MPI programs: tests/mpi/*.c (.f90), once per MPI: build/mpi/<mpi>/<name>.
MPIS := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$m),$m))
MPI_SRC := $(wildcard tests/mpi/*.c)
MPI_FSRC := $(wildcard tests/mpi/*.f90)
MPI_NAMES := $(basename $(notdir $(MPI_SRC) $(MPI_FSRC)))
MPI_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -Itests/mpi
EXPORTS_C = int MPI_Finalize(void); int main(void) { return MPI_Finalize(); }
MPI_BIN := $(foreach m,$(MPIS),$(MPI_NAMES:%=build/mpi/$m/%))

# exports.h: HAS_MPI_Name for what the library exports. Its MPI_VERSION promises less than there is: Open MPI 5 says 3.
define mpi_rules
build/mpi/$(1)/exports.h:
	@mkdir -p $$(@D)
	@echo '$$(EXPORTS_C)' | mpicc.$(1) -x c - -o $$@.exe
	@nm -D --defined-only $$$$(ldd $$@.exe | awk '$$$$1 ~ /^libmpi(ch)?\.so/ { print $$$$3; exit }') | \
		sed -n 's/^.* [TW] \(MPI_[A-Za-z_]*\)$$$$/#define HAS_\1 1/p' >$$@
	@grep -q HAS_MPI_Init $$@
build/mpi/$(1)/%: tests/mpi/%.c | build/mpi/$(1)/exports.h
	$$(say) MPICC $$@
	@mkdir -p $$(@D)
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $$(MPI_CFLAGS_$$(*F)) -Ibuild/mpi/$(1) -MMD -MP -MF $$@.d $$< -o $$@ -ldl -lm -lpthread
build/mpi/$(1)/%: tests/mpi/%.f90
	$$(say) MPIFC $$@
	@mkdir -p $$(@D)
	$$(Q)mpifort.$(1) -O2 -g -J$$(@D) $$< -o $$@
endef
$(foreach m,$(MPIS),$(eval $(call mpi_rules,$m)))

mpi-programs: $(MPI_BIN)

live-programs: mpi-programs

include user/clock/libpov/build.mk
include bench/build.mk
include viz/build.mk
# Programs that need more than the rules above (static, dlopen …) bring their own rules.
-include $(wildcard tests/*/build.mk)

-include $(shell find $(BUILD)/obj $(BUILD)/preload-objects $(BPFDIR) build/mpi -name '*.d' 2>/dev/null)

# ---- under sudo ----

# Who typed "sudo make". What was built belongs to that user afterwards, who would else be unable to go on.
BEHIND := $(filter-out 0,$(SUDO_UID))
GIVE := $(if $(BEHIND),chown -Rh $(BEHIND):$(SUDO_GID) build,true)

# ---- tests ----

# What these need may have to be installed first, and the makefile be read again after that.
deps:
	@.ci/deps.sh

# The build with sanitizers, build/asan: the tracer, the unit tests and the fuzzers, of the same objects. By clang, whose
# libFuzzer wants instrumented objects; where it has none, by $(CC), and without fuzzers.
FUZZER_TRY := echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' | \
	$(CLANG) -fsanitize=fuzzer,address,undefined -x c - -o build/fuzzer-works 2>/dev/null
SAN_OPT := OPT="-O1 -g1"
asan-tests: gen
	$(Q)if $(FUZZER_TRY); then \
		$(MAKE) BUILD=build/asan CC=$(CLANG) SAN=address,undefined,fuzzer-no-link $(SAN_OPT) all unit tools fuzzers; \
	else $(MAKE) BUILD=build/asan SAN=address,undefined $(SAN_OPT) all unit tools; fi

# What each stage of tests/run is made from.
CHECK_STAGES := unit golden fuzz live
ALL_STAGES := simgrid all
STAGES ?= $(CHECK_STAGES)
check-programs: all tools $(if $(filter unit golden fuzz,$(STAGES)),asan-tests) \
	$(if $(filter live all timing vm,$(STAGES)),live-programs) $(if $(filter simgrid,$(STAGES)),simgrid-programs)
# $(call run,STAGES): builds what they need, and runs them.
define run
+$(Q)$(MAKE) $(JOBS) STAGES="$(1)" check-programs
$(Q)tests/run $(1); status=$$?; $(GIVE); exit $$status
endef
check: deps
	$(call run,$(STAGES))
check-all: deps
	$(call run,$(CHECK_STAGES) $(ALL_STAGES))
check-timing: deps
	$(call run,timing)
check-unit check-golden check-fuzz check-live check-simgrid: check-%:
	$(call run,$*)
check-vm:
	$(Q).ci/deps.sh vm
	$(call run,vm)
# The test says what it misses, if that cannot be installed.
check-debian12 check-debian13: check-debian%:
	$(Q).ci/deps.sh distro || true
	$(Q)POV_DISTROS=$* tests/run distro
bench: deps
	$(Q)$(MAKE) $(JOBS) all tools live-programs
	$(Q)tests/run bench
# How many of the faults that are planted in the sources are caught by unit and golden tests: MUTANTS="-n 20 -s 7".
mutants: deps
	$(Q)tests/tool/mutate $(MUTANTS)
lint:
	$(Q)tests/run lint
format:
	$(Q)clang-format -i $$(git ls-files --cached --others --exclude-standard '*.c' '*.h')

# ---- demo ----

# The makefile is read again when what was missing is installed.
demo:
	$(Q).ci/demo.sh begin
	$(Q).ci/demo.sh step "install what is missing" .ci/deps.sh
	$(Q).ci/demo.sh step "build" $(MAKE) $(JOBS) all; status=$$?; $(GIVE); exit $$status
	$(Q)$(MAKE) demo-run
demo-run: all
	$(Q).ci/demo.sh run $(firstword $(MPIS)); status=$$?; $(GIVE); exit $$status

# ---- installing ----

RECORDDIR = $(DESTDIR)$(PREFIX)/lib/povtrace
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/povtrace
SQLDIR = $(DESTDIR)$(PREFIX)/share/povtrace/sql
COMMAND_NAMES = $(patsubst user/cmd/cmd_%.c,%,$(wildcard user/cmd/cmd_*.c))

$(BUILD)/man/povtrace.1: $(BUILD)/povtrace
	@mkdir -p $(@D)
	$(Q)$< --man >$@
$(BUILD)/man/povtrace-%.1: $(BUILD)/povtrace
	@mkdir -p $(@D)
	$(Q)$< --man $* >$@
$(BUILD)/%.bash: $(BUILD)/%
	$(Q)$< --completion >$@

$(BUILD)/report.schema.json: $(BUILD)/povtrace
	$(Q)$< report --json-schema >$@
$(BUILD)/scaling.schema.json: $(BUILD)/povtrace
	$(Q)$< report --scaling --json-schema >$@
$(BUILD)/diff.schema.json: $(BUILD)/povtrace
	$(Q)$< diff --json-schema >$@

MAN_PAGES := $(BUILD)/man/povtrace.1 $(COMMAND_NAMES:%=$(BUILD)/man/povtrace-%.1)
SCHEMAS := $(BUILD)/report.schema.json $(BUILD)/scaling.schema.json $(BUILD)/diff.schema.json
docs: $(MAN_PAGES) $(SCHEMAS) $(BUILD)/povtrace.bash

# The tables of members in kmod-docs, which are part of the sources.
tables:
	$(Q)tests/tool/member_tables user/report/members.tsv kmod-docs

install: all docs
	install -D -m 755 $(BUILD)/povtrace $(DESTDIR)$(PREFIX)/bin/povtrace
	install -d $(MANDIR) $(BASHDIR) $(DOCDIR)/kmod-docs/figures $(DOCDIR)/LICENSES
	install -D -m 755 $(BUILD)/povtrace-record $(RECORDDIR)/povtrace-record
	install -m 755 $(BUILD)/povtrace-lines $(RECORDDIR)/povtrace-lines
	install -m 755 $(BUILD)/povtrace-mpi-t $(RECORDDIR)/povtrace-mpi-t
	$(if $(PRELOAD),install -m 755 $(PRELOAD) $(RECORDDIR)/libpovtrace-preload.so)
	install -m 644 $(MAN_PAGES) $(MANDIR)/
	install -m 644 $(BUILD)/povtrace.bash $(BASHDIR)/povtrace
	install -m 644 README.md CHANGELOG.md CONTRIBUTING.md $(DOCDIR)/
	install -m 644 kmod-docs/*.md $(DOCDIR)/kmod-docs/
	install -m 644 kmod-docs/figures/*.svg $(DOCDIR)/kmod-docs/figures/
	install -m 644 $(SCHEMAS) $(DOCDIR)/
	install -m 644 LICENSES/*.txt $(DOCDIR)/LICENSES/
	install -d $(SQLDIR)
	install -m 644 viz/sql/*.sql $(SQLDIR)/
	@$(GIVE)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/povtrace $(BASHDIR)/povtrace
	rm -rf $(RECORDDIR)
	rm -f $(addprefix $(MANDIR)/,$(notdir $(MAN_PAGES)))
	rm -rf $(DOCDIR) $(dir $(SQLDIR))

clean:
	rm -rf build

FORCE:
.PHONY: FORCE all gen unit tools fuzzers mpi-programs live-programs deps asan-tests \
	check-programs check check-all check-timing check-unit check-golden check-fuzz check-simgrid check-live check-vm \
	check-debian12 check-debian13 bench mutants lint \
	format tables demo demo-run docs install uninstall clean
