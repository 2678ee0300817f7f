# SPDX-License-Identifier: GPL-2.0-or-later
#
# qemu.mk - the recorder that QEMU loads, for `atwalk kmap record`: one file for each
# generation of QEMU's plugin interface. It is QEMU's guest, so it links nothing of ours but
# the store of objects, and is built for the machine that QEMU runs on.

RECORDERS   := $(foreach v,1 2,$(O)/atwalk-kmap-$(v).so)
QEMU_SRC    := $(wildcard kmap/qemu/*.c) $(addprefix kmap/lib/,store.c store_edge.c store_task.c \
               call_insn.c)
# $(1): generation, $(2): what it is called besides, $(3): flags
define recorder
$(O)/qemu/$(1)$(2)/kmap/%.o: kmap/%.c $(O)/flags kmap/qemu/qemu.mk qemu/qemu.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)$(CC) $(QEMU_CFLAGS) -DQEMU_API=$(1) $(3) -MMD -MP -c -o $$@ $$<
$(O)/atwalk-kmap-$(1)$(2).so: $(QEMU_SRC:%.c=$(O)/qemu/$(1)$(2)/%.o)
	$$(call say,LD,$$@)$(CC) $(QEMU_LINK) -o $$@ $$^ -ldl
endef
$(foreach v,1 2,$(eval $(call recorder,$(v))))

# The same with a check of each access that is not looked up: for tests/vm/record.
CHECKED_RECORDERS := $(foreach v,1 2,$(O)/atwalk-kmap-$(v)-checked.so)
$(foreach v,1 2,$(eval $(call recorder,$(v),-checked,-DRECORDER_CHECKS)))
