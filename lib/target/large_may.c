/* SPDX-License-Identifier: GPL-2.0-or-later */
/* large_may.c - settings of large pages that an area has itself. */
#include <stdio.h>
#include <string.h>

#include "linux/vm_flags.h"
#include "target/large.h"

static bool large_may_starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

bool large_is_shmem(const char *name)
{
	/* memfd_create(), MAP_SHARED without a file, shmget(), and a name given. */
	return large_may_starts(name, "/memfd:") ||
	       large_may_starts(name, "/dev/zero (deleted)") ||
	       large_may_starts(name, "/SYSV") || large_may_starts(name, "[anon_shmem:");
}

void large_may_of_area(const struct atw_area *a, uint64_t vm_flags, struct large_may *ret)
{
	*ret = (struct large_may){
		.kind = !a->file ? LARGE_ANON :
			large_is_shmem(a->name) ? LARGE_SHMEM : LARGE_OF_FILE,
		.unknown = a->file && !a->name[0], .offset = a->offset,
		.have_advice = vm_flags, .advised = vm_flags & VM_HUGEPAGE,
		.refused = vm_flags & VM_NOHUGEPAGE,
		.special = vm_flags & (VM_SPECIAL | VM_HUGETLB),
	};
}

/* ---- /proc ---- */

/* The option huge= among those that are separated by commas. */
static enum thp_when large_may_option(const char *s, const char *end)
{
	static const struct { const char *word; enum thp_when when; } words[] = {
		{ "huge=always", THP_ALWAYS }, { "huge=within_size", THP_ALWAYS },
		{ "huge=advise", THP_ADVISED }, { "huge=never", THP_NEVER },
	};

	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == n && !memcmp(words[i].word, s, n))
				return words[i].when;
		s += n + 1;
	}
	return THP_NEVER;        /* shmem_show_options() does not write that one */
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
bool large_mounted(struct atw_blob text, uint32_t major, uint32_t minor, enum thp_when *ret)
{
	const char *s = text.data, *end = s + text.len;

	for (const char *next; s < end; s = next) {
		const char *e = memchr(s, '\n', (size_t)(end - s)), *fs, *at = s;
		char device[32];
		size_t n;

		e = e ? e : end;
		next = e < end ? e + 1 : end;
		n = (size_t)snprintf(device, sizeof(device), "%u:%u ", major, minor);
		for (unsigned field = 0; field < 2 && at; field++) {
			at = memchr(at, ' ', (size_t)(e - at));
			at = at ? at + 1 : NULL;
		}
		if (!at || (size_t)(e - at) < n || memcmp(at, device, n))
			continue;
		fs = memmem(at, (size_t)(e - at), " - ", 3);
		if (!fs || e - fs < 9 || memcmp(fs + 3, "tmpfs ", 6))
			continue;
		at = memchr(fs + 9, ' ', (size_t)(e - (fs + 9)));
		*ret = at ? large_may_option(at + 1, e) : THP_NEVER;
		return true;
	}
	return false;
}

uint64_t large_vmflags(const char *line, size_t len)
{
	static const struct { char word[3]; uint64_t flag; } words[] = {
		{ "rd", VM_READ }, { "wr", VM_WRITE }, { "ex", VM_EXEC },
		{ "sh", VM_SHARED }, { "mr", VM_MAYREAD }, { "mw", VM_MAYWRITE },
		{ "me", VM_MAYEXEC }, { "pf", VM_PFNMAP }, { "io", VM_IO },
		{ "de", VM_DONTEXPAND }, { "ht", VM_HUGETLB }, { "mm", VM_MIXEDMAP },
		{ "hg", VM_HUGEPAGE }, { "nh", VM_NOHUGEPAGE },
	};
	uint64_t flags = 0;

	for (size_t i = 0; i + 1 < len; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if ((!i || line[i - 1] == ' ') && !memcmp(line + i, words[k].word, 2) &&
			    (i + 2 == len || line[i + 2] == ' '))
				flags |= words[k].flag;
	return flags;
}
