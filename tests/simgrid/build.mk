# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Programs for SimGrid, if its compiler is installed: povbench, with X_smpi.c of this folder instead of bench/core/X.c, and the program that
# finds the truth for the tests. Included by the Makefile.

ifneq ($(shell command -v smpicc),)
SMPI := build/povbench/smpi
SMPI_INSTEAD := $(wildcard tests/simgrid/*_smpi.c)
SMPI_SRC := $(filter-out $(SMPI_INSTEAD:tests/simgrid/%_smpi.c=bench/core/%.c),$(wildcard bench/*.c bench/*/*.c)) \
	$(SMPI_INSTEAD) $(wildcard user/lib/*.c) $(BENCH_POV_SRC)
SMPI_OBJ := $(SMPI_SRC:%.c=$(SMPI)/obj/%.o) $(SMPI)/obj/gen/benches.o
SMPI_FLAGS := -DSMPI_NO_OVERRIDE_MALLOC -include tests/simgrid/smpi_names.h
SMPI_BIN := $(SMPI)/povbench $(SMPI)/bcast_truth

$(SMPI)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(BENCH_INC) $(BENCH_CFLAGS) $(SMPI_FLAGS) $(SMPI_OBJ)' >$@.$$$$; $(update)

# $(call smpicc,source)
smpicc = $(Q)$(CCACHE) smpicc $(BENCH_INC) $(BENCH_PKG_CFLAGS) $(BENCH_CFLAGS) $(SMPI_FLAGS) -MMD -MP -c $(1) -o $@

$(SMPI)/obj/%.o: %.c $(SMPI)/flags | $(GEN)/version.h
	$(say) SMPICC $@
	@mkdir -p $(@D)
	$(call smpicc,$<)
$(SMPI)/obj/gen/%.o: $(GEN)/%.c $(SMPI)/flags
	$(say) SMPICC $@
	@mkdir -p $(@D)
	$(call smpicc,$<)

$(SMPI)/povbench: $(SMPI_OBJ)
	$(say) SMPILD $@
	$(Q)smpicc $^ $(BENCH_LIBS) -o $@
$(SMPI)/bcast_truth: $(SMPI)/obj/tests/simgrid/bcast_truth.o
	$(say) SMPILD $@
	$(Q)smpicc $^ -o $@

simgrid-programs: $(SMPI_BIN)
else
simgrid-programs:
endif
.PHONY: simgrid-programs
