/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters evaluate exactly, n/a compares false, and errors name the position. */
#include "test.h"

#include "record/filter.h"

enum { ADDRESS, SIZE, PID, STATE, FLAGS, RIGHTS, TASK, ENTRY, NCOLS };

static const char *const states[] = { "present", "swap", NULL, "absent" };
static const char *const flags[] = {
	"present", "writable", "user", NULL, "dirty", "soft-dirty", "dirty",
};
static const char *const rights[] = {
	"readable", "writable", "executable", "user",
};
static const struct atw_names state_names = { 4, states, NULL };
static const struct atw_names flag_names = { 7, flags, NULL };
static const struct atw_names right_names = { 4, rights, "rwxu" };

static const struct atw_column cols[] = {
	[ADDRESS] = { .key = "address", .type = ATW_T_VA },
	[SIZE] = { .key = "size", .type = ATW_T_BYTES },
	[PID] = { .key = "pid", .type = ATW_T_COUNT },
	[STATE] = { .key = "state", .type = ATW_T_ENUM, .names = &state_names },
	[FLAGS] = { .key = "flags", .type = ATW_T_FLAGS, .names = &flag_names },
	[RIGHTS] = { .key = "rights", .type = ATW_T_LETTERS, .names = &right_names },
	[TASK] = { .key = "task", .type = ATW_T_TEXT },
	[ENTRY] = { .key = "entry", .type = ATW_T_HEX, .hidden = true },
};
static const struct atw_schema schema = { "test", cols, NCOLS };

/* A present 2M page, dirty; its entry says writable, the path does not. */
static const union atw_value values[NCOLS] = {
	[ADDRESS] = { .u = 0xffff888000200000 },
	[SIZE] = { .u = 2 << 20 },
	[PID] = { .u = 812 },
	[STATE] = { .u = 0 },
	[FLAGS] = { .u = 1 | 2 | 1 << 6 | 1 << 10 },
	[RIGHTS] = { .u = 1 | 4 },
	[TASK] = { .s = "kworker/0:1 (a)" },
};
/* Everything but `entry`. */
static const struct atw_row row = { values, (1 << ENTRY) - 1 };
static struct atw_err err;

/* 1, 0, or -1 with `err`. */
static int match(const char *expr)
{
	struct filter *f = NULL;
	int rc = filter_create(expr, &schema, &f, &err);

	if (rc == ATW_OK)
		rc = filter_match(f, &row);
	filter_destroy(f);
	return rc < 0 ? -1 : rc;
}

struct truth {
	const char *expr;
	int want;
};

static void check_table(const struct truth *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int got = match(t[i].expr);

		if (got != t[i].want)
			TEST_FAIL("%s: %d, not %d (%s)", t[i].expr, got,
				  t[i].want, got < 0 ? err.text : "");
	}
}
#define CHECK_TABLE(...) do { \
	static const struct truth t_[] = { __VA_ARGS__ }; \
	check_table(t_, sizeof(t_) / sizeof(t_[0])); \
} while (0)

TEST(numbers)
{
	CHECK_TABLE(
		{ "size=2M", 1 }, { "size=2097152", 1 }, { "size==0x200000", 1 },
		{ "size!=2M", 0 }, { "size!=4K", 1 },
		{ "size<2M", 0 }, { "size<=2M", 1 }, { "size<2097153", 1 },
		{ "size>2M", 0 }, { "size>=2M", 1 }, { "size>1M", 1 },
		{ "size < 0", 0 }, { "size >= 0", 1 },
		{ "size>0xffffffffffffffff", 0 }, { "size<=0xffffffffffffffff", 1 },
		{ "pid=812", 1 }, { "pid<1K", 1 }, { "pid>1K", 0 },
		{ "address=0xffff888000200000", 1 },
		{ "address=ffff888000200000", 1 },
		{ "address>=FFFF888000000000 and address<ffff888000400000", 1 });
}

