# SPDX-License-Identifier: GPL-2.0-or-later
#
# make                 build/atwalk, build/atwalk-kmap, build/libatwalk.so, build/libatwalk.a
# make collect-all     the small static collector, for all machines there is a compiler for
# make test            every test that needs no guest kernel; TESTS="unit cli/find" some
# make test-vm         real kernels under QEMU (tests/vm)
# make check-all       both, and the analysers' test builds: most of quickstart --test=all
# make bench fuzz asan tsan ubsan valgrind cover lint install clean
# make po              new messages into the files of translators (docs/translating.md)
# make dist deb rpm    archives and packages of this commit (packaging/packaging.mk)
#
# CC=aarch64-linux-gnu-gcc cross-builds; STATIC=1 links build/atwalk statically;
# O=dir builds there instead of build/; V=1 shows commands; WITH_zstd=0 (zlib, lzo,
# snappy, lzma, lz4, bzip2, libdw, cairo, fuse3, inih, zydis, sqlite3, gettext) leaves one out although
# it is installed.
# KMAP= builds and installs everything but kmap; `make test` needs all of it.

O       ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include
# The program looks for its recorders in ../libexec/atwalk, seen from where it lies.
LIBEXECDIR ?= $(PREFIX)/libexec
# For messages in other languages, it looks in ../share/locale.
LOCALEDIR ?= $(PREFIX)/share/locale
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# Units of systemd; none of them if it is empty.
UNITDIR ?= $(PREFIX)/lib/systemd/system
KMAP    ?= 1
DESTDIR ?=
VERSION := $(shell sed -n 's/^.define ATWALK_VERSION "\(.*\)"/\1/p' lib/base/version.h)
# Raised when programs have to be linked anew, as with 0.2.
SOMAJOR := 1

CC      ?= cc
AR      ?= ar
CFLAGS  ?= -O2 -g
# Functions behind pointers take what any of their kind needs.
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith -Wwrite-strings -Wvla -Wno-unused-parameter
TARGET  := $(shell $(CC) -dumpmachine)
NATIVE  := $(shell gcc -dumpmachine 2>/dev/null)
# Compilers call this machine by several names; the first word is what counts.
machine  = $(firstword $(subst -, ,$(1)))
OWN     := $(if $(NATIVE),$(filter $(call machine,$(TARGET)),$(call machine,$(NATIVE))),1)
OBJCOPY ?= $(if $(OWN),objcopy,$(TARGET)-objcopy)
PKGCONF ?= $(if $(OWN),pkg-config,$(TARGET)-pkg-config)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2);)

# Optional libraries. lzo2 and snappy ship no .pc file on every system, so a
# library counts as found when pkg-config says so or a test program links.
links    = $(shell printf '\043include <$(1)>\nint main(void){return 0;}\n' | \
             $(CC) -x c - -o /dev/null $(2) >/dev/null 2>&1 && echo 1)
have     = $(if $(filter 0,$(WITH_$(1))),,$(if \
             $(shell $(PKGCONF) --exists $(2) 2>/dev/null && echo 1)$(call links,$(3),$(4)),1))

HAVE_zlib   := $(call have,zlib,zlib,zlib.h,-lz)
HAVE_lzo    := $(call have,lzo,lzo2,lzo/lzo1x.h,-llzo2)
HAVE_snappy := $(call have,snappy,snappy,snappy-c.h,-lsnappy)
HAVE_zstd   := $(call have,zstd,libzstd,zstd.h,-lzstd)
# Of these, only streams: dumps that were packed as a whole.
HAVE_lzma   := $(call have,lzma,liblzma,lzma.h,-llzma)
HAVE_lz4    := $(call have,lz4,liblz4,lz4frame.h,-llz4)
HAVE_bzip2  := $(call have,bzip2,bzip2,bzlib.h,-lbz2)
# libdw leans on others: linked statically only if all of them are there.
DW      := $(or $(shell $(PKGCONF) $(if $(STATIC),--static) --libs libdw 2>/dev/null),-ldw)
HAVE_libdw  := $(if $(filter 0,$(WITH_libdw)),,$(if \
                 $(call links,elfutils/libdw.h,$(if $(STATIC),-static) $(DW)),1))
