# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# What the benchmarks of the tracer need besides MPI programs. Included by the Makefile.

$(GEN)/empty_probe.skel.h: $(BPFDIR)/bench/empty_probe.bpf.o
	$(say) SKEL $@
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name empty_probe >$@

$(BPFDIR)/bench/%.bpf.o: tests/bench/tool/%.bpf.c $(BPFDIR)/vmlinux.h
	$(say) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

build/bench/empty_probe: tests/bench/tool/empty_probe.c $(GEN)/empty_probe.skel.h $(LIB)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(filter %.c %.a,$^) $(LIBS) -o $@

build/bench/libmpi_clock.so: tests/bench/tool/mpi_clock.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -Wno-strict-prototypes -fPIC -shared $< -ldl -o $@

live-programs: build/bench/empty_probe build/bench/libmpi_clock.so