TEST(words)
{
	CHECK_TABLE(
		{ "state=present", 1 }, { "state!=present", 0 },
		{ "state=swap", 0 }, { "state!=swap", 1 },
		{ "state=0x0", 1 }, { "state=0x7", 0 },
		{ "flags=writable", 1 }, { "flags!=writable", 0 },
		{ "flags=user", 0 }, { "flags!=user", 1 },
		{ "flags=present,writable", 1 }, { "flags!=present,writable", 0 },
		{ "flags=present,user", 0 }, { "flags!=present,user", 1 },
		/* The same word names two bits: any of them will do. */
		{ "flags=dirty", 1 }, { "dirty", 1 }, { "flags!=dirty", 0 },
		{ "soft-dirty", 0 },
		/* Bits without a name, as they are shown. */
		{ "flags=0x400", 1 }, { "flags=dirty,0x400", 1 },
		{ "flags=0xc00", 0 }, { "flags!=0xc00", 1 }, { "flags=0x0", 0 },
		{ "flags=-", 0 }, { "flags!=-", 1 },
		{ "rights=r", 1 }, { "rights=rx", 1 }, { "rights=rw", 0 },
		{ "rights!=rw", 1 }, { "rights=executable", 1 },
		{ "rights=r-x-", 1 }, { "rights=r---", 0 }, { "rights!=r---", 1 },
		{ "rights=rwxu", 0 });
}

TEST(bare_words_take_the_folded_answer)
{
	CHECK_TABLE(
		{ "present", 1 }, { "swap", 0 }, { "absent", 0 },
		{ "executable", 1 }, { "user", 0 },
		/* The entry allows it, the path to it does not. */
		{ "writable", 0 }, { "flags=writable", 1 });
}

TEST(texts)
{
	CHECK_TABLE(
		{ "task=nginx", 0 }, { "task!=nginx", 1 },
		{ "task~kworker", 1 }, { "task~/0:1", 1 }, { "task~x", 0 },
		{ "task=\"kworker/0:1 (a)\"", 1 }, { "task='kworker/0:1 (a)'", 1 },
		{ "task=kworker/0:1", 0 }, { "task~'(a)'", 1 },
		{ "task=\"\"", 0 }, { "task!=''", 1 }, { "task~''", 1 },
		{ "(task~kworker)", 1 }, { "task~a=b", 0 });
}

TEST(missing_values_compare_false)
{
	CHECK_TABLE(
		{ "entry=0", 0 }, { "entry!=0", 0 }, { "entry<1", 0 },
		{ "entry>=0", 0 }, { "not entry>=0", 1 },
		{ "entry!=1 or present", 1 });
}

TEST(truth_tables)
{
	/* present is true, swap is false. */
	CHECK_TABLE(
		{ "not present", 0 }, { "not swap", 1 },
		{ "not not present", 1 }, { "not not not present", 0 },
		{ "present and present", 1 }, { "present and swap", 0 },
		{ "swap and present", 0 }, { "swap and swap", 0 },
		{ "present or present", 1 }, { "present or swap", 1 },
		{ "swap or present", 1 }, { "swap or swap", 0 });
}

TEST(precedence)
{
	CHECK_TABLE(
		{ "present or swap and swap", 1 },
		{ "(present or swap) and swap", 0 },
		{ "swap and swap or present", 1 },
		{ "swap and (swap or present)", 0 },
		{ "not swap and swap", 0 }, { "not (swap and swap)", 1 },
		{ "not present or present", 1 }, { "not (present or present)", 0 },
		{ "swap or swap or present and not swap", 1 },
		{ "present and (swap or not (swap or swap)) and size>=2M", 1 },
		{ "not(swap)and(present)", 1 });
}

/* Every tree of three terms and both keywords, against C's own answer. */
TEST(all_small_trees)
{
	static const char *const word[] = { "swap", "present" };
	char expr[128];

	for (unsigned i = 0; i < 256; i++) {
		bool a = i & 1, b = i & 2, c = i & 4, n = i & 64, m = i & 128;
		bool x = i & 8, y = i & 16, right = i & 32;
		bool vb = b ^ n, vc = c ^ m, want;

		snprintf(expr, sizeof(expr), right ?
			 "%s %s (%s%s %s %s%s)" : "(%s %s %s%s) %s %s%s",
			 word[a], x ? "and" : "or", n ? "not " : "", word[b],
			 y ? "and" : "or", m ? "not " : "", word[c]);
		if (right) {
			bool in = y ? vb && vc : vb || vc;

			want = x ? a && in : a || in;
		} else {
			bool in = x ? a && vb : a || vb;

			want = y ? in && vc : in || vc;
		}
		if (match(expr) != want)
			TEST_FAIL("%s is not %d", expr, want);
	}
}