# Pictures: all three kinds of surface, or none.
CAIRO   := cairo cairo-pdf cairo-ps cairo-png
HAVE_cairo  := $(if $(STATIC)$(filter 0,$(WITH_cairo)),,$(shell \
                 $(PKGCONF) --exists $(CAIRO) 2>/dev/null && echo 1))
# It is loaded when a picture is painted.
LIBS_cairo  := $(if $(HAVE_cairo),-ldl)

# A folder of controls of kmap record: of atwalk-kmap alone.
HAVE_fuse3  := $(if $(STATIC)$(filter 0,$(WITH_fuse3))$(if $(KMAP),,no),,$(shell \
                 $(PKGCONF) --exists 'fuse3 >= 3.2' 2>/dev/null && echo 1))
LIBS_fuse3  := $(if $(HAVE_fuse3),$(shell $(PKGCONF) --libs fuse3))

# Defaults of options from ~/.config/atwalk/config.ini.
HAVE_inih   := $(call have,inih,inih,ini.h,-linih)
LIBS_inih   := $(if $(HAVE_inih),-linih)

# Operands of instructions, loaded when a program is stepped: x86_64 alone.
HAVE_zydis  := $(if $(STATIC)$(filter-out x86_64,$(call machine,$(TARGET))),,$(call \
                 have,zydis,zydis,Zydis/Zydis.h,-lZydis))
# SQL over listings, loaded when a query runs.
HAVE_sqlite3 := $(if $(STATIC)$(filter 0,$(WITH_sqlite3)),,$(shell \
                 $(PKGCONF) --exists 'sqlite3 >= 3.10' 2>/dev/null && echo 1))
# Messages in other languages: libintl.h is a part of libc, msgfmt makes its catalogues.
HAVE_gettext := $(if $(filter 0,$(WITH_gettext)),,$(if \
                 $(shell command -v msgfmt 2>/dev/null),$(shell \
                 printf '\043include <libintl.h>\nint main(void){return !dgettext("a", "b");}\n' | \
                 $(CC) -x c - -o /dev/null >/dev/null 2>&1 && echo 1)))
LANGUAGES   := $(if $(HAVE_gettext),$(shell cat po/LINGUAS))
CATALOGUES  := $(LANGUAGES:%=$(O)/locale/%/LC_MESSAGES/atwalk.mo)
# Plugins are loaded by both programs.
LIBS_dl     := $(if $(STATIC),,-ldl)

CODECS  := zlib lzo snappy zstd lzma lz4 bzip2
FOUND   := $(strip $(foreach l,$(CODECS) libdw cairo fuse3 inih zydis sqlite3 gettext,$(if $(HAVE_$(l)),$(l))))
ABSENT  := $(filter-out $(FOUND),$(CODECS))
DEFS    := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
           $(foreach l,$(FOUND),-DHAVE_$(shell echo $(l) | tr a-z A-Z)=1) \
           $(if $(STATIC),-DSNAPPY_LINKED=1)
LIBS    := $(if $(HAVE_zlib),-lz) $(if $(HAVE_lzo),-llzo2) \
           $(if $(HAVE_snappy),$(if $(STATIC),-lsnappy -lstdc++ -lm,-ldl)) \
           $(if $(HAVE_zstd),-lzstd) $(if $(HAVE_lzma),-llzma) $(if $(HAVE_lz4),-llz4) \
           $(if $(HAVE_bzip2),-lbz2) $(if $(HAVE_libdw),$(DW)) -pthread
# For programs that link libatwalk.a: libdw's own libraries need those of the codecs.
LIBS_STATIC = $(if $(HAVE_libdw),$(or $(shell $(PKGCONF) --static --libs libdw 2>/dev/null),-ldw)) \
              $(LIBS)

