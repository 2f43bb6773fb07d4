# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# povplot: draws what povbench measured. Included by the Makefile. A new picture, viz/plot_<name>.c, needs no line here.

VIZ_SRC := $(sort $(wildcard viz/*.c))
# Of povbench what its sentences are made by and its lists read by, for advice.
VIZ_BENCH_SRC := $(wildcard bench/core/classify*.c) $(addprefix bench/core/,cpu_set.c json_put.c param_text.c result.c stats.c)
VIZ_OBJ := $(VIZ_SRC:viz/%.c=$(BUILD)/obj/viz/%.o) $(BUILD)/obj/viz/gen/pictures.o \
	$(sort $(VIZ_BENCH_SRC:%.c=$(BUILD)/obj/%.o))
VIZ_BASE_OBJ := $(patsubst user/%.c,$(BUILD)/obj/%.o,$(sort $(wildcard user/base/*.c)))
VIZ_PKG_LIBS := $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null)

$(GEN)/pictures.c: FORCE
	$(call registry,picture,pictures,picture.h,plot,$(wildcard viz/*.c))

$(BUILD)/obj/viz/%.o: viz/%.c $(BUILD)/flags | $(GEN)/version.h
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -Iviz $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(BUILD)/obj/viz/advice.o $(BUILD)/obj/viz/setting.o: CPPFLAGS_ALL += -Ibench
$(BUILD)/obj/viz/gen/%.o: $(GEN)/%.c $(BUILD)/flags | $(GEN)/version.h
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -Iviz $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/viz-objects: FORCE
	@mkdir -p $(@D)
	@echo '$(VIZ_OBJ)' >$@.$$$$; $(update)

$(BUILD)/povplot: $(VIZ_OBJ) $(VIZ_BASE_OBJ) $(BUILD)/viz-objects
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(VIZ_OBJ) $(VIZ_BASE_OBJ) $(VIZ_PKG_LIBS) -lm -o $@
all: $(BUILD)/povplot

# Its fuzzer wants everything but the main program.
$(BUILD)/obj/tests/fuzz/fuzz_plot.o: CPPFLAGS_ALL += -Iviz
$(BUILD)/tests/fuzz/fuzz_plot: $(filter-out %/povplot.o,$(VIZ_OBJ))
$(BUILD)/tests/fuzz/fuzz_plot: LIBS := $(LIB) $(LIBS)

# ---- installing ----

$(BUILD)/man/povplot.1: $(BUILD)/povplot
	@mkdir -p $(@D)
	$(Q)$< --man >$@
docs: $(BUILD)/man/povplot.1 $(BUILD)/povplot.bash
install-povplot: $(BUILD)/povplot $(BUILD)/man/povplot.1 $(BUILD)/povplot.bash
	install -D -m 755 $(BUILD)/povplot $(DESTDIR)$(PREFIX)/bin/povplot
	install -D -m 644 $(BUILD)/man/povplot.1 $(MANDIR)/povplot.1
	install -D -m 644 $(BUILD)/povplot.bash $(BASHDIR)/povplot
uninstall-povplot:
	rm -f $(DESTDIR)$(PREFIX)/bin/povplot $(MANDIR)/povplot.1 $(BASHDIR)/povplot
install: install-povplot
uninstall: uninstall-povplot

.PHONY: install-povplot uninstall-povplot
