# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Programs of the live tests that the general rules cannot build: without any MPI, or with it linked
# statically. Included by the Makefile.

# What programs need beyond the general rules.
MPI_CFLAGS_planted_advice := -fopenmp
MPI_CFLAGS_names := -Wno-address
$(foreach m,$(MPIS),$(addprefix build/mpi/$m/f_,f08 use mpif)): tests/mpi/f_calls.inc

PLAIN_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN)
PLAIN := build/mpi/plain
SHARED := -fPIC -shared

# A recipe: FLAGS,LIBRARIES
define plain_cc
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) $1 -MMD -MP -MF $@.d $(filter %.c %.a,$^) -o $@ $2
endef

PLAIN_BIN := $(addprefix $(PLAIN)/,chain map_code met modules helper names_without ordinary os_traffic plugin stuck_fs wakings)
$(PLAIN_BIN): $(PLAIN)/%: tests/mpi/plain/%.c
	$(call plain_cc,,-ldl -lpthread)

$(PLAIN)/clock_probe: tests/mpi/plain/clock_probe.c $(BUILD)/libpov.a
	$(call plain_cc,-Iuser,-lpthread)

# p2p_static has everything inside; p2p_inside has MPI inside and the rest in shared libraries. UCX
# registers its parts in constructors, which a linker drops from an archive unless told otherwise.
MPICH_A := $(firstword $(wildcard /usr/lib/*/libmpich.a /usr/lib/*/mpich/lib/libmpich.a))
STATIC_BIN := $(if $(MPICH_A),build/mpi/mpich/p2p_static build/mpi/mpich/p2p_inside)
MPICH_INC = $(filter -I%,$(shell mpicc.mpich -show 2>/dev/null))

build/mpi/mpich/p2p_static: tests/mpi/p2p.c tests/mpi/plain/no_udev.c tests/mpi/expect.h
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) $(MPICH_INC) -static $(filter %.c,$^) -o $@ $(MPICH_A) \
		-Wl,--whole-archive -lucp -luct -lucs -lucm -Wl,--no-whole-archive -lfabric -lhwloc -lnuma \
		-lpthread -lm -ldl -lrt 2>$@.log || { grep -v 'statically linked applications' $@.log; \
		echo "make: no fully static MPI program here; its test will be skipped" >&2; }

build/mpi/mpich/p2p_inside: tests/mpi/p2p.c $(MPICH_A)
	$(call plain_cc,$(MPICH_INC),-lucp -lucs -lhwloc -lpthread -lm)

# Count the calls of programs that keep no books; with any MPI.
$(PLAIN)/count_ucp.so: COUNT := -DCOUNT_UCP
$(PLAIN)/count_uct.so: COUNT := -DCOUNT_UCT
$(PLAIN)/count_calls.so $(PLAIN)/count_ucp.so $(PLAIN)/count_uct.so: tests/live/count_calls.c
	$(call plain_cc,$(COUNT) $(SHARED),-ldl)
$(PLAIN)/count_os.so $(PLAIN)/mpich_finalize.so: $(PLAIN)/%.so: tests/live/%.c
	$(call plain_cc,$(SHARED),-ldl)

# Has no names but those that it exports, like the libraries of a distribution.
$(PLAIN)/met_library.so: tests/mpi/plain/met_library.c
	$(call plain_cc,$(SHARED) -s)
# Loaded by tests/mpi/regions.c.
$(PLAIN)/region_library.so: tests/mpi/plain/region_library.c
	$(call plain_cc,$(SHARED))

