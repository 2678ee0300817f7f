/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each line of a capture parses to exact fields and formats back to the same bytes. */
#include "base/bytes.h"
#include "format/capture_fields.h"
#include "test.h"

static struct capture_reader rd;

/* A file of this tree, in a buffer that the caller has. */
static size_t load(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(buf, 1, len, f) : 0;

	if (f)
		fclose(f);
	return n;
}

/* ---- the paper's ---- */

TEST(the_figure)
{
	static char buf[4096];
	struct atw_blob text = { buf, load("tests/data/paper-figure1.txt", buf,
						    sizeof(buf)) };
	unsigned tasks = 0, areas = 0, sums = 0, runs = 0, whole = 0;
	struct capture_sums says = { 0 }, ours = { 0 };
	bool any_sums = false;
	uint64_t area_runs = 0;
	struct capture_record rec;
	struct atw_err err;
	size_t pos = 0;
	int r;

	CHECK(text.len > 1000);
	CHECK_EQ(capture_probe(text), 60);
	capture_init(&rd);
	for (;;) {
		r = capture_next(&rd, text, true, &pos, &rec, &err);
		/* An area's sums are known to be whole when something else begins. */
		if (any_sums && (r == ATW_END || rec.letter == 'T' || rec.letter == 'V')) {
			if (area_runs == says.user) {
				CHECK(!memcmp(&ours, &says, sizeof(ours)));
				whole++;
			}
			any_sums = false;
		}
		if (r == ATW_END)
			break;
		if (r != ATW_OK) {
			TEST_FAIL("%s", err.text);
			return;
		}
		if (rec.letter == 'T')
			tasks++;
		if (rec.letter == 'V')
			areas++;
		if (rec.letter == 'P') {
			sums++;
			says = rec.p;
			ours = (struct capture_sums){ 0 };
			any_sums = true;
			area_runs = 0;
		}
		if (rec.letter == 'M') {
			struct capture_run run;

			while ((r = capture_run(&rd, &rec.m, &run, &err)) == ATW_OK) {
				CHECK_EQ(run.pages, 1);
				capture_add(&run, true, &ours);
				area_runs++;
				runs++;
			}
			CHECK_EQ(r, ATW_END);
		}
	}
	CHECK_EQ(capture_finish(&rd, &err), ATW_OK);
	CHECK_EQ(tasks, 5);
	CHECK_EQ(areas, 7);
	CHECK_EQ(sums, 7);
	CHECK_EQ(runs, 8 + 8 + 4 + 3 + 2);
	/* All but the first, which has 93 pages, 8 of them in the figure. */
	CHECK_EQ(whole, 6);
}

TEST(fields_of_the_figure)
{
	static const char text[] =
		"T: swapper , 0, 00000000, 0, 0, 0, 0, 0, 0, 39626\n"
		"T: a, b, 1, c018c0a0, 0, 392597, 160, 69857, 174569, 8771, 30193\r\n\n"
		"V: 0FE94000, 0FFB0FFF, 0011D000, 0005D000, 00000412, 00000075, /lib/a\\b, c=d\n"
		"V: 0FFC8000, 0FFCCFFF, 00005000, 00004000, 00000412, 00000077, NULL";
	struct capture_record rec;
	size_t pos = 0;

	capture_init(&rd);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL), ATW_OK);
	CHECK(blob_is(rec.t.name, "swapper"));
	CHECK_EQ(rec.t.system, 39626);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL), ATW_OK);
	CHECK(blob_is(rec.t.name, "a, b"));
	CHECK_EQ(rec.t.pid, 1);
	CHECK_EQ(rec.t.mm, 0xc018c0a0);
	CHECK_EQ(rec.t.minor, 392597);
	CHECK_EQ(rec.t.major, 160);
	CHECK_EQ(rec.t.child_minor, 69857);
	CHECK_EQ(rec.t.child_major, 174569);
	CHECK_EQ(rec.t.user, 8771);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL), ATW_OK);
	CHECK_EQ(rd.line, 4);
	CHECK_EQ(rec.v.start, 0x0fe94000);
	CHECK_EQ(rec.v.last, 0x0ffb0fff);
	CHECK_EQ(rec.v.size, 0x11d000);
	CHECK_EQ(rec.v.resident, 0x5d000);
	CHECK_EQ(rec.v.prot, 0x412);
	CHECK_EQ(rec.v.flags, 0x75);
	CHECK(blob_is(rec.v.name, "/lib/a\\b, c=d"));
	/* Editors take the last newline away. */
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL), ATW_OK);
	CHECK(!rec.v.name.data);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL), ATW_END);
}

TEST(a_run_of_the_figure)
{
	struct capture_run run;

	CHECK_EQ(capture_parse_run(blob_of("0FC3A000=025B3012, 15, 000420CC"), true,
				   &run, NULL),
		 ATW_OK);
	CHECK_EQ(run.va, 0x0fc3a000);
	CHECK_EQ(run.pages, 1);
	CHECK_EQ(run.entry, 0x025b3012);
	CHECK_EQ(run.count, 15);
	CHECK_EQ(run.flags, 0x420cc);
	CHECK_EQ(run.has, CAPTURE_M_COUNT | CAPTURE_M_FLAGS);
}

/* Where the paper's text was copied from, the caption stands in front. */
TEST(the_caption)
{
	struct capture_record rec;
	size_t pos = 0;

	capture_init(&rd);
	CHECK_EQ(capture_next(&rd,
			      blob_of("\nText Box: T: a, 0, 0, 0, 0, 0, 0, 0, 0, 7\n"),
			      false,
			      &pos, &rec, NULL), ATW_OK);
	CHECK_EQ(rec.letter, 'T');
	CHECK_EQ(rec.t.system, 7);
}

/* ---- there and back ---- */

/* Written, read, and written once more. Returns the first text. */
static const char *again(const struct capture_record *rec, struct capture_record *ret)
{
	static char text[CAPTURE_LINE + 1], twice[CAPTURE_LINE + 1], names[CAPTURE_LINE];
	struct atw_err err = { .text = "" };
	size_t n = capture_write(rec, text, CAPTURE_LINE), m;

	text[n] = '\0';
	if (!n || capture_parse((struct atw_blob){ text, n - 1 }, false, names, ret, &err)) {
		TEST_FAIL("%s: %s", text, err.text);
		return "";
	}
	m = capture_write(ret, twice, CAPTURE_LINE);
	if (n != m || memcmp(text, twice, n))
		TEST_FAIL("%s is not %s", twice, text);
	/* A byte less is no room. */
	if (capture_write(rec, twice, n - 1))
		TEST_FAIL("%s fits where it cannot", text);
	return text;
}

#define PLACED (CAPTURE_T_CPU | CAPTURE_T_FAULTS | CAPTURE_T_TIMES)

