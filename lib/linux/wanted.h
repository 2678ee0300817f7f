/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wanted.h - index of the names that are looked up among all types of a kernel: they are
 * many and far apart, so one pass must find them all.
 */
#ifndef LINUX_WANTED_H
#define LINUX_WANTED_H

#include <atwalk/base.h>

struct name_entry {
	char name[64];
	uint16_t owner;          /* index of the need that it is an alternative name
				  * for */
	uint8_t place;           /* 1-based position among its alternatives */
	/* Filled in by the search; initially zero. */
	bool there, have;
	uint64_t id;
	int64_t value;
};

struct name_index {
	struct name_entry *v;
	size_t n, cap;
	bool first[256];         /* first letters of all names */
};

/* The next alternative of "a.b|c.d" as text in buf; NULL after the last. */
const char *wanted_alternative(const char *names, char *buf, size_t len);
/* Add all alternatives; of "struct.member" only the struct. false: no memory. */
bool wanted_add(struct name_index *l, const char *names, uint16_t owner);
/* After all were added: sorts them and removes duplicates. */
void wanted_settle(struct name_index *l);
struct name_entry *wanted_find(const struct name_index *l, const char *name);
/* A zeroed struct is accepted. */
void wanted_deinit(struct name_index *l);

#endif