/* A word that no row knows neither is one of them nor is none. */
TEST(words_that_are_not_known)
{
	static const char *const names[] = { "dirty", "file" };
	static const struct atw_names some = { 2, names, NULL };
	static const struct atw_column col[] = {
		{ .key = "flags", .type = ATW_T_FLAGS, .names = &some, .unknown = 2 },
	};
	static const struct atw_schema sc = { "test", col, 1 };
	static const union atw_value v[] = { { .u = 0 } };
	static const struct atw_row r = { v, 1 };
	static const struct truth truths[] = {
		{ "dirty", 0 }, { "flags!=dirty", 1 }, { "file", 0 }, { "flags=file", 0 },
		{ "flags!=file", 0 },
	};

	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		struct filter *f = NULL;

		CHECK_EQ(filter_create(truths[i].expr, &sc, &f, &err), ATW_OK);
		CHECK_EQ(filter_match(f, &r), truths[i].want);
		filter_destroy(f);
	}
}

static const char *complaint(const char *expr)
{
	memset(&err, 0, sizeof(err));
	return match(expr) < 0 && err.status == ATW_E_USAGE && err.param == ATW_PARAM_FILTER
		       ? err.text : "it was accepted";
}

TEST(words_that_were_meant_as_texts)
{
	CHECK_EQ(match("libc"), -1);
	CHECK_STR(err.hint, "texts match as in task~libc");
	CHECK_EQ(match("size>1 and 'my task'"), -1);
	CHECK_STR(err.hint, "texts match as in task~'my task'");
	CHECK_EQ(match("presnt"), -1);
	CHECK_STR(err.hint, "did you mean 'present'? Texts match as in task~presnt");
	CHECK_EQ(match("comm~kworker"), 1);
	CHECK_EQ(match("comm=kworker"), 0);
	CHECK_EQ(match("len>=2M and not pte=1"), 1);
}

TEST(unknown_names)
{
	CHECK_STR(complaint("present and wirtable"),
		  "unknown name 'wirtable' at character 13; known: "
		  "columns address, size, pid, state, flags, rights, task, entry; "
		  "words present, swap, absent, writable, user, dirty, soft-dirty, "
		  "readable, executable");
	CHECK_STR(err.hint, "did you mean 'writable'? Texts match as in task~wirtable");
	CHECK_STR(complaint("colour=red"),
		  "unknown column 'colour'; known: address, size, pid, "
		  "state, flags, rights, task, entry");
	CHECK_STR(err.hint, "");
	CHECK_STR(complaint("adress=0"),
		  "unknown column 'adress'; known: address, size, pid, "
		  "state, flags, rights, task, entry");
	CHECK_STR(err.hint, "did you mean 'address'?");
	CHECK_STR(complaint("size"),
		  "'size' at character 1 is a column: compare it with "
		  "something, as in size=VALUE");
	CHECK(strstr(complaint("present && swap"), "expected 'and' or 'or'"));
}

TEST(sizes_with_fractions)
{
	CHECK_EQ(match("size=2.0M"), 1);
	CHECK_EQ(match("size>1.999M"), 1);
	CHECK_EQ(match("size<2.001MiB"), 1);
	CHECK_EQ(match("size>=2.000001m"), 0);
	CHECK_EQ(match("size<15.99999999999999999E"), 1);
}

/* Of `total` pages: does it hold? */
static bool pages_match(const char *expr, uint64_t total, unsigned page_shift)
{
	static const struct atw_column col = { .key = "total", .type = ATW_T_PAGES };
	const struct atw_schema sc = { "test", &col, 1 };
	const union atw_value v = { .u = total };
	const struct atw_row one = { &v, 1 };
	struct filter *f = NULL;
	bool ret;

	if (filter_create(expr, &sc, &f, &err) < 0)
		return false;
	if (page_shift)
		filter_page(f, page_shift);
	ret = filter_match(f, &one);
	filter_destroy(f);
	return ret;
}