TEST(there_and_back)
{
	const struct capture_record all[] = {
		{ .letter = 'H', .h = { blob_of("atwalk-capture"), blob_of("1") } },
		{ .letter = 'H', .h = { blob_of("machine"), blob_of("") } },
		{ .letter = 'R', .r = { 0x1000, 0x9ffff, blob_of("System RAM"), 0 } },
		{ .letter = 'R', .has = CAPTURE_R_NODE | CAPTURE_R_ZONE,
		  .r = { 1ull << 32, UINT64_MAX, { NULL, 0 }, 3, blob_of("Normal") } },
		{ .letter = 'S', .s = { 1, 1000, 5, blob_of("/swap file") } },
		{ .letter = 'T', .has = CAPTURE_T_TGID | CAPTURE_T_EXE | PLACED,
		  .t = { .name = blob_of(" a,b|c\\\n\377 "), .pid = 7, .mm = UINT64_MAX,
			 .cpu = 1,
			 .minor = 2, .major = 3, .child_minor = 4, .child_major = 5, .user = 6,
			 .system = UINT64_MAX, .tgid = 8, .exe = blob_of("=") } },
		{ .letter = 'T', .has = 63 | PLACED,
		  .t = { .name = blob_of(""), .tgid = 1, .ppid = 2, .uid = 3, .start = 4,
			 .cgroup = blob_of("/a"), .exe = blob_of("NULL") } },
		{ .letter = 'T', .has = CAPTURE_T_TIMES | CAPTURE_T_CODE | CAPTURE_T_DATA |
				        CAPTURE_T_BRK | CAPTURE_T_STACK | CAPTURE_T_THREADS,
		  .t = { .name = blob_of("a"), .pid = 1, .user = 2,
			 .code = { 0x1000, 0x2000 },
			 .data = { 0x3000, 0 }, .brk = { 0, 1ull << 47 }, .stack = ~0ull,
			 .threads = 12 } },
		{ .letter = 'U', .u = { .dev = { 0, 0x1a }, .inode = 77,
					.name = blob_of("/a b") } },
		{ .letter = 'U', .has = 3,
		  .u = { .name = blob_of("/memfd:x (deleted)"), .build = { { 0xff }, 1 },
			 .loads = blob_of("0:0:4B10:4B10:5|4D80:5D80:4A0:640:6") } },
		{ .letter = 'V', .has = CAPTURE_V_SHARED | CAPTURE_V_MORE,
		  .v = { .start = 0x1000, .last = 0x1fff, .size = 0x1000, .shared = 1, .more = 1,
			 .name = blob_of("NUL") } },
		{ .letter = 'F', .f = blob_of(" 00001000*2=anon |") },
		{ .letter = 'V', .has = 127,
		  .v = { .start = 0x7f0000000000, .last = 0x7f0000000fff, .size = 0x1000,
			 .resident = 0x1000, .prot = 0x412, .flags = 1ull << 40 | 0x75,
			 .name = blob_of("-"), .dev = { 0xfe, 1 }, .inode = UINT64_MAX,
			 .offset = 0x2000, .page = 2097152, .build = { { 0, 0xab, 9 }, 3 } } },
		{ .letter = 'V', .v = { .start = 0, .last = UINT64_MAX } },
		{ .letter = 'P', .p = { 93, 0, 92, 1, 91, 0, 0, 0, 0 } },
		{ .letter = 'P', .has = 15, .p = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
		{ .letter = 'C', .c = { { 0xfe, 1 }, 9, 100, 7, { NULL, 0 }, 0, { NULL, 0 } } },
		{ .letter = 'C', .has = CAPTURE_C_NODE | CAPTURE_C_CGROUP,
		  .c = { { 0, 0x1c }, UINT64_MAX, 1, 0, blob_of("/a, b"), 3, blob_of("/c,d") } },
		{ .letter = 'L', .l = { 0, blob_of("kpagecount"),
					blob_of("Permission denied"), 0, 0 } },
		{ .letter = 'L', .has = 3, .l = { 9, blob_of("a"), blob_of("b"), 1, 2 } },
		{ .letter = 'E', .e = { 1, 2, 3, 4 } },
		{ .letter = 'M', .m = blob_of(" 00001000=00002002, 1, 00000000 |") },
	};
	static const char *const want[] = {
		"H: atwalk-capture, 1\n",
		"H: machine, \n",
		"R: 00001000, 0009FFFF, System RAM\n",
		"R: 100000000, FFFFFFFFFFFFFFFF, NULL, node=3, zone=Normal\n",
		"S: 1, 1000, 5, /swap file\n",
		"T: \\040a\\054b\\174c\\134\\012\\377\\040, 7, FFFFFFFFFFFFFFFF, 1, 2, 3, 4, 5, 6, "
		"18446744073709551615, tgid=8, exe==\n",
		"T: , 0, 00000000, 0, 0, 0, 0, 0, 0, 0, tgid=1, ppid=2, uid=3, start=4, "
		"cgroup=/a, exe=\\116ULL\n",
		"T: a, 1, 00000000, -, -, -, -, -, 2, 0, code=1000:2000, data=3000:0, "
		"brk=0:800000000000, stack=FFFFFFFFFFFFFFFF, threads=12\n",
		"U: 0:1A, 77, /a b\n",
		"U: 0:0, 0, /memfd:x (deleted), build=FF, loads=0:0:4B10:4B10:5|4D80:5D80:4A0:640:6\n",
		"V: 00001000, 00001FFF, 00001000, 00000000, -, -, NUL, shared=1, more=1\n",
		"F: 00001000*2=anon |\n",
		"V: 7F0000000000, 7F0000000FFF, 00001000, 00001000, 00000412, 10000000075, -, "
		"dev=FE:1, inode=18446744073709551615, offset=2000, build=00AB09, page=2097152\n",
		"V: 00000000, FFFFFFFFFFFFFFFF, 00000000, 00000000, -, -, NULL\n",
		"P: 93, 0, 92, 1, 91\n",
		"P: 1, 2, 3, 4, 5, swap=6, anon=7, file=8, huge=9\n",
		"C: FE:1, 9, 100, 7, NULL\n",
		"C: 0:1C, 18446744073709551615, 1, 0, /a\\054 b, node=3, cgroup=/c\\054d\n",
		"L: 0, kpagecount, Permission denied\n",
		"L: 9, a, b, start=1, last=2\n",
		"E: 1, 2, 3, 4\n",
		"M: 00001000=00002002, 1, 00000000 |\n",
	};
	struct capture_record got;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK_STR(again(&all[i], &got), want[i]);
		CHECK_EQ(got.letter, all[i].letter);
		CHECK_EQ(got.has, all[i].has);
	}
}

TEST(every_byte_of_a_name)
{
	struct capture_record rec = { .letter = 'H' }, got;
	char name[257];

	for (int i = 0; i < 257; i++)
		name[i] = (char)i;
	rec.h = (struct capture_header){ { name + 1, 255 }, { name + 32, 1 } };
	again(&rec, &got);
	CHECK_EQ(got.h.key.len, 255);
	CHECK(!memcmp(got.h.key.data, name + 1, 255));
	CHECK(blob_is(got.h.value, " "));
}