# Headers of others are not ours to warn about.
CFLAGS_kmap_folder.o := $(if $(HAVE_fuse3),$(patsubst -I%,-isystem %,$(shell $(PKGCONF) --cflags fuse3)))
CFLAGS_cairo.o := $(if $(HAVE_cairo),$(patsubst -I%,-isystem %,$(shell $(PKGCONF) --cflags $(CAIRO))))
# -iquote: <linux/...> is the kernel's, and "linux/..." is lib/linux.
ALL_CFLAGS := -std=gnu17 $(WARN) -iquote . -iquote lib -Iinclude -fvisibility=hidden -fPIC \
              -fno-semantic-interposition \
              $(DEFS) $(CPPFLAGS) $(CFLAGS)
# Tests see the library's own headers as well, and the test harness.
TEST_CFLAGS := $(ALL_CFLAGS) -iquote tests

# What draws, loads plugins or starts programs is the program's alone: nobody who links the library needs
# cairo or Zydis.
PROGRAM_SRC := lib/plot/cairo.c lib/plot/draw.c $(wildcard lib/host/references*.c lib/host/plugin*.c) \
               lib/host/qemu_program.c
LIB_SRC  := $(filter-out $(PROGRAM_SRC),$(sort $(wildcard lib/*/*.c)))
CLI_SRC  := $(sort $(wildcard cli/*.c))
COMMON_SRC := $(sort $(wildcard cli/common/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/*.c $(if $(KMAP),kmap/tests/unit/*.c)))
ORA_SRC  := $(sort $(wildcard tests/oracle/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
TOOL_SRC := $(sort $(wildcard tests/tools/*.c $(if $(KMAP),kmap/tests/tools/*.c)))
BENCH_SRC:= $(sort $(wildcard bench/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(O)/%.o)
PROGRAM_OBJ := $(PROGRAM_SRC:%.c=$(O)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(O)/%.o)
COMMON_OBJ := $(COMMON_SRC:%.c=$(O)/%.o)
UNIT     := $(UNIT_SRC:%.c=$(O)/%)
ORACLE   := $(ORA_SRC:%.c=$(O)/%)
TOOLS    := $(TOOL_SRC:%.c=$(O)/%)
BENCH    := $(BENCH_SRC:%.c=$(O)/%)
LIB_A    := $(O)/libatwalk.a
LIB_INT  := $(O)/libinternal.a
LIB_SO   := $(O)/libatwalk.so
LIB_CLI  := $(O)/libcli.a

include collector/collector.mk
include python/python.mk
include qemu/qemu.mk
include plugins/plugins.mk
ifneq ($(KMAP),)
include kmap/kmap.mk
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all found test test-vm check-all bench fuzz asan tsan ubsan valgrind cover \
        lint install uninstall clean po

all: found $(O)/atwalk $(O)/policies $(CATALOGUES) $(QEMU_PLUGINS) $(PLUGINS) $(KMAP_PROGRAM) $(KMAP_PLUGINS) $(O)/ptexplore $(LIB_SO) $(LIB_A) $(PYTHON_MODULE) $(if $(HAVE_static),$(O)/atwalk-collect)

found:
	@mkdir -p $(O)
	@{ echo "atwalk $(VERSION) for $(TARGET)"; \
	   echo "  found:  $(or $(FOUND),nothing optional)"; \
	   $(if $(ABSENT),echo "  absent: $(ABSENT) (dumps compressed so cannot be read; see README.md, Building)";) \
	   $(if $(HAVE_libdw),,echo "  absent: libdw (--kernel takes no types out of DWARF)";) \
	   $(if $(HAVE_static),,echo "  absent: a static libc (no atwalk-collect)";) \
	   $(if $(HAVE_cairo),,echo "  absent: cairo (pictures are SVG and HTML alone$(if $(STATIC),; a static build cannot have it))";) \
	   $(if $(HAVE_inih),,echo "  absent: libinih (no configuration files)";) \
	   $(if $(HAVE_zydis),,echo "  absent: Zydis (programs cannot be stepped for their references)";) \
	   $(if $(HAVE_sqlite3),,echo "  absent: SQLite (no atwalk sql$(if $(STATIC),; a static build cannot have it))";) \
	   $(if $(HAVE_gettext),,echo "  absent: gettext (messages are in English alone)";) \
	   $(if $(HAVE_python),echo "  found:  python3 $(PYTHON_VERSION) (the module atwalk)",echo "  absent: python3-dev 3.11 or later (no Python module atwalk)");\
	   $(if $(KMAP),,echo "  absent: kmap (KMAP= was given)";) \
	   $(if $(HAVE_fuse3)$(if $(KMAP),,no),,echo "  absent: fuse3 (kmap record has a socket of controls, and no folder$(if $(STATIC),; a static build cannot have it))";) } \
	   >$(O)/found.new; \
	 cmp -s $(O)/found.new $(O)/found.txt || { mv $(O)/found.new $(O)/found.txt; cat $(O)/found.txt; }

# Objects depend on the flags they were built with, so that a changed CFLAGS
# or a newly installed library rebuilds what it must.
$(O)/flags: FORCE
	@mkdir -p $(O); echo '$(CC) $(ALL_CFLAGS) $(LIBS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(LIBS)' >$@
.PHONY: FORCE

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(CFLAGS_$(@F)) -MMD -MP -c -o $@ $<

# What tests and the program link: every symbol of every layer.
$(LIB_INT): $(LIB_OBJ) $(PROGRAM_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# What programs share above the library: options, errors, answers, progress.
$(LIB_CLI): $(COMMON_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# What others link: one object with no names but atw_*.
$(O)/libatwalk.o: $(LIB_OBJ)
	$(call say,LD,$@)$(CC) -r -nostdlib -o $@ $^ && $(OBJCOPY) --localize-hidden $@
$(LIB_A): $(O)/libatwalk.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJ) lib/libatwalk.map
	$(call say,LD,$@)$(CC) $(CFLAGS) -shared -Wl,-soname,libatwalk.so.$(SOMAJOR) \
	  -Wl,--version-script=lib/libatwalk.map -Wl,-z,defs -o $@ $(LIB_OBJ) $(LDFLAGS) $(LIBS)
	@ln -sf libatwalk.so $@.$(SOMAJOR)

# In one step: tests may run while another make links it again.
$(O)/atwalk: $(CLI_OBJ) $(LIB_CLI) $(LIB_INT)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(if $(STATIC),-static) -o $@.new $(CLI_OBJ) $(LIB_CLI) $(LIB_INT) $(LDFLAGS) $(LIBS) $(LIBS_cairo) $(LIBS_dl) $(LIBS_inih) && mv -f $@.new $@

# atwalk that is not installed takes policies from here, wherever $(O) is.
$(O)/policies: | $(O)/atwalk
	$(call say,LN,$@)ln -sfnr policies $@

# So are catalogues. A translation whose format does not fit its message is an error.
$(O)/locale/%/LC_MESSAGES/atwalk.mo: po/%.po
	@mkdir -p $(@D)
	$(call say,MSGFMT,$<)msgfmt --check -o $@.new $< && mv -f $@.new $@ || { rm -f $@.new; false; }

# New messages of the sources into po/: docs/translating.md
po:
	$(Q)tools/check-messages -u

# Called by this name, it takes ptexplore's options and prints its lines.
$(O)/ptexplore: $(O)/atwalk
	$(call say,LN,$@)ln -sf atwalk $@

# Programs that are looked at: they are traced, map memory where a sanitizer has its own, or
# have as little of it as can be.
$(O)/tests/tools/violate $(O)/tests/tools/still: TEST_CFLAGS := $(filter-out -fsanitize=% -fno-sanitize%,$(TEST_CFLAGS))
$(UNIT) $(ORACLE) $(TOOLS) $(BENCH): $(O)/%: %.c $(LIB_KMAP) $(LIB_INT) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(TEST_CFLAGS) -MMD -MP -o $@ $< $(LIB_KMAP) $(LIB_INT) $(LDFLAGS) $(LIBS) $(LIBS_$(notdir $@))

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# ---- tests ----

test: all $(if $(COLLECT_OBJ),,collect-all) $(UNIT) $(ORACLE) $(TOOLS)
	$(Q)O=$(O) tests/run $(TESTS)

include tests/tests.mk
include lint.mk
-include bench/bench.mk
include packaging/packaging.mk

# ---- install ----

# Pages of section 3 are made of the comments in the public headers.
PYTHON  := $(shell command -v python3 2>/dev/null)
MAN3    := $(if $(PYTHON),$(O)/man/man3/libatwalk.3)
$(O)/man/man3/libatwalk.3: tools/make-man3 $(wildcard include/atwalk/*.h)
	$(call say,MAN,$(@D))rm -rf $(@D) && tools/make-man3 $(@D)

INSTALL := install
UNITS    = $(wildcard packaging/systemd/*.service packaging/systemd/*.timer)
pages    = $(filter-out $(if $(KMAP),,man/atwalk-kmap.%),$(wildcard man/*.$(1)))
install: all $(MAN3)
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
	  $(DESTDIR)$(INCLUDEDIR)/atwalk $(DESTDIR)$(MANDIR)/man1 \
	  $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7 $(DESTDIR)$(MANDIR)/man8 \
	  $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR) \
	  $(DESTDIR)$(PREFIX)/share/atwalk/policies
	$(INSTALL) -m 755 $(O)/atwalk $(KMAP_PROGRAM) $(if $(HAVE_static),$(O)/atwalk-collect) $(DESTDIR)$(PREFIX)/bin/
	ln -sf atwalk $(DESTDIR)$(PREFIX)/bin/ptexplore
	$(if $(QEMU_PLUGINS),$(INSTALL) -d $(DESTDIR)$(LIBEXECDIR)/atwalk)
	$(if $(QEMU_PLUGINS),$(INSTALL) -m 755 $(QEMU_PLUGINS) $(KMAP_PLUGINS) $(DESTDIR)$(LIBEXECDIR)/atwalk/)
	$(INSTALL) -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)/libatwalk.so.$(VERSION)
	ln -sf libatwalk.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libatwalk.so.$(SOMAJOR)
	ln -sf libatwalk.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/libatwalk.so
	$(INSTALL) -m 644 include/atwalk/*.h $(DESTDIR)$(INCLUDEDIR)/atwalk/
	$(INSTALL) -m 644 $(call pages,1) $(DESTDIR)$(MANDIR)/man1/
	$(if $(MAN3),$(INSTALL) -d $(DESTDIR)$(MANDIR)/man3)
	$(if $(MAN3),$(INSTALL) -m 644 $(O)/man/man3/*.3 $(DESTDIR)$(MANDIR)/man3/)
	$(INSTALL) -m 644 $(call pages,5) $(DESTDIR)$(MANDIR)/man5/
	$(INSTALL) -m 644 man/*.7 $(DESTDIR)$(MANDIR)/man7/
	$(INSTALL) -m 644 man/*.8 $(DESTDIR)$(MANDIR)/man8/
	$(INSTALL) -m 644 policies/*.ini $(DESTDIR)$(PREFIX)/share/atwalk/policies/
	for l in $(LANGUAGES); do \
	  $(INSTALL) -d $(DESTDIR)$(LOCALEDIR)/$$l/LC_MESSAGES && \
	  $(INSTALL) -m 644 $(O)/locale/$$l/LC_MESSAGES/atwalk.mo $(DESTDIR)$(LOCALEDIR)/$$l/LC_MESSAGES/ || exit; \
	done
	$(INSTALL) -m 644 completions/atwalk.bash $(DESTDIR)$(BASHDIR)/atwalk
	$(INSTALL) -m 644 completions/_atwalk $(DESTDIR)$(ZSHDIR)/
	$(INSTALL) -m 644 completions/atwalk.fish $(DESTDIR)$(FISHDIR)/
	ln -sf atwalk $(DESTDIR)$(BASHDIR)/ptexplore
	ln -sf atwalk.fish $(DESTDIR)$(FISHDIR)/ptexplore.fish
	# A collector may be installed without the rest: files of its own.
	$(if $(HAVE_static),$(INSTALL) -m 644 completions/atwalk.bash $(DESTDIR)$(BASHDIR)/atwalk-collect)
	$(if $(HAVE_static),$(INSTALL) -m 644 completions/atwalk.fish $(DESTDIR)$(FISHDIR)/atwalk-collect.fish)
	$(if $(HAVE_static),sed '1s/.*/#compdef atwalk-collect/' completions/_atwalk >$(DESTDIR)$(ZSHDIR)/_atwalk-collect)
	$(if $(KMAP),ln -sf atwalk $(DESTDIR)$(BASHDIR)/atwalk-kmap)
	$(if $(KMAP),ln -sf atwalk.fish $(DESTDIR)$(FISHDIR)/atwalk-kmap.fish)
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	  -e 's|@VERSION@|$(VERSION)|; s|@LIBS@|$(strip $(LIBS_STATIC))|' \
	  lib/atwalk.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/atwalk.pc
	$(if $(UNITDIR),$(INSTALL) -d $(DESTDIR)$(UNITDIR))
	$(if $(UNITDIR),for u in $(notdir $(UNITS)); do \
	  sed 's|^ExecStart=/usr/|ExecStart=$(PREFIX)/|' packaging/systemd/$$u >$(DESTDIR)$(UNITDIR)/$$u || exit; \
	done)
	$(if $(PYTHON_MODULE),+$(Q)$(MAKE) --no-print-directory install-python)
	$(if $(PLUGINS),+$(Q)$(MAKE) --no-print-directory install-plugins)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/atwalk $(DESTDIR)$(PREFIX)/bin/ptexplore \
	  $(DESTDIR)$(PREFIX)/bin/atwalk-collect $(DESTDIR)$(PREFIX)/bin/atwalk-kmap \
	  $(DESTDIR)$(LIBDIR)/libatwalk.* \
	  $(DESTDIR)$(LIBDIR)/pkgconfig/atwalk.pc \
	  $(DESTDIR)$(MANDIR)/man1/atwalk*.1 \
	  $(DESTDIR)$(MANDIR)/man1/ptexplore.1 $(DESTDIR)$(MANDIR)/man7/atwalk*.7 \
	  $(DESTDIR)$(MANDIR)/man3/atw_*.3 $(DESTDIR)$(MANDIR)/man3/libatwalk.3 \
	  $(DESTDIR)$(MANDIR)/man5/atwalk*.5 $(DESTDIR)$(MANDIR)/man8/atwalk*.8 \
	  $(addprefix $(DESTDIR)$(BASHDIR)/,atwalk atwalk-collect atwalk-kmap ptexplore) \
	  $(addprefix $(DESTDIR)$(ZSHDIR)/,_atwalk _atwalk-collect) \
	  $(addprefix $(DESTDIR)$(FISHDIR)/,atwalk.fish atwalk-collect.fish atwalk-kmap.fish ptexplore.fish)
	rm -rf $(DESTDIR)$(INCLUDEDIR)/atwalk $(DESTDIR)$(LIBEXECDIR)/atwalk \
	  $(DESTDIR)$(PYTHONDIR)/atwalk $(DESTDIR)$(PLUGINDIR) \
	  $(DESTDIR)$(PREFIX)/share/atwalk
	rm -f $(DESTDIR)$(LOCALEDIR)/*/LC_MESSAGES/atwalk.mo
	$(if $(UNITDIR),rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(notdir $(UNITS))))

clean:
	rm -rf $(O)
