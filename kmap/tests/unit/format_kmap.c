/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KMAP files of every version parse to exact records, in pieces of any size. */
#include "base/bytes.h"
#include "kmap/lib/format.h"
#include "base/digits.h"
#include "random.h"
#include "test.h"

static struct kmap_reader rd;
static struct kmap_record rec;
static struct atw_err err;

static int parse_flags(const char *line, enum kmap_version v, unsigned flags)
{
	memset(&rec, 0xa5, sizeof(rec));
	err = (struct atw_err){ 0 };
	return kmap_parse(blob_of(line), v, flags, &rec, &err);
}

static int parse(const char *line, enum kmap_version v)
{
	return parse_flags(line, v, 0);
}

/* A line of a file that states its version. */
static int parse_own(const char *line)
{
	return parse_flags(line, KMAP_V4, KMAP_OURS);
}

static const char *text(const char *line, enum kmap_version from, enum kmap_version to)
{
	static char buf[KMAP_LINE + 1];
	size_t n;

	if (parse(line, from) != ATW_OK)
		return err.text;
	n = kmap_write(&rec, to, buf, sizeof(buf) - 1);
	buf[n ? n - 1 : 0] = '\0';
	return buf;
}

/* A file of this tree; the tests are run at its top. */
static struct atw_blob load(const char *name)
{
	static char buf[65536];
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "tests/data/kmap/%s", name);
	f = fopen(path, "r");
	n = f ? fread(buf, 1, sizeof(buf), f) : 0;
	if (f)
		fclose(f);
	return (struct atw_blob){ buf, n };
}

static size_t pos;

static int next(struct atw_blob text)
{
	err = (struct atw_err){ 0 };
	return kmap_next(&rd, text, true, &pos, &rec, &err);
}

/* All of a text; its records are counted. false: something is wrong with it. */
static bool read_all(struct atw_blob text)
{
	int r;

	kmap_init(&rd);
	pos = 0;
	while ((r = next(text)) == ATW_OK)
		;
	return r == ATW_END && kmap_finish(&rd, &err) == ATW_OK;
}

/* ---- digits ---- */

TEST(digits)
{
	static const char all[] = "0123456789abcdefABCDEF";
	uint64_t v, seed = 1;
	const char *s = "12x", *end = s + 3;

	CHECK(scan_hex(&s, end, &v));
	CHECK_EQ(v, 0x12);
	CHECK_EQ(*s, 'x');
	CHECK(!scan_dec(&s, end, &v));
	s = "18446744073709551615";
	CHECK(scan_dec(&s, s + 20, &v));
	CHECK_EQ(v, 1844674407370955161);
	CHECK_EQ(*s, '5');
	for (int i = 0; i < 100000; i++) {
		char t[9] = "", p[8];
		uint64_t want;

		for (int k = 0; k < 8; k++)
			t[k] = all[random_below(&seed, 22)];
		want = strtoull(t, NULL, 16);
		CHECK(scan_hex8(t, &v));
		CHECK_EQ(v, want);
		put_hex8(p, (uint32_t)v);
		CHECK(scan_hex8(p, &v));
		CHECK_EQ(v, want);
	}
	/* Every other byte, in every place. */
	for (unsigned c = 0; c < 256; c++)
		for (int k = 0; k < 8; k++) {
			char t[9] = "0fA90fA9";

			t[k] = (char)c;
			CHECK_EQ(scan_hex8(t, &v), c && strchr(all, (char)c));
		}
}

/* ---- objects ---- */

