# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Programs of the live tests that the general rules cannot build: without any MPI, or with it linked
# statically. Included by the Makefile.

# Flags that one program needs more than the others.
MPI_CFLAGS_planted_advice := -fopenmp
$(foreach m,$(MPIS),$(addprefix build/mpi/$m/f_,f08 use mpif)): tests/mpi/f_calls.inc

PLAIN_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN)
PLAIN_BIN := $(patsubst tests/mpi/plain/%.c,build/mpi/plain/%,\
	$(filter-out %/no_udev.c %/met_library.c %/region_library.c %/verbs_slots.c %/verbs_loopback.c \
	%/verbs_find.c %/verbs_posts.c %/verbs_cost.c %/verbs_pieces.c %/verbs_usdt.c %/verbs_wr.c \
	%/uct_form.c %/ofi_ends.c %/clock_probe.c,$(wildcard tests/mpi/plain/*.c)))

$(PLAIN_BIN): build/mpi/plain/%: tests/mpi/plain/%.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -MMD -MP -MF $@.d $< -o $@ -ldl -lpthread

build/mpi/plain/clock_probe: tests/mpi/plain/clock_probe.c $(BUILD)/libpov.a
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -Iuser -MMD -MP -MF $@.d $< $(BUILD)/libpov.a -o $@ -lpthread

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

build/mpi/mpich/p2p_inside: tests/mpi/p2p.c tests/mpi/expect.h
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) $(MPICH_INC) $(filter %.c,$^) -o $@ $(MPICH_A) -lucp -lucs -lhwloc \
		-lpthread -lm

# Counts the calls of programs that keep no books; with any MPI.
build/mpi/plain/count_calls.so: tests/live/count_calls.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -fPIC -shared -MMD -MP -MF $@.d $< -o $@ -ldl

build/mpi/plain/count_ucp.so: COUNT := -DCOUNT_UCP
build/mpi/plain/count_uct.so: COUNT := -DCOUNT_UCT
build/mpi/plain/count_ucp.so build/mpi/plain/count_uct.so: tests/live/count_calls.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) $(COUNT) -fPIC -shared -MMD -MP -MF $@.d $< -o $@ -ldl

build/mpi/plain/count_os.so: tests/live/count_os.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -fPIC -shared -MMD -MP -MF $@.d $< -o $@ -ldl

# Without names but those that it exports, as a distribution ships libraries.
build/mpi/plain/met_library.so: tests/mpi/plain/met_library.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -fPIC -shared -s -MMD -MP -MF $@.d $< -o $@

# Loaded by tests/mpi/regions.c.
build/mpi/plain/region_library.so: tests/mpi/plain/region_library.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -fPIC -shared -MMD -MP -MF $@.d $< -o $@

# A provider of verbs, with as much of its private interface as the installed library itself tells, and a program that uses it.
VERBS_BIN := $(if $(wildcard /usr/include/infiniband/verbs.h),$(addprefix build/mpi/plain/,verbs_find verbs_posts verbs_cost \
	verbs_pieces verbs_wr verbs_loopback.so verbs_named.so))

$(addprefix build/mpi/plain/verbs_,slots find posts cost pieces wr): build/mpi/plain/%: tests/mpi/plain/%.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -MMD -MP -MF $@.d $< -o $@ -libverbs -ldl

build/mpi/plain/gen/verbs_slots.h: build/mpi/plain/verbs_slots
	$(say) GEN $@
	@mkdir -p $(@D)
	$(Q)$< >$@.new && mv $@.new $@

build/mpi/plain/verbs_loopback.so: tests/mpi/plain/verbs_loopback.c build/mpi/plain/gen/verbs_slots.h
	$(say) CC $@
	$(Q)$(CC) $(PLAIN_CFLAGS) -Ibuild/mpi/plain/gen -fPIC -fvisibility=hidden -shared -s -MMD -MP -MF $@.d $< \
		-o $@ -libverbs

# The same with names, for whoever knows functions by these only; and with functions that begin as real ones do.
build/mpi/plain/verbs_named.so: tests/mpi/plain/verbs_loopback.c build/mpi/plain/gen/verbs_slots.h
	$(say) CC $@
	$(Q)$(CC) $(PLAIN_CFLAGS) -O0 -Ibuild/mpi/plain/gen \
		-fPIC -fvisibility=hidden -shared -MMD -MP -MF $@.d $< -o $@ -libverbs

ifneq ($(wildcard /usr/include/*/sys/sdt.h /usr/include/sys/sdt.h),)
VERBS_BIN += $(if $(VERBS_BIN),build/mpi/plain/verbs_usdt)
endif
build/mpi/plain/verbs_usdt: tests/mpi/plain/verbs_usdt.c build/mpi/plain/gen/verbs_slots.h
	$(say) CC $@
	$(Q)$(CC) $(PLAIN_CFLAGS) -Ibuild/mpi/plain/gen -MMD -MP -MF $@.d $< -o $@ -libverbs

OFI_BIN := $(if $(wildcard /usr/include/rdma/fabric.h),build/mpi/plain/ofi_ends)
build/mpi/plain/ofi_ends: tests/mpi/plain/ofi_ends.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -MMD -MP -MF $@.d $< -o $@ -lfabric

# Without names but those that a program exports, for each form of the table.
UCT_FORMS := $(addprefix build/mpi/plain/uct_form_,47 48 50)
$(UCT_FORMS): build/mpi/plain/uct_form_%: tests/mpi/plain/uct_form.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN_CFLAGS) -DSLOTS=$* -fPIE -pie -rdynamic -s -MMD -MP -MF $@.d $< -o $@

live-programs: mpi-programs build/mpi/plain/clock_probe $(PLAIN_BIN) $(STATIC_BIN) $(addprefix build/mpi/plain/,count_calls.so \
	count_ucp.so count_uct.so count_os.so met_library.so region_library.so) $(VERBS_BIN) $(OFI_BIN) $(UCT_FORMS)
.PHONY: live-programs
