# SPDX-License-Identifier: GPL-2.0-or-later
# bench.mk - `make bench`: every figure we quote, measured in one run.
#
# Synthetic dumps, see synth.c; a real guest's: $ATWALK_BENCH_DUMP, or else the
# first x86_64 guest that `make test-vm` has left; and a guest with a million
# mapped pages, which is booted for this if it can be had here.

BENCH_KINDS := scattered contiguous banks
BENCH_DATA  := $(BENCH_KINDS:%=$(O)/bench/data/%.elf)
BENCH_REAL   = $(or $(ATWALK_BENCH_DUMP),$(firstword \
                 $(wildcard $(or $(ATWALK_VM_WORK),$(O)/vm)/x86_64*/dump.elf)))

XLAT := $(shell $(PKGCONF) --exists libkdumpfile libaddrxlat 2>/dev/null && echo 1)
ifdef XLAT
$(O)/bench/walk: TEST_CFLAGS += -DHAVE_ADDRXLAT $(shell $(PKGCONF) --cflags libkdumpfile libaddrxlat)
LIBS_walk := $(shell $(PKGCONF) --libs libkdumpfile libaddrxlat)
endif

$(O)/bench/data/%.elf: $(O)/bench/synth
	@mkdir -p $(@D)
	$(call say,SYNTH,$@)$(O)/bench/synth $* $@

LIBS_annotate := $(LIBS_dl)

BENCH_MANY   = $(or $(ATWALK_VM_WORK),$(O)/vm)/x86_64-6.12-many/dump.elf

# Plugins of QEMU that do nothing, for each generation of its interface.
FLOORS := $(foreach v,1 2,$(O)/bench/floor-$(v).so)
$(O)/bench/floor-%.so: bench/floor/floor.c qemu/api.h $(O)/flags bench/bench.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(QEMU_CFLAGS) -DQEMU_API=$* -shared -o $@ $<

bench: all $(BENCH) $(BENCH_DATA) $(FLOORS) $(O)/tests/tools/mkcapture $(O)/tests/tools/redump $(O)/kmap/tests/tools/mkkmap \
  $(O)/kmap/tests/tools/kmemwork $(O)/tests/tools/references
	$(Q)[ -e $(BENCH_MANY) ] || tests/vm/run x86_64-6.12-many || true
	$(Q)bench/run $(O) $(BENCH_MANY) $(BENCH_DATA) $(BENCH_REAL)