TEST(an_object_of_each_version)
{
	CHECK_EQ(parse("ffffffff811c2233,98,ffff880006a3b300,192,17,18,ffffffff811c2290,bash",
		       KMAP_V1), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_OBJECT);
	CHECK_EQ(rec.u.object.alloc_ip, 0xffffffff811c2233);
	CHECK_EQ(rec.u.object.pid, 98);
	CHECK_EQ(rec.u.object.va, 0xffff880006a3b300);
	CHECK_EQ(rec.u.object.size, 192);
	CHECK_EQ(rec.u.object.alloc_time, 17);
	CHECK_EQ(rec.u.object.free_time, 18);
	CHECK_EQ(rec.u.object.free_ip, 0xffffffff811c2290);
	CHECK_EQ(rec.u.object.has, 0);
	CHECK(blob_is(rec.u.object.task, "bash"));
	CHECK(!rec.u.object.type.data && !rec.u.object.cache.data);

	CHECK_EQ(parse("1,0,2,3,4,5,6,KMALLOC,bash", KMAP_V2), ATW_OK);
	CHECK_EQ(rec.u.object.has, KMAP_HAS_TYPE);
	CHECK(blob_is(rec.u.object.type, "KMALLOC"));
	CHECK(blob_is(rec.u.object.task, "bash"));

	CHECK_EQ(parse("1,0,2,3,4,5,6,KMALLOC,bash,kmalloc-64", KMAP_V3), ATW_OK);
	CHECK_EQ(rec.u.object.has, KMAP_HAS_TYPE | KMAP_HAS_CACHE);
	CHECK(blob_is(rec.u.object.cache, "kmalloc-64"));

	CHECK_EQ(parse("1,0,2,3,4,5,6,KMALLOC,bash,dentry(123:cg),KMEM_CACHE", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.u.object.has, KMAP_HAS_TYPE | KMAP_HAS_CACHE | KMAP_HAS_NEW_TYPE);
	CHECK(blob_is(rec.u.object.cache, "dentry(123:cg)"));
	CHECK(blob_is(rec.u.object.new_type, "KMEM_CACHE"));
}

TEST(commas_in_names_of_tasks)
{
	CHECK_EQ(parse("1,0,2,3,4,5,6,a,,b,", KMAP_V1), ATW_OK);
	CHECK(blob_is(rec.u.object.task, "a,,b,"));
	CHECK_EQ(parse("1,0,2,3,4,5,6,NONE,,a", KMAP_V2), ATW_OK);
	CHECK(blob_is(rec.u.object.task, ",a"));
	CHECK_EQ(parse("1,0,2,3,4,5,6,NONE,a,b,c,filp", KMAP_V3), ATW_OK);
	CHECK(blob_is(rec.u.object.task, "a,b,c"));
	CHECK(blob_is(rec.u.object.cache, "filp"));
	CHECK_EQ(parse("1,0,2,3,4,5,6,NONE,,,filp,NONE", KMAP_V4), ATW_OK);
	CHECK(blob_is(rec.u.object.task, ","));
	CHECK_EQ(parse("1,0,2,3,4,5,6,NONE,,filp,NONE", KMAP_V4), ATW_OK);
	CHECK(rec.u.object.task.data && !rec.u.object.task.len);
}

TEST(addresses_as_kernels_print_them)
{
	static const struct { const char *text; uint64_t want; } table[] = {
		{ "0xffffffff811c2233", 0xffffffff811c2233 }, { "3               ", 3 },
		{ "          (null)", 0 }, { "(null)          ", 0 }, { "(null)", 0 },
		{ "00000000deadbeef", KMAP_FREE_LOST }, { "fedbeef", KMAP_FREE_NESTED },
		{ "FFFFFFFFFFFFFFFF", UINT64_MAX }, { "0000000000000000000000001", 1 },
	};
	char line[128];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(line, sizeof(line), "%s,0,%s,3,4,5,%s,t", table[i].text, table[i].text,
			 table[i].text);
		CHECK_EQ(parse(line, KMAP_V1), ATW_OK);
		CHECK_EQ(rec.kind, KMAP_OBJECT);
		CHECK_EQ(rec.u.object.alloc_ip, table[i].want);
		CHECK_EQ(rec.u.object.va, table[i].want);
		CHECK_EQ(rec.u.object.free_ip, table[i].want);
		snprintf(line, sizeof(line), "  %s,1,2", table[i].text);
		CHECK_EQ(parse(line, KMAP_V2), ATW_OK);
		CHECK_EQ(rec.kind, KMAP_ACCESS);
		CHECK_EQ(rec.u.access.ip, table[i].want);
	}
	CHECK_EQ(parse("(____ptrval____),0,1,3,4,5,0,t", KMAP_V1), ATW_E_FORMAT);
	CHECK_STR(err.text, "alloc_ip: hidden by the kernel: '(____ptrval____)'");
	CHECK_STR(err.hint, "boot that kernel with no_hash_pointers");
}