TEST(pages_are_counted_and_bytes_with_a_unit)
{
	CHECK(pages_match("total>5119", 5120, 0));
	CHECK(!pages_match("total>5120", 5120, 0));
	CHECK(pages_match("total>0x13ff", 5120, 0));
	CHECK(pages_match("total=20M", 5120, 0));
	CHECK(!pages_match("total>20M", 5120, 0));
	CHECK(pages_match("total>20M", 5121, 0));
	CHECK(!pages_match("total!=20M", 5120, 0));
	CHECK(pages_match("total>=19.99M and total<20.01M", 5120, 0));
	CHECK(!pages_match("total=1K or total=6K", 1, 0));
	CHECK(pages_match("total=0B", 0, 0));
	/* Pages of 64K. */
	CHECK(pages_match("total=20M", 320, 16));
	CHECK(!pages_match("total>20M", 320, 16));
	CHECK(pages_match("total>320M", 5121, 16));
	CHECK(pages_match("total=5120", 5120, 16));
	/* More bytes than any number. */
	CHECK(pages_match("total>15E", UINT64_MAX, 0));
}

TEST(bad_values)
{
	CHECK_STR(complaint("size>=2Q"),
		  "'2Q' at character 7 is not a number (4096, 0x1000, 4K, 1.5M)");
	CHECK(strstr(complaint("size>=1.5"), "'1.5' at character 7 is not a number"));
	CHECK(strstr(complaint("size>=.5M"), "'.5M' at character 7 is not a number"));
	CHECK(strstr(complaint("size>=1.M"), "'1.M' at character 7 is not a number"));
	CHECK(strstr(complaint("size>=1.5.5M"), "'1.5.5M' at character 7 is not a number"));
	CHECK(strstr(complaint("size>=16.5E"), "'16.5E' at character 7 is not a number"));
	CHECK_STR(complaint("address = init"),
		  "'init' at character 11 is not a hexadecimal number");
	CHECK_STR(complaint("state=gone"),
		  "'gone' at character 7 is no word of 'state'; "
		  "known: present, swap, absent");
	CHECK_STR(complaint("rights=rz"),
		  "'rz' at character 8 is no word of 'rights'; "
		  "known: readable, writable, executable, user");
	CHECK_STR(complaint("flags=dirty,clean"),
		  "'dirty,clean' at character 7 is no word of 'flags'; "
		  "known: present, writable, user, dirty, soft-dirty");
	CHECK_STR(complaint("state<swap"),
		  "'state' takes = !=, not '<' at character 6");
	CHECK_STR(complaint("task<a"),
		  "'task' takes = != ~, not '<' at character 5");
	CHECK_STR(complaint("size~2"),
		  "'size' takes = != < <= > >=, not '~' at character 5");
}

TEST(bad_syntax)
{
	CHECK_STR(complaint(""), "expected a name at character 1, not the end");
	CHECK_STR(complaint("present and"),
		  "expected a name at character 12, not the end");
	CHECK_STR(complaint("and present"),
		  "expected a name at character 1, not 'and'");
	CHECK_STR(complaint("present swap"),
		  "expected 'and' or 'or' at character 9, not 'swap'");
	CHECK_STR(complaint("(present"),
		  "'(' at character 1 is not closed");
	CHECK_STR(complaint("(present swap)"),
		  "expected 'and', 'or' or ')' at character 10, not 'swap'");
	CHECK_STR(complaint("present)"),
		  "')' at character 8 closes nothing");
	CHECK_STR(complaint("()"),
		  "expected a name at character 2, not ')'");
	CHECK_STR(complaint("size>="),
		  "expected a value at character 7, not the end");
	CHECK_STR(complaint("(size>=)"),
		  "expected a value at character 8, not ')'");
	CHECK_STR(complaint("=4"),
		  "expected a name at character 1, not '='");
	CHECK_STR(complaint("task='a"),
		  "the quote at character 6 is not closed");
	CHECK_STR(complaint("!present"),
		  "'!' at character 1 is no operator");
	CHECK_STR(err.hint, "write 'not' in front of what shall not hold");
}

