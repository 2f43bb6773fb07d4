# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Programs for SimGrid, where its compiler is there: povbench, with simulated computation in the place of the real one, and
# what finds the truth that the tests compare with. Included by the Makefile.

ifneq ($(shell command -v smpicc),)
SMPI := build/povbench/smpi
SMPI_SRC := $(filter-out bench/core/compute.c,$(wildcard bench/*/*.c)) tests/simgrid/compute_smpi.c \
	$(wildcard user/base/*.c)
SMPI_OBJ := $(SMPI_SRC:%.c=$(SMPI)/obj/%.o) $(SMPI)/obj/gen/benches.o
SMPI_FLAGS := -DSMPI_NO_OVERRIDE_MALLOC -include tests/simgrid/smpi_names.h
SMPI_BIN := $(SMPI)/povbench $(SMPI)/bcast_truth

$(SMPI)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(BENCH_INC) $(BENCH_CFLAGS) $(SMPI_FLAGS) $(SMPI_OBJ)' >$@.$$$$; $(update)

# $(call smpicc,source)
smpicc = $(Q)smpicc $(BENCH_INC) $(BENCH_PKG_CFLAGS) $(BENCH_CFLAGS) $(SMPI_FLAGS) -MMD -MP -c $(1) -o $@

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
