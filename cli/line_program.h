/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_program.h - symbols of a program that is recorded. */
#pragma once

#include "base/file.h"
#include "format/elfsyms.h"
#include "host/references.h"

struct line_program {
	struct file file;
	struct elfsec elf;
	struct elfsyms syms;     /* empty: it has none */
	uint64_t load;           /* added to its addresses when it was loaded */
};

/* What a shell would execute; a program without symbols is one, too. */
int line_program_open(struct line_program *p, const char *command, struct atw_err *err);
void line_program_close(struct line_program *p);
/* SYMBOL, A-B or A+LENGTH, where A and B are hexadecimal addresses in the file or symbols. */
int line_program_range(const struct line_program *p, const char *word,
		       struct references_range *ret, struct atw_err *err);
/* "lines+0x40". false: it lies in no symbol. */
bool line_program_symbol(const struct line_program *p, uint64_t address, char *text,
			 size_t len);
