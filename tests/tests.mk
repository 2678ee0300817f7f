# SPDX-License-Identifier: GPL-2.0-or-later
# tests.mk - the slower test targets; `make test` itself is in the Makefile.

include tests/fuzz/fuzz.mk

# Tests and tools that pack what the library unpacks.
LIBS_base_codec := $(if $(HAVE_snappy),-lsnappy)
LIBS_source_avml := $(LIBS_base_codec)
LIBS_redump := $(LIBS_base_codec)
# Its children have threads.
LIBS_host_freeze := -pthread
# The code that draws PDF and PNG is not in the library.
LIBS_output_picture := $(LIBS_cairo) $(if $(HAVE_cairo),-lz)
LIBS_pictures := $(LIBS_cairo)
LIBS_references := $(LIBS_dl)
LIBS_host_references := $(LIBS_dl)
# The simulation of colour vision uses pow().
LIBS_plot_scene := -lm

# VM: words for tests/vm/run: --quick, names of guests.
test-vm: all $(TOOLS) $(CHECKED_RECORDERS)
	$(Q)O=$(abspath $(O)) tests/vm/run $(VM)

check-all: test asan tsan valgrind test-vm

SAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
             -fsanitize=address,undefined
asan:
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan CFLAGS="$(SAN_FLAGS)" test
ubsan: asan

# The library from several threads, a target each.
TSAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
TSAN_KMAP  := kmap_drain_rest
TSAN_TESTS := api_threads base_pool base_turns census_jobs census_read output_behind \
              output_part source_page_ahead
tsan:
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan CFLAGS="$(TSAN_FLAGS)" \
	  $(TSAN_TESTS:%=$(O)/tsan/tests/unit/%) $(TSAN_KMAP:%=$(O)/tsan/kmap/tests/unit/%)
	$(Q)O=$(O)/tsan TSAN_OPTIONS=exitcode=66 tests/run $(TSAN_TESTS:%=unit/%) $(TSAN_KMAP:%=unit/%)

# Every program the tests run, but those that make test data; words for the
# oracle are a few, for it is the tables they go through that matter here.
# TESTS: words for tests/run.
VALGRIND := valgrind -q --vgdb=no --error-exitcode=99 --leak-check=full \
            --errors-for-leak-kinds=definite --show-leak-kinds=definite \
            --suppressions=$(CURDIR)/tests/valgrind.supp
valgrind: all $(UNIT) $(ORACLE) $(TOOLS) $(FUZZ_REPLAY) $(O)/fuzz/seeds/made
	$(Q)O=$(O) WRAP="$(VALGRIND)" JOBS=$${JOBS:-$$(nproc)} \
	  ATWALK_WORDS=$${ATWALK_WORDS:-2000} tests/run $(if $(TESTS),$(TESTS),unit oracle cli)

# Tests without privileges fail in it, run by root: gcc's runtime reports on the standard
# error that they check that it cannot write their counts. The table comes all the same.
cover:
	$(Q)GCOV_ERROR_FILE=/dev/null $(MAKE) --no-print-directory O=$(O)/cover \
	  CFLAGS="-O0 -g --coverage" test || true
	$(Q)tools/cover $(O)/cover
