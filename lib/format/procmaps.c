/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmaps.c - "55d0c8e00000-55d0c8e01000 r-xp 00001000 fe:00 1234    /bin/cat":
 * fs/proc/task_mmu.c, show_map_vma().
 */
#include "format/procmaps.h"

#include <string.h>

#include "base/num.h"

/* The unparsed rest of a line. */
struct procmaps_cursor {
	const char *s, *end;
};

/* A number up to the character `stop`, which is skipped. */
static bool procmaps_number(struct procmaps_cursor *c, char stop, bool hex, uint64_t *ret)
{
	const char *e = memchr(c->s, stop, (size_t)(c->end - c->s));

	if (!e || e - c->s > 20 || (hex && e - c->s > 1 && c->s[1] == 'x') ||
	    !(hex ? num_hex : num_dec)(c->s, (size_t)(e - c->s), ret))
		return false;
	c->s = e + 1;
	return true;
}

static bool procmaps_letter(struct procmaps_cursor *c, char yes, char no, bool *ret)
{
	if (c->s == c->end || (*c->s != yes && *c->s != no))
		return false;
	*ret = *c->s++ == yes;
	return true;
}

static bool procmaps_parse(struct procmaps_cursor c, struct procmaps_area *ret)
{
	struct procmaps_area a = { 0 };
	uint64_t major, minor;
	const char *e;

	if (!procmaps_number(&c, '-', true, &a.start) ||
	    !procmaps_number(&c, ' ', true, &a.end) || a.start >= a.end ||
	    !procmaps_letter(&c, 'r', '-', &a.read) ||
	    !procmaps_letter(&c, 'w', '-', &a.write) ||
	    !procmaps_letter(&c, 'x', '-', &a.exec) ||
	    !procmaps_letter(&c, 's', 'p', &a.shared) || c.s == c.end || *c.s++ != ' ' ||
	    !procmaps_number(&c, ' ', true, &a.offset) ||
	    !procmaps_number(&c, ':', true, &major) ||
	    !procmaps_number(&c, ' ', true, &minor) || major > UINT32_MAX ||
	    minor > UINT32_MAX)
		return false;
	/*
	 * A blank follows the inode if there is a name, and in all known kernels
	 * otherwise, too.
	 */
	e = memchr(c.s, ' ', (size_t)(c.end - c.s));
	if (!e)
		e = c.end;
	if (!num_dec(c.s, (size_t)(e - c.s), &a.inode))
		return false;
	while (e < c.end && *e == ' ')
		e++;
	a.major = (uint32_t)major;
	a.minor = (uint32_t)minor;
	a.name = (struct atw_blob){ e, (size_t)(c.end - e) };
	*ret = a;
	return true;
}

int procmaps_next(struct atw_blob text, size_t *pos, struct procmaps_area *ret)
{
	const char *s = (const char *)text.data + *pos, *e;
	size_t left = text.len - *pos;

	if (!left)
		return ATW_END;
	e = memchr(s, '\n', left);
	*pos += e ? (size_t)(e - s) + 1 : left;
	return procmaps_parse((struct procmaps_cursor){s, e ? e : s + left}, ret)
		       ? ATW_OK
		       : ATW_E_FORMAT;
}

void procmaps_name(struct atw_blob name, char *buf, size_t len)
{
	const char *s = name.data, *end = s + name.len;
	size_t n = 0;

	while (s < end && n + 1 < len) {
		if (end - s >= 4 && !memcmp(s, "\\012", 4)) {
			buf[n++] = '\n';
			s += 4;
		} else {
			buf[n++] = *s++;
		}
	}
	buf[n] = '\0';
}
