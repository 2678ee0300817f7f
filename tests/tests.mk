# SPDX-License-Identifier: GPL-2.0-or-later
# tests.mk - the slower test targets; `make test` itself is in the Makefile.

test-vm: all $(TOOLS)
	$(Q)O=$(abspath $(O)) tests/vm/run

check-all: test asan valgrind test-vm

SAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
             -fsanitize=address,undefined
asan:
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan CFLAGS="$(SAN_FLAGS)" test
ubsan: asan

valgrind: all $(UNIT)
	$(Q)O=$(O) WRAP="valgrind -q --error-exitcode=99 --leak-check=full" tests/run unit

cover:
	$(Q)$(MAKE) --no-print-directory O=$(O)/cover CFLAGS="-O0 -g --coverage" test
	$(Q)tools/cover $(O)/cover

include tests/fuzz/fuzz.mk
