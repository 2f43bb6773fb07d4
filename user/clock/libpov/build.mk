# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# libpov, for use in other programs. They are built and run with it even where povtrace is not installed.

LIBPOV_OBJ := $(patsubst user/clock/libpov/%.c,$(BUILD)/obj/clock/libpov/%.o,$(filter-out %/wtime.c,$(LIBPOV_SRC)))
LIBPOV := $(BUILD)/libpov.so.1 $(BUILD)/libpov.so $(BUILD)/libpov.a $(BUILD)/libpov-wtime.so
LIBPOV_FLAGS := -std=gnu11 -D_GNU_SOURCE -Iuser -Ibpf $(OPT) $(WARN) -fPIC $(CFLAGS)
FC := $(firstword $(foreach c,gfortran mpifort.openmpi mpifort.mpich,$(if $(shell command -v $c),$c)))
all: $(LIBPOV)

$(BUILD)/obj/clock/libpov/%.o: user/clock/libpov/%.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(LIBPOV_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libpov.so.1: $(LIBPOV_OBJ) user/clock/libpov/libpov.map
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libpov.so.1 -Wl,--version-script,user/clock/libpov/libpov.map \
		-Wl,-z,defs $(LIBPOV_OBJ) -lpthread -o $@
$(BUILD)/libpov.so: $(BUILD)/libpov.so.1
	$(Q)ln -sf libpov.so.1 $@
$(BUILD)/libpov.a: $(LIBPOV_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# It contains libpov, so that LD_PRELOAD needs only this one file, wherever it lies.
$(BUILD)/libpov-wtime.so: $(BUILD)/obj/clock/libpov/wtime.o $(BUILD)/libpov.a
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -Wl,-z,defs $^ -lpthread -o $@

# Made when it is installed, as PREFIX may be known only then.
define LIBPOV_PC
prefix=$(PREFIX)
libdir=$${prefix}/lib
includedir=$${prefix}/include

Name: libpov
Description: clocks that run only while the MPI rank, or its core, does
Version: $(VERSION)
Libs: -L$${libdir} -lpov
Cflags: -I$${includedir}
endef
export LIBPOV_PC

# This file is for gfortran only; other compilers need the source.
$(BUILD)/pov.mod: user/clock/libpov/pov.f90
	$(say) FC $<
	@mkdir -p $(@D)
	$(Q)$(FC) -fsyntax-only -J$(@D) $<

UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system
MAN3DIR = $(DESTDIR)$(PREFIX)/share/man/man3
install: install-libpov
install-libpov: $(LIBPOV) $(if $(FC),$(BUILD)/pov.mod)
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include $(MAN3DIR)
	install -m 755 $(BUILD)/libpov.so.1 $(BUILD)/libpov-wtime.so $(DESTDIR)$(PREFIX)/lib/
	ln -sf libpov.so.1 $(DESTDIR)$(PREFIX)/lib/libpov.so
	install -m 644 $(BUILD)/libpov.a $(DESTDIR)$(PREFIX)/lib/
	echo "$$LIBPOV_PC" >$(DESTDIR)$(PREFIX)/lib/pkgconfig/libpov.pc
	install -m 644 user/clock/libpov/pov.h user/clock/libpov/pov.f90 $(if $(FC),$(BUILD)/pov.mod) $(DESTDIR)$(PREFIX)/include/
	install -m 644 user/clock/libpov/pov.3 $(MAN3DIR)/
	for n in MPIX_Rtime MPIX_Ptime MPIX_Start_processor_timer MPIX_Stop_processor_timer pov_source; do \
		echo '.so man3/pov.3' >$(MAN3DIR)/$$n.3; done
	install -d $(UNITDIR)
	sed 's|@PREFIX@|$(PREFIX)|' user/clock/povtrace-clock.service >$(UNITDIR)/povtrace-clock.service
	$(if $(DESTDIR),,-ldconfig)
uninstall: uninstall-libpov
uninstall-libpov:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/lib/,libpov.so.1 libpov.so libpov.a libpov-wtime.so pkgconfig/libpov.pc)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/,pov.h pov.f90 pov.mod)
	rm -f $(addprefix $(MAN3DIR)/,pov.3 MPIX_Rtime.3 MPIX_Ptime.3 MPIX_Start_processor_timer.3 MPIX_Stop_processor_timer.3 pov_source.3)
	rm -f $(UNITDIR)/povtrace-clock.service
.PHONY: install-libpov uninstall-libpov