/* What is written in the paper's form, and the field that keeps others out of it. */
TEST(in_the_papers_form)
{
	const uint32_t all = CAPTURE_T_CPU | CAPTURE_T_FAULTS | CAPTURE_T_TIMES;
	const uint32_t both = CAPTURE_V_PROT | CAPTURE_V_FLAGS;
	const struct {
		struct capture_record rec;
		enum capture_fit fit;
		const char *want;        /* the line, or the field */
	} cases[] = {
		{ { .letter = 'T', .has = all, .t = { .name = blob_of("a, b"), .pid = 1,
		    .mm = 0xc018c0a0, .minor = 4294967295, .system = 7 } }, CAPTURE_FITS,
		  "T: a, b, 1, c018c0a0, 0, 4294967295, 0, 0, 0, 0, 7\n" },
		{ { .letter = 'T', .has = all, .t = { .pid = 1 } }, CAPTURE_FITS,
		  "T: NULL, 1, 00000000, 0, 0, 0, 0, 0, 0, 0\n" },
		{ { .letter = 'T', .has = all, .t = { .child_minor = 1ull << 32 } },
		  CAPTURE_TOO_LARGE, "child minor" },
		{ { .letter = 'T', .has = all, .t = { .mm = UINT64_MAX } }, CAPTURE_TOO_LARGE, "mm" },
		{ { .letter = 'T', .has = all & ~(uint32_t)CAPTURE_T_CPU },
		  CAPTURE_UNKNOWN_FIELD, "cpu" },
		{ { .letter = 'T', .has = all & ~(uint32_t)CAPTURE_T_TIMES },
		  CAPTURE_UNKNOWN_FIELD, "user" },
		{ { .letter = 'T', .has = all, .t = { .name = blob_of("a\nT: b") } },
		  CAPTURE_ODD_NAME, "name" },
		{ { .letter = 'T', .has = all, .t = { .name = blob_of("a ") } },
		  CAPTURE_ODD_NAME, "name" },
		{ { .letter = 'T', .has = all, .t = { .name = blob_of("NULL") } },
		  CAPTURE_ODD_NAME,
		  "name" },
		{ { .letter = 'V', .has = both, .v = { .start = 0x1000, .last = 0xffffffff,
		    .size = 0xfffff000, .prot = 0x412, .flags = 0x75,
		    .name = blob_of("/a, b") } },
		  CAPTURE_FITS,
		  "V: 00001000, FFFFFFFF, FFFFF000, 00000000, 00000412, 00000075, /a, b\n" },
		{ { .letter = 'V', .has = both, .v = { .last = 1ull << 32 } }, CAPTURE_TOO_LARGE,
		  "last" },
		{ { .letter = 'V', .has = CAPTURE_V_FLAGS }, CAPTURE_UNKNOWN_FIELD, "prot" },
		{ { .letter = 'P', .p = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, CAPTURE_FITS,
		  "P: 1, 2, 3, 4, 5\n" },
		{ { .letter = 'P', .p = { .shared = 1ull << 40 } }, CAPTURE_TOO_LARGE, "shared" },
	};
	const struct capture_run page = { .va = 0xfe94000, .entry = 0x2876012, .has = 3,
					  .count = 22, .flags = 0x420cc };
	struct capture_run odd;
	const char *field = NULL;
	char text[200];
	size_t n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct capture_record *rec = &cases[i].rec;

		CHECK_EQ(capture_paper_fit(rec, &field), cases[i].fit);
		if (cases[i].fit != CAPTURE_FITS) {
			CHECK_STR(field, cases[i].want);
			continue;
		}
		n = capture_write_paper(rec, text, sizeof(text) - 1);
		text[n] = '\0';
		CHECK_STR(text, cases[i].want);
		CHECK_EQ(capture_write_paper(rec, text, n + 1), n);
		for (size_t room = 0; room < n; room++)
			CHECK_EQ(capture_write_paper(rec, text, room), 0);
	}
	CHECK_EQ(capture_paper_run_fit(&page, &field), CAPTURE_FITS);
	n = capture_write_paper_run(&page, text, sizeof(text) - 1);
	text[n] = '\0';
	CHECK_STR(text, "0FE94000=02876012, 22, 000420CC |");
	for (size_t room = 0; room < n; room++)
		CHECK_EQ(capture_write_paper_run(&page, text, room), 0);
	odd = page;
	odd.entry = 1ull << 32 | 2;
	CHECK_EQ(capture_paper_run_fit(&odd, &field), CAPTURE_TOO_LARGE);
	CHECK_STR(field, "entry");
	odd = page;
	odd.has = CAPTURE_M_FLAGS;
	CHECK_EQ(capture_paper_run_fit(&odd, &field), CAPTURE_UNKNOWN_FIELD);
	CHECK_STR(field, "count");
	odd = page;
	odd.va = 1ull << 32;
	CHECK_EQ(capture_paper_run_fit(&odd, &field), CAPTURE_TOO_LARGE);
	CHECK_STR(field, "address");
}

TEST(slab_caches)
{
	static const char *const wrong[] = {
		"", "64", "64 1 1 1", "64 1 1 1 1 1", "64 1 2 1 1", "64 - 1 1 1", "64 1 -- 1 1",
		"64 1 1 1 72057594037927936", "0x40 1 1 1 1", "64,1,1,1,1",
		"99999999999999999999 1 1 1 1",
	};
	static const char *const other[] = {
		"", "slabinfo - version: 2.1", "a 1 2 3 4 5", "# name <active_objs> x x x x : x x x x : x x x x",
		"a 1 2 64 1 1 : tunables 0 0 0 : slabdata 1 - 0",
		"a 1 2 64 1 4611686018427387904 : tunables 0 0 0 : slabdata 1 8 0",
		"a b 1 2 64 1 1 : tunables 0 0 0 : slabdata 1 1 0",
		"a 1 2 64 1 1 x tunables 0 0 0 : slabdata 1 1 0",
	};
	char text[CAPTURE_SLAB_TEXT];
	struct capture_slab s;
	struct atw_blob name;

	CHECK(capture_slab(blob_of("64 1536 1500 24 24"), &s));
	CHECK(s.size == 64 && s.objects == 1536 && s.has_active && s.active == 1500 &&
	      s.slabs == 24 && s.pages == 24);
	capture_slab_text(&s, text);
	CHECK_STR(text, "64 1536 1500 24 24");
	CHECK(capture_slab(blob_of(" 64  1536 -  24 48 "), &s));
	CHECK(!s.has_active && s.pages == 48);
	capture_slab_text(&s, text);
	CHECK_STR(text, "64 1536 - 24 48");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!capture_slab(blob_of(wrong[i]), &s));
	CHECK(capture_slabinfo(blob_of("kmalloc-8k   28  30   8192  4   8 : tunables 0 0 0 : "
				    "slabdata   7   8   0"), &name, &s));
	CHECK(blob_is(name, "kmalloc-8k") && s.active == 28 && s.objects == 30 &&
	      s.size == 8192 &&
	      s.slabs == 8 && s.pages == 64);
	/* They change while they are listed. */
	CHECK(capture_slabinfo(blob_of("a 3 2 64 1 1 : tunables 0 0 0 : slabdata 1 1 0"),
			       &name, &s));
	CHECK_EQ(s.active, 2);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		CHECK(!capture_slabinfo(blob_of(other[i]), &name, &s));
}

TEST(runs_there_and_back)
{
	static const struct capture_run all[] = {
		{ .va = 0x1000, .pages = 1, .entry = 0x2012, .has = 3, .count = 1, .flags = 8 },
		{ .va = 0x7f0000000000, .pages = 512, .entry = 1ull << 40 | 2,
		  .has = CAPTURE_M_REFS | CAPTURE_M_ORDER | CAPTURE_M_FOLIO | CAPTURE_M_MAP |
			 CAPTURE_M_RAW | CAPTURE_M_SAME | CAPTURE_M_NOFRAME,
		  .refs = 4, .order = 9, .folio = 9, .map = 0x141, .raw = ~0ull, .same = 1 },
		{ .va = 0, .pages = 3, .has = CAPTURE_M_SWAP, .swap = { 31, 1ull << 49 } },
		{ .va = 0, .pages = 1, .has = CAPTURE_M_STATE, .state = CAPTURE_GUARD },
	};
	static const char *const want[] = {
		" 00001000=00002012, 1, 00000008 |",
		" 7F0000000000*512=10000000002, -, -, refs=4, order=9, folio=9, map=141, "
		"raw=FFFFFFFFFFFFFFFF, same=1, noframe=0 |",
		" 00000000*3=00000000, -, -, swap=1F:2000000000000 |",
		" 00000000=00000000, -, -, state=guard |",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct capture_run got;
		char text[200];
		size_t n = capture_write_run(&all[i], text, sizeof(text) - 1);

		text[n] = '\0';
		CHECK_STR(text, want[i]);
		CHECK_EQ(capture_parse_run((struct atw_blob){ text, n - 1 }, false, &got, NULL),
			 ATW_OK);
		CHECK(!memcmp(&got, &all[i], sizeof(got)));
		CHECK_EQ(capture_write_run(&all[i], text, n - 1), 0);
	}
}

