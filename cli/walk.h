/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.h - rows of `atwalk walk` (cmd_walk.c), and the tree of a range (walk_tree.c). */
#pragma once

#include "listing.h"

struct walk_out {
	struct atw_output *out;
	struct listing list;
	struct walk_lines *lines;        /* --cache-line, or NULL */
	struct nested *nested;           /* --nested, or NULL */
	bool path;
	unsigned depth;
	uint64_t lost, unmapped;
};

/* Counts a piece, and reports its damage. */
void walk_note_piece(struct walk_out *w, const struct mmu_walk *walk, const struct mmu_seen *s);
/* Prints a row that is filled, with the host's columns. */
int walk_put(struct walk_out *w, struct row *r, struct atw_err *err);
/* The row of a piece as a whole, `skip` bytes behind its beginning. */
void walk_fill_piece(struct walk_out *w, struct row *r, const struct mmu_seen *s,
		     uint64_t skip);
/* The row of an entry on the path to a piece. `address` is in `size` bytes at `slot`. */
void walk_fill_table(struct walk_out *w, struct row *r, const struct mmu_step *p,
		     uint64_t address, uint64_t slot, uint64_t size);

/*
 * The page tables of a range: each entry in a row, tables before what lies below them.
 * A table that was listed is not listed again (state repeat), and neither are equal
 * entries: a row has the number of a run of them. Returns what mmu_walk_next() ended with.
 */
int walk_tree(struct walk_out *w, struct mmu_walk *walk, const struct address *a, bool *any,
	      struct atw_err *err);
