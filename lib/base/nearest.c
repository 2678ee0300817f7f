/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.c - edit distance between a typed word and known names. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MAX 32              /* longer words are not compared */

static unsigned char nearest_fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/*
 * Optimal string alignment distance: insertions, deletions, substitutions, and
 * transpositions of adjacent letters, which are frequent typing errors.
 */
static unsigned nearest_edits(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *two = rows[0], *one = rows[1], *now = rows[2];

	for (size_t j = 0; j <= nb; j++)
		one[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *spare = two;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = nearest_fold(a[i - 1]) == nearest_fold(b[j - 1]);
			unsigned d = one[j - 1] + !same;

			if (one[j] + 1 < d)
				d = one[j] + 1;
			if (now[j - 1] + 1 < d)
				d = now[j - 1] + 1;
			if (i > 1 && j > 1 &&
			    nearest_fold(a[i - 1]) == nearest_fold(b[j - 2]) &&
			    nearest_fold(a[i - 2]) == nearest_fold(b[j - 1]) &&
			    two[j - 2] + 1 < d)
				d = two[j - 2] + 1;
			now[j] = d;
		}
		two = one;
		one = now;
		now = spare;
	}
	return one[nb];
}

void nearest_try(struct nearest *n, const char *name)
{
	size_t len = strlen(name);
	unsigned d;

	if (!n->len || n->len > WORD_MAX || len > WORD_MAX)
		return;
	d = nearest_edits(n->word, n->len, name, len);
	/* A distance of more than a third of the word is no match. */
	if (d > 2 || d * 3 > len || (n->name && d >= n->distance))
		return;
	n->name = name;
	n->distance = d;
}
