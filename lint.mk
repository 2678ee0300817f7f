# SPDX-License-Identifier: GPL-2.0-or-later
# lint.mk - `make lint`: analysers and the house's own rules; see tools/lint.
# LINT="clang-tidy cppcheck" runs some of them. Make has a LINT of its own: the program.

ifeq ($(origin LINT),default)
LINT :=
endif

lint: all $(UNIT)
	$(Q)O=$(O) LINT_CFLAGS='$(filter-out -W% -g -O%,$(TEST_CFLAGS)) -DQEMU_API=1 $(CFLAGS_cairo.o) $(CFLAGS_kmap_folder.o)' tools/lint $(LINT)
