# SPDX-License-Identifier: GPL-2.0-or-later
#
# fuzz.mk - one program a target, built twice:
#
#   $(O)/fuzz/NAME          with libFuzzer and the sanitizers: `make fuzz`
#   $(O)/tests/fuzz/NAME    with replay.c, by any compiler: `make test` feeds
#                           it what is kept (make fuzz-regress: only that)
#
# FUZZ_TIME: seconds for each target. FUZZ_JOBS: how many side by side.
# FUZZ_ONLY: names of targets, instead of all of them.
# LIB_FUZZING_ENGINE, FUZZ_CC, FUZZ_LD, FUZZ_SAN: another engine, its compiler, its
# linker and its instrumentation; oss-fuzz-build passes them. `make fuzz-targets` only
# builds.

FUZZ_CC     ?= clang
FUZZ_LD     ?= $(FUZZ_CC)
FUZZ_SAN    ?= -O2 -fno-sanitize-recover=all -fsanitize=address,undefined \
               -fsanitize=fuzzer-no-link
LIB_FUZZING_ENGINE ?= -fsanitize=fuzzer
FUZZ_TIME   ?= 600
FUZZ_JOBS   ?= 2
FUZZ_NAMES  := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
FUZZ_ONLY   ?= $(FUZZ_NAMES)
FUZZ_REPLAY := $(FUZZ_NAMES:%=$(O)/tests/fuzz/%)
FUZZ_OBJ    := $(patsubst %.c,$(O)/fuzz/obj/%.o,$(LIB_SRC) $(KMAP_LIB_SRC))
FUZZ_CFLAGS := -std=gnu17 $(WARN) -iquote . -iquote lib -iquote tests -Iinclude $(DEFS) -g \
               -fno-omit-frame-pointer $(FUZZ_SAN)
# Without libFuzzer's runtime (Debian: libclang-rt-14-dev) there is nothing to do.
FUZZ_CAN     = $(shell printf 'int LLVMFuzzerTestOneInput(const char *p, long n);\nint LLVMFuzzerTestOneInput(const char *p, long n){return p && n < 0;}\n' | \
                 $(FUZZ_CC) -x c - -o /dev/null $(LIB_FUZZING_ENGINE) >/dev/null 2>&1 && echo 1)

.PHONY: fuzz-regress fuzz-targets fuzz-corpus

# What an engine was built with is another build.
$(O)/fuzz/flags: FORCE
	@mkdir -p $(@D); echo '$(FUZZ_CC) $(FUZZ_CFLAGS) $(LIB_FUZZING_ENGINE)' | cmp -s - $@ || \
	  echo '$(FUZZ_CC) $(FUZZ_CFLAGS) $(LIB_FUZZING_ENGINE)' >$@

$(O)/fuzz/obj/%.o: %.c $(O)/flags $(O)/fuzz/flags
	@mkdir -p $(@D)
	$(call say,FUZZ-CC,$<)$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/fuzz/libatwalk.a: $(FUZZ_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(FUZZ_NAMES:%=$(O)/fuzz/%): $(O)/fuzz/%: tests/fuzz/fuzz_%.c $(O)/fuzz/libatwalk.a
	$(call say,FUZZ-CC,$<)$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -MF $@.d -c -o $@.o $< && \
	  $(FUZZ_LD) $(FUZZ_CFLAGS) -o $@ $@.o $(O)/fuzz/libatwalk.a $(LIB_FUZZING_ENGINE) \
	  $(LDFLAGS) $(LIBS)

$(FUZZ_REPLAY): $(O)/tests/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LIB_KMAP) $(LIB_INT) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(TEST_CFLAGS) -o $@ $< tests/fuzz/replay.c $(LIB_KMAP) $(LIB_INT) $(LDFLAGS) $(LIBS)

$(O)/tests/fuzz/mkseeds: tests/fuzz/mkseeds.c $(LIB_INT) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(TEST_CFLAGS) -o $@ $< $(LIB_INT) $(LDFLAGS) $(LIBS)

# Headers are few: any of them rebuilds every target.
$(FUZZ_REPLAY) $(O)/tests/fuzz/mkseeds: $(wildcard tests/fuzz/*.h)

$(O)/fuzz/seeds/made: tests/fuzz/seeds $(O)/tests/fuzz/mkseeds $(O)/tests/tools/redump \
  $(O)/tests/tools/mkcapture $(PLUGINS)
	$(call say,SEEDS,$(@D))rm -rf $(@D) && tests/fuzz/seeds $(O) $(@D) && touch $@

fuzz-targets: $(FUZZ_ONLY:%=$(O)/fuzz/%)

# Minimises what the last runs learned and merges it into tests/fuzz/corpus.
fuzz-corpus: $(FUZZ_ONLY:%=$(O)/fuzz/%)
	$(Q)O=$(O) tests/fuzz/keep $(FUZZ_ONLY)

fuzz: $(O)/fuzz/seeds/made $(if $(FUZZ_CAN),$(FUZZ_ONLY:%=$(O)/fuzz/%))
	$(Q)O=$(O) FUZZ_TIME=$(FUZZ_TIME) FUZZ_JOBS=$(FUZZ_JOBS) tests/fuzz/run $(FUZZ_ONLY)

fuzz-regress: $(FUZZ_REPLAY) $(O)/fuzz/seeds/made
	$(Q)O=$(O) tests/cli/fuzz-regress.sh

test: $(FUZZ_REPLAY) $(O)/fuzz/seeds/made