# A provider of verbs, with as much of its private interface as the installed library itself tells, and programs that use it.
VERBS_BIN := $(if $(wildcard /usr/include/infiniband/verbs.h),$(addprefix $(PLAIN)/,verbs_posts verbs_loopback.so \
	verbs_named.so $(if $(wildcard /usr/include/*/sys/sdt.h /usr/include/sys/sdt.h),verbs_usdt)))

$(addprefix $(PLAIN)/verbs_,slots posts usdt): $(PLAIN)/%: tests/mpi/plain/%.c
	$(call plain_cc,-I$(PLAIN)/gen,-libverbs -ldl)

$(PLAIN)/gen/verbs_slots.h: $(PLAIN)/verbs_slots
	$(say) GEN $@
	@mkdir -p $(@D)
	$(Q)$< >$@.new && mv $@.new $@
$(addprefix $(PLAIN)/verbs_,usdt loopback.so named.so): $(PLAIN)/gen/verbs_slots.h

$(PLAIN)/verbs_loopback.so: tests/mpi/plain/verbs_loopback.c
	$(call plain_cc,-I$(PLAIN)/gen -fvisibility=hidden $(SHARED) -s,-libverbs)
# The same with names, for tools that find functions by names only; and with functions that begin like real ones.
$(PLAIN)/verbs_named.so: tests/mpi/plain/verbs_loopback.c
	$(call plain_cc,-O0 -I$(PLAIN)/gen -fvisibility=hidden $(SHARED),-libverbs)

OFI_BIN := $(if $(wildcard /usr/include/rdma/fabric.h),$(PLAIN)/ofi_ends)
$(PLAIN)/ofi_ends: tests/mpi/plain/ofi_ends.c
	$(call plain_cc,,-lfabric)

# A program for each form of the table, with no names but those that it exports.
UCT_FORMS := $(addprefix $(PLAIN)/uct_form_,47 48 50)
$(UCT_FORMS): $(PLAIN)/uct_form_%: tests/mpi/plain/uct_form.c
	$(call plain_cc,-DSLOTS=$* -fPIE -pie -rdynamic -s)

# Plug-ins that use MPI, for programs without MPI or with another one: build/mpi/<mpi>/<name>.so.
MPI_PLUGINS := $(foreach m,$(MPIS),$(patsubst tests/mpi/plugin/%.c,build/mpi/$m/%.so,$(wildcard tests/mpi/plugin/*.c)))
define plugin_rule
build/mpi/$(1)/%.so: tests/mpi/plugin/%.c
	$$(say) MPICC $$@
	@mkdir -p $$(@D)
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $$(SHARED) -Wl,-z,lazy -MMD -MP -MF $$@.d $$< -o $$@ -ldl -lpthread
# A program that is linked with one of them, a PMPI tool.
build/mpi/$(1)/arguments_linked: tests/mpi/arguments.c build/mpi/$(1)/pmpi_tool.so
	$$(say) MPICC $$@
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) -MMD -MP -MF $$@.d $$< $$(filter %.so,$$^) -o $$@ -Wl$$(comma)-rpath$$(comma)'$$$$ORIGIN' -lpthread
MPI_PLUGINS += build/mpi/$(1)/arguments_linked
endef
$(foreach m,$(MPIS),$(eval $(call plugin_rule,$m)))

# C++: build/mpi/<mpi>/<name>. Without the libraries of the C++ bindings, which make calls of their own.
MPI_CXX_BIN := $(foreach m,$(MPIS),$(patsubst tests/mpi/%.cc,build/mpi/$m/%,$(wildcard tests/mpi/*.cc)))
MPI_CXX_PLUGINS := $(foreach m,$(MPIS),$(patsubst tests/mpi/plugin/%.cc,build/mpi/$m/%.so,$(wildcard tests/mpi/plugin/*.cc)))
define cxx_rule
MPICXX_$(1) = OMPI_CC=$$(CXX) MPICH_CC=$$(CXX) mpicc.$(1) -std=gnu++17 -O2 -g -Wall -Werror -Itests/mpi -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -MMD -MP -MF $$@.d
build/mpi/$(1)/%: tests/mpi/%.cc
	$$(say) MPICXX $$@
	@mkdir -p $$(@D)
	$$(Q)$$(MPICXX_$(1)) $$< -o $$@ -ldl -lpthread
build/mpi/$(1)/%.so: tests/mpi/plugin/%.cc
	$$(say) MPICXX $$@
	@mkdir -p $$(@D)
	$$(Q)$$(MPICXX_$(1)) $$(SHARED) $$< -o $$@ -lpthread
endef
$(foreach m,$(MPIS),$(eval $(call cxx_rule,$m)))

comma := ,
# Two copies of an MPI library of one rank that is really unloaded, and the plug-in linked with each.
TINY_BIN := $(if $(MPICH_INC),$(foreach n,1 2,$(PLAIN)/libtiny$n.so $(PLAIN)/module_tiny$n.so))
$(PLAIN)/libtiny%.so: tests/mpi/plain/tiny_mpi.c
	$(call plain_cc,$(SHARED) -Wl$(comma)-soname$(comma)libtiny$*.so)
$(PLAIN)/module_tiny%.so: tests/mpi/plugin/module.c $(PLAIN)/libtiny%.so
	$(call plain_cc,$(MPICH_INC) -Itests/mpi $(SHARED),-L$(PLAIN) -l:libtiny$*.so -Wl$(comma)-rpath$(comma)'$$ORIGIN' -lpthread)

# Ordinary programs in other builds; helpers with another C library, or of another word size. The dynamic one of 32 bits has a loader, of package libc6-i386, and no library.
MUSL_BIN := $(if $(shell command -v musl-gcc),$(addprefix $(PLAIN)/helper_,musl musl_static))
ORDINARY_BIN := $(addprefix $(PLAIN)/ordinary_,static asan tsan)
$(PLAIN)/ordinary_static: tests/mpi/plain/ordinary.c
	$(call plain_cc,-static,-lpthread)
$(PLAIN)/ordinary_asan: tests/mpi/plain/ordinary.c
	$(call plain_cc,-fsanitize=address,-lpthread)
$(PLAIN)/ordinary_tsan: tests/mpi/plain/ordinary.c
	$(call plain_cc,-fsanitize=thread,-lpthread)
HELPER_BIN := $(ORDINARY_BIN) $(MUSL_BIN) $(addprefix $(PLAIN)/helper_,static 32 32_dynamic)
$(PLAIN)/helper_musl: tests/mpi/plain/helper.c
	$(say) CC $@
	$(Q)musl-gcc -O2 $< -o $@
$(PLAIN)/helper_musl_static: tests/mpi/plain/helper.c
	$(say) CC $@
	$(Q)musl-gcc -O2 -static $< -o $@
$(PLAIN)/helper_static: tests/mpi/plain/helper.c
	$(call plain_cc,-static,-lpthread)
$(PLAIN)/helper_32: tests/mpi/plain/helper_32.c
	$(call plain_cc,-m32 -ffreestanding -fno-pie -no-pie -nostdlib -static)
$(PLAIN)/helper_32_dynamic: tests/mpi/plain/helper_32.c
	$(call plain_cc,-m32 -ffreestanding -fPIE -pie -nostdlib -Wl$(comma)-dynamic-linker$(comma)/lib/ld-linux.so.2)

live-programs: mpi-programs $(PLAIN)/clock_probe $(PLAIN_BIN) $(STATIC_BIN) $(addprefix $(PLAIN)/,count_calls.so count_ucp.so \
	count_uct.so count_os.so met_library.so mpich_finalize.so region_library.so) $(VERBS_BIN) $(OFI_BIN) $(UCT_FORMS) \
	$(MPI_PLUGINS) $(MPI_CXX_BIN) $(MPI_CXX_PLUGINS) $(TINY_BIN) $(HELPER_BIN)
.PHONY: live-programs
