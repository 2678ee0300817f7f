/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wanted.h - names that are looked for among all types of a kernel, each once:
 * these are many and lie far apart, so that one pass must find them all.
 */
#ifndef LINUX_WANTED_H
#define LINUX_WANTED_H

#include <atwalk/base.h>

struct name_entry {
	char name[64];
	uint16_t owner;          /* which need it is an alternative of, ... */
	uint8_t place;           /* ... and the how manyth, from 1 */
	/* What its finder keeps here; zeroes at first. */
	bool there, have;
	uint64_t id;
	int64_t value;
};

struct name_index {
	struct name_entry *v;
	size_t n, cap;
	bool first[256];         /* letters that names begin with */
};

/* The next of "a.b|c.d" as text in buf; NULL after the last. */
const char *wanted_alternative(const char *names, char *buf, size_t len);
/* All alternatives; of "struct.member" only the struct. false: no memory. */
bool wanted_add(struct name_index *l, const char *names, uint16_t owner);
/* After the last one was added: sorted, each name once. */
void wanted_settle(struct name_index *l);
struct name_entry *wanted_find(const struct name_index *l, const char *name);
/* Fine on a zeroed struct. */
void wanted_deinit(struct name_index *l);

#endif
