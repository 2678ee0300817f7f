# SPDX-License-Identifier: GPL-2.0-or-later
#
# collector.mk - atwalk-collect: one static file, of the library's own sources.
#
# make collect        build/atwalk-collect, for the machine that CC compiles for
# make collect-all    and what other compilers here make of it: build/atwalk-collect.musl,
#                     .x86_64, .arm64, .riscv64
#
# It links what it needs of an archive of these folders, built for size and without any
# optional library.

COLLECT_SRC := $(wildcard collector/*.c) \
  $(addprefix cli/common/,complete_table.c diagnostics.c ending.c options.c progress.c standard.c)
COLLECT_LIB := $(sort $(foreach f,base format trace paging host source walk linux target census \
  output,$(wildcard lib/$(f)/*.c)))

COLLECT_CFLAGS := -std=gnu17 $(WARN) -iquote . -iquote lib -Iinclude -D_GNU_SOURCE \
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
$(O)/collect/$(1)/lib.a: $(COLLECT_LIB:%.c=$(O)/collect/$(1)/%.o)
	$$(call say,AR,$$@)rm -f $$@ && $(AR) rcs $$@ $$^
$(3): $(COLLECT_SRC:%.c=$(O)/collect/$(1)/%.o) $(O)/collect/$(1)/lib.a
	$$(call say,LD,$$@)$(2) $(COLLECT_LDFLAGS) -o $$@ $$^
endef

# Sanitizers, coverage and packages want a program like any other: COLLECT_STATIC=
COLLECT_STATIC ?= 1
ifneq ($(findstring -fsanitize,$(CFLAGS))$(findstring --coverage,$(CFLAGS))$(if $(COLLECT_STATIC),,1),)
COLLECT_OBJ := $(COLLECT_SRC:%.c=$(O)/%.o)
$(O)/atwalk-collect: $(COLLECT_OBJ) $(LIB_INT)
	$(call say,LD,$@)$(CC) $(CFLAGS) -Wl,--as-needed -o $@ $^ $(LDFLAGS) $(LIBS)
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
