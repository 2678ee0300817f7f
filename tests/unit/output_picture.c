/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_picture.c - pictures in files: whole or not there, the right size and colours. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "picture_file.h"

#ifdef HAVE_CAIRO
#include <zlib.h>
#endif

/* fontconfig keeps offsets instead of pointers, which look like leaks. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

static struct atw_err err;
static char path[64];
static unsigned char file[1 << 20];

static void make(struct scene *s)
{
	scene_init(s, 200, 100);
	scene_title(s, "four \xc3\xa9 <corners>");
	scene_group(s, "title", "#link", SCENE_ZOOM);
	scene_rect(s, 0, 0, 100, 50, 0x0072b2);
	scene_rect(s, 100, 0, 100, 50, 0xe69f00);
	scene_rect(s, 0, 50, 100, 50, 0x009e73);
	scene_end(s);
	scene_line(s, 100, 75, 200, 75, 4, 0xd55e00);
	scene_text(s, 50, 45, SCENE_MIDDLE, 20, SCENE_BOLD, SCENE_PAPER, "nginx");
}

/* Its bytes; 0: there is no file. Gone then. */
static size_t take(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, file, sizeof(file) - 1);

	if (fd >= 0)
		close(fd);
	unlink(path);
	file[n < 0 ? 0 : n] = '\0';
	return n < 0 ? 0 : (size_t)n;
}

static int write_as(const char *format)
{
	struct scene s;
	int rc;

	make(&s);
	snprintf(path, sizeof(path), "/tmp/output_picture.%ld", (long)getpid());
	unlink(path);
	rc = picture_write(&s, picture_find(format), path, &err);
	scene_deinit(&s);
	return rc;
}

TEST(formats_are_known_by_name)
{
	static const char *const names[] = { "svg", "ps", "pdf", "png" };

	for (size_t i = 0; i < 4; i++) {
		CHECK_STR(picture_format(i)->name, names[i]);
		CHECK(picture_find(names[i]) == picture_format(i));
	}
	CHECK(!picture_format(4));
	CHECK(!picture_find("html"));
	CHECK(!picture_find(""));
}