TEST(objects_that_are_none)
{
	static const struct { const char *line, *says; } table[] = {
		{ "1,x,2,3,4,5,6,t", "pid: 'x' is not a number" },
		{ "1,9223372036854775808,2,3,4,5,6,t",
		  "pid: '9223372036854775808' is not a number" },
		{ "1,--1,2,3,4,5,6,t", "pid: '--1' is not a number" },
		{ "1,0,xyz,3,4,5,6,t", "va: 'xyz' is not an address" },
		{ "1,0,10000000000000000,3,4,5,6,t", "va: '10000000000000000' is not an address" },
		{ "1,0,2,-3,4,5,6,t", "size: '-3' is not a number" },
		{ "1,0,2,18446744073709551616,4,5,6,t",
		  "size: '18446744073709551616' is not a number" },
		{ "1,0,2,3,,5,6,t", "alloc_time: '' is not a number" },
		{ "1,0,2,3,4,5.0,6,t", "free_time: '5.0' is not a number" },
		{ "1,0,2,3,4,5,,t", "free_ip: '' is not an address" },
		{ ",0,2,3,4,5,6,t", "alloc_ip: '' is not an address" },
		{ "1,0,2,3,4,5,6", "'1,0,2,3,4,5,6' is neither an object nor a call, and an access has a blank in front" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		CHECK_EQ(parse(table[i].line, KMAP_V1), ATW_E_FORMAT);
		CHECK_STR(err.text, table[i].says);
	}
	CHECK_EQ(parse("1,-9223372036854775808,2,3,4,5,6,t", KMAP_V1), ATW_OK);
	CHECK_EQ(rec.u.object.pid, INT64_MIN);
	CHECK_EQ(kmap_parse((struct atw_blob){ "1,0,2,3,4,5,6,a\0b", 17 }, KMAP_V1, 0, &rec, &err),
		 ATW_E_FORMAT);
	CHECK_STR(err.text, "byte 16 is 0: not text");
}

TEST(words_for_alloc_ip_in_the_compressed_form_alone)
{
	const char *line = "THREAD_STACK,0,ffffc90000000000,32768,0,0,(null),STACK_PAGE,(null),no-slab";

	CHECK_EQ(parse(line, KMAP_COMPRESSED), ATW_OK);
	CHECK_EQ(rec.u.object.has, KMAP_HAS_NAME | KMAP_HAS_TYPE | KMAP_HAS_CACHE);
	CHECK(blob_is(rec.u.object.name, "THREAD_STACK"));
	CHECK_EQ(rec.u.object.alloc_ip, 0);
	CHECK(!rec.u.object.task.data);
	CHECK_STR(text(line, KMAP_COMPRESSED, KMAP_COMPRESSED), "THREAD_STACK,0,ffffc90000000000,"
		  "32768,0,0,(null),STACK_PAGE,(null),no-slab");
	CHECK_EQ(parse(line, KMAP_V3), ATW_E_FORMAT);
	CHECK_STR(err.text, "alloc_ip: 'THREAD_STACK' is not an address");
	CHECK_EQ(parse(",0,1,2,0,0,(null),STACK_PAGE,(null),no-slab", KMAP_COMPRESSED),
		 ATW_E_FORMAT);
	CHECK_EQ(parse("  #x,0,1,2,0,0,(null),STACK_PAGE,(null),no-slab", KMAP_COMPRESSED),
		 ATW_E_FORMAT);
	CHECK_STR(err.text, "alloc_ip: '#x' is not an address");
}

/* ---- accesses ---- */

static bool access_is(uint64_t ip, uint64_t writes, uint64_t reads, uint32_t has)
{
	const struct kmap_access *a = &rec.u.access;

	return rec.kind == KMAP_ACCESS && a->ip == ip && a->writes == writes &&
	       a->reads == reads && a->has == has;
}

TEST(four_fields_mean_three_things)
{
	const char *line = "  ffffffff811c2240,5,6,7";

	CHECK_EQ(parse(line, KMAP_V1), ATW_OK);
	CHECK(access_is(0xffffffff811c2240, 6, 7, KMAP_HAS_PID));
	CHECK_EQ(rec.u.access.pid, 5);
	CHECK_EQ(parse(line, KMAP_V4), ATW_OK);
	CHECK(access_is(0xffffffff811c2240, 5, 6, KMAP_HAS_PID));
	CHECK_EQ(rec.u.access.pid, 7);
	CHECK_EQ(parse(line, KMAP_COMPRESSED), ATW_OK);
	CHECK(access_is(0xffffffff811c2240, 5, 6, KMAP_HAS_FREES));
	CHECK_EQ(rec.u.access.frees, 7);
	CHECK_EQ(parse(line, KMAP_V2), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "an access of 4 fields, which is not of version 2 like those before");
	CHECK_EQ(parse(line, KMAP_V3), ATW_E_UNSUPPORTED);
	CHECK_EQ(parse("  ffffffff811c2240,5,6", KMAP_V3), ATW_OK);
	CHECK(access_is(0xffffffff811c2240, 5, 6, 0));
	CHECK_EQ(parse("  ffffffff811c2240,5,6", KMAP_V1), ATW_E_UNSUPPORTED);
	CHECK_EQ(parse("  ffffffff811c2240,5,6", KMAP_V4), ATW_E_UNSUPPORTED);
	CHECK_EQ(parse("  ffffffff811c2240,5", KMAP_V4), ATW_E_FORMAT);
}

TEST(the_quick_way_and_the_other_agree)
{
	static const char *const lines[] = {
		"\tffffffff811c2240,1,2,-1", "  ffffffff811c2240,1,-2,3",
		"  ffffffff811c2240,-1,2,3", "  ffffffff811c2240,1,2,3 ",
		"  ffffffff811c2240 ,1, 2,3", "  FFFFFFFF811C2240,1,2,3",
		"  ffffffff811c2240,18446744073709551615,2,3",
		"  ffffffff811c2240,1,18446744073709551615,3",
		"  ffffffff811c2240,1,2,9223372036854775807",
		"  ffffffff811c2240,1,2,9223372036854775808",
		"  ffffffff811c2240,1,2,-9223372036854775808",
		"  ffffffff811c2240,0000000000000000000000001,2,3",
		"  ffffffff811c2240,1,2,", "  ffffffff811c2240,1,2,-", "  ffffffff811c224,1,2,3",
		"  fffffffff811c2240,1,2,3", "  ffffffff811c224g,1,2,3",
	};
	static const bool ok[][3] = {    /* V1, V4, compressed */
		{ false, true, false }, { false, false, false }, { true, false, false },
		{ true, true, true }, { true, true, true }, { true, true, true },
		{ false, true, true }, { true, true, true }, { true, true, true },
		{ true, false, true }, { false, true, false }, { true, true, true },
		{ false, false, false }, { false, false, false }, { true, true, true },
		{ false, false, false }, { false, false, false },
	};
	static const enum kmap_version v[] = { KMAP_V1, KMAP_V4, KMAP_COMPRESSED };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (size_t k = 0; k < 3; k++)
			if ((parse(lines[i], v[k]) == ATW_OK) != ok[i][k]) {
				TEST_FAIL("'%s' in %s", lines[i], kmap_version_name(v[k]));
				return;
			}
	CHECK_EQ(parse(lines[10], KMAP_V4), ATW_OK);
	CHECK_EQ(rec.u.access.pid, INT64_MIN);
}

TEST(unknown_memory)
{
	CHECK_EQ(parse("  from:ffffffff81001234,caller:ffffffff81001300,2,3", KMAP_V3), ATW_OK);
	CHECK(access_is(0xffffffff81001234, 2, 3, KMAP_IS_FROM | KMAP_HAS_CALLER));
	CHECK_EQ(rec.u.access.caller, 0xffffffff81001300);
	CHECK_EQ(parse("  from:          (null),2,3", KMAP_V4), ATW_OK);
	CHECK(access_is(0, 2, 3, KMAP_IS_FROM));
	CHECK_EQ(parse("  from:1,2,3", KMAP_V1), ATW_E_UNSUPPORTED);
	CHECK_EQ(parse("  from:1,2,3,4", KMAP_V4), ATW_E_FORMAT);
	CHECK_STR(err.text, "'2,3,4': no writes and reads behind 'from:'");
	CHECK_EQ(parse("  from:1,caller:2,3", KMAP_V3), ATW_E_FORMAT);
}

/* ---- the others ---- */

TEST(calls)
{
	CHECK_EQ(parse("ffffffff81001000 ffffffff81002000 17", KMAP_V3), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_CALL);
	CHECK_EQ(rec.u.call.from, 0xffffffff81001000);
	CHECK_EQ(rec.u.call.to, 0xffffffff81002000);
	CHECK_EQ(rec.u.call.count, 17);
	CHECK_EQ(parse("1,2,3", KMAP_V3), ATW_OK);
	CHECK_EQ(rec.u.call.count, 3);
	CHECK_EQ(parse("1 2", KMAP_V3), ATW_E_FORMAT);
	CHECK_EQ(parse("1 2 3 4", KMAP_V3), ATW_E_FORMAT);
	CHECK_EQ(parse("1 2 x", KMAP_V3), ATW_E_FORMAT);
}

TEST(comments_headers_and_the_end)
{
	CHECK_EQ(parse("# atwalk-kmap mode instance", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_COMMENT);
	CHECK(blob_is(rec.u.comment, " atwalk-kmap mode instance"));
	CHECK_EQ(parse("# line 1,2,3", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_COMMENT);
	CHECK_EQ(parse("#", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.u.comment.len, 0);
	CHECK_EQ(parse("   \t", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_BLANK);

	CHECK_EQ(parse_own("# atwalk-kmap 1"), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_HEADER);
	CHECK(blob_is(rec.u.header.key, "version") && blob_is(rec.u.header.value, "1"));
	CHECK_EQ(parse_own("# atwalk-kmap symbol 12 a b"), ATW_OK);
	CHECK(blob_is(rec.u.header.key, "symbol") && blob_is(rec.u.header.value, "12 a b"));
	CHECK_EQ(parse_own("# line 3,4,5"), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_LINE_HEAT);
	CHECK_EQ(rec.u.access.has, KMAP_HAS_LINE);
	CHECK(rec.u.access.line == 3 && rec.u.access.writes == 4 && rec.u.access.reads == 5);
	CHECK_EQ(parse_own("# atwalk-kmap end objects 1 accesses 2 lost 3"), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_END);
	CHECK(rec.u.end.objects == 1 && rec.u.end.accesses == 2 && rec.u.end.lost == 3);
	CHECK_EQ(parse_own("# atwalk-kmap end objects 1 accesses 2"), ATW_E_FORMAT);
	CHECK_EQ(parse_own("# line 3,4"), ATW_E_FORMAT);
}

TEST(times_of_accesses)
{
	static const struct { const char *line, *why; } wrong[] = {
		{ "# used 3", "expected 2 times of accesses" },
		{ "# used 3,4,5", "expected 2 times of accesses" },
		{ "# used 3,", "last access: '' is not a number" },
		{ "# used -3,4", "first access: '-3' is not a number" },
		{ "# used 3,18446744073709551616",
		  "last access: '18446744073709551616' is not a number" },
		{ "# used 4,3", "the first access, 4, is after the last one, 3" },
	};
	char buf[64];

	CHECK_EQ(parse_own("# used 3,3"), ATW_OK);
	CHECK(rec.kind == KMAP_USED && rec.u.used.first == 3 && rec.u.used.last == 3);
	CHECK_EQ(parse_own("# used 0,18446744073709551615"), ATW_OK);
	CHECK(rec.u.used.first == 0 && rec.u.used.last == UINT64_MAX);
	CHECK_EQ(kmap_write(&rec, KMAP_V4, buf, sizeof(buf)), 30);
	CHECK(!memcmp(buf, "# used 0,18446744073709551615\n", 30));
	for (enum kmap_version v = KMAP_V1; v < KMAP_VERSIONS; v++)
		CHECK_EQ(kmap_loses(&rec, v), KMAP_LOSES_USED);
	/* In a file that does not state its version these lines are comments. */
	CHECK_EQ(parse("# used 4,3", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_COMMENT);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ(parse_own(wrong[i].line), ATW_E_FORMAT);
		CHECK_STR(err.text, wrong[i].why);
	}
	/* Calls belong to no object. */
	CHECK(read_all(blob_of("# atwalk-kmap 1\n# call 10 20 3\n"
			    "# atwalk-kmap end objects 0 accesses 0 lost 0\n")));
	CHECK(!read_all(blob_of("# atwalk-kmap 1\n# call 10 20\n")));
	CHECK(!read_all(blob_of("# atwalk-kmap 1\n# used 1,2\n")));
	CHECK_STR(err.text, "line 2: times of accesses without an object before them");
}

/* ---- which version ---- */

TEST(versions_that_a_line_can_be_of)
{
	static const struct { const char *rest; unsigned can; } table[] = {
		{ "bash", 1u << KMAP_V1 }, { "KMALLOC", 1u << KMAP_V1 },
		{ "a,b", 1u << KMAP_V1 }, { "a,b,c,d", 1u << KMAP_V1 },
		{ "KMALLOC,bash", 1u << KMAP_V2 }, { "(null),bash", 1u << KMAP_V2 },
		{ "FROM_TOMORROW,bash", 1u << KMAP_V2 },
		{ "KMALLOC,kworker/u8:3+flush-254", 1u << KMAP_V2 },
		{ "KMALLOC,bash,filp", 1u << KMAP_V2 | 1u << KMAP_V3 | 1u << KMAP_COMPRESSED },
		{ "KMALLOC,swapper/0,kmalloc-192", 1u << KMAP_V3 | 1u << KMAP_COMPRESSED },
		{ "KMEM_CACHE,a,b,TCP", 1u << KMAP_V2 | 1u << KMAP_V3 | 1u << KMAP_COMPRESSED |
					1u << KMAP_V4 },
		{ "KMALLOC,a,filp,NONE", 1u << KMAP_V4 }, { "KMALLOC,a,b,c,NONE", 1u << KMAP_V4 },
		{ "KMALLOC,a,filp,(null)", 1u << KMAP_V2 | 1u << KMAP_V3 | 1u << KMAP_COMPRESSED |
					   1u << KMAP_V4 },
	};
	char line[128];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(line, sizeof(line), "1,0,2,3,4,5,6,%s", table[i].rest);
		if (kmap_versions_of(blob_of(line)) != table[i].can) {
			TEST_FAIL("'%s' can be 0x%x", table[i].rest,
				  kmap_versions_of(blob_of(line)));
			return;
		}
	}
	CHECK_EQ(kmap_versions_of(blob_of("1,0,2,3,4,5,6")), 0);
}

/* The first line could be of a later version: those behind it decide. */
TEST(a_version_is_found_by_what_follows)
{
#define A "1,0,2,3,4,5,6,"
	static const struct { const char *text; enum kmap_version v; uint64_t objects; } table[] = {
		{ A "KMALLOC,a,b\n" A "KMALLOC,a\n", KMAP_V2, 2 },
		{ A "KMALLOC,a,b\n" A "KMALLOC,swapper/0,kmalloc-192\n", KMAP_V3, 2 },
		{ A "KMALLOC,a,b\n", KMAP_V3, 1 },
		{ A "KMEM_CACHE,a,b,TCP\n" A "KMEM_CACHE,a,filp\n" A "NONE,swapper/0,no-slab-xx\n",
		  KMAP_V3, 3 },
		{ A "KMEM_CACHE,a,b,TCP\n" A "KMEM_CACHE,a,b,NONE\n", KMAP_V4, 2 },
		{ A "a,b\n" A "c\n", KMAP_V1, 2 },
		{ "# c\n\n1 2 3\n" A "KMALLOC,a\n  1,2,3\n", KMAP_V2, 1 },
		{ A "NONE,swapper/0,no-slab-xx\n  from:1,2,3\n  1,2,3,4\n", KMAP_COMPRESSED, 1 },
		{ A "NONE,swapper/0,no-slab-xx\n  from:1,caller:2,2,3\n  1,2,3\n", KMAP_V3, 1 },
		{ "          (null),0,          (null),0,0,0,          (null),none\n  1,2,3,4\n",
		  KMAP_V1, 1 },
		{ "# This is a compressed .cmap file\n" A "NONE,(null),x\n  1,2,3,4\n",
		  KMAP_COMPRESSED, 1 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!read_all(blob_of(table[i].text)) || rd.version != table[i].v) {
			TEST_FAIL("%zu: %s, %s", i, kmap_version_name(rd.version), err.text);
			return;
		}
		CHECK_EQ(rd.objects, table[i].objects);
	}
}

TEST(a_file_of_two_versions)
{
	static const struct { const char *text, *says; } table[] = {
		{ A "KMALLOC,a\n" A "a\n",
		  "line 2: an object of 8 fields, which is not of version 2 like those before" },
		{ A "a\n" A "KMALLOC,a\n",
		  "line 2: an object of 9 fields, which is not of version 1 like those before" },
		{ A "a\n" A "KMALLOC,a,b,NONE\n",
		  "line 2: an object of 11 fields, which is not of version 1 like those before" },
		{ A "NONE,swapper/0,no-slab-xx\n" A "KMALLOC,a,b,NONE\n",
		  "line 2: an object of 11 fields, which is not of version 3 like those before" },
		{ A "NONE,a,b,NONE\n  1,2,3,4\n" A "KMALLOC,a,b\n",
		  "line 3: an object of 10 fields, which is not of version 4 like those before" },
		{ A "NONE,a,b,NONE\n  1,2,3\n",
		  "line 2: an access of 3 fields, which is not of version 4 like those before" },
		{ A "NONE,swapper/0,no-slab-xx\n  1,2,3\n  1,2,3,4\n",
		  "line 3: an access of 4 fields, which is not of version 3 like those before" },
		{ A "NONE,swapper/0,no-slab-xx\n  1,2,3,4\n  1,2,3\n",
		  "line 3: an access of 3 fields, which is not of the compressed form like those before" },
		{ "# atwalk-kmap 1\n" A "NONE,a,b\n",
		  "line 2: an object of 10 fields, which is not of version 4 like those before" },
		{ "# atwalk-kmap 2\n",
		  "line 1: atwalk-kmap version '2', but this program reads 1" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int r;

		kmap_init(&rd);
		pos = 0;
		while ((r = next(blob_of(table[i].text))) == ATW_OK)
			;
		if (r != ATW_E_UNSUPPORTED) {
			TEST_FAIL("%zu: %d %s", i, r, err.text);
			return;
		}
		CHECK_STR(err.text, table[i].says);
	}
}

/* ---- files ---- */

static bool file_is(const char *name, enum kmap_version v, uint64_t objects, uint64_t accesses,
		    uint64_t calls)
{
	if (!read_all(load(name)) || kmap_probe(load(name)) < 80)
		fprintf(stderr, "%s: %s\n", name, err.text);
	return !rd.faults && rd.version == v && rd.objects == objects &&
	       rd.accesses == accesses && rd.calls == calls;
}

TEST(files_by_hand)
{
	CHECK(file_is("v1.kmap", KMAP_V1, 4, 4, 0));
	CHECK(file_is("v2.kmap", KMAP_V2, 3, 3, 0));
	CHECK(file_is("v3.cmap", KMAP_V3, 4, 4, 2));
	CHECK(file_is("v4.kmap", KMAP_V4, 4, 4, 0));
	CHECK(file_is("uscope.cmap.comp", KMAP_COMPRESSED, 4, 4, 1));
	CHECK(file_is("own.kmap", KMAP_V4, 2, 3, 0));
	CHECK(file_is("used.kmap", KMAP_V4, 9, 8, 0));
	CHECK(rd.ours && rd.ended);
}

/* Read, written in its own version, read: the same records, and then the same text. */
TEST(files_survive_being_written)
{
	static const char *const names[] = { "v1.kmap", "v2.kmap", "v3.cmap", "v4.kmap",
					     "uscope.cmap.comp", "own.kmap" };
	static char once[65536], twice[65536];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct atw_blob in = load(names[i]);
		size_t len = 0, again = 0;

		for (int pass = 0; pass < 2; pass++) {
			kmap_init(&rd);
			pos = 0;
			while (next(in) == ATW_OK) {
				char *to = pass ? twice + again : once + len;
				/* Before the first object. */
				enum kmap_version v = rd.version ? rd.version : KMAP_V3;
				size_t n = kmap_write(&rec, v, to, KMAP_LINE);

				CHECK(n);
				CHECK(!(kmap_loses(&rec, v) &
					~(uint32_t)(KMAP_LOSES_HEADER | KMAP_LOSES_SYMBOL |
						    KMAP_LOSES_HEAT)));
				*(pass ? &again : &len) += n;
			}
			CHECK(pos == in.len && !rd.faults);
			in = (struct atw_blob){ once, len };
		}
		CHECK(len == again && !memcmp(once, twice, len));
		CHECK(kmap_finish(&rd, &err) == ATW_OK);
	}
}

/* ---- from each version to each other ---- */

TEST(lines_in_other_versions)
{
	const char *v1 = "ffffffff811c2233,98,ffff880006a3b300,192,17,0,00000000deadbeef,a,b";
	const char *v4 = "0000000000000000,98,ffff880006a3b300,192,17,5,0000000000000000,"
			 "KMALLOC,a,b,filp(1:x),VMALLOC";

	CHECK_STR(text(v1, KMAP_V1, KMAP_V1), v1);
	CHECK_STR(text(v1, KMAP_V1, KMAP_V2), "ffffffff811c2233,98,ffff880006a3b300,192,17,0,"
		  "00000000deadbeef,(null),a,b");
	CHECK_STR(text(v1, KMAP_V1, KMAP_V3), "ffffffff811c2233,98,ffff880006a3b300,192,17,0,"
		  "00000000deadbeef,(null),a,b,(null)");
	CHECK_STR(text(v1, KMAP_V1, KMAP_V4), "ffffffff811c2233,98,ffff880006a3b300,192,17,0,"
		  "00000000deadbeef,(null),a,b,(null),(null)");
	CHECK_EQ(kmap_loses(&rec, KMAP_V4), 0);
	/* And nothing was invented on the way. */
	CHECK_EQ(parse("1,0,2,3,4,5,6,(null),a,(null),(null)", KMAP_V4), ATW_OK);
	CHECK_EQ(rec.u.object.has, 0);
	CHECK_STR(text(v4, KMAP_V4, KMAP_V4), v4);
	CHECK_STR(text(v4, KMAP_V4, KMAP_V3), "(null),98,ffff880006a3b300,192,17,5,(null),"
		  "KMALLOC,a,b,filp(1:x)");
	CHECK_EQ(kmap_loses(&rec, KMAP_V3), KMAP_LOSES_NEW_TYPE);
	CHECK_STR(text(v4, KMAP_V4, KMAP_V2), "(null),98,ffff880006a3b300,192,17,5,(null),KMALLOC,a,b");
	CHECK_EQ(kmap_loses(&rec, KMAP_V2), KMAP_LOSES_NEW_TYPE | KMAP_LOSES_CACHE);
	CHECK_STR(text(v4, KMAP_V4, KMAP_V1), "(null),98,ffff880006a3b300,192,17,5,(null),a,b");
	CHECK_EQ(kmap_loses(&rec, KMAP_V1),
		 KMAP_LOSES_NEW_TYPE | KMAP_LOSES_CACHE | KMAP_LOSES_TYPE);
	/* uSCOPE knows this code by its text. */
	CHECK_STR(text("00000000feedbeef,0,1,2,3,0,0,KMALLOC,a,b,NONE", KMAP_V4, KMAP_V3),
		  "feedbeef,0,0000000000000001,2,3,0,(null),KMALLOC,a,b");
	CHECK_EQ(kmap_loses(&rec, KMAP_V3), 0);

	CHECK_STR(text("  1,5,6,7", KMAP_V1, KMAP_V4), "  0000000000000001,6,7,5");
	CHECK_STR(text("  1,5,6,7", KMAP_V4, KMAP_V1), "  0000000000000001,7,5,6");
	CHECK_STR(text("  1,5,6,7", KMAP_V4, KMAP_V2), "  0000000000000001,5,6");
	CHECK_EQ(kmap_loses(&rec, KMAP_V2), KMAP_LOSES_PID);
	CHECK_STR(text("  0,5,6", KMAP_V2, KMAP_V1), "  (null),-1,5,6");
	CHECK_STR(text("  0,5,6", KMAP_V2, KMAP_V4), "  0000000000000000,5,6,-1");
	CHECK_STR(text("  0,5,6,7", KMAP_COMPRESSED, KMAP_V3), "  (null),5,6");
	CHECK_EQ(kmap_loses(&rec, KMAP_V3), KMAP_LOSES_FREES);
	CHECK_STR(text("  0,5,6", KMAP_V3, KMAP_COMPRESSED), "  (null),5,6,0");
	CHECK_STR(text("  from:1,caller:2,5,6", KMAP_V3, KMAP_V4),
		  "  from:0000000000000001,caller:0000000000000002,5,6");
	CHECK_EQ(kmap_loses(&rec, KMAP_V4), KMAP_LOSES_CALLER);
	CHECK_EQ(kmap_loses(&rec, KMAP_V3), 0);
	CHECK_STR(text("  from:1,caller:2,5,6", KMAP_V3, KMAP_V1), "  0000000000000001,-1,5,6");
	CHECK_EQ(kmap_loses(&rec, KMAP_V1), KMAP_LOSES_FROM | KMAP_LOSES_CALLER);
	CHECK_STR(text("1 2 3", KMAP_V3, KMAP_V3), "1 2 3");
	/* Only atwalk's own recordings have it: a conversion does not write it. */
	CHECK_STR(text("1 2 3", KMAP_V3, KMAP_V4), "# call 0000000000000001 0000000000000002 3");
	CHECK_STR(text("1 2 3", KMAP_V3, KMAP_V2), "");
	CHECK_EQ(kmap_loses(&rec, KMAP_V4), KMAP_LOSES_CALL);
}

TEST(no_room)
{
	char buf[64];

	CHECK_EQ(parse("  ffffffff811c2240,5,6,7", KMAP_V4), ATW_OK);
	for (size_t n = 0; n < 25; n++)
		CHECK_EQ(kmap_write(&rec, KMAP_V4, buf, n), 0);
	CHECK_EQ(kmap_write(&rec, KMAP_V4, buf, 25), 25);
	CHECK(!memcmp(buf, "  ffffffff811c2240,5,6,7\n", 25));
}

/* ---- what is wrong ---- */

static char long_line[KMAP_LINE + 65];

TEST(faults_and_what_follows)
{
	static const char said[] =
		"# atwalk-kmap 1\n"
		"  1,2,3,4\n"                   /* 2: of no object */
		A "NONE,a,b,NONE\n"
		"  1,2,3,x\n"                   /* 4: passed */
		"  1,2,3,4\n"
		"9,x,2,3,4,5,6,NONE,a,b,NONE\n" /* 6: and its accesses */
		"  9,9,9,9\n"
		"# line 0,9,9\n"
		"# used 9,9\n"
		A "NONE,a,b,NONE\n"
		"  5,2,3,4\n"
		"rubbish\n"                     /* 12: may have been any line */
		"  9,9,9,9\n"
		"# atwalk-kmap end objects 3 accesses 9 lost 2\n"
		"more\n";
	static const char *const says[] = {
		"line 2: an access without an object before it",
		"line 4: pid: 'x' is not a number",
		"line 6: pid: 'x' is not a number",
		"line 12: 'rubbish' is neither an object nor a call, and an access has a blank in front",
		"line 15: 'more' is neither an object nor a call, and an access has a blank in front",
	};
	size_t faults = 0, accesses = 0;
	int r;

	kmap_init(&rd);
	pos = 0;
	while ((r = next(blob_of(said))) != ATW_END) {
		if (r != ATW_OK) {
			CHECK(faults < 5);
			CHECK_STR(err.text, says[faults]);
			faults++;
		} else if (rec.kind == KMAP_ACCESS) {
			CHECK(rec.u.access.ip != 9);
			accesses++;
		} else {
			CHECK(rec.kind != KMAP_LINE_HEAT && rec.kind != KMAP_USED);
		}
	}
	CHECK_EQ(faults, 5);
	CHECK_EQ(accesses, 2);
	CHECK_EQ(rd.lost, 2);
	/* Something was wrong: its sums cannot be. */
	CHECK_EQ(kmap_finish(&rd, &err), ATW_OK);
}

TEST(what_is_cut_off)
{
	CHECK(!read_all(blob_of("# atwalk-kmap 1\n" A "NONE,a,b,NONE\n  1,2,3,4\n")));
	CHECK_STR(err.text, "no end line: cut off after line 3");
	CHECK(!read_all(blob_of("# atwalk-kmap 1\n" A "NONE,a,b,NONE\n  1,2,3,4\n"
			     "# atwalk-kmap end objects 1 accesses 2 lost 0\n")));
	CHECK_STR(err.text, "the end line counts 1 lines of objects and 2 of accesses, but there are 1 and 1");
	CHECK(!read_all(blob_of("# atwalk-kmap 1\n"
				"# atwalk-kmap end objects 0 accesses 0 lost 0\n"
			     A "NONE,a,b,NONE\n")));
	CHECK_STR(err.text, "line 3: unexpected data after the end line");
	CHECK(!read_all(blob_of(A "a\n  1,2,3,4")));
	CHECK_STR(err.text, "line 2: cut off in the middle");
	CHECK(!read_all(blob_of("")));
	memset(long_line, '1', sizeof(long_line) - 1);
	memcpy(long_line, A, strlen(A));
	memcpy(long_line + KMAP_LINE, "\n  1,2,3,4\n" A "a\n", 11 + strlen(A) + 2);
	kmap_init(&rd);
	pos = 0;
	CHECK_EQ(next(blob_of(long_line)), ATW_E_FORMAT);
	CHECK_STR(err.text, "line 1: longer than 4096 bytes");
	/* Its accesses belong to no object. */
	CHECK_EQ(next((struct atw_blob){ long_line, KMAP_LINE + 13 + strlen(A) }), ATW_OK);
	CHECK_EQ(rec.kind, KMAP_OBJECT);
	CHECK_EQ(rd.line, 3);
}

TEST(pieces_of_any_size)
{
	static const char *const names[] = { "v1.kmap", "v2.kmap", "v3.cmap", "own.kmap",
					     "used.kmap" };

	for (size_t i = 0; i < 5; i++) {
		struct atw_blob all = load(names[i]);
		uint64_t want;

		CHECK(read_all(all));
		want = rd.objects * 1000 + rd.accesses;
		for (size_t step = 1; step < 200; step += 7) {
			size_t start = 0, end = 0;

			kmap_init(&rd);
			do {
				int r;

				end = all.len - end > step ? end + step : all.len;
				pos = 0;
				while ((r = kmap_next(&rd, (struct atw_blob){
						(const char *)all.data + start, end - start },
						end == all.len, &pos, &rec, &err)) == ATW_OK)
					;
				CHECK_EQ(r, ATW_END);
				start += pos;
			} while (end < all.len);
			CHECK_EQ(start, all.len);
			CHECK_EQ(rd.objects * 1000 + rd.accesses, want);
		}
	}
}

TEST(what_is_no_kmap)
{
	static const char *const not[] = {
		"", "\n", "# a\n", "hello\n", "a,b,c,d,e,f,g,h\n", "H: atwalk-capture, 1\n",
		"1,2,3,4,5,6,7\n", "  1,2,3\n", "PID,NAME,x,1,2,3,4,5\n",
	};

	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		if (kmap_probe(blob_of(not[i]))) {
			TEST_FAIL("'%s' is taken for one", not[i]);
			return;
		}
	CHECK(kmap_probe(blob_of("# atwalk-kmap 1\n")));
	CHECK(kmap_probe(blob_of("1 2 3\n")));
	/* So that what is wrong with it is said. */
	CHECK(kmap_probe(blob_of("(____ptrval____),0,(____ptrval____),3,4,5,0,t\n")));
}
