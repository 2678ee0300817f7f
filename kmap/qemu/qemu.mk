# SPDX-License-Identifier: GPL-2.0-or-later
#
# qemu.mk - the recorder that QEMU loads, for `atwalk kmap record`: one file for each
# generation of QEMU's plugin interface. It is QEMU's guest, so it links nothing of ours but
# the store of objects, and is built for the machine that QEMU runs on.

RECORDERS   := $(foreach v,1 2,$(O)/atwalk-kmap-$(v).so)
QEMU_SRC    := $(wildcard kmap/qemu/*.c) $(addprefix kmap/lib/,store.c store_edge.c store_task.c \
               call_insn.c)
define recorder
$(O)/qemu/$(1)/kmap/%.o: kmap/%.c $(O)/flags kmap/qemu/qemu.mk qemu/qemu.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$(CC) $(QEMU_CFLAGS) -DQEMU_API=$(1) -MMD -MP -c -o $$@ $$<
$(O)/atwalk-kmap-$(1).so: $(QEMU_SRC:%.c=$(O)/qemu/$(1)/%.o)
	$$(call say,LD,$$@)$(CC) $(QEMU_LINK) -o $$@ $$^ -ldl
endef
$(foreach v,1 2,$(eval $(call recorder,$(v))))
