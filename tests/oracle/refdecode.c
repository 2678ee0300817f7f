// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * refdecode - the library's paging tables against a second reading of the
 * manuals, over words that are random, plausible, or one or two bits away from
 * something plausible.
 *
 *	refdecode [-v] [-n WORDS] [-s SEED] [MODE...]
 *
 * WORDS a mode defaults to $ATWALK_WORDS, then to ten million; SEED to
 * $ATWALK_SEED, then to a fixed one. -v adds what kinds of entry were drawn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paging/entry.h"
#include "refdecode_arm.h"
#include "refdecode_guest.h"
#include "refdecode_riscv.h"
#include "refdecode_words.h"
#include "refdecode_x86.h"

#define SHOWN 10                 /* disagreements printed a mode */

static struct ref_entry ref_decode(enum ref_mode m, unsigned level, uint64_t w)
{
	switch (m) {
	case X86_64_4:
	case X86_64_5:
		return ref_x86_64(level, w);
	case ARM64_4K_39:
	case ARM64_4K_42:
	case ARM64_4K_48:
		return ref_arm64_4k(false, level, w);
	case ARM64_4K_52:
		return ref_arm64_4k(true, level, w);
	case ARM64_16K_36:
	case ARM64_16K_47:
	case ARM64_16K_48:
		return ref_arm64_16k(false, level, w);
	case ARM64_16K_52:
		return ref_arm64_16k(true, level, w);
	case ARM64_64K_42:
	case ARM64_64K_48:
	case ARM64_64K_52:
		return ref_arm64_64k(level, w);
	case RISCV64_SV39:
	case RISCV64_SV48:
	case RISCV64_SV57:
		return ref_riscv64(level, w);
	case I386:
		return ref_i386(level, w);
	case I386_PAE:
		return ref_i386_pae(level, w);
	case ARM_SHORT:
		return ref_arm_short(level, w);
	case ARM_LPAE:
		return ref_arm_lpae(level, w);
	case EPT_4:
	case EPT_5:
		return ref_ept(level, w);
	case NPT_4:
	case NPT_5:
		return ref_npt(level, w);
	case ARM64_S2_4K_32:
	case ARM64_S2_4K_36:
	case ARM64_S2_4K_40:
	case ARM64_S2_4K_42:
	case ARM64_S2_4K_44:
	case ARM64_S2_4K_48:
		return ref_arm64_s2(ref_arm64_4k(false, level, w), w);
	case ARM64_S2_4K_52:
		return ref_arm64_s2(ref_arm64_4k(true, level, w), w);
	case ARM64_S2_16K_40:
	case ARM64_S2_16K_48:
		return ref_arm64_s2(ref_arm64_16k(false, level, w), w);
	case ARM64_S2_16K_52:
		return ref_arm64_s2(ref_arm64_16k(true, level, w), w);
	case ARM64_S2_64K_40:
	case ARM64_S2_64K_48:
	case ARM64_S2_64K_52:
		return ref_arm64_s2(ref_arm64_64k(level, w), w);
	case RISCV64_SV39X4:
	case RISCV64_SV48X4:
	case RISCV64_SV57X4:
		return ref_riscv64_x4(level, w);
	default:
		return ref_riscv32(level, w);
	}
}

/* One mode under test. */
struct run {
	enum ref_mode mode;
	const char *name;
	const struct atw_paging *pg;
	uint64_t word_mask;              /* 32 or 64 bits an entry */
	uint64_t words, budget, wrong;
	uint64_t seen[ATW_MAX_LEVELS][4]; /* by kind */
	uint64_t attrs[ATW_MAX_LEVELS];
};

static void differ(struct run *run, unsigned level, uint64_t word,
		   const char *field, uint64_t lib, uint64_t ref)
{
	if (run->wrong++ >= SHOWN)
		return;
	printf("%s: level %u, 0x%0*" PRIx64 ": %s: library 0x%" PRIx64
	       ", manual 0x%" PRIx64 "\n", run->name, level,
	       2 * (int)ref_word_size(run->mode), word, field, lib, ref);
}

/* Compare in place: the arguments are evaluated for every word. */
#define SAME(field, lib, ref) do { \
	uint64_t l_ = (lib), r_ = (ref); \
	if (l_ != r_) \
		differ(run, level, word, field, l_, r_); \
} while (0)

static const char *kind_name(enum atw_kind kind)
{
	switch (kind) {
	case ATW_ABSENT: return "absent";
	case ATW_TABLE:  return "table";
	case ATW_LEAF:   return "leaf";
	case ATW_BAD:    return "bad";
	}
	return "?";
}

/*
 * The promise of atw_leaf_attrs(): whatever else changes, a word that agrees
 * with a leaf on those bits is a leaf with the same rights, flags and span.
 */
