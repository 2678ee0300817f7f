/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text is escaped for CSV, JSON, XML and terminals, byte for byte, whatever bytes it has.
 */
#include <locale.h>

#include "test.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "output/number.h"

static const char *with(void (*fn)(struct buf *, const char *), const char *s)
{
	static char text[512];
	struct buf b = { 0 };

	fn(&b, s);
	snprintf(text, sizeof(text), "%s", b.data ? b.data : "");
	buf_deinit(&b);
	return text;
}
#define PLAIN(s) with(text_plain, s)
#define CSV(s)   with(text_csv, s)
#define JSON(s)  with(text_json, s)
#define XML(s)   with(text_xml, s)

/* "a", that character, "b". */
static const char *utf8(uint32_t c)
{
	static char text[8];
	char *p = text;

	*p++ = 'a';
	if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*p++ = (char)(0xe0 | c >> 12);
		} else {
			*p++ = (char)(0xf0 | c >> 18);
			*p++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*p++ = (char)(0x80 | (c & 0x3f));
	*p++ = 'b';
	*p = '\0';
	return text;
}

TEST(plain)
{
	CHECK_STR(PLAIN("nginx: worker"), "nginx: worker");
	CHECK_STR(PLAIN("a\tb\nc"), "a\\x09b\\x0ac");
	CHECK_STR(PLAIN("\033[2J\033]0;x\a"), "\\x1b[2J\\x1b]0;x\\x07");
	CHECK_STR(PLAIN("\x7f"), "\\x7f");
	CHECK_STR(PLAIN("stra\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7"),
		  "stra\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\xa7");
	/* C1 controls are terminal commands, too: U+009B is ESC [. */
	CHECK_STR(PLAIN("\xc2\x9b" "31m"), "\\xc2\\x9b31m");
	CHECK_STR(PLAIN("\x9b" "31m"), "\\x9b31m");
	/* Right-to-left override: what is read is not what is there. */
	CHECK_STR(PLAIN("a\xe2\x80\xae" "b"), "a\\xe2\\x80\\xaeb");
	CHECK_STR(PLAIN(" a b "), "\\x20a b\\x20");
	CHECK_STR(PLAIN(" "), "\\x20");
	CHECK_STR(PLAIN(""), "");
}

/* Two names that look the same are the same. */
TEST(invisible)
{
	static const uint32_t hidden[] = {
		0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e,
		0x200f, 0x2028, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164,
		0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0020, 0xe007f,
		0xe0100, 0xe0fff,
	};
	static const uint32_t seen[] = {
		0xac, 0xae, 0x34e, 0x350, 0x2010, 0x2027, 0x202f, 0x205f, 0x2070, 0x3163, 0x3165,
		0xfdff, 0xfe10, 0xfefe, 0xff00, 0xfffc, 0xfffd, 0x1d172, 0xdffff, 0xe1000,
	};

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		const char *s = utf8(hidden[i]);
		char want[40] = "a", json[40];
		size_t n = 1;

		for (const char *p = s + 1; *p && p[1]; p++)
			n += (size_t)sprintf(want + n, "\\x%02x", (unsigned char)*p);
		strcpy(want + n, "b");
		CHECK_STR(PLAIN(s), want);
		CHECK_STR(CSV(s), want);
		CHECK_STR(XML(s), want);
		CHECK_STR(with(text_lines, s), want);
		if (hidden[i] > 0xffff)
			sprintf(json, "\"a\\u%04x\\u%04xb\"", 0xd800 + ((hidden[i] - 0x10000) >> 10),
				0xdc00 + ((hidden[i] - 0x10000) & 0x3ff));
		else
			sprintf(json, "\"a\\u%04xb\"", hidden[i]);
		CHECK_STR(JSON(s), json);
	}
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		CHECK_STR(PLAIN(utf8(seen[i])), utf8(seen[i]));
}