/* `n` times `open`, a term, `n` times `close`. */
static char *nest(const char *open, const char *close, size_t n)
{
	size_t lo = strlen(open), lc = strlen(close);
	char *s = malloc(n * (lo + lc) + 16), *p = s;

	if (!s)
		abort();
	for (size_t i = 0; i < n; i++, p += lo)
		memcpy(p, open, lo);
	memcpy(p, "present", 7);
	p += 7;
	for (size_t i = 0; i < n; i++, p += lc)
		memcpy(p, close, lc);
	*p = '\0';
	return s;
}

TEST(nesting_is_bounded)
{
	char *s = nest("(", ")", FILTER_DEPTH);

	CHECK_EQ(match(s), 1);
	free(s);
	s = nest("(", ")", FILTER_DEPTH + 1);
	CHECK_STR(complaint(s), "more than 64 parentheses inside each "
		  "other at character 65");
	free(s);
	s = nest("not (", ")", 1 << 20);
	CHECK(strstr(complaint(s), "more than 64 parentheses"));
	free(s);
	s = nest("(", "", 1 << 20);
	CHECK(strstr(complaint(s), "more than 64 parentheses"));
	free(s);
	/* These do not nest, however many there are. */
	s = nest("not ", "", 1 << 20);
	CHECK_EQ(match(s), 1);
	free(s);
	s = nest("present and ", " or swap", 1 << 17);
	CHECK_EQ(match(s), 1);
	free(s);
}

TEST(long_lists_are_cut_at_a_name)
{
	static char text[64][32];
	static const char *many[64];
	const struct atw_names nm = { 64, many, NULL };
	const struct atw_column c[] = {
		{ .key = "flags", .type = ATW_T_FLAGS, .names = &nm },
	};
	const struct atw_schema sc = { "many", c, 1 };
	struct filter *f = NULL;

	for (int i = 0; i < 64; i++) {
		snprintf(text[i], sizeof(text[i]), "longish-flag-name-%d", i);
		many[i] = text[i];
	}
	CHECK_EQ(filter_create("x", &sc, &f, &err), ATW_E_USAGE);
	CHECK(strlen(err.text) < sizeof(err.text) - 1);
	CHECK_STR(err.text + strlen(err.text) - 5, ", ...");
}

/* FILTER_NO, FILTER_YES, FILTER_UNDECIDED. */
static int decide(const char *expr)
{
	struct filter *f = NULL;
	int rc = filter_create(expr, &schema, &f, &err);

	if (rc == ATW_OK)
		rc = filter_decide(f, &row);
	filter_destroy(f);
	return rc;
}

TEST(missing_values_decide_only_where_they_count)
{
	static const struct {
		const char *expr;
		int want;
	} t[] = {
		{"entry=1", FILTER_UNDECIDED},
		{"entry!=1", FILTER_UNDECIDED},
		{"not entry=1", FILTER_UNDECIDED},
		{"not not entry=1", FILTER_UNDECIDED},
		{"entry=1 and pid=1", FILTER_NO},
		{"pid=1 and entry=1", FILTER_NO},
		{"entry=1 and pid=812", FILTER_UNDECIDED},
		{"entry=1 or pid=812", FILTER_YES},
		{"pid=812 or entry=1", FILTER_YES},
		{"entry=1 or pid=1", FILTER_UNDECIDED},
		{"not (entry=1 and pid=1)", FILTER_YES},
		{"not (entry=1 or pid=812)", FILTER_NO},
		{"(entry=1 or pid=1) and pid=812", FILTER_UNDECIDED},
		{"(entry=1 or pid=1) and pid=1", FILTER_NO},
		{"(entry=1 and pid=812) or not pid=1", FILTER_YES},
		{"present and pid=812", FILTER_YES},
		{"swap", FILTER_NO},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (decide(t[i].expr) != t[i].want)
			TEST_FAIL("%s: %d, not %d", t[i].expr, decide(t[i].expr), t[i].want);
}

TEST(columns_that_an_expression_is_about)
{
	struct filter *f = NULL;

	CHECK_EQ(filter_create("not (pid=1 or task~x) and swap", &schema, &f, &err), ATW_OK);
	CHECK_EQ(filter_columns(f), (1u << PID | 1u << TASK | 1u << STATE));
	filter_destroy(f);
}
