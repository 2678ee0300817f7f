/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_program.c - symbols of a program that is recorded. */
#include "line_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "host/references_program.h"

int line_program_open(struct line_program *p, const char *command, struct atw_err *err)
{
	struct references_program found;
	int r = references_program_find(command, &found, err);

	*p = (struct line_program){0};
	if (r == ATW_OK)
		r = file_open(found.path, &p->file, err);
	if (r < 0)
		return r;
	/* Symbols are a help: a program without them can be recorded. */
	if (elfsec_parse(p->file.map, &p->elf, NULL) < 0 ||
	    elfsyms_init(&p->syms, &p->elf, NULL) < 0)
		p->syms = (struct elfsyms){0};
	return ATW_OK;
}

void line_program_close(struct line_program *p)
{
	elfsyms_deinit(&p->syms);
	file_close(&p->file);
}

/* An address in the file, or a symbol and its size. */
static int line_program_word(const struct line_program *p, const char *word, size_t len,
			     uint64_t *ret, uint64_t *ret_size, struct atw_err *err)
{
	struct elfsyms_symbol s;
	char name[256];
	const char *const names[] = { name };
	bool have = false;

	*ret_size = 0;
	if (num_hex(word, len, ret))
		return ATW_OK;
	snprintf(name, sizeof(name), "%.*s", (int)(len < 255 ? len : 255), word);
	if (!p->syms.n || !elfsyms_find_many(&p->syms, names, ret, &have, 1))
		return atw_err_set(err, ATW_E_USAGE,
				   "'%s' is neither a hexadecimal address nor a symbol of %s",
				   name, p->file.path);
	if (elfsyms_near(&p->syms, *ret, &s) == ATW_OK && s.address == *ret)
		*ret_size = s.size;
	return ATW_OK;
}

int line_program_range(const struct line_program *p, const char *word,
		       struct references_range *ret, struct atw_err *err)
{
	size_t len = strcspn(word, "+-");
	uint64_t start, end, size, none;
	int r = line_program_word(p, word, len, &start, &size, err);

	if (r < 0)
		return r;
	if (!word[len]) {
		end = start + (size ? size : 1);
	} else if (word[len] == '+') {
		if (!num_size(word + len + 1, strlen(word + len + 1), &size))
			return atw_err_set(err, ATW_E_USAGE, "%s: '%s' is no length", word,
					   word + len + 1);
		end = start + size;
	} else {
		r = line_program_word(p, word + len + 1, strlen(word + len + 1), &end, &none,
				      err);
		if (r < 0)
			return r;
		end++;
	}
	if (end <= start)
		return atw_err_set(err, ATW_E_USAGE, "%s: the range is empty", word);
	*ret = (struct references_range){.start = start, .end = end, .in_file = true};
	return ATW_OK;
}

bool line_program_symbol(const struct line_program *p, uint64_t address, char *text,
			 size_t len)
{
	struct elfsyms_symbol s;

	if (!p->syms.n || address < p->load ||
	    elfsyms_near(&p->syms, address - p->load, &s) < 0 ||
	    address - p->load - s.address >= s.size)
		return false;
	if (address - p->load == s.address)
		snprintf(text, len, "%s", s.name);
	else
		snprintf(text, len, "%s+0x%" PRIx64, s.name, address - p->load - s.address);
	return true;
}
