# SPDX-License-Identifier: GPL-2.0-or-later
#
# qemu.mk - what QEMU loads: one file for each generation of its plugin interface. It is
# QEMU's guest, so it links nothing of ours, and is built for the machine that QEMU runs on.
# kmap/qemu/qemu.mk has another plugin.

REFERENCES  := $(foreach v,1 2,$(O)/atwalk-references-$(v).so)
REFS_SRC    := $(wildcard qemu/*.c)
# QEMU has no runtime of sanitizers or of coverage.
QEMU_OPT    := $(if $(findstring -fsanitize,$(CFLAGS))$(findstring --coverage,$(CFLAGS)),-O2 -g,$(CPPFLAGS) $(CFLAGS))
QEMU_CFLAGS := -std=gnu17 $(WARN) -iquote . -iquote lib -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
               $(QEMU_OPT) -fPIC -fvisibility=hidden -fno-plt
QEMU_LINK   := $(QEMU_OPT) -shared -Wl,-z,now $(LDFLAGS)
# QEMU is not there where a static build runs, and libraries are not.
QEMU_PLUGINS := $(if $(STATIC),,$(REFERENCES))

define references
$(O)/qemu/$(1)/qemu/%.o: qemu/%.c $(O)/flags qemu/qemu.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$(CC) $(QEMU_CFLAGS) -DQEMU_API=$(1) -MMD -MP -c -o $$@ $$<
$(O)/atwalk-references-$(1).so: $(REFS_SRC:%.c=$(O)/qemu/$(1)/%.o)
	$$(call say,LD,$$@)$(CC) $(QEMU_LINK) -o $$@ $$^ -ldl -pthread
endef
$(foreach v,1 2,$(eval $(call references,$(v))))
