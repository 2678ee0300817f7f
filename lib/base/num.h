/* SPDX-License-Identifier: GPL-2.0-or-later */
/* num.h - numbers and sizes as users type them. Pure. */
#pragma once

#include <atwalk/base.h>

/* All of `s` must be the number, without sign or blanks. false: it is not a number. */
bool num_hex(const char *s, size_t len, uint64_t *ret);     /* 0x optional */
bool num_dec(const char *s, size_t len, uint64_t *ret);
bool num_any(const char *s, size_t len, uint64_t *ret);     /* 0x.. or decimal */
/* 4096, 0x1000, 4K, 2M, 1G, 1T (powers of 1024; a trailing B or iB is accepted). */
bool num_size(const char *s, size_t len, uint64_t *ret);
/* The same, and a fraction in front of a unit, as num_human() writes: 1.5M. Rounded down. */
bool num_size_decimal(const char *s, size_t len, uint64_t *ret);

/*
 * The next range of a list as in "0-3,8,10-11", or with blanks instead of commas. *at:
 * where it begins, and then what is behind it. false: the list is at its end, or it is none
 * from there on.
 */
bool num_list_next(const char **at, const char *end, uint64_t *first, uint64_t *last);

/* Formats a size for plain output: 1.5K, 2.0M, 12G. `buf` needs 16 bytes. Returns buf. */
char *num_human(uint64_t bytes, char buf[16]);
