/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_run.c - parser of the runs of pages of an M: line of atwalk-capture(5). */
#include "base/sorted.h"
#include "format/capture_fields.h"

/* Frames are mostly in the same R: range as the previous ones. */
static bool capture_run_in_ram(struct capture_reader *c, uint64_t first, uint64_t last)
{
	unsigned lo;

	if (first >= c->ram[c->ram_near].start && last <= c->ram[c->ram_near].last)
		return true;
	lo = (unsigned)SORTED_BELOW(c->ram, c->nram, last, first);
	/* For ranges that did not fit into ram[], only the highest end is known. */
	if (lo == c->nram)
		return c->ram_full && last <= (c->ram_last | (c->page - 1));
	c->ram_near = lo;
	return first >= c->ram[lo].start && last <= c->ram[lo].last;
}

static int capture_run_frames(struct capture_reader *c, uint64_t pa, uint64_t bytes,
			      bool anywhere, struct atw_err *err)
{
	uint64_t last;

	if (pa & (c->page - 1))
		return atw_err_set(err, ATW_E_DAMAGED, "frame %" PRIX64 " is not at a page of "
				   "%" PRIu64, pa, c->page);
	if (__builtin_add_overflow(pa, bytes - 1, &last) || last >> CAPTURE_PA_BITS)
		return atw_err_set(err, ATW_E_DAMAGED, "frames from %" PRIX64 " on, %" PRIX64
				   " bytes: beyond %d bits", pa, bytes, CAPTURE_PA_BITS);
	if (!c->any_ram || anywhere || capture_run_in_ram(c, pa, last))
		return ATW_OK;
	if (last > (c->ram_last | (c->page - 1)))
		return atw_err_set(err, ATW_E_DAMAGED, "frames up to %" PRIX64 ", and RAM ends "
				   "at %" PRIX64, last, c->ram_last);
	return atw_err_set(err, ATW_E_DAMAGED, "frames %" PRIX64 " to %" PRIX64 " are not in one "
			   "range of RAM", pa, last);
}

static int capture_run_check(struct capture_reader *c, const struct capture_run *run,
			     struct atw_err *err)
{
	uint64_t bytes, last;
	int r;

	if (run->va & (c->page - 1))
		return atw_err_set(err, ATW_E_DAMAGED, "not at a page of %" PRIu64, c->page);
	if (!run->pages)
		return atw_err_set(err, ATW_E_DAMAGED, "no pages");
	if (__builtin_mul_overflow(run->pages, c->page, &bytes) ||
	    __builtin_add_overflow(run->va, bytes - 1, &last))
		return atw_err_set(err, ATW_E_DAMAGED, "%" PRIu64 " pages: beyond 64 bits",
				   run->pages);
	if (run->va < c->area_start || last > c->area_last)
		return atw_err_set(err, ATW_E_DAMAGED, "%" PRIu64 " pages: not within the area, "
				   "%" PRIX64 " to %" PRIX64, run->pages, c->area_start,
				   c->area_last);
	if (c->any_run && run->va <= c->run_last)
		return atw_err_set(err, ATW_E_DAMAGED, "the run before ends at %" PRIX64,
				   c->run_last);
	if ((run->has & CAPTURE_M_SWAP) && (run->entry & CAPTURE_PRESENT))
		return atw_err_set(err, ATW_E_DAMAGED, "present and on swap");
	if (run->order > 52 || run->folio > 52)
		return atw_err_set(err, ATW_E_DAMAGED, "a page of order %" PRIu64,
				   run->order > 52 ? run->order : run->folio);
	if (run->same > 1 || run->noframe > 1)
		return atw_err_set(err, ATW_E_DAMAGED, "%s= is neither 0 nor 1",
				   run->same > 1 ? "same" : "noframe");
	if ((run->entry & CAPTURE_PRESENT) && !run->noframe) {
		r = capture_run_frames(c, run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS,
				       run->same ? c->page : bytes,
				       run->state == CAPTURE_DEVICE, err);
		if (r != ATW_OK)
			return r;
	}
	c->any_run = true;
	c->run_last = last;
	return ATW_OK;
}

static int capture_run_check_frames(struct capture_reader *c,
				    const struct capture_frames *run, struct atw_err *err)
{
	uint64_t bytes;
	int r;

	if (!run->pages)
		return atw_err_set(err, ATW_E_DAMAGED, "no pages");
	if (__builtin_mul_overflow(run->pages, c->page, &bytes))
		return atw_err_set(err, ATW_E_DAMAGED, "%" PRIu64 " pages: beyond 64 bits",
				   run->pages);
	if (c->any_run && run->pa <= c->run_last)
		return atw_err_set(err, ATW_E_DAMAGED, "the run before ends at %" PRIX64,
				   c->run_last);
	r = capture_run_frames(c, run->pa, bytes, false, err);
	if (r != ATW_OK)
		return r;
	c->any_run = true;
	c->run_last = run->pa + (bytes - 1);
	return ATW_OK;
}

