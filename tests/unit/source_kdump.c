/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole dumps are read through the source: pages, holes, parts and damage. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kdump_image.h"

#include "source/source.h"

#ifdef HAVE_ZLIB
#define PACKED 'c'
#else
#define PACKED 'd'
#endif

static char dir[] = "/tmp/atwalk-kdump-XXXXXX";

__attribute__((constructor)) static void make_dir(void)
{
	if (!mkdtemp(dir))
		abort();
}

__attribute__((destructor)) static void remove_dir(void)
{
	char path[64];

	for (char c = 'a'; c < 'h'; c++) {
		snprintf(path, sizeof(path), "%s/%c", dir, c);
		unlink(path);
	}
	rmdir(dir);
}

/* The path of file `name`, which now holds these bytes. */
static const char *save(char name, const void *p, size_t len)
{
	static char paths[8][64];
	char *path = paths[name - 'a'];
	int fd;

	snprintf(path, sizeof(paths[0]), "%s/%c", dir, name);
	/* A new file: file systems take their time over one that is replaced. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, p, len) != (ssize_t)len || close(fd))
		abort();
	return path;
}

static struct atw_source *open_one(const char *path)
{
	struct atw_source *s = NULL;
	struct atw_err err;

	if (atw_source_open(path, NULL, 0, &s, &err) < 0)
		TEST_FAIL("%s", err.text);
	return s;
}

static struct atw_source *open_image(struct image *m)
{
	image_make(m);
	return open_one(save('a', m->p, m->len));
}

static bool frame_is(struct atw_source *s, uint64_t pfn)
{
	uint8_t got[BLOCK], want[BLOCK];

	image_frame(pfn, want);
	return s->ops->read(s, ATW_PA(pfn * BLOCK), got, BLOCK, NULL) == BLOCK &&
	       !memcmp(got, want, BLOCK);
}

/* "d3 .2 e1": what extent() says, one letter and a number of frames each. */
static const char *extents(struct atw_source *s)
{
	static char text[512];
	struct atw_extent e;
	uint64_t pa = 0;
	size_t n = 0;
	int rc;

	text[0] = '\0';
	while ((rc = s->ops->extent(s, ATW_PA(pa), &e)) == ATW_OK && n < 400) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%" PRIu64,
				      n ? " " : "", "dze."[e.kind], e.len / BLOCK);
		if (e.start.u != pa || !e.len || e.len % BLOCK)
			return "not where asked";
		pa += e.len;
	}
	return rc == ATW_END ? text : "does not end";
}

static const char *describe(struct atw_source *s)
{
	static char text[128];

	s->ops->describe(s, text, sizeof(text));
	return text;
}

static const char *fact(struct atw_source *s, const char *key)
{
	static char text[512];
	struct atw_blob b;

	if (s->ops->fact(s, key, &b) != ATW_OK)
		return "none";
	snprintf(text, sizeof(text), "%.*s", (int)b.len, (const char *)b.data);
	return text;
}

TEST(pages_and_holes)
{
	struct image m = { .version = 6, .frames = "..ddce.eec.d", .status = 1,
		.release = "6.1.0", .machine = "aarch64" };
	struct atw_source *s = open_image(&m);
	uint8_t buf[8 * BLOCK];

	CHECK(s);
	CHECK_STR(extents(s), ".2 d3 e1 .1 e2 d1 .1 d1");
	CHECK_STR(describe(s), "kdump-compressed v6, zlib");
	CHECK(frame_is(s, 2));
	CHECK(frame_is(s, 4));
	CHECK(frame_is(s, 9));
	CHECK(frame_is(s, 11));
	CHECK_EQ(s->ops->read(s, ATW_PA(0), buf, 10, NULL), 0);
	CHECK_EQ(s->ops->read(s, ATW_PA(5 * BLOCK), buf, 10, NULL), 0);
	CHECK_EQ(s->ops->read(s, ATW_PA(12 * BLOCK), buf, 10, NULL), 0);
	CHECK_EQ(s->ops->read(s, ATW_PA(UINT64_MAX), buf, 10, NULL), 0);
	CHECK_EQ(s->ops->read(s, ATW_PA(2 * BLOCK), buf, 0, NULL), 0);
	/* Up to the hole, from the middle of a page. */
	CHECK_EQ(s->ops->read(s, ATW_PA(2 * BLOCK + 100), buf, sizeof(buf), NULL),
		 3 * BLOCK - 100);
	CHECK_EQ(buf[0], frame_byte(2, 100));
	CHECK_EQ(buf[BLOCK], frame_byte(3, 100));
	CHECK_EQ(buf[3 * BLOCK - 101], frame_byte(4, BLOCK - 1));
	CHECK_STR(fact(s, "release"), "6.1.0");
	CHECK_STR(fact(s, "machine"), "aarch64");
	CHECK_STR(fact(s, "truncated"), "none");
	atw_source_close(s);
	free(m.p);
}