/* What is kept of the run before changes nothing, and has room for all there can be. */
TEST(runs_one_behind_the_other)
{
	const uint64_t max = UINT64_MAX;
	const struct capture_run all[] = {
		{ .va = 0x1000, .pages = 1, .entry = 0x2012, .has = 3, .count = 1, .flags = 8 },
		{ .va = 0x2000, .pages = 9, .entry = 0x9012, .has = 3, .count = 1, .flags = 8 },
		{ .va = 0xb000, .pages = 1, .entry = 0x2012, .has = 3, .count = 2, .flags = 8 },
		{ .va = 0xc000, .pages = 1, .entry = 0x2012, .has = 2, .count = 2, .flags = 8 },
		{ .va = 0xd000, .pages = 1, .entry = 0x2012, .has = 3, .count = 2, .flags = 9 },
		{ .has = 0x7ff, .va = max, .pages = max, .entry = max, .count = max, .flags = max,
		  .refs = max, .order = max, .folio = max, .swap = { max, max },
		  .state = CAPTURE_MIGRATION, .map = max, .raw = max, .same = max, .noframe = max },
		{ .va = 0xe000, .pages = 1, .entry = 0x2012, .has = 3, .count = 2, .flags = 9 },
		{ .has = CAPTURE_M_RAW, .raw = 1 }, { .has = CAPTURE_M_RAW, .raw = 2 },
		{ .has = CAPTURE_M_SWAP, .swap = { 1, 2 } }, { .has = CAPTURE_M_SWAP, .swap = { 1, 3 } },
	};
	struct capture_tail tail = { .len = 0 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char one[512], next[512];
		size_t n = capture_write_run(&all[i], one, sizeof(one));
		size_t m = capture_write_like(&all[i], &tail, next, sizeof(next));

		CHECK(n > 0);
		CHECK_EQ(m, n);
		CHECK(!memcmp(one, next, n));
		/* Exactly so much room is enough, and less is not. */
		CHECK_EQ(capture_write_like(&all[i], &tail, next, n), n);
		CHECK_EQ(capture_write_like(&all[i], &tail, next, n - 1), 0);
	}
}

/* The quick way says the same as the other, or nothing. */
TEST(usual_runs)
{
	static const struct {
		const char *text;
		bool usual;
	} all[] = {
		{ " 00001000=00002012, 1, 00000008 |", true },
		{ " 7F0000000000*512=10000000002, -, -, refs=4, order=9, folio=9, map=141, "
		  "raw=FFFFFFFFFFFFFFFF, swap=1f:2000000000000 |", true },
		{ " FFFFFFFFFFFFFFFF*9999999999999999999=0, 0, 0 | 1=", true },
		{ " 00001000=00002012, 1, 00000008, refs=1, refs=1 |", false },
		{ " 00001000=00002012, 1, 00000008, state=guard |", false },
		{ " 00001000=00002012, 1, 00000008, same=1 |", false },
		{ " 00001000=00002012, 1, 00000008, new=1 |", false },
		{ " 00001000=00002012, 1, 00000008, refs= |", false },
		{ " 00001000=00002012, 1, 00000008", false },
		{ " 00001000=00002012, 1, 00000008 ", false },
		{ " 00001000=00002012, 1,00000008 |", false },
		{ " 00001000=00002012, , 00000008 |", false },
		{ " 00001000=00002012, 1 |", false },
		{ " 00001000*=00002012, 1, 0 |", false },
		{ " 10000000000000000=00002012, 1, 0 |", false },
		{ " 1000=2012, 18446744073709551615, 0 |", false },
		{ "00001000=00002012, 1, 0 |", false },
		{ " 1g=2, 1, 0 |", false }, { " ", false }, { "", false },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct capture_run quick, slow;
		struct atw_blob b = blob_of(all[i].text);
		bool usual = capture_parse_usual(&b, &quick);
		const char *bar = strchr(all[i].text, '|');

		if (usual != all[i].usual) {
			TEST_FAIL("'%s' %s", all[i].text, usual ? "is taken" : "is not taken");
			return;
		}
		if (!usual) {
			CHECK(b.data == all[i].text);
			continue;
		}
		CHECK(b.data == bar + 1);
		CHECK_EQ(capture_parse_run((struct atw_blob){ all[i].text,
							      (size_t)(bar - all[i].text) },
					   false, &slow, NULL), ATW_OK);
		CHECK(!memcmp(&quick, &slow, sizeof(slow)));
	}
}

TEST(frames_there_and_back)
{
	for (unsigned use = 0; use < CAPTURE_USES; use++) {
		unsigned host = use % CAPTURE_HOSTS;
		struct capture_frames run = {
			.pa = use * 0x1000, .pages = use + 1, .use = (enum capture_use)use,
			.host = (enum capture_host)host,
			.has = host & (CAPTURE_F_NODE | CAPTURE_F_CLEAN),
			.node = host & CAPTURE_F_NODE ? use : 0, .clean = host == 7,
		}, got;
		char text[120], want[120], node[16] = "";
		size_t n = capture_write_frames(&run, text, sizeof(text) - 1);

		text[n] = '\0';
		if (run.has & CAPTURE_F_NODE)
			snprintf(node, sizeof(node), ", node=%u", use);
		if (use)
			snprintf(want, sizeof(want), " %08X*%u=%s%s%s%s%s |", use * 0x1000, use + 1,
				 capture_uses[use], host ? ", host=" : "",
				 host ? capture_hosts[host] : "", node,
				 !(run.has & CAPTURE_F_CLEAN) ? "" : run.clean ? ", clean=1" : ", clean=0");
		CHECK_STR(text, use ? want : " 00000000=free |");
		CHECK_EQ(capture_parse_frames((struct atw_blob){ text, n - 1 }, &got, NULL),
			 ATW_OK);
		CHECK(got.pa == run.pa && got.pages == run.pages && got.use == run.use &&
		      got.host == run.host && got.has == run.has && got.node == run.node &&
		      got.clean == run.clean);
		CHECK_EQ(capture_write_frames(&run, text, n - 1), 0);
	}
}

TEST(loads_there_and_back)
{
	static const struct capture_load all[] = {
		{ 0, 0, 0x4b10, 0x4b10, CAPTURE_LOAD_READ | CAPTURE_LOAD_EXEC },
		{ 0x4d80, UINT64_MAX - 0x640, 0x4a0, 0x640, CAPTURE_LOAD_READ | CAPTURE_LOAD_RELRO },
		{ UINT64_MAX, UINT64_MAX, 0, 0, UINT64_MAX },
	};
	char text[3 * CAPTURE_LOAD_TEXT];
	struct capture_load got;
	struct atw_blob b = { text, 0 };

	for (unsigned i = 0; i < 3; i++) {
		size_t n = capture_write_load(&all[i], !i, text + b.len, CAPTURE_LOAD_TEXT);

		CHECK(n);
		CHECK_EQ(capture_write_load(&all[i], !i, text + b.len, n - 1), 0);
		b.len += n;
	}
	CHECK(b.len < sizeof(text));
	CHECK(!memcmp(text, "0:0:4B10:4B10:5|4D80:FFFFFFFFFFFFF9BF:4A0:640:C|FFFF", 51));
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(capture_load(&b, &got, NULL), ATW_OK);
		CHECK(!memcmp(&got, &all[i], sizeof(got)));
	}
	CHECK_EQ(capture_load(&b, &got, NULL), ATW_END);
	b = blob_of("0x0:0:0:0:0");
	CHECK_EQ(capture_load(&b, &got, NULL), ATW_E_FORMAT);
	b = blob_of("0:0:0:0:0:0");
	CHECK_EQ(capture_load(&b, &got, NULL), ATW_E_FORMAT);
	b = blob_of("0:0:0::0");
	CHECK_EQ(capture_load(&b, &got, NULL), ATW_E_FORMAT);
}