TEST(svg)
{
	CHECK_EQ(write_as("svg"), ATW_OK);
	CHECK(take());
	CHECK(!strncmp((char *)file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=", 50));
	CHECK_STR(strstr((char *)file, "</svg>"), "</svg>\n");
}

TEST(a_scene_that_failed_leaves_no_file)
{
	struct scene s;

	snprintf(path, sizeof(path), "/tmp/output_picture.%ld", (long)getpid());
	make(&s);
	scene_group(&s, "open", NULL, 0);
	for (size_t i = 0; picture_format(i); i++) {
		CHECK_EQ(picture_write(&s, picture_format(i), path, &err), ATW_E_USAGE);
		CHECK_EQ(take(), 0);
	}
	scene_deinit(&s);
}

TEST(a_disk_that_is_full_leaves_no_file)
{
	struct scene s;
	int rc;

	make(&s);
	for (size_t i = 0; picture_format(i); i++) {
		rc = picture_write(&s, picture_format(i), "/dev/full", &err);
		CHECK(rc == ATW_E_IO || rc == ATW_E_UNSUPPORTED);
		if (rc == ATW_E_IO)
			CHECK_STR(err.text, "/dev/full: cannot write: No space left on device");
	}
	rc = picture_write(&s, picture_find("svg"), "/nowhere/at/all.svg", &err);
	CHECK_EQ(rc, ATW_E_MISSING);
	scene_deinit(&s);
}

#ifdef HAVE_CAIRO

TEST(postscript_and_pdf)
{
	CHECK_EQ(write_as("ps"), ATW_OK);
	CHECK(take());
	CHECK(!strncmp((char *)file, "%!PS-Adobe-3", 12));
	CHECK(strstr((char *)file, "%%BoundingBox: 0 0 200 100\n"));
	CHECK(strstr((char *)file, "%%EOF"));
	CHECK_EQ(write_as("pdf"), ATW_OK);
	CHECK(take());
	CHECK(!strncmp((char *)file, "%PDF-1.", 7));
}

static uint32_t big(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned char pixels[200 * (400 * 4 + 1)];

/*
 * The bytes a PNG (RFC 2083) of 400 by 200 pixels is packed from, a byte for the
 * filter before each row, then the filters undone. Bytes a pixel; 0: it is none.
 */
static size_t unpack(size_t len)
{
	z_stream z = { .next_out = pixels, .avail_out = sizeof(pixels) };
	size_t at = 8, bpp, row;

	if (len < 33 || memcmp(file, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) != 0 ||
	    big(file + 16) != 400 || big(file + 20) != 200 || file[24] != 8 || file[28])
		return 0;
	bpp = file[25] == 2 ? 3 : file[25] == 6 ? 4 : 0;
	row = 1 + 400 * bpp;
	if (inflateInit(&z) != Z_OK)
		return 0;
	while (at + 12 <= len && big(file + at) <= len - at - 12) {
		if (!memcmp(file + at + 4, "IDAT", 4)) {
			z.next_in = file + at + 8;
			z.avail_in = big(file + at);
			inflate(&z, Z_NO_FLUSH);
		}
		at += 12 + big(file + at);
	}
	inflateEnd(&z);
	if (z.total_out != 200 * row)
		return 0;
	for (unsigned y = 0; y < 200; y++) {
		unsigned char *p = pixels + y * row + 1;

		for (size_t x = 0; x < 400 * bpp; x++) {
			int left = x >= bpp ? p[x - bpp] : 0, up = y ? (p - row)[x] : 0;
			int both = x >= bpp && y ? (p - row)[x - bpp] : 0, guess = left + up - both;
			int a = abs(guess - left), b = abs(guess - up), c = abs(guess - both);

			switch (p[-1]) {
			case 1: p[x] = (unsigned char)(p[x] + left); break;
			case 2: p[x] = (unsigned char)(p[x] + up); break;
			case 3: p[x] = (unsigned char)(p[x] + (left + up) / 2); break;
			case 4: p[x] = (unsigned char)(p[x] + (a <= b && a <= c ? left : b <= c ? up : both)); break;
			default: break;
			}
		}
	}
	return bpp;
}

TEST(png)
{
	size_t bpp, white = 0;

	CHECK_EQ(write_as("png"), ATW_OK);
	bpp = unpack(take());
	CHECK(bpp);
#define PIXEL(x, y) (big(pixels + (y) * (1 + 400 * bpp) + 1 + (x) * bpp) >> 8)
	CHECK_EQ(PIXEL(10, 10), 0x0072b2);
	CHECK_EQ(PIXEL(199, 2), 0x0072b2);
	CHECK_EQ(PIXEL(200, 2), 0xe69f00);
	CHECK_EQ(PIXEL(390, 99), 0xe69f00);
	CHECK_EQ(PIXEL(10, 190), 0x009e73);
	CHECK_EQ(PIXEL(390, 190), 0xffffff);
	CHECK_EQ(PIXEL(300, 150), 0xd55e00);
	CHECK_EQ(PIXEL(300, 144), 0xffffff);
	/* The text: white on blue, in the middle of its rectangle. */
	for (unsigned y = 60; y < 95; y++)
		for (unsigned x = 50; x < 150; x++)
			white += PIXEL(x, y) == 0xffffff;
	CHECK(white > 50 && white < 35 * 100 / 2);
}

TEST(a_png_that_is_too_large_is_refused)
{
	struct scene s;

	snprintf(path, sizeof(path), "/tmp/output_picture.%ld", (long)getpid());
	scene_init(&s, 100, 40000);
	CHECK_EQ(picture_write(&s, picture_find("png"), path, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "the picture is 100 by 40000 points, too large for a PNG");
	CHECK_EQ(take(), 0);
	/* One that is large is drawn smaller. */
	scene_size(&s, 10, 20000);
	CHECK_EQ(picture_write(&s, picture_find("png"), path, &err), ATW_OK);
	CHECK(take() > 24);
	CHECK_EQ(big(file + 16), 10);
	CHECK_EQ(big(file + 20), 20000);
	scene_deinit(&s);
}

#else

TEST(without_cairo_it_says_so)
{
	static const char *const names[] = { "ps", "pdf", "png" };

	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(write_as(names[i]), ATW_E_UNSUPPORTED);
		CHECK(strstr(err.text, "it has no cairo"));
		CHECK(strstr(err.hint, "Write SVG"));
		CHECK_EQ(take(), 0);
	}
}

#endif