TEST(extents_start_where_asked)
{
	struct image m = { .version = 6, .frames = "ddde" };
	struct atw_source *s = open_image(&m);
	struct atw_extent e;

	CHECK(s);
	CHECK_EQ(s->ops->extent(s, ATW_PA(BLOCK + 5), &e), ATW_OK);
	CHECK_EQ(e.start.u, BLOCK + 5);
	CHECK_EQ(e.len, 2 * BLOCK - 5);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(s->ops->extent(s, ATW_PA(4 * BLOCK), &e), ATW_END);
	CHECK_EQ(s->ops->extent(s, ATW_PA(UINT64_MAX), &e), ATW_END);
	atw_source_close(s);
	free(m.p);
}

/* Runs across words and blocks of the bitmaps, against going frame by frame. */
TEST(long_runs)
{
	char frames[3001], want[512];
	struct image m = { .version = 6, .frames = frames };
	struct atw_source *s;
	size_t n = 0;

	memset(frames, '.', 3000);
	frames[3000] = '\0';
	memset(frames + 63, 'e', 130);
	memset(frames + 193, 'd', 1);
	memset(frames + 640, 'd', 64);
	memset(frames + 1000, 'd', 1025);
	memset(frames + 2025, 'e', 975);
	s = open_image(&m);
	CHECK(s);
	for (size_t i = 0, k; i < 3000; i = k) {
		for (k = i; frames[k] == frames[i]; k++)
			;
		n += (size_t)snprintf(want + n, sizeof(want) - n, "%s%c%zu",
				      n ? " " : "", frames[i], k - i);
	}
	CHECK_STR(extents(s), want);
	CHECK(frame_is(s, 193));
	CHECK(frame_is(s, 640));
	CHECK(frame_is(s, 703));
	CHECK(frame_is(s, 1000));
	CHECK(frame_is(s, 1511));
	CHECK(frame_is(s, 1512));
	CHECK(frame_is(s, 2024));
	atw_source_close(s);
	free(m.p);
}

static void on_lost_file(int sig)
{
	_exit(sig == SIGBUS ? 42 : 1);
}

/* The program's handler reports a file that shrinks: in threads that unpack as well. */
TEST(a_file_that_shrinks_under_its_threads)
{
	enum { FRAMES = 2048, LAST = 64 };
	char frames[FRAMES + 1] = "";
	struct image m = { .version = 6, .frames = frames, .release = "r", .machine = "x86_64",
			   .status = 1 };
	uint64_t pa[LAST];
	int status = 0;
	pid_t child;

	memset(frames, PACKED, FRAMES);
	for (size_t i = 0; i < LAST; i++)
		pa[i] = (FRAMES - LAST + i) * BLOCK;
	if (PACKED != 'c')
		SKIP("there is no zlib");
	image_make(&m);
	child = fork();
	if (!child) {
		const char *path = save('a', m.p, m.len);
		struct atw_source *s = open_one(path);

		signal(SIGBUS, on_lost_file);
		/* Of all pages, what this thread looks at is in front of them. */
		if (!s || m.len < m.data + 4 * BLOCK || truncate(path, (off_t)m.data) < 0)
			_exit(2);
		atw_source_threads(s, 2);
		if (!atw_source_ahead(s, pa, LAST))
			_exit(3);
		for (;;)
			pause();
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 42);
	free(m.p);
}

