/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words by themselves: what the paging mode makes of each, and what the
 * kernel's release makes of those that the CPU ignores. Nothing can fail.
 */
#include "paging/entry.h"
#include "fuzz.h"

static void entry(const struct atw_paging *pg, unsigned level, uint64_t word)
{
	enum atw_kind kind = entry_kind(pg, level, word);
	uint64_t slot = (uint64_t)1 << pg->level[level].shift, same, pa_end;
	unsigned span;

	FUZZ_CHECK(kind <= ATW_BAD, "kind %d", kind);
	FUZZ_CHECK(level || kind != ATW_TABLE, "%s: a table below the last", pg->name);
	FUZZ_CHECK(entry_kind(pg, level, word ^ pg->ignore) == kind,
		   "%s: ignored bits decide", pg->name);
	atw_entry_flags(pg, level, kind, word);
	if (kind != ATW_TABLE && kind != ATW_LEAF)
		return;
	FUZZ_CHECK(!(entry_rights(pg, level, kind, word, 0)),
		   "%s: rights out of nothing",
		   pg->name);
	pa_end = pg->pa_bits < 64 ? (uint64_t)1 << pg->pa_bits : 0;
	FUZZ_CHECK(!pa_end || entry_addr(pg, level, kind, word).u < pa_end,
		   "%s: 0x%" PRIx64 " points past the last address", pg->name, word);
	if (kind != ATW_LEAF)
		return;
	span = atw_entry_span(pg, level, word);
	FUZZ_CHECK(span >= pg->level[level].shift && span < 64, "%s: span %u", pg->name,
		   span);
	FUZZ_CHECK(!(entry_addr(pg, level, kind, word).u & (slot - 1)),
		   "%s: 0x%" PRIx64 " maps the middle of a page", pg->name, word);
	/* What decides is among the attributes; the rest is address. */
	same = word & (atw_leaf_attrs(pg, level) | pg->ignore);
	FUZZ_CHECK(entry_kind(pg, level, same) == kind &&
		   atw_entry_span(pg, level, same) == span &&
		   atw_entry_flags(pg, level, kind, same) ==
		   atw_entry_flags(pg, level, kind, word) &&
		   entry_rights(pg, level, kind, same, ATW_RIGHTS_ALL) ==
		   entry_rights(pg, level, kind, word, ATW_RIGHTS_ALL),
		   "%s: 0x%" PRIx64 " and 0x%" PRIx64 " differ in more than address",
		   pg->name, word, same);
}

static void soft(const struct atw_paging *pg, unsigned level, uint64_t word,
		 const char *release)
{
	struct atw_soft_abi abi = atw_soft_abi_for(pg, release);
	struct atw_soft_word s = atw_soft_decode(&abi, pg, level, word);

	FUZZ_CHECK(s.what <= ATW_SOFT_UNKNOWN && atw_soft_name(s.what), "what %d",
		   s.what);
	/* Linux has no words of its own in a guest's second stage. */
	FUZZ_CHECK((s.what == ATW_SOFT_NONE) == (!word || pg->stage2), "0x%" PRIx64 " is %s", word,
		   atw_soft_name(s.what));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint64_t word = take(&in, 8), which = take(&in, 1);
	struct atw_paging pg;
	char *ext = take_line(&in), *release = take_line(&in);
	size_t modes = 0;

	while (atw_paging_at(modes))
		modes++;
	pg = *atw_paging_at(which % modes);
	atw_paging_extend(&pg, ext, NULL);
	if (pg.word_size == 4)
		word = (uint32_t)word;
	for (unsigned level = 0; level < pg.nlevels; level++) {
		entry(&pg, level, word);
		soft(&pg, level, word, *release ? release : NULL);
	}
	FUZZ_CHECK(atw_va_valid(&pg, atw_va_canonical(&pg, word, false)) &&
		   (pg.halves != ATW_SPLIT ||
		    atw_va_valid(&pg, atw_va_canonical(&pg, word, true))),
		   "%s: canonical is not valid", pg.name);
	free(ext);
	free(release);
	return 0;
}
