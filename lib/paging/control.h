/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.h - named fields of the control registers for paging and protection. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct control_field {
	uint8_t shift, width;            /* width 0 ends the table */
	const char *name;
};

struct control_register {
	const char *name;
	const char *manual;              /* the section that describes it */
	const struct control_field *field;
};

/* "CR0", "CR4", "EFER", "SCTLR_EL1", "TCR_EL1", "satp"; NULL: none of these. */
const struct control_register *control_find(const char *name);
/* The field of that name; NULL: there is none. */
const struct control_field *control_field_find(const struct control_register *r,
					       const char *name);
static inline uint64_t control_get(const struct control_field *f, uint64_t value)
{
	return value >> f->shift & (f->width < 64 ? ((uint64_t)1 << f->width) - 1 : UINT64_MAX);
}
/*
 * Names of single bits that are set and NAME=VALUE of wider fields, separated by blanks;
 * bits without a field follow as one number. Truncated to `len`.
 */
const char *control_text(const struct control_register *r, uint64_t value, char *buf, size_t len);