static void check_attrs(struct run *run, unsigned level, uint64_t word,
			struct ref_entry ref, unsigned above, uint64_t other)
{
	const struct atw_paging *pg = run->pg;
	uint64_t attrs = run->attrs[level];
	uint64_t twin = (word & attrs) | (other & ~attrs & run->word_mask);
	struct ref_entry e = ref_decode(run->mode, level, twin);

	SAME("attrs: kind of twin", e.kind, ref.kind);
	if (e.kind != ATW_LEAF)
		return;
	SAME("attrs: rights of twin", ref_rights(e, above), ref_rights(ref, above));
	SAME("attrs: span of twin", e.span, ref.span);
	SAME("attrs: replaces of twin", e.replaces, ref.replaces);
	SAME("attrs: flags of twin",
	     atw_entry_flags(pg, level, ATW_LEAF, twin),
	     atw_entry_flags(pg, level, ATW_LEAF, word));
}

static void check(struct run *run, unsigned level, uint64_t word)
{
	const struct atw_paging *pg = run->pg;
	struct ref_entry ref = ref_decode(run->mode, level, word);
	enum atw_kind kind = entry_kind(pg, level, word);
	unsigned above = draw() >> 58;   /* six rights, six bits */

	run->words++;
	run->seen[level][ref.kind]++;

	if (kind != ref.kind) {
		if (run->wrong++ < SHOWN)
			printf("%s: level %u, 0x%0*" PRIx64 ": kind: library "
			       "%s, manual %s\n", run->name, level,
			       2 * (int)ref_word_size(run->mode), word,
			       kind_name(kind), kind_name(ref.kind));
		return;
	}
	if (kind != ATW_TABLE && kind != ATW_LEAF)
		return;

	SAME("address", entry_addr(pg, level, kind, word).u, ref.addr);
	SAME("rights", entry_rights(pg, level, kind, word, ATW_RIGHTS_ALL),
	     ref_rights(ref, ATW_RIGHTS_ALL));
	SAME("rights below others",
	     entry_rights(pg, level, kind, word, above),
	     ref_rights(ref, above));
	if (kind == ATW_TABLE)
		return;

	SAME("span", atw_entry_span(pg, level, word), ref.span);
	SAME("replaces", entry_replaces(pg, level, word), ref.replaces);

	/* A twin with all the other bits redrawn, and one with one bit turned. */
	check_attrs(run, level, word, ref, above,
		    draw() & 1 ? draw() : word ^ 1ull << below(64));
}

/*
 * Every word that is no, one or two bits away from a base, at every level:
 * half the budget at most.
 */
static void check_patterns(struct run *run)
{
	static const uint64_t bases[] = {
		0, UINT64_MAX, 0x1, 0x2, 0x3, 0x83, 0xe7, 0x7, 0xf, 0xcf,
		0x40002, 0x711, 0x753, 1ull << 52 | 0x711, 1ull << 52 | 0x753,
		1ull << 63 | 0x20cf, 1ull << 61 | 0xcf, 1ull << 63 | 0xe7,
	};
	unsigned bits = 8 * ref_word_size(run->mode);
	unsigned levels = ref_levels(run->mode);

	for (size_t b = 0; b < sizeof(bases) / sizeof(*bases); b++) {
		for (unsigned i = 0; i <= bits; i++) {
			for (unsigned j = i; j <= bits; j++) {
				uint64_t w = bases[b];

				if (i < bits)
					w ^= 1ull << i;
				if (j < bits && j != i)
					w ^= 1ull << j;
				w &= run->word_mask;
				for (unsigned l = 0; l < levels; l++)
					check(run, l, w);
				if (run->words >= run->budget / 2)
					return;
			}
		}
	}
}

static void check_address(struct run *run, uint64_t word)
{
	const struct atw_paging *pg = run->pg;
	unsigned levels = ref_levels(run->mode);
	bool valid = ref_valid(run->mode, word);
	unsigned level = levels - 1;

	SAME("valid address", atw_va_valid(pg, ATW_VA(word)), valid);
	for (level = 0; level < levels; level++)
		SAME("index", atw_index(pg, level, ATW_VA(word)),
		     ref_index(run->mode, level, word));
	if (!valid)
		return;

	/* Taking the copies off and putting them on again gives it back. */
	level = levels - 1;
	SAME("canonical address",
	     atw_va_canonical(pg, word & mask(ref_va_bits(run->mode)),
			      word >> 63).u, word);
}