TEST(other_layouts)
{
	for (enum abi abi = ABI_32; abi <= ABI_32_PADDED; abi++) {
		struct image m = { .abi = abi, .version = 6, .frames = ".dec" };
		struct atw_source *s = open_image(&m);

		CHECK(s);
		CHECK_STR(extents(s), ".1 d1 e1 d1");
		CHECK(frame_is(s, 1));
		CHECK(frame_is(s, 3));
		atw_source_close(s);
		free(m.p);
	}
}

/* Everything in pieces: headers, bitmaps, descriptors, pages. */
TEST(flattened)
{
	static const size_t pieces[] = { 5, 100, 4096, 5000, 1 << 20 };

	for (size_t i = 0; i < 10; i++) {
		struct image m = { .version = 6, .frames = "dcedc.dc",
			.vmcoreinfo = "OSRELEASE=6.6.6\nPAGESIZE=4096\n" };
		char forced[80];
		struct atw_source *s;
		uint8_t *p;
		size_t len;

		image_make(&m);
		p = image_flatten(&m, pieces[i / 2], i % 2, &len);
		snprintf(forced, sizeof(forced), "kdump:%s", save('a', p, len));
		s = open_one(forced);
		CHECK(s);
		CHECK_STR(extents(s), "d2 e1 d2 .1 d2");
		for (uint64_t f = 0; f < 8; f++)
			CHECK_EQ(frame_is(s, f), f != 2 && f != 5);
		CHECK(strstr(describe(s), ", flattened"));
		CHECK_STR(fact(s, "vmcoreinfo"), "OSRELEASE=6.6.6\nPAGESIZE=4096\n");
		CHECK_STR(fact(s, "release"), "6.6.6");
		CHECK_STR(fact(s, "truncated"), "none");
		atw_source_close(s);
		/* Without its end record. */
		snprintf(forced, sizeof(forced), "kdump:%s", save('a', p, len - 16));
		s = open_one(forced);
		CHECK(s);
		CHECK_STR(fact(s, "truncated"),
			  "lacks its end record; is it still being written?");
		CHECK(frame_is(s, 7));
		atw_source_close(s);
		free(p);
		free(m.p);
	}
}

TEST(flattened_something_else)
{
	struct image m = { .version = 6, .frames = "d" };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t *p;
	size_t len;

	image_make(&m);
	memcpy(m.p, "ELFELFELF", 8);
	p = image_flatten(&m, 4096, false, &len);
	CHECK_EQ(atw_source_open(save('a', p, len), NULL, 0, &s, &err), ATW_E_FORMAT);
	CHECK(strstr(err.text, "is flattened, and what is inside is not kdump-compressed"));
	CHECK(strstr(err.hint, "makedumpfile -R"));
	free(p);
	free(m.p);
}

/* ---- split sets ---- */

static const char *part(char name, uint64_t start, uint64_t end,
			const char *frames, const char *release)
{
	struct image m = { .version = 6, .frames = frames, .release = release,
		.split = true, .start = start, .end = end, .status = 1 };
	const char *path;

	image_make(&m);
	path = save(name, m.p, m.len);
	free(m.p);
	return path;
}

static struct atw_source *open_set(const char *a, const char *b, const char *c,
				   struct atw_err *err)
{
	const char *rest[2] = { b, c };
	struct atw_source *s = NULL;

	if (atw_source_open(a, rest, c ? 2 : b ? 1 : 0, &s, err) < 0)
		return NULL;
	return s;
}

#define SPLIT "dc.cdedd.dcd"

TEST(parts_in_any_order)
{
	const char *p[3] = { part('a', 0, 4, SPLIT, "1"), part('b', 4, 7, SPLIT, "1"),
			     part('c', 7, 12, SPLIT, "1") };
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < 6; i++) {
		struct atw_err err = { 0 };
		struct atw_source *s = open_set(p[orders[i][0]], p[orders[i][1]],
						p[orders[i][2]], &err);
		uint8_t buf[8 * BLOCK];

		CHECK_STR(err.text, "");
		CHECK(s);
		CHECK_STR(extents(s), "d2 .1 d2 e1 d2 .1 d3");
		for (uint64_t f = 0; f < 12; f++)
			CHECK_EQ(frame_is(s, f), SPLIT[f] == 'd' || SPLIT[f] == 'c');
		/* One read goes on into the next part. */
		CHECK_EQ(s->ops->read(s, ATW_PA(3 * BLOCK), buf, sizeof(buf), NULL),
			 2 * BLOCK);
		CHECK_EQ(buf[BLOCK], frame_byte(4, 0));
		CHECK(strstr(describe(s), ", split, all 3 parts"));
		atw_source_close(s);
	}
}

