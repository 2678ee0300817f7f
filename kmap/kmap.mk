# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap.mk - kernel memory access patterns, a product of its own on top of the library:
# kmap/lib, the program atwalk-kmap that `atwalk kmap` executes, and what QEMU loads.
# The Makefile includes it unless KMAP is empty.

LIB_KMAP     := $(O)/libkmap.a
KMAP_PROGRAM := $(O)/atwalk-kmap
KMAP_LIB_SRC := $(sort $(wildcard kmap/lib/*.c))
KMAP_CLI_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard kmap/cli/*.c)))

include kmap/qemu/qemu.mk
# QEMU is not there where a static build runs, and libraries are not.
KMAP_PLUGINS := $(if $(STATIC),,$(RECORDERS))

$(LIB_KMAP): $(KMAP_LIB_SRC:%.c=$(O)/%.o)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(KMAP_PROGRAM): $(KMAP_CLI_OBJ) $(LIB_CLI) $(LIB_KMAP) $(LIB_INT)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(if $(STATIC),-static) -o $@.new $^ $(LDFLAGS) $(LIBS) $(LIBS_cairo) $(LIBS_dl) $(LIBS_inih) $(LIBS_fuse3) && mv -f $@.new $@
