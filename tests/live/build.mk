# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Programs of the live tests that the general rules cannot build: without any MPI, or with it linked
# statically. Included by the Makefile.

# What programs need beyond the general rules.
MPI_CFLAGS_planted_advice := -fopenmp
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

PLAIN_BIN := $(addprefix $(PLAIN)/,chain map_code met os_traffic plugin stuck_fs wakings weak)
$(PLAIN_BIN): $(PLAIN)/%: tests/mpi/plain/%.c
	$(call plain_cc,,-ldl -lpthread)

$(PLAIN)/clock_probe: tests/mpi/plain/clock_probe.c $(BUILD)/libpov.a
	$(call plain_cc,-Iuser,-lpthread)

# p2p_static has everything inside; p2p_inside has MPI inside and the rest in shared libraries. UCX
# registers its parts in constructors, which a linker drops from an archive unless told otherwise.
MPICH_A := $(firstword $(wildcard /usr/lib/*/libmpich.a /usr/lib/*/mpich/lib/libmpich.a))
STATIC_BIN := $(if $(MPICH_A),build/mpi/mpich/p2p_static build/mpi/mpich/p2p_inside)
MPICH_INC = $(filter -I%,$(shell mpicc.mpich -show))

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

# Without names but those that it exports, as a distribution ships libraries.
$(PLAIN)/met_library.so: tests/mpi/plain/met_library.c
	$(call plain_cc,$(SHARED) -s)
# Loaded by tests/mpi/regions.c.
$(PLAIN)/region_library.so: tests/mpi/plain/region_library.c
	$(call plain_cc,$(SHARED))

# A provider of verbs, with as much of its private interface as the installed library itself tells, and programs that use it.
VERBS_BIN := $(if $(wildcard /usr/include/infiniband/verbs.h),$(addprefix $(PLAIN)/,verbs_posts verbs_wr verbs_loopback.so \
	verbs_named.so $(if $(wildcard /usr/include/*/sys/sdt.h /usr/include/sys/sdt.h),verbs_usdt)))

$(addprefix $(PLAIN)/verbs_,slots posts wr usdt): $(PLAIN)/%: tests/mpi/plain/%.c
	$(call plain_cc,-I$(PLAIN)/gen,-libverbs -ldl)

$(PLAIN)/gen/verbs_slots.h: $(PLAIN)/verbs_slots
	$(say) GEN $@
	@mkdir -p $(@D)
	$(Q)$< >$@.new && mv $@.new $@
$(addprefix $(PLAIN)/verbs_,usdt loopback.so named.so): $(PLAIN)/gen/verbs_slots.h

$(PLAIN)/verbs_loopback.so: tests/mpi/plain/verbs_loopback.c
	$(call plain_cc,-I$(PLAIN)/gen -fvisibility=hidden $(SHARED) -s,-libverbs)
# The same with names, for whoever knows functions by these only; and with functions that begin as real ones do.
$(PLAIN)/verbs_named.so: tests/mpi/plain/verbs_loopback.c
	$(call plain_cc,-O0 -I$(PLAIN)/gen -fvisibility=hidden $(SHARED),-libverbs)

OFI_BIN := $(if $(wildcard /usr/include/rdma/fabric.h),$(PLAIN)/ofi_ends)
$(PLAIN)/ofi_ends: tests/mpi/plain/ofi_ends.c
	$(call plain_cc,,-lfabric)

# Without names but those that a program exports, for each form of the table.
UCT_FORMS := $(addprefix $(PLAIN)/uct_form_,47 48 50)
$(UCT_FORMS): $(PLAIN)/uct_form_%: tests/mpi/plain/uct_form.c
	$(call plain_cc,-DSLOTS=$* -fPIE -pie -rdynamic -s)

live-programs: mpi-programs $(PLAIN)/clock_probe $(PLAIN_BIN) $(STATIC_BIN) $(addprefix $(PLAIN)/,count_calls.so count_ucp.so \
	count_uct.so count_os.so met_library.so mpich_finalize.so region_library.so) $(VERBS_BIN) $(OFI_BIN) $(UCT_FORMS)
.PHONY: live-programs