TEST(a_part_is_missing)
{
	const char *a = part('a', 0, 4, SPLIT, "1"), *c = part('c', 7, 12, SPLIT, "1");
	struct atw_source *s = open_set(c, a, NULL, NULL);

	CHECK(s);
	CHECK_STR(extents(s), "d2 .1 d1 .3 d1 .1 d3");
	CHECK(frame_is(s, 3));
	CHECK(!frame_is(s, 4));
	CHECK(frame_is(s, 7));
	CHECK(strstr(describe(s), ", split, 2 parts given, others missing"));
	atw_source_close(s);
	s = open_one(a);
	CHECK(s);
	CHECK_STR(extents(s), "d2 .1 d1");
	CHECK(strstr(describe(s), ", split, 1 part given, others missing"));
	atw_source_close(s);
}

TEST(of_overlapping_parts_the_first_counts)
{
	struct image m = { .version = 6, .frames = SPLIT, .release = "1",
		.split = true, .start = 2, .end = 12 };
	const char *a = part('a', 0, 8, SPLIT, "1"), *b;
	struct atw_source *s;
	uint8_t byte;

	image_make(&m);
	/* Frame 3 is the first of this part, 4 the second, stored as it is. */
	m.frames = "ddddddddd";
	memset(m.p + m.len - BLOCK, 0xee, BLOCK);
	b = save('b', m.p, m.len);
	s = open_set(a, b, NULL, NULL);
	CHECK(s);
	CHECK_STR(extents(s), "d2 .1 d2 e1 d2 .1 d3");
	for (uint64_t f = 0; f < 11; f++)
		CHECK_EQ(frame_is(s, f), SPLIT[f] == 'd' || SPLIT[f] == 'c');
	CHECK_EQ(s->ops->read(s, ATW_PA(11 * BLOCK), &byte, 1, NULL), 1);
	CHECK_EQ(byte, 0xee);
	atw_source_close(s);
	free(m.p);
}

TEST(parts_of_different_dumps)
{
	const char *a = part('a', 0, 4, SPLIT, "1");
	struct atw_err err = { 0 };
	struct image m = { .version = 6, .frames = SPLIT, .release = "1" };
	char want[256];

	CHECK(!open_set(a, part('b', 4, 12, SPLIT, "2"), NULL, &err));
	snprintf(want, sizeof(want), "%s/b: is not a part of the same dump as %s/a: "
		 "the kernel versions differ", dir, dir);
	CHECK(strstr(err.text, want));
	CHECK_EQ(err.status, ATW_E_USAGE);
	CHECK(!open_set(a, part('b', 4, 13, SPLIT "d", "1"), NULL, &err));
	CHECK(strstr(err.text, "the amounts of memory differ"));
	image_make(&m);
	CHECK(!open_set(a, save('b', m.p, m.len), NULL, &err));
	CHECK(strstr(err.text, "b: is a whole dump, not a part of a split one"));
	CHECK(!open_set(a, save('b', "hello", 5), NULL, &err));
	CHECK_EQ(err.status, ATW_E_FORMAT);
	snprintf(want, sizeof(want), "%s/b: does not start like", dir);
	CHECK(strstr(err.text, want));
	free(m.p);
}

/* ---- damage ---- */

TEST(a_page_that_does_not_decompress)
{
	struct image m = { .version = 6, .frames = "dcd" };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t buf[3 * BLOCK];
	char want[256];
	uint64_t off;

	if (PACKED == 'd')
		SKIP("this build has no zlib");
	image_make(&m);
	memcpy(&off, m.p + m.descs + 24, 8);
	m.p[off + 20] ^= 0x10;
	s = open_one(save('a', m.p, m.len));
	CHECK(s);
	memset(buf, 0x77, sizeof(buf));
	CHECK_EQ(s->ops->read(s, ATW_PA(BLOCK + 8), buf, 8, &err), ATW_E_DAMAGED);
	CHECK_EQ(buf[0], 0x77);
	snprintf(want, sizeof(want), "%s/a: page at 0x1000 (frame 1): stored at 0x%"
		 PRIx64 ": ", dir, off);
	CHECK(!strncmp(err.text, want, strlen(want)));
	CHECK(strstr(err.text, " bytes of zlib data do not decompress: "));
	/* It stays damaged, and its neighbours stay readable. */
	CHECK_EQ(s->ops->read(s, ATW_PA(BLOCK), buf, 8, &err), ATW_E_DAMAGED);
	CHECK_EQ(s->ops->read(s, ATW_PA(0), buf, sizeof(buf), &err), BLOCK);
	CHECK(frame_is(s, 0));
	CHECK(frame_is(s, 2));
	atw_source_close(s);
	free(m.p);
}

