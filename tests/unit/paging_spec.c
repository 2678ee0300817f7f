// SPDX-License-Identifier: GPL-2.0-or-later
/* paging_spec.c - runs tests/spec/paging-entries.txt. */
#include "paging/entry.h"

#include "test.h"

static const char *const kind_names[] = { "absent", "table", "leaf", "bad" };

static bool open_mode(char *spec, struct atw_paging *ret)
{
	char *ext = strchr(spec, '+');
	const struct atw_paging *pg;

	if (ext)
		*ext++ = '\0';
	pg = atw_paging_find(spec);
	if (!pg)
		return false;
	*ret = *pg;
	return !ext || atw_paging_extend(ret, ext, NULL) == ATW_OK;
}

static const char *rights_text(unsigned rights, char ret[8])
{
	for (int i = 0; i < 3; i++) {
		ret[i] = rights & ATW_KR << i ? "rwx"[i] : '-';
		ret[4 + i] = rights & ATW_UR << i ? "rwx"[i] : '-';
	}
	ret[3] = '/';
	ret[7] = '\0';
	return ret;
}

/* Takes each word of the comma list out of `set`; what is left is wrong. */
static bool flags_are(const struct atw_paging *pg, uint64_t set, char *list)
{
	char *save = NULL;

	if (!strcmp(list, "-"))
		return !set;
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		uint64_t left = set;

		for (unsigned i = 0; pg->flags[i].letter; i++)
			if (set >> i & 1 && !strcmp(pg->flags[i].name, w))
				left &= ~(1ull << i);
		if (left == set)
			return false;
		set = left;
	}
	return !set;
}

static void check_line(unsigned n, char *line)
{
	char mode[64], kind[16], addr[32], span[16], rights[16], flags[256];
	char got[8], got_span[32] = "-";
	unsigned level;
	uint64_t word, set;
	struct atw_paging pg;
	enum atw_kind k;
	int fields;

	fields = sscanf(line, "%63s %u %" SCNx64 " %15s %31s %15s %15s %255s",
			mode, &level, &word, kind, addr, span, rights, flags);
	if ((fields != 4 && fields != 8) || !open_mode(mode, &pg) ||
	    level >= pg.nlevels) {
		TEST_FAIL("line %u is not understood", n);
		return;
	}
	k = entry_kind(&pg, level, word);
	if (strcmp(kind_names[k], kind)) {
		TEST_FAIL("line %u: kind is %s, not %s", n, kind_names[k], kind);
		return;
	}
	if (fields == 4) {
		if (k == ATW_LEAF || k == ATW_TABLE)
			TEST_FAIL("line %u says too little", n);
		return;
	}
	if (entry_addr(&pg, level, k, word).u != strtoull(addr, NULL, 16))
		TEST_FAIL("line %u: address is 0x%" PRIx64, n,
			  entry_addr(&pg, level, k, word).u);
	if (k == ATW_LEAF)
		snprintf(got_span, sizeof(got_span), "%u%s",
			 atw_entry_span(&pg, level, word),
			 entry_replaces(&pg, level, word) ? "+va" : "");
	if (strcmp(got_span, span))
		TEST_FAIL("line %u: span is %s", n, got_span);
	rights_text(entry_rights(&pg, level, k, word, ATW_RIGHTS_ALL), got);
	if (strcmp(got, rights))
		TEST_FAIL("line %u: rights are %s", n, got);
	set = atw_entry_flags(&pg, level, k, word);
	if (!flags_are(&pg, set, flags)) {
		TEST_FAIL("line %u: flags are other ones:", n);
		for (unsigned i = 0; pg.flags[i].letter; i++)
			if (set >> i & 1)
				fprintf(stderr, "    %s\n", pg.flags[i].name);
	}
}

TEST(entries)
{
	FILE *f = fopen("tests/spec/paging-entries.txt", "re");
	char line[512];
	unsigned n = 0, checked = 0;

	if (!f) {
		TEST_FAIL("no tests/spec/paging-entries.txt: run it from the "
			  "top of the source");
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		check_line(n, line);
		checked++;
	}
	fclose(f);
	printf("checked %u entries\n", checked);
	CHECK(checked > 150);
}