TEST(sums)
{
	struct capture_run run = { .pages = 10, .has = CAPTURE_M_COUNT, .count = 2,
				   .entry = CAPTURE_PRESENT | CAPTURE_USER | CAPTURE_EXEC };
	struct capture_sums s = { 0 };

	capture_add(&run, false, &s);
	CHECK(s.user == 10 && s.exec == 10 && s.readonly == 10 && s.shared == 10 && !s.single);
	capture_add(&run, true, &s);
	CHECK_EQ(s.exec, 10);
	/* An unknown count is neither. */
	run.has = 0;
	run.entry |= CAPTURE_WRITE;
	capture_add(&run, false, &s);
	CHECK(s.user == 30 && s.readonly == 20 && s.shared == 20);
	run = (struct capture_run){ .pages = 5, .has = CAPTURE_M_SWAP };
	capture_add(&run, false, &s);
	CHECK(s.user == 30 && s.swap == 5);
}

/* ---- a stream ---- */

#define FRONT "H: atwalk-capture, 1\n"
#define TASK "T: a, 1, 0, 0, 0, 0, 0, 0, 0, 0\n"
#define AREA "V: 1000, 4FFF, 4000, 1000, 0, 0, NULL\n"

static const char whole[] = FRONT "H: page, 4096\nR: 0, FFFF, System RAM\n"
	"U: 0:1, 2, /a, loads=0:0:1:1:5\n" TASK AREA
	"P: 1, 0, 0, 1, 0\nM: 1000*2=2012, 1, 0 |\nM: 3000=8012, 1, 0 |\n"
	"U: 0:1, 3, /b\nV: 5000, 5FFF, 1000, 0, -, -, NULL\nL: 2, maps, gone\n" TASK AREA
	"F: 00000000*2=free | 00002000=anon |\nF: 0000F000=unknown |\nE: 16, 2, 3, 1\n";

/* The first failure of a text given in pieces; "" if there is none. */
static const char *first(struct atw_blob text, size_t step)
{
	static struct atw_err err;
	struct capture_frames frames;
	struct capture_record rec;
	struct capture_run run;
	size_t start = 0, end = 0, pos;
	int r;

	err.text[0] = '\0';
	capture_init(&rd);
	while (end < text.len || !text.len) {
		end = text.len - end > step ? end + step : text.len;
		do {
			struct atw_blob b = { (const char *)text.data + start, end - start };

			pos = 0;
			r = capture_next(&rd, b, end == text.len, &pos, &rec, &err);
			start += pos;
			while (r == ATW_OK && strchr("MF", rec.letter)) {
				r = rec.letter == 'M' ?
				    capture_run(&rd, &rec.m, &run, &err) :
				    capture_frames_run(&rd, &rec.f, &frames, &err);
				if (r == ATW_END) {
					r = ATW_OK;
					break;
				}
			}
		} while (r == ATW_OK);
		if (r != ATW_END)
			return err.text;
		if (!text.len)
			break;
	}
	capture_finish(&rd, &err);
	return err.text;
}

TEST(in_pieces)
{
	for (size_t step = 1; step < sizeof(whole); step++)
		CHECK_STR(first(blob_of(whole), step), "");
	CHECK_EQ(capture_probe(blob_of(whole)), 100);
}

/* Truncation at any byte is reported. */
TEST(cut_off)
{
	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		if (!*first((struct atw_blob){ whole, n }, 4096)) {
			TEST_FAIL("%zu bytes are taken for all of it", n);
			return;
		}
	CHECK_STR(first(blob_of(""), 1), "nothing is in it");
	CHECK_STR(first(blob_of(FRONT), 1), "no E: line: cut off behind line 1");
	CHECK_STR(first(blob_of(FRONT TASK AREA), 1),
		  "no E: line: cut off behind line 3, in process 1");
	CHECK_STR(first(blob_of(FRONT TASK AREA "M: 1000=2012, 1, 0 | 2000=30"), 1),
		  "line 4: cut off in the middle");
}

TEST(overlong)
{
	static char text[3 * CAPTURE_LINE];
	struct capture_record rec;
	struct atw_err err;
	size_t pos, n = strlen(FRONT);

	memcpy(text, FRONT TASK, n + strlen(TASK));
	n += strlen(TASK);
	memset(text + n, 'x', 2 * CAPTURE_LINE);
	n += 2 * CAPTURE_LINE;
	memcpy(text + n, "\n" TASK, strlen(TASK) + 1);
	n += strlen(TASK) + 1;
	for (size_t size = n; size >= n - strlen(TASK); size -= strlen(TASK)) {
		struct atw_blob b = { text, size };

		capture_init(&rd);
		pos = 0;
		CHECK_EQ(capture_next(&rd, b, false, &pos, &rec, &err), ATW_OK);
		CHECK_EQ(capture_next(&rd, b, false, &pos, &rec, &err), ATW_OK);
		CHECK_EQ(capture_next(&rd, b, false, &pos, &rec, &err), ATW_E_FORMAT);
		CHECK_STR(err.text, "line 3: longer than 65536 bytes");
		if (size < n) {
			CHECK_EQ(capture_next(&rd, b, false, &pos, &rec, &err), ATW_END);
			b.len = n;
		}
		CHECK_EQ(capture_next(&rd, b, false, &pos, &rec, &err), ATW_OK);
		CHECK_EQ(rd.line, 4);
	}
}

/* ---- what is no capture ---- */

