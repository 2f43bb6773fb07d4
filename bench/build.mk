# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# povbench: one program for each MPI, build/povbench/<mpi>/povbench, from everything under bench/. Included by the
# Makefile.
#
#   make povbench                  for the MPIs found
#   make povbench MPICC=/opt/x/mpicc   for that one: build/povbench/mpicc/povbench
#
# A new benchmark, bench/<group>/<name>.c, needs no line here.

BENCH_SRC := $(sort $(wildcard bench/*.c bench/*/*.c))
BENCH_BASE_SRC := $(sort $(wildcard user/lib/*.c))
# libpov, for the clocks of `povtrace clock`. It is linked into the program, which then has no library to find.
BENCH_POV_SRC := $(filter-out %/wtime.c,$(sort $(wildcard user/clock/libpov/*.c)))
BENCH_GEN_HDR := $(GEN)/version.h
# bench first: it has directories of the same names as the tracer.
BENCH_INC := -D_GNU_SOURCE -Ibench -Iuser -Ibpf -I$(GEN)
BENCH_PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags hwloc jansson 2>/dev/null)
BENCH_PKG_LIBS := $(shell $(PKG_CONFIG) --libs hwloc jansson 2>/dev/null)
BENCH_CFLAGS := -std=gnu11 $(OPT) $(WARN) -pthread $(CFLAGS)
BENCH_LIBS := $(BENCH_PKG_LIBS) -lm -pthread

$(GEN)/benches.c: FORCE
	$(call registry,bench,benches,core/bench.h,bench,$(wildcard bench/*/*.c))

# povbench_rules(name, compiler, more flags): the program of one MPI. BENCH_OBJ_name are its objects.
define povbench_rules
BENCH_OBJ_$(1) := $$(BENCH_SRC:%.c=build/povbench/$(1)/obj/%.o) \
	$$(BENCH_BASE_SRC:%.c=build/povbench/$(1)/obj/%.o) $$(BENCH_POV_SRC:%.c=build/povbench/$(1)/obj/%.o) \
	build/povbench/$(1)/obj/gen/benches.o

build/povbench/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $$(BENCH_CFLAGS) $(3) $$(BENCH_OBJ_$(1))' >$$@.$$$$$$$$; $$(update)

build/povbench/$(1)/obj/%.o: %.c build/povbench/$(1)/flags | $$(BENCH_GEN_HDR)
	$$(say) MPICC $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CCACHE) $(2) $$(BENCH_INC) $$(BENCH_PKG_CFLAGS) $$(BENCH_CFLAGS) $(3) -MMD -MP -c $$< -o $$@

build/povbench/$(1)/obj/gen/%.o: $$(GEN)/%.c build/povbench/$(1)/flags
	$$(say) MPICC $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CCACHE) $(2) $$(BENCH_INC) $$(BENCH_PKG_CFLAGS) $$(BENCH_CFLAGS) $(3) -MMD -MP -c $$< -o $$@

build/povbench/$(1)/povbench: $$(BENCH_OBJ_$(1))
	$$(say) MPILD $$@
	$$(Q)$(2) $(3) $$^ $$(LDFLAGS) $$(BENCH_LIBS) -o $$@
endef

# The short name of the MPI that MPICC= names: mpicc for /opt/x/bin/mpicc, openmpi for mpicc.openmpi.
ifdef MPICC
BENCH_MPIS := $(patsubst mpicc.%,%,$(notdir $(firstword $(MPICC))))
$(eval $(call povbench_rules,$(BENCH_MPIS),$(MPICC),-fopenmp))
else
BENCH_MPIS := $(MPIS)
$(foreach m,$(MPIS),$(eval $(call povbench_rules,$m,mpicc.$m,-fopenmp)))
endif
BENCH_BIN := $(BENCH_MPIS:%=build/povbench/%/povbench)

povbench: $(BENCH_BIN)
	@[ -n "$(BENCH_BIN)" ] || { echo "make: no MPI here (make deps installs one, MPICC= names one)" >&2; exit 1; }
live-programs: $(BENCH_BIN)
# Builds with sanitizers do not build these programs once more: they are for the tracer and the unit tests.
all: $(if $(SAN),,$(BENCH_BIN))

# ---- its unit tests: tests/unit/test_bench_*.c, without any MPI ----