TEST(not_utf8)
{
	CHECK_STR(PLAIN("\xff\xfe"), "\\xff\\xfe");
	CHECK_STR(PLAIN("\xc3"), "\\xc3");
	CHECK_STR(PLAIN("\xc3("), "\\xc3(");
	CHECK_STR(PLAIN("\xe2\x82"), "\\xe2\\x82");
	CHECK_STR(PLAIN("\xf0\x9f\x90"), "\\xf0\\x9f\\x90");
	CHECK_STR(PLAIN("\xc0\xaf"), "\\xc0\\xaf");             /* overlong */
	CHECK_STR(PLAIN("\xe0\x80\x80"), "\\xe0\\x80\\x80");
	CHECK_STR(PLAIN("\xed\xa0\x80"), "\\xed\\xa0\\x80");    /* surrogate */
	CHECK_STR(PLAIN("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
	CHECK_STR(PLAIN("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf");
}

TEST(utf8_as_it_is)
{
	CHECK_STR(with(text_utf8, "a\tb\x1b\"\\"), "a\tb\x1b\"\\");
	CHECK_STR(with(text_utf8, "\xc3\xa4\xf0\x9f\x98\x80"), "\xc3\xa4\xf0\x9f\x98\x80");
	/* Bytes that are no UTF-8 are characters of that number, as in JSON. */
	CHECK_STR(with(text_utf8, "\xff" "a\x80"), "\xc3\xbf" "a\xc2\x80");
	CHECK_STR(with(text_utf8, "\xe2\x82"), "\xc3\xa2\xc2\x82");
	CHECK_STR(with(text_utf8, ""), "");
}

TEST(lines)
{
	CHECK_STR(with(text_lines, "a\tb\n\033[1mc\r\n"),
		  "a\tb\n\\x1b[1mc\\x0d\n");
}

TEST(csv)
{
	CHECK_STR(CSV("nginx"), "nginx");
	CHECK_STR(CSV(" a "), " a ");
	CHECK_STR(CSV(""), "\"\"");
	CHECK_STR(CSV("a,b"), "\"a,b\"");
	CHECK_STR(CSV("say \"hi\""), "\"say \"\"hi\"\"\"");
	CHECK_STR(CSV("\"\""), "\"\"\"\"\"\"");
	CHECK_STR(CSV("a\nb\r\n\tc"), "\"a\nb\r\n\tc\"");
	CHECK_STR(CSV("\033[31m"), "\\x1b[31m");
	CHECK_STR(CSV("\033,\xff\""), "\"\\x1b,\\xff\"\"\"");
}

TEST(json)
{
	CHECK_STR(JSON(""), "\"\"");
	CHECK_STR(JSON("a/b"), "\"a/b\"");
	CHECK_STR(JSON("\"\\"), "\"\\\"\\\\\"");
	CHECK_STR(JSON("\b\t\n\f\r\001\033\x7f"),
		  "\"\\b\\t\\n\\f\\r\\u0001\\u001b\\u007f\"");
	CHECK_STR(JSON("\xc3\x9f"), "\"\xc3\x9f\"");
	CHECK_STR(JSON("\xff\xc3"), "\"\\u00ff\\u00c3\"");
	CHECK_STR(JSON("\xc2\x9b"), "\"\\u009b\"");
	CHECK_STR(JSON("\xe2\x80\xa8\xe2\x80\xae"), "\"\\u2028\\u202e\"");
}

/* Whatever the bytes, nothing that comes out can harm a terminal or parser. */
TEST(xml)
{
	CHECK_STR(XML("libc.so.6"), "libc.so.6");
	CHECK_STR(XML("</script><b a=\"x\" c='y'>&amp;"),
		  "&lt;/script&gt;&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
	CHECK_STR(XML("a\tb\x01\xff "), "a\\x09b\\x01\\xff\\x20");
	CHECK_STR(XML("\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf"),
		  "\xef\xbf\xbd\\xef\\xbf\\xbe\\xef\\xbf\\xbf");
	CHECK_STR(XML("\xe2\x82\xac"), "\xe2\x82\xac");
	CHECK_STR(XML(""), "");
}

TEST(every_pair_of_bytes)
{
	void (*const forms[])(struct buf *, const char *) = {
		text_plain, text_csv, text_json, text_xml,
	};

	for (unsigned i = 0x100; i < 0x10000; i++) {
		const char s[] = { (char)(i >> 8), (char)i, '\0' };

		for (unsigned f = 0; f < 4; f++) {
			const char *t = with(forms[f], s);

			for (; *t; t++) {
				unsigned char c = (unsigned char)*t;
				bool kept = f == 1 && strchr("\t\r\n", c);

				CHECK((c >= 0x20 && c != 0x7f) || kept);
			}
		}
	}
}

TEST(width)
{
	CHECK_EQ(text_width("abc", 3), 3);
	CHECK_EQ(text_width("stra\xc3\x9f" "e", 7), 6);
	/* The locale of C knows no wide characters. */
	CHECK_EQ(text_width("\xe9\xa1\xb5\xe8\xa1\xa8", 6), 2);
	if (setlocale(LC_CTYPE, "C.UTF-8")) {
		CHECK_EQ(text_width("\xe9\xa1\xb5\xe8\xa1\xa8", 6), 4);
		CHECK_EQ(text_width("stra\xc3\x9f" "e\xff", 8), 7);
		setlocale(LC_CTYPE, "C");
	}
}

TEST(whole)
{
	CHECK_EQ(text_whole("abc", 3), 3);
	CHECK_EQ(text_whole("stra\xc3\x9f", 6), 6);
	CHECK_EQ(text_whole("stra\xc3\x9f", 5), 4);
	CHECK_EQ(text_whole("a\xe9\xa1\xb5", 4), 4);
	CHECK_EQ(text_whole("a\xe9\xa1\xb5", 3), 1);
	CHECK_EQ(text_whole("a\xe9\xa1\xb5", 2), 1);
	CHECK_EQ(text_whole("\xf0\x9f\x98\x80", 3), 0);
	CHECK_EQ(text_whole("", 0), 0);
}

static const char *dec(uint64_t v)
{
	static char text[NUMBER_MAX + 1];

	*put_dec(text, v) = '\0';
	return text;
}

static const char *hex(uint64_t v)
{
	static char text[NUMBER_MAX + 1];

	*put_hex(text, v) = '\0';
	return text;
}

TEST(numbers)
{
	char want[32], got[32];
	uint64_t v = 1;

	CHECK_STR(dec(0), "0");
	CHECK_STR(dec(9), "9");
	CHECK_STR(dec(10), "10");
	CHECK_STR(dec(99), "99");
	CHECK_STR(dec(100), "100");
	CHECK_STR(dec(UINT64_MAX), "18446744073709551615");
	CHECK_STR(hex(0), "0x0000000000000000");
	CHECK_STR(hex(0x0123456789abcdef), "0x0123456789abcdef");
	CHECK_STR(hex(UINT64_MAX), "0xffffffffffffffff");
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t x = v >> (i & 63);

		v = v * 6364136223846793005u + 1442695040888963407u;
		snprintf(want, sizeof(want), "%" PRIu64, x);
		CHECK_STR(dec(x), want);
		snprintf(want, sizeof(want), "0x%016" PRIx64, x);
		CHECK_STR(hex(x), want);
		snprintf(want, sizeof(want), "0x%" PRIx64, x);
		*put_hex_short(got, x) = '\0';
		CHECK_STR(got, want);
	}
}