TEST(hostile_descriptors)
{
	static const struct { size_t at, size; uint64_t value; const char *says; } lies[] = {
		{ 0, 8, UINT64_MAX, "its 4096 bytes at 0xffffffffffffffff are past the end" },
		{ 0, 8, UINT64_MAX - 4095, "are past the end of the dump" },
		{ 0, 8, 1ull << 63, "are past the end of the dump" },
		{ 0, 8, 0, "it was never written" },
		{ 8, 4, UINT32_MAX, "its size, 4294967295 bytes, is not that of an uncompr" },
		{ 12, 4, 0x40, "its flags, 0x40, name no compression" },
		{ 12, 4, 1, "data do not decompress" },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct image m = { .version = 6, .frames = "dd" };
		struct atw_source *s;
		struct atw_err err = { 0 };
		uint8_t byte;

		if (PACKED == 'd' && lies[i].at == 12 && lies[i].value == 1)
			continue;
		image_make(&m);
		put_le(m.p + m.descs + lies[i].at, lies[i].value, lies[i].size);
		s = open_one(save('a', m.p, m.len));
		CHECK(s);
		CHECK_EQ(s->ops->read(s, ATW_PA(0), &byte, 1, &err), ATW_E_DAMAGED);
		if (!strstr(err.text, lies[i].says))
			TEST_FAIL("lie %zu: \"%s\"", i, err.text);
		CHECK(frame_is(s, 1));
		atw_source_close(s);
		free(m.p);
	}
}

/* Compressed well, but not into a page. */
TEST(pages_of_the_wrong_size)
{
#ifdef HAVE_ZLIB
	struct image m = { .version = 6, .frames = "d" };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uLongf n = BLOCK;
	uint8_t byte;

	image_make(&m);
	CHECK_EQ(compress(m.p + m.data, &n, (const Bytef *)"short", 5), Z_OK);
	put_le(m.p + m.descs + 8, n, 4);
	put_le(m.p + m.descs + 12, 1, 4);
	s = open_one(save('a', m.p, m.len));
	CHECK(s);
	CHECK_EQ(s->ops->read(s, ATW_PA(0), &byte, 1, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "13 bytes of zlib data are 5 bytes of memory, not 4096"));
	atw_source_close(s);
	free(m.p);
#else
	SKIP("this build has no zlib");
#endif
}

TEST(cut_off_anywhere)
{
	struct image m = { .version = 6, .frames = "dded" };
	struct atw_err err;
	char want[128];

	image_make(&m);
	for (size_t len = m.bitmap1; len < m.len; len += len < m.descs ? 511 : 7) {
		struct atw_source *s = NULL;
		const char *path = save('a', m.p, len);
		int rc = atw_source_open(path, NULL, 0, &s, &err);
		uint8_t byte;

		CHECK_EQ(rc, len <= m.bitmap2 ? ATW_E_DAMAGED : 0);
		if (rc < 0) {
			snprintf(want, sizeof(want), "the dump ends %zu bytes short, inside its bitmaps",
				 m.bitmap2 + 1 - len);
			CHECK(strstr(err.text, want));
			CHECK(strstr(err.hint, "still being written"));
			continue;
		}
		CHECK_STR(extents(s), "d2 e1 d1");
		CHECK_EQ(frame_is(s, 0), len >= m.data + BLOCK);
		CHECK_EQ(frame_is(s, 1), len >= m.data + 2 * BLOCK);
		CHECK_EQ(s->ops->read(s, ATW_PA(3 * BLOCK), &byte, 1, &err), ATW_E_DAMAGED);
		CHECK(strstr(err.text, "past the end of the dump"));
		/* How short is known once the last descriptor is there. */
		snprintf(want, sizeof(want), "ends %zu bytes short; is it still being written?",
			 len >= m.data ? m.len - len : m.data - len);
		CHECK_STR(fact(s, "truncated"), want);
		atw_source_close(s);
	}
	free(m.p);
}