static void check_addresses(struct run *run)
{
	unsigned bits = ref_va_bits(run->mode);

	/* One bit, all but one, and all from one on: the edges of the halves. */
	for (unsigned i = 0; i < 64; i++) {
		for (unsigned j = 0; j < 64; j++) {
			check_address(run, 1ull << i | 1ull << j);
			check_address(run, ~(1ull << i | 1ull << j));
			check_address(run, (UINT64_MAX << i) ^ (1ull << j));
			check_address(run, (UINT64_MAX >> i) ^ (1ull << j));
		}
	}
	for (uint64_t i = 0; i < run->budget / 8; i++) {
		uint64_t va = draw();

		switch (i & 3) {
		case 0:  va &= mask(bits); break;
		case 1:  va |= ~mask(bits); break;
		case 2:  va |= ~mask(bits - 1); break;
		default: break;
		}
		check_address(run, va);
	}
}

/* The mode has the manual's geometry? Nothing else makes sense without. */
static bool check_geometry(struct run *run)
{
	const struct atw_paging *pg = run->pg;
	uint64_t before = run->wrong, word = 0;
	unsigned level = 0;

	SAME("levels", pg->nlevels, ref_levels(run->mode));
	if (run->wrong != before)
		return false;
	SAME("bytes an entry", pg->word_size, ref_word_size(run->mode));
	SAME("bits of an address", pg->va_bits, ref_va_bits(run->mode));
	SAME("log2 of a page", pg->page_shift, ref_shift(run->mode, 0));
	for (; level < pg->nlevels; level++) {
		SAME("log2 of a slot", pg->level[level].shift,
		     ref_shift(run->mode, level));
		run->attrs[level] = atw_leaf_attrs(pg, level);
	}
	return run->wrong == before;
}

static bool test_mode(enum ref_mode m, uint64_t budget, bool verbose)
{
	struct run run = {
		.mode = m,
		.name = mode_name(m),
		.pg = atw_paging_find(mode_name(m)),
		.word_mask = mask(8 * ref_word_size(m)),
		.budget = budget,
	};
	unsigned levels = ref_levels(m);

	if (!run.pg) {
		printf("%s: the library does not know it\n", run.name);
		return false;
	}
	if (check_geometry(&run)) {
		check_patterns(&run);
		while (run.words < budget) {
			unsigned level = run.words % levels;

			check(&run, level, random_word(m, level));
		}
		check_addresses(&run);
	}
	printf("%s: %" PRIu64 " words, %" PRIu64 " disagreements\n",
	       run.name, run.words, run.wrong);
	for (unsigned l = 0; verbose && l < levels; l++) {
		printf("  level %u:", l);
		for (unsigned k = 0; k < 4; k++)
			printf(" %" PRIu64 " %s", run.seen[l][k], kind_name(k));
		printf("; leaf attributes 0x%" PRIx64 "\n", run.attrs[l]);
	}
	fflush(stdout);
	return !run.wrong;
}

/* Modes of the library without a second decoder written from the manual. */
static unsigned count_unread(void)
{
	const struct atw_paging *pg;
	unsigned n = 0;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		unsigned m = 0;

		while (m < REF_MODES && strcmp(mode_name(m), pg->name))
			m++;
		if (m == REF_MODES) {
			printf("skip - %s: no reference decoder\n", pg->name);
			n++;
		}
	}
	return n;
}

static uint64_t number(const char *text, const char *what)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (!*text || *end || !n) {
		fprintf(stderr, "refdecode: %s: not a number of at least 1: %s\n",
			what, text);
		exit(2);
	}
	return n;
}

static bool wanted(const char *name, char **names, int n)
{
	if (!n)
		return true;
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *words = getenv("ATWALK_WORDS"), *seed = getenv("ATWALK_SEED");
	unsigned passed = 0, failed = 0, skipped = 0;
	uint64_t budget = 10000000, start = 0x9e3779b97f4a7c15ull;
	bool verbose = false;
	int opt;

	if (words && *words)
		budget = number(words, "ATWALK_WORDS");
	if (seed && *seed)
		start = number(seed, "ATWALK_SEED");
	while ((opt = getopt(argc, argv, "vn:s:")) != -1) {
		switch (opt) {
		case 'v': verbose = true; break;
		case 'n': budget = number(optarg, "-n"); break;
		case 's': start = number(optarg, "-s"); break;
		default:
			fprintf(stderr, "usage: refdecode [-v] [-n WORDS] "
				"[-s SEED] [MODE...]\n");
			return 2;
		}
	}
	printf("seed 0x%" PRIx64 "\n", start);

	for (unsigned m = 0; m < REF_MODES; m++) {
		if (!wanted(mode_name(m), argv + optind, argc - optind))
			continue;
		seed_words(start + m);   /* each mode can be repeated alone */
		if (test_mode(m, budget, verbose))
			passed++;
		else
			failed++;
	}
	if (optind == argc)
		skipped = count_unread();
	else if (passed + failed == 0) {
		fprintf(stderr, "refdecode: no such mode\n");
		return 2;
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}