TEST(malformed)
{
	static const struct {
		const char *text, *says;
	} all[] = {
		{ "\177ELF", "line 1: byte 1 is 0x7f: no text" },
		{ FRONT "L: 1, \200, x\n", "line 2: byte 7 is 0x80: no text" },
		{ "hello\n", "line 1: 'hello' does not begin with a letter and a colon" },
		{ FRONT "\n", "line 2: '' does not begin with a letter and a colon" },
		{ FRONT "X: 1\n", "line 2: 'X:' is no line of version 1" },
		{ "R: 0, 1, x\n",
		  "line 1: 'R:' is no line of the paper's form, and no H: line came first" },
		{ "H: atwalk-capture, 2\n",
		  "line 1: version 2, and this program reads version 1" },
		{ "H: atwalk-capture, x\n", "line 1: H: the version is no number" },
		{ "H: page, 4096\n",
		  "line 1: H: atwalk-capture must be the first line and no other" },
		{ FRONT FRONT, "line 2: H: atwalk-capture must be the first line and no other" },
		{ FRONT "H: page, 4097\n",
		  "line 2: H: page is 4097, not a power of two from 4096 to 1048576" },
		{ FRONT TASK "H: page, 4096\n", "line 3: H: page behind lines that it is about" },
		{ FRONT "H: x\n", "line 2: H: 1 fields, there must be 2" },
		{ FRONT "H: NULL, 1\n", "line 2: H: without a key and a value" },
		{ FRONT "R: 2000, 1FFF, x\n", "line 2: R: ends at 1FFF, before its start, 2000" },
		{ FRONT "R: 0, 1FFF, x\nR: 1000, 2FFF, x\n",
		  "line 3: R: starts at 1000, and the one before ends at 1FFF" },
		{ FRONT TASK "R: 0, 1, x\n", "line 3: R: behind a T: line" },
		{ FRONT "T: a, 1\n", "line 2: T: 2 fields, there must be 10" },
		{ FRONT "T: a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n",
		  "line 2: T: '0' behind 10 fields is no KEY=VALUE" },
		{ FRONT "T: a, 1, 0, 0, 0, 0, 0, 0, 0, 0, uid=1, uid=1\n",
		  "line 2: T: uid= twice" },
		{ FRONT "T: a, 1, 0, 0, 0, 0, 0, 0, 0, 0, uid=-1\n",
		  "line 2: T: uid: '-1' is no decimal number" },
		{ FRONT "T: a\\8, 1, 0, 0, 0, 0, 0, 0, 0, 0\n",
		  "line 2: T: name: in 'a\\8' a backslash without three octal digits, up to 377" },
		{ FRONT "T: \\400, 1, 0, 0, 0, 0, 0, 0, 0, 0\n",
		  "line 2: T: name: in '\\400' a backslash without three octal digits, up to 377" },
		{ "T: a, 1, 0, 0, 0, 0, 0, 0, 0\n", "line 1: T: 9 fields, there must be 10" },
		{ "P: 1, 2, 3, 4, 5, 6\n", "line 1: P: '6' behind 5 fields" },
		{ "P: 1, 2, 3, 4, 5\n",
		  "line 1: P: of no area, for no V: line that could be read is before it" },
		{ FRONT AREA, "line 2: V: of no task, for no T: line that could be read is before it" },
		{ FRONT TASK "V: 0, 10000000000000000, 0, 0, 0, 0, NULL\n",
		  "line 3: V: last: 10000000000000000 needs more than 64 bits" },
		{ TASK "V: 0, 1FFFFFFFF, 0, 0, 0, 0, NULL\n",
		  "line 2: V: last: 1FFFFFFFF needs more than 32 bits, "
		  "and no H: line identifies the current format" },
		{ FRONT TASK "V: 0, FFFFFFFFFFFFFFFF, 0, 0, 0, 0, NULL\n",
		  "line 3: V: 0 to FFFFFFFFFFFFFFFF is not of size 0" },
		{ FRONT TASK "V: 2000, 1FFF, 0, 0, 0, 0, NULL\n",
		  "line 3: V: ends at 1FFF, before its start, 2000" },
		{ FRONT TASK "V: 1000, 2000, 1001, 0, 0, 0, NULL\n",
		  "line 3: V: 1000 to 2000 is not whole pages of 4096" },
		{ FRONT "H: page, 65536\n" TASK "V: 1000, 1FFF, 1000, 0, 0, 0, NULL\n",
		  "line 4: V: 1000 to 1FFF is not whole pages of 65536" },
		{ FRONT TASK "V: 1000, 1FFF, 2000, 0, 0, 0, NULL\n",
		  "line 3: V: 1000 to 1FFF is not of size 2000" },
		{ FRONT TASK "V: 1000, 1FFF, 1000, 2000, 0, 0, NULL\n",
		  "line 3: V: 2000 is resident of an area of 1000" },
		{ FRONT TASK AREA "V: 4000, 5FFF, 2000, 0, 0, 0, NULL\n",
		  "line 4: V: starts at 4000, and the area before ends at 4FFF" },
		{ FRONT TASK "V: 1000, 1FFF, 1000, 0, 0, 0, a, dev=1\n",
		  "line 3: V: dev: '1' is not A:B" },
		{ FRONT TASK "V: 1000, 1FFF, 1000, 0, 0, 0, a, build=123\n",
		  "line 3: V: build: 3 digits, not two for each of up to 32 bytes" },
		{ FRONT TASK "V: 0x1000, 1FFF, 1000, 0, 0, 0, a\n",
		  "line 3: V: start: '0x1000' is no hexadecimal number" },
		{ FRONT TASK AREA "V: x, 6FFF, 2000, 0, 0, 0, NULL\n",
		  "line 4: V: start: 'x' is no hexadecimal number" },
		{ FRONT TASK "M: 1000=2012, 1, 0 |\n",
		  "line 3: M: of no area, for no V: line that could be read is before it" },
		{ FRONT TASK AREA "M: 1000=2012, 1, 0\n",
		  "line 4: M: a run without a bar behind it" },
		{ FRONT TASK AREA "M: |\n", "line 4: M: '' is not VA=ENTRY, COUNT, FLAGS" },
		{ FRONT TASK AREA "M: 1000=2012, 1 |\n",
		  "line 4: M: 2 fields, there must be 3" },
		{ FRONT TASK AREA "M: 1000*x=2012, 1, 0 |\n",
		  "line 4: M: pages: 'x' is no decimal number" },
		{ FRONT TASK AREA "M: 1000*0=2012, 1, 0 |\n", "line 4: M: 1000: no pages" },
		{ FRONT TASK AREA "M: 1800=2012, 1, 0 |\n",
		  "line 4: M: 1800: not at a page of 4096" },
		{ FRONT TASK AREA "M: 1000*18446744073709551615=2012, 1, 0 |\n",
		  "line 4: M: 1000: 18446744073709551615 pages: beyond 64 bits" },
		{ FRONT TASK AREA "M: 1000*5=2012, 1, 0 |\n",
		  "line 4: M: 1000: 5 pages: not within the area, 1000 to 4FFF" },
		{ FRONT TASK AREA "M: 1000*2=2012, 1, 0 | 2000=2012, 1, 0 |\n",
		  "line 4: M: 2000: the run before ends at 2FFF" },
		{ FRONT TASK AREA "M: 1000*2=FFFFFFFFFFFFF012, 1, 0 |\n",
		  "line 4: M: 1000: frames from FFFFFFFFFFFFF000 on, 2000 bytes: beyond 56 bits" },
		{ FRONT "R: 0, FFFF, x\n" TASK AREA "M: 1000*2=F012, 1, 0 |\n",
		  "line 5: M: 1000: frames up to 10FFF, and RAM ends at FFFF" },
		{ FRONT TASK AREA "M: 1000=2012, 1, 0, swap=0:1 |\n",
		  "line 4: M: 1000: present and on swap" },
		{ FRONT TASK AREA "M: 1000=0, 1, 0, order=64 |\n",
		  "line 4: M: 1000: a page of order 64" },
		{ FRONT TASK AREA "M: 1000=0, 1, 0, same=2 |\n",
		  "line 4: M: 1000: same= is neither 0 nor 1" },
		{ FRONT TASK AREA "M: 1000=0, 1, 0, state=odd |\n",
		  "line 4: M: state: 'odd' is none that is known" },
		{ FRONT "R: 0, 100000000000000, x\n",
		  "line 2: R: ends at 100000000000000, which has more than 56 bits" },
		{ FRONT "R: 0, FFF, x\nR: 3000, 3FFF, x\nR: 4000, 4FFF, x\n" TASK AREA
		  "M: 1000*2=3002, 1, 0 | 3000=2002, 1, 0 |\n",
		  "line 7: M: 3000: frames 2000 to 2FFF are not in one range of RAM" },
		{ FRONT "R: 0, FFF, x\nR: 2000, 2FFF, x\n" TASK AREA "M: 1000*3=2, 1, 0 |\n",
		  "line 6: M: 1000: frames 0 to 2FFF are not in one range of RAM" },
		{ FRONT TASK "S: 0, 1, 1, x\n", "line 3: S: behind a T: line" },
		{ FRONT "S: 0, 1, 2, x\n", "line 2: S: 1 pages, 2 used" },
		{ FRONT "T: a, 1, 0, 0, 0, -, 0, 0, 0, 0\n",
		  "line 2: T: '-' for some of the fields that are known together" },
		{ FRONT "U: 1, 2, a\n", "line 2: U: dev: '1' is not A:B" },
		{ FRONT "U: 1:2, 2, a, loads=1:2:3:4\n",
		  "line 2: U: loads: no OFFSET:ADDRESS:SIZE:SIZE:FLAGS with a bar between each two" },
		{ FRONT "U: 1:2, 2, a, loads=0:0:0:0:0|\n",
		  "line 2: U: loads: no OFFSET:ADDRESS:SIZE:SIZE:FLAGS with a bar between each two" },
		{ FRONT "U: 1:2, 2, a, loads=0:FFFFFFFFFFFFFFFF:0:1:0\n",
		  "line 2: U: loads: a load of 1 bytes at FFFFFFFFFFFFFFFF: beyond 64 bits" },
		{ FRONT TASK AREA "U: 0:1, 2, a\nM: 1000=2012, 1, 0 |\n",
		  "line 5: M: of no area, for no V: line that could be read is before it" },
		{ FRONT TASK "V: 0, FFF, 1000, 0, 0, 0, NULL, more=2\n",
		  "line 3: V: more= is neither 0 nor 1" },
		{ FRONT TASK "V: 0, FFF, 1000, 0, 0, 0, NULL, shared=9\n",
		  "line 3: V: shared= is neither 0 nor 1" },
		{ FRONT TASK "V: 0, FFF, 1000, 0, 0, 0, NULL, page=0\n",
		  "line 3: V: page is 0, not a power of two from 4096 on" },
		{ FRONT TASK "V: 0, 7FFFFFFFFFFFEFFF, 7FFFFFFFFFFFF000, 0, 0, 0, a\n" TASK AREA,
		  "line 5: V: with 4000 bytes all areas have more than 2^63" },
		{ FRONT TASK AREA "P: 5, 0, 0, 0, 0\n", "line 4: P: 5 pages of an area of 4" },
		{ FRONT TASK AREA "P: 4, 0, 0, 0, 0, swap=18446744073709551615\n",
		  "line 4: P: 18446744073709551615 pages of an area of 4" },
		{ FRONT TASK AREA "P: 4, 4, 4, 4, 4\nP: 0, 0, 0, 0, 0\n",
		  "line 5: P: behind another or an M: of its area" },
		{ FRONT TASK AREA "M: 1000=0, 1, 0 |\nP: 0, 0, 0, 0, 0\n",
		  "line 5: P: behind another or an M: of its area" },
		{ FRONT TASK "X: 1000\n" , "line 3: 'X:' is no line of version 1" },
		{ FRONT TASK "F: 1000=free |\n" TASK, "line 4: T: behind an F: line" },
		{ FRONT TASK "C: FE:1, 9, 2, 0, /a\n" TASK, "line 4: T: behind a C: line" },
		{ FRONT TASK "C: FE:1, 9, 2, 0, /a\nF: 1000=free |\n", "line 4: F: behind a C: line" },
		{ FRONT TASK "C: FE:1, 9, 2, 3, /a\n", "line 3: C: 2 pages, 3 dirty" },
		{ FRONT TASK "C: FE:1, 9, 72057594037927936, 3, /a\n",
		  "line 3: C: 72057594037927936 pages, 3 dirty" },
		{ FRONT TASK AREA "F: 1000=free |\nM: 1000=2012, 1, 0 |\n",
		  "line 5: M: behind an F: line" },
		{ FRONT TASK "F: 1000=odd |\n", "line 3: F: use: 'odd' is none that is known" },
		{ FRONT TASK "F: 1000 |\n", "line 3: F: '1000' is not PA=USE" },
		{ FRONT TASK "F: 1000=free\n",
		  "line 3: F: a run without a bar behind it" },
		{ FRONT TASK "F: 1000*0=free |\n", "line 3: F: 1000: no pages" },
		{ FRONT TASK "F: 1800=free |\n",
		  "line 3: F: 1800: frame 1800 is not at a page of 4096" },
		{ FRONT TASK "F: 1000*2=free | 2000=anon |\n",
		  "line 3: F: 2000: the run before ends at 2FFF" },
		{ FRONT TASK "F: 1000*2=free |\nF: 2000=anon |\n",
		  "line 4: F: 2000: the run before ends at 2FFF" },
		{ FRONT TASK "F: 1000*18446744073709551615=free |\n",
		  "line 3: F: 1000: 18446744073709551615 pages: beyond 64 bits" },
		{ FRONT "R: 0, FFF, x\n" TASK "F: 0*2=free |\n",
		  "line 4: F: 0: frames up to 1FFF, and RAM ends at FFF" },
		{ FRONT TASK AREA "E: 3, 1, 2, 0\n", "line 4: E: areas: 2, but 1 were read" },
		{ FRONT TASK "E: 2, 1, 0, 0\n" TASK, "line 4: T: behind the E: line" },
		{ FRONT "E: 1, 0, 0, 0\n", "no T: line: it has no process" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *got = first(blob_of(all[i].text), 4096);

		if (strcmp(got, all[i].says))
			TEST_FAIL("%s\tsays \"%s\",\n\tnot \"%s\"", all[i].text, got, all[i].says);
	}
}

/* A later version may add keys; frames that are no RAM may lie anywhere. */
TEST(no_failure)
{
	static const char *const all[] = {
		FRONT "H: new, x\n" TASK "E: 3, 1, 0, 0\n",
		FRONT "R: 0, FFF, x, new=1\n" TASK AREA
		"M: 1000=FF002, 1, 0, state=device | 2000*2=12, 1, 0, same=1, a=b |\n"
		"E: 5, 1, 1, 0\n",
		/* Ranges of RAM need no whole pages, and next to each other are one. */
		FRONT "R: 0, 9FBFF, x\nR: 100000, 1FFFFF, x\nR: 200000, 2FFFFF, x\n" TASK AREA
		"M: 1000=9F002, 1, 0 | 2000*2=1FF002, 1, 0 |\nE: 7, 1, 1, 0\n",
		FRONT "F: 0=free |\nE: 2, 0, 0, 0\n",
		/* What reaches beyond 2^63 bytes is that task's alone. */
		FRONT TASK "V: 0, 7FFFFFFFFFFFEFFF, 7FFFFFFFFFFFF000, 0, 0, 0, a\n" TASK
		"E: 4, 2, 1, 0\n",
		FRONT TASK "V: 0, FFF, 1000, 0, 0, 0, a, more=1, shared=1\n"
		"V: 1000, 1FFF, 1000, 0, 0, 0, a, more=1\nV: 3000, 3FFF, 1000, 0, 0, 0, a, more=1\n"
		TASK AREA "E: 7, 2, 4, 0\n",
		FRONT TASK "V: FFFFFFFFFFFFF000, FFFFFFFFFFFFFFFF, 1000, 0, 0, 0, NULL\n"
		"M: FFFFFFFFFFFFF000=FFFFFFFFFFF002, 1, 0 |\nE: 4, 1, 1, 0\n",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK_STR(first(blob_of(all[i]), 4096), "");
}

/* A task that could not be read takes its areas along; a lost run only itself. */
TEST(after_a_line_of_no_letter)
{
	static const char text[] = FRONT TASK AREA "?: 1\nM: 1000=2012, 1, 0 |\n"
		"V: 5000, 5FFF, 1000, 0, 0, 0, NULL\n" TASK AREA "M: 9000=0, 1, 0 | 1000=0, 1, 0 |\n";
	static const int want[] = { ATW_OK, ATW_OK, ATW_OK, ATW_E_FORMAT, ATW_E_FORMAT,
				    ATW_E_FORMAT, ATW_OK, ATW_OK, ATW_OK, ATW_END };
	struct capture_record rec;
	struct capture_run run;
	size_t pos = 0;

	capture_init(&rd);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]) - 1; i++)
		CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL),
			 want[i]);
	CHECK_EQ(capture_run(&rd, &rec.m, &run, NULL), ATW_E_DAMAGED);
	CHECK_EQ(capture_run(&rd, &rec.m, &run, NULL), ATW_OK);
	CHECK_EQ(run.va, 0x1000);
	CHECK_EQ(capture_run(&rd, &rec.m, &run, NULL), ATW_END);
}