/* The text before the next bar. ATW_END: the text is empty. */
static int capture_run_take(char letter, struct atw_blob *text, struct atw_blob *ret,
			    struct atw_err *err)
{
	const char *s = text->data, *bar = text->len ? memchr(s, '|', text->len) : NULL;
	size_t n = bar ? (size_t)(bar - s) : text->len, i = 0;

	while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r'))
		i++;
	*text = (struct atw_blob){ bar ? bar + 1 : s + n, bar ? text->len - n - 1 : 0 };
	if (!bar && i == n)
		return ATW_END;
	/* Without the closing bar, the last number may be truncated. */
	if (!bar)
		return atw_err_set(err, ATW_E_DAMAGED, "%c: a run without a bar behind it",
				   letter);
	*ret = (struct atw_blob){ s + i, n - i };
	return ATW_OK;
}

int capture_run(struct capture_reader *c, struct atw_blob *text, struct capture_run *ret,
		struct atw_err *err)
{
	struct atw_blob one;
	int r = ATW_OK;

	if (c->paper || (!capture_take_parsed(&c->parsed, text, ret) &&
			 !capture_parse_usual(text, ret))) {
		r = capture_run_take('M', text, &one, err);
		if (r == ATW_END)
			return ATW_END;
		if (r == ATW_OK)
			r = capture_parse_run(one, c->paper, ret, err);
	}
	if (r == ATW_OK) {
		r = capture_run_check(c, ret, err);
		if (r != ATW_OK)
			atw_err_wrap(err, "M: %" PRIX64, ret->va);
	}
	c->parsed.sound = r == ATW_OK;
	return r == ATW_OK ? ATW_OK : (atw_err_wrap(err, "line %" PRIu64, c->line), r);
}

int capture_frames_run(struct capture_reader *c, struct atw_blob *text,
		       struct capture_frames *ret, struct atw_err *err)
{
	struct capture_frames run;
	struct atw_blob one;
	int r = capture_run_take('F', text, &one, err);

	if (r == ATW_END)
		return ATW_END;
	if (r == ATW_OK)
		r = capture_parse_frames(one, &run, err);
	if (r == ATW_OK) {
		r = capture_run_check_frames(c, &run, err);
		if (r != ATW_OK)
			atw_err_wrap(err, "F: %" PRIX64, run.pa);
	}
	if (r != ATW_OK)
		return atw_err_wrap(err, "line %" PRIu64, c->line), r;
	*ret = run;
	return ATW_OK;
}

/* All members from `count` on are numbers without padding between them. */
bool capture_run_tail_same(const struct capture_run *a, const struct capture_run *b)
{
	const size_t from = offsetof(struct capture_run, count);

	return a->has == b->has &&
	       !memcmp((const char *)a + from, (const char *)b + from, sizeof(*a) - from);
}

/*
 * LPMA counts executable pages by pte_exec(), and its processor has no such bit: 0x200
 * belongs to the hardware, and _PAGE_EXEC is 0 (linux-2.4, asm-ppc/pgtable.h, 40x). So
 * its lines never have executable pages.
 */
static void capture_run_add(const struct capture_run *run, uint64_t pages, bool counted,
			    uint64_t count, bool paper, struct capture_sums *sums)
{
	if (run->has & CAPTURE_M_SWAP)
		sums->swap += pages;
	if (!(run->entry & CAPTURE_PRESENT))
		return;
	if (run->entry & CAPTURE_USER)
		sums->user += pages;
	if (!paper && (run->entry & CAPTURE_EXEC))
		sums->exec += pages;
	if (!(run->entry & CAPTURE_WRITE))
		sums->readonly += pages;
	if (counted && count == 1)
		sums->single += pages;
	else if (counted && count > 1)
		sums->shared += pages;
}

void capture_add(const struct capture_run *run, bool paper, struct capture_sums *sums)
{
	capture_run_add(run, run->pages, run->has & CAPTURE_M_COUNT, run->count, paper, sums);
}

void capture_add_found(const struct capture_run *run, uint64_t pages, bool paper,
		       struct capture_sums *sums)
{
	bool found = run->has & CAPTURE_M_REFS;

	capture_run_add(run, pages, found || run->has & CAPTURE_M_COUNT,
			found ? run->refs : run->count, paper, sums);
}