TEST(an_incomplete_dump)
{
	struct image m = { .version = 6, .frames = "dd", .status = 1 | 8 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	uint8_t byte;

	image_make(&m);
	memset(m.p + m.descs + 24, 0, 24);
	s = open_one(save('a', m.p, m.len));
	CHECK(s);
	CHECK_STR(fact(s, "truncated"), "is marked incomplete: its writer ran out of space");
	CHECK_EQ(s->ops->read(s, ATW_PA(BLOCK), &byte, 1, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "it was never written: the dump is incomplete"));
	CHECK(frame_is(s, 0));
	atw_source_close(s);
	free(m.p);
}

/* ---- notes ---- */

static size_t add_note(uint8_t *p, const char *name, uint32_t type, size_t desc_len,
		       uint8_t fill)
{
	size_t len = strlen(name) + 1, pad = (len + 3) & ~(size_t)3;

	memset(p, 0, 12 + pad);
	put_le(p, len, 4);
	put_le(p + 4, desc_len, 4);
	put_le(p + 8, type, 4);
	memcpy(p + 12, name, len);
	memset(p + 12 + pad, fill, desc_len);
	return 12 + pad + desc_len;
}

TEST(notes_of_qemu)
{
	uint8_t notes[4000];
	struct image m = { .version = 6, .frames = "d", .notes = notes };
	struct atw_source *s;
	uint64_t v = 0;
	size_t n = 0;

	for (uint8_t cpu = 0; cpu < 2; cpu++)
		n += add_note(notes + n, "CORE", 1, 336, cpu);
	for (uint8_t cpu = 0; cpu < 2; cpu++) {
		uint8_t *desc = notes + n + 20;

		n += add_note(notes + n, "QEMU", 0, 440, 0);
		put_le(desc, 1, 4);
		put_le(desc + 4, 440, 4);
		for (unsigned cr = 0; cr < 5; cr++)
			put_le(desc + 8 + 18 * 8 + 10 * 24 + 8 * cr,
			       0xc0de00000000ull + 16 * cpu + cr, 8);
	}
	m.notes_len = n;
	s = open_image(&m);
	CHECK(s);
	CHECK_EQ(atw_fact_u64(s, "cpus", &v), ATW_OK);
	CHECK_EQ(v, 2);
	CHECK_EQ(atw_fact_u64(s, "cpu0.cr3", &v), ATW_OK);
	CHECK_EQ(v, 0xc0de00000003);
	CHECK_EQ(atw_fact_u64(s, "cpu1.cr4", &v), ATW_OK);
	CHECK_EQ(v, 0xc0de00000014);
	/* QEMU names no machine; the registers' size does. */
	CHECK_STR(fact(s, "machine"), "x86_64");
	CHECK_STR(fact(s, "release"), "none");
	CHECK_STR(fact(s, "vmcoreinfo"), "none");
	CHECK_EQ(atw_fact_u64(s, "cpu2.cr3", &v), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "cpu0.cr1", &v), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "cpu0.cr33", &v), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "cpu.cr3", &v), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "cpu-1.cr3", &v), ATW_E_MISSING);
	CHECK_EQ(atw_fact_u64(s, "nonsense", &v), ATW_E_MISSING);
	atw_source_close(s);
	free(m.p);
}

TEST(notes_cut_off)
{
	uint8_t notes[800];
	size_t whole = add_note(notes, "CORE", 1, 392, 7);

	for (size_t n = 1; n < whole; n++) {
		struct image m = { .version = 6, .frames = "d", .notes = notes,
			.notes_len = n };
		struct atw_source *s = open_image(&m);
		uint64_t v = 0;

		CHECK(s);
		CHECK_EQ(atw_fact_u64(s, "cpus", &v), ATW_OK);
		CHECK_EQ(v, 3);          /* the header's number, then */
		CHECK_STR(fact(s, "machine"), "none");
		atw_source_close(s);
		free(m.p);
	}
}