BENCH_MPI_SRC := $(if $(BENCH_SRC),$(shell grep -lE '<mpi.h>|comm_mpi.h' $(BENCH_SRC)))
BENCH_LIB := $(BUILD)/libpovbench.a
# The library also has what only tests need: the model of communication, and the results expected on it.
BENCH_TEST_SRC := $(sort $(wildcard tests/povbench/*/*.c))
BENCH_LIB_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(BENCH_MPI_SRC),$(BENCH_SRC)) $(BENCH_TEST_SRC)) \
	$(BUILD)/obj/bench/gen/benches.o $(BENCH_BASE_SRC:user/%.c=$(BUILD)/obj/%.o)
# The model of communication first: the tracer has a directory of that name.
BENCH_LIB_FLAGS = -Itests/povbench -Itests $(BENCH_INC) $(BENCH_PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS_ALL) -fopenmp -pthread

$(BUILD)/obj/bench/gen/%.o: $(GEN)/%.c $(BUILD)/flags | $(BENCH_GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(BENCH_LIB_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/bench/%.o: bench/%.c $(BUILD)/flags | $(BENCH_GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(BENCH_LIB_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/tests/povbench/%.o: tests/povbench/%.c $(BUILD)/flags | $(BENCH_GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(BENCH_LIB_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/tests/unit/test_bench_%.o: tests/unit/test_bench_%.c $(BUILD)/flags | $(BENCH_GEN_HDR)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(BENCH_LIB_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/bench-objects: FORCE
	@mkdir -p $(@D)
	@echo '$(BENCH_LIB_OBJ)' >$@.$$$$; $(update)
$(BENCH_LIB): $(BENCH_LIB_OBJ) $(BUILD)/bench-objects
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BENCH_LIB_OBJ)

# These do not depend on the tracer, either.
UNIT_BENCH_OBJ := $(UNIT_BENCH_SRC:tests/%.c=$(BUILD)/obj/tests/%.o) \
	$(patsubst %,$(BUILD)/obj/tests/%.o,unit/main unit/cases unit/files tool/povmake/lines)
$(BUILD)/tests/unit_bench: $(UNIT_BENCH_OBJ) $(BENCH_LIB)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -fopenmp $^ -lcmocka $(BENCH_LIBS) -o $@

# Runs every benchmark on the model. It has no sanitizers: they take minutes with the stacks of its ranks.
BENCH_SELFTEST := $(if $(SAN),,$(BUILD)/tests/povbench_selftest)
$(BUILD)/tests/povbench_selftest: $(BUILD)/obj/tests/povbench/selftest.o $(BENCH_LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -fopenmp $^ $(BENCH_LIBS) -o $@
tools: $(BENCH_SELFTEST)

# ---- installing ----

# "povbench" is that of the first MPI; the others, and it, are povbench.<mpi>.
BENCH_MAN := $(if $(BENCH_BIN),$(BUILD)/man/povbench.1 $(BUILD)/man/povbench-compare.1 $(BUILD)/man/povbench-run.1 \
	$(BUILD)/man/povbench-algorithms.1)
install-povbench: $(BENCH_BIN) $(BENCH_MAN) $(if $(BENCH_BIN),$(BUILD)/povbench.bash)
	$(foreach m,$(BENCH_MPIS),install -D -m 755 build/povbench/$m/povbench \
		$(DESTDIR)$(PREFIX)/bin/povbench.$m;)
	$(if $(BENCH_BIN),ln -sf povbench.$(firstword $(BENCH_MPIS)) $(DESTDIR)$(PREFIX)/bin/povbench)
	$(if $(BENCH_BIN),install -D -m 755 bench/povbench-run $(DESTDIR)$(PREFIX)/bin/povbench-run)
	$(if $(BENCH_BIN),install -D -m 755 bench/povbench-algorithms $(DESTDIR)$(PREFIX)/bin/povbench-algorithms)
	$(foreach page,$(BENCH_MAN),install -D -m 644 $(page) $(MANDIR)/$(notdir $(page));)
	$(if $(BENCH_BIN),install -D -m 644 $(BUILD)/povbench.bash $(BASHDIR)/povbench)
uninstall-povbench:
	rm -f $(DESTDIR)$(PREFIX)/bin/povbench $(BENCH_MPIS:%=$(DESTDIR)$(PREFIX)/bin/povbench.%) \
		$(DESTDIR)$(PREFIX)/bin/povbench-run $(DESTDIR)$(PREFIX)/bin/povbench-algorithms $(addprefix $(MANDIR)/,$(notdir $(BENCH_MAN))) $(BASHDIR)/povbench
$(BUILD)/man/povbench.1: $(firstword $(BENCH_BIN))
	@mkdir -p $(@D)
	$(Q)$< --man >$@
$(BUILD)/man/povbench-compare.1: $(firstword $(BENCH_BIN))
	@mkdir -p $(@D)
	$(Q)$< --man compare >$@
# povbench's page describes them.
$(BUILD)/man/povbench-run.1 $(BUILD)/man/povbench-algorithms.1: $(BUILD)/man/povbench.1
	$(Q)echo '.so man1/povbench.1' >$@
$(BUILD)/povbench.bash: $(firstword $(BENCH_BIN))
	$(Q)$< --completion >$@
docs: $(BENCH_MAN) $(if $(BENCH_BIN),$(BUILD)/povbench.bash)
install: install-povbench
uninstall: uninstall-povbench

.PHONY: povbench install-povbench uninstall-povbench
-include $(shell find build/povbench -name '*.d' 2>/dev/null)