/* More ranges than there is room for: of the rest only the end is known. */
TEST(very_many_ranges)
{
	struct capture_record rec;
	struct capture_frames run;
	char line[80];
	size_t pos;

	capture_init(&rd);
	for (int i = -1; i < 2 * CAPTURE_RAMS; i++) {
		pos = 0;
		if (i < 0)
			snprintf(line, sizeof(line), FRONT);
		else
			snprintf(line, sizeof(line), "R: %x, %x, x\n", i * 0x2000,
				 i * 0x2000 + 0xfff);
		CHECK_EQ(capture_next(&rd, blob_of(line), false, &pos, &rec, NULL),
			 ATW_OK);
	}
	for (unsigned i = 0; i < 2 * CAPTURE_RAMS; i++) {
		bool known = i < CAPTURE_RAMS - 1;

		pos = 0;
		snprintf(line, sizeof(line), "F: %x=free | %x=free |\n", i * 0x2000,
			 i * 0x2000 + 0x1000);
		CHECK_EQ(capture_next(&rd, blob_of(line), false, &pos, &rec, NULL),
			 ATW_OK);
		CHECK_EQ(capture_frames_run(&rd, &rec.f, &run, NULL), ATW_OK);
		CHECK_EQ(run.pa, i * 0x2000);
		if (known || i == 2 * CAPTURE_RAMS - 1)
			CHECK_EQ(capture_frames_run(&rd, &rec.f, &run, NULL), ATW_E_DAMAGED);
		else
			CHECK_EQ(capture_frames_run(&rd, &rec.f, &run, NULL), ATW_OK);
	}
}

