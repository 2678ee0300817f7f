/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content_rows.c - parts of rows about the content of memory. */
#include "content_rows.h"

enum state content_state_shown(const struct content_piece *p)
{
	return p->repeat ? STATE_REPEAT : state_shown(p->state);
}

void content_hex(const void *data, size_t len, char *text)
{
	const uint8_t *b = data;

	*text = '\0';
	for (size_t i = 0; i < len; i++)
		sprintf(text + 3 * i, "%02x%s", b[i], i + 1 < len ? " " : "");
}

void content_ascii(const void *data, size_t len, char *text)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++)
		text[i] = b[i] >= 0x20 && b[i] < 0x7f ? (char)b[i] : '.';
	text[len] = '\0';
}

bool content_symbol(const struct session *src, uint64_t address, char *text, size_t len)
{
	struct lnx_symbol s;

	if (!(address >> 63) || !target_has(src->target, TARGET_SYMBOLS) ||
	    atw_kernel_symbol_at(src->target->kernel, address, &s, NULL) < 0)
		return false;
	/* Between the last symbol and the direct map nothing is named. */
	if (s.size && address - s.address >= s.size)
		return false;
	if (address != s.address)
		snprintf(text, len, "%s+0x%" PRIx64, s.name, address - s.address);
	else
		snprintf(text, len, "%s", s.name);
	return true;
}

void content_gaps_add(struct content_gaps *g, const struct content_piece *p,
		      const struct atw_err *why)
{
	if (p->state == PAGE_PRESENT)
		return;
	if (p->state < PAGE_LOST || p->state == PAGE_BAD) {
		g->unmapped += p->len;
		return;
	}
	g->missing += p->len;
	if (p->state == PAGE_DAMAGED && !g->why.status)
		g->why = *why;
}

int content_gaps_status(const struct content_gaps *g)
{
	if (g->missing)
		return EXIT_PARTIAL;
	return g->unmapped ? EXIT_NO : EXIT_COMPLETE;
}

void content_gaps_print(const struct content_gaps *g, const char *name)
{
	char size[16];

	if (g->missing)
		print_incomplete("%s: %s of memory cannot be read from it%s%.300s", name,
				 num_human(g->missing, size), g->why.status ? ": " : "",
				 g->why.text);
}

int content_args_physical(const struct session *s, char **argv, struct address_arg *ret,
			  int n)
{
	struct atw_err err = {0};

	for (int i = 0; i < n; i++)
		if (parse_address(s, argv[i], &ret[i].a, &err) < 0)
			return print_error(&err);
	return EXIT_COMPLETE;
}
