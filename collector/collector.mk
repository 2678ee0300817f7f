# SPDX-License-Identifier: GPL-2.0-or-later
#
# collector.mk - atwalk-collect: one static file, of the library's own sources.
#
# make collect        build/atwalk-collect, for the machine that CC compiles for
# make collect-all    and what other compilers here make of it: build/atwalk-collect.musl,
#                     .x86_64, .arm64, .riscv64
#
# The sources are listed: what they call in files that are not is in functions that
# the collector never calls; the linker drops them before it reports undefined symbols.

COLLECT_SRC := $(wildcard collector/*.c) \
  $(addprefix cli/common/,complain.c ending.c options.c progress.c standard.c) \
  $(addprefix lib/base/,buf.c err.c hash.c huge.c io.c nearest.c num.c pack.c radix.c text.c) \
  $(addprefix lib/format/,capture.c capture_fields.c capture_load.c capture_run.c \
    capture_slab.c     capture_write.c elf.c elfunit.c pagemap.c procmaps.c) \
  $(addprefix lib/source/,extents.c live_caps.c live_file.c live_host.c pace.c) \
  lib/walk/counts.c \
  $(wildcard lib/paging/*.c) \
  lib/kernel/soft.c $(addprefix lib/process/,about.c thp.c) \
  $(addprefix lib/provider/,about.c about_host.c about_proc.c frames.c large_live.c large_may.c \
    marks.c nodes.c pagemap.c pagemap_frames.c pagemap_large.c pagemap_ram.c pagemap_runs.c proc.c \
    provider.c share.c use.c zones.c) \
  $(addprefix lib/census/,collect.c collect_area.c collect_file.c collect_others.c collect_task.c write.c) \
  $(addprefix lib/output/,peer.c outfile.c)

COLLECT_CFLAGS := -std=gnu17 $(WARN) -I. -Iinclude -Ilib -D_GNU_SOURCE \
  -D_FILE_OFFSET_BITS=64 -Os -ffunction-sections -fdata-sections -fno-pie \
  -fno-asynchronous-unwind-tables
COLLECT_LDFLAGS := -static -s -Wl,--gc-sections

# Against musl the kernel's own headers are the system's.
MUSL_CC   ?= musl-gcc -idirafter /usr/include -idirafter /usr/include/$(shell gcc -print-multiarch 2>/dev/null)

# $(call collector,FOLDER OF ITS OBJECTS,COMPILER,PROGRAM)
define collector
$(O)/collect/$(1)/%.o: %.c $(O)/flags collector/collector.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$(2) $(COLLECT_CFLAGS) -MMD -MP -c -o $$@ $$<
$(3): $(COLLECT_SRC:%.c=$(O)/collect/$(1)/%.o)
	$$(call say,LD,$$@)$(2) $(COLLECT_LDFLAGS) -o $$@ $$^
endef

# Sanitizers and coverage want a program like any other.
ifneq ($(findstring -fsanitize,$(CFLAGS))$(findstring --coverage,$(CFLAGS)),)
COLLECT_OBJ := $(patsubst %.c,$(O)/%.o,$(filter collector/% cli/%,$(COLLECT_SRC)))
$(O)/atwalk-collect: $(COLLECT_OBJ) $(LIB_INT)
	$(call say,LD,$@)$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS) $(LIBS)
HAVE_static := 1
else
$(eval $(call collector,own,$(CC),$(O)/atwalk-collect))
# A static libc is not there everywhere.
HAVE_static := $(call links,stdio.h,-static)
endif

# Other machines as their collectors are called, and compilers for them.
COLLECTORS := musl $(filter-out $(patsubst aarch64,arm64,$(call machine,$(TARGET))),x86_64 arm64 riscv64)
CC_x86_64  := x86_64-linux-gnu-gcc
CC_arm64   := aarch64-linux-gnu-gcc
CC_riscv64 := riscv64-linux-gnu-gcc
$(foreach m,x86_64 arm64 riscv64,$(eval $(call collector,$(m),$(CC_$(m)),$(O)/atwalk-collect.$(m))))
$(eval $(call collector,musl,$(MUSL_CC),$(O)/atwalk-collect.musl))
CC_musl    := $(firstword $(MUSL_CC))

.PHONY: collect collect-all
collect: $(O)/atwalk-collect

collect-all: $(if $(HAVE_static),collect)
	$(Q)for each in $(foreach m,$(COLLECTORS),$(m):$(CC_$(m))); do \
	  if command -v $${each#*:} >/dev/null; then \
	    $(MAKE) --no-print-directory $(O)/atwalk-collect.$${each%:*} || exit; \
	  else \
	    echo "  without atwalk-collect.$${each%:*}: there is no $${each#*:}"; \
	  fi; \
	done
