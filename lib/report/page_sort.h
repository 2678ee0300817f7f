/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_sort.h - external sort of page runs by physical address: sorted parts go to an
 * unnamed temporary file and are merged from there.
 */
#pragma once

#include <stdio.h>

#include <atwalk/base.h>

struct page_rec {
	uint64_t pa, pages;              /* of the first; the others are contiguous */
	uint64_t flags, count, kcount;
	uint32_t area;                   /* the caller's index of the area */
	uint16_t entry;                  /* low bits */
	uint16_t known;
};

/* Held in memory at once: 96 MiB. */
#define PAGE_SORT_MOST ((size_t)2 << 20)

struct page_sort {
	size_t most;                     /* records in memory; 0: PAGE_SORT_MOST */
	struct page_rec *v;
	size_t n, cap, at;               /* at: the next one, when sorted */
	FILE *file;                      /* NULL: all records are in memory */
	struct page_part *part;          /* sorted ones, in the file */
	size_t nparts, parts_cap;
	size_t *heap;                    /* of parts, by their next record */
	size_t nheap;
};

void page_sort_deinit(struct page_sort *s);
int page_sort_add(struct page_sort *s, const struct page_rec *rec, struct atw_err *err);
/* To be called after the last record. */
int page_sort_finish(struct page_sort *s, struct atw_err *err);
/* By pa, then by VMA. ATW_END: no more. */
int page_sort_next(struct page_sort *s, struct page_rec *ret, struct atw_err *err);