TEST(after_a_bad_line)
{
	static const char text[] = FRONT TASK AREA "V: 6000\nM: 1000=2012, 1, 0 |\n" AREA
		"V: 5000, 5FFF, 1000, 0, 0, 0, NULL\nM: 5000=zz |\n";
	static const int want[] = { ATW_OK, ATW_OK, ATW_OK, ATW_E_FORMAT, ATW_E_FORMAT,
				    ATW_E_DAMAGED, ATW_OK, ATW_OK, ATW_END };
	struct capture_record rec;
	size_t pos = 0;

	capture_init(&rd);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, NULL),
			 want[i]);
}

/* A NUL byte would truncate the name as a C string, and names would collide. */
TEST(the_byte_that_ends_texts)
{
	static const char text[] = FRONT "H: a\\000b, \\000\n";
	struct capture_record got;
	size_t pos = sizeof(FRONT) - 1;

	capture_init(&rd);
	rd.started = true;
	rd.paper = false;
	rd.line = 1;
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &got, NULL), ATW_OK);
	CHECK(blob_is(got.h.key, "a\\000b"));
	CHECK(blob_is(got.h.value, "\\000"));
}

TEST(more_program_headers_than_any_linker_makes)
{
	struct capture_record rec;
	struct atw_err err;
	char line[1024] = FRONT "U: 1:1, 1, /a, loads=";
	size_t n = strlen(line), pos = 0;

	for (unsigned i = 0; i < 33; i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%X:%X:1:1:5", i ? "|" : "",
				      i * 0x1000, i * 0x1000);
		if (i < 31)
			continue;
		snprintf(line + n, sizeof(line) - n, "\n");
		capture_init(&rd);
		pos = 0;
		CHECK_EQ(capture_next(&rd, blob_of(line), true, &pos, &rec, &err),
			 ATW_OK);
		CHECK_EQ(capture_next(&rd, blob_of(line), true, &pos, &rec, &err),
			 i < 32 ? ATW_OK : ATW_E_FORMAT);
	}
	CHECK_STR(err.text, "line 2: U: loads: more than 32");
}

TEST(more_tasks_than_a_kernel_has)
{
	static const char text[] = FRONT TASK TASK;
	struct capture_record rec;
	struct atw_err err;
	size_t pos = 0;

	capture_init(&rd);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, &err), ATW_OK);
	rd.tasks = 4194303;
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, &err), ATW_OK);
	CHECK_EQ(capture_next(&rd, blob_of(text), true, &pos, &rec, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "line 3: T: more than 4194304 tasks, which no kernel has");
}

/* ---- the man page ---- */

static const char *man_page(void)
{
	static char text[32768];

	text[load("man/atwalk-capture.5", text, sizeof(text) - 1)] = '\0';
	return text;
}

TEST(the_example)
{
	const char *s = strstr(man_page(), ".Sh EXAMPLES"), *e;

	s = s ? strstr(s, "\nH:") : NULL;
	e = s ? strstr(s, ".Ed") : NULL;
	CHECK(e);
	CHECK_STR(first((struct atw_blob){ s + 1, (size_t)(e - s) - 1 }, 4096), "");
}

/* Each key is in an .It or a Keys: line, each state by its name. */
TEST(keys_in_the_page)
{
	const struct capture_form *f = capture_forms;
	char word[40];

	for (;; f++) {
		const struct capture_form *form = f->letter ? f : &capture_run_form;

		for (unsigned i = form->fields; i < form->all; i++) {
			const char *s = man_page();

			snprintf(word, sizeof(word), " %s", form->field[i].name);
			for (; (s = strstr(s, word)); s++) {
				const char *line = s;

				while (line[-1] != '\n')
					line--;
				if ((!strncmp(line, ".It Cm", 6) || !strncmp(line, ".Cm", 3)) &&
				    strchr(" \n", s[strlen(word)]))
					break;
			}
			if (!s)
				TEST_FAIL("%c:%s is not in the page", form->letter, word);
		}
		if (!f->letter)
			break;
	}
	for (unsigned i = 1; i < CAPTURE_STATES; i++) {
		snprintf(word, sizeof(word), " %s", capture_states[i]);
		if (!strstr(man_page(), word))
			TEST_FAIL("state%s is not in the page", word);
	}
	for (unsigned i = 0; i < CAPTURE_USES; i++) {
		snprintf(word, sizeof(word), " %s", capture_uses[i]);
		if (!strstr(man_page(), word))
			TEST_FAIL("use%s is not in the page", word);
	}
	for (unsigned i = 1; i < CAPTURE_HOSTS; i++) {
		snprintf(word, sizeof(word), " %s", capture_hosts[i]);
		if (!strstr(man_page(), word))
			TEST_FAIL("host%s is not in the page", word);
	}
}
