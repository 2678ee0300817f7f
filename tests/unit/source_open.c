// SPDX-License-Identifier: GPL-2.0-or-later
/* The format of a source is recognised, can be forced, and bad paths are explained. */
#include "test.h"
#include "unit/image.h"

#include <sys/stat.h>

static void small_core(struct image *im)
{
	elf64(im, 62, 1);
	phdr64(im, 64, 1, 0x100, 0x1000, 0x100, 0x100);
	fill(im, 0x100, 0x100, 'c');
}

TEST(lists_the_kinds)
{
	bool elf = false, raw = false;
	size_t n = 0;

	for (; atw_source_kind(n); n++) {
		const struct atw_source_ops *k = atw_source_kind(n);

		CHECK(k->name && k->help && k->probe && k->open);
		/* Of the running kernel, opening chooses these. */
		CHECK(k->live || (k->close && k->read && k->extent));
		elf |= !strcmp(k->name, "elf");
		raw |= !strcmp(k->name, "raw");
		for (size_t i = 0; i < n; i++)
			CHECK(strcmp(k->name, atw_source_kind(i)->name));
	}
	CHECK(elf && raw);
	CHECK(!atw_source_kind(SIZE_MAX));
}

TEST(what_is_not_a_dump_is_not_taken_for_one)
{
	struct image im = { 0 };
	struct atw_source *s = NULL;
	struct atw_err err = { 0 };
	char want[256];

	fill(&im, 0, 0x1000, 'x');
	image_save(&im, im.len);
	CHECK_EQ(atw_source_open(im.path, NULL, 0, &s, &err), ATW_E_FORMAT);
	CHECK(!s);
	snprintf(want, sizeof(want), "%s: not a known dump format (elf, kdump, lime, avml, qemu-stream, libvirt, qcow2, firecracker, cloud-hypervisor, vmware, xen)", im.path);
	CHECK_STR(err.text, want);
	snprintf(want, sizeof(want), "for a plain image of RAM say raw:%s@ADDRESS", im.path);
	CHECK_STR(err.hint, want);
	CHECK_EQ(atw_source_open(im.path, NULL, 0, &s, NULL), ATW_E_FORMAT);
	image_free(&im);
}

TEST(a_format_can_be_forced)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	char text[128];

	small_core(&im);
	image_save(&im, im.len);
	snprintf(text, sizeof(text), "elf:%s", im.path);
	CHECK_EQ(atw_source_open(text, NULL, 0, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "elf");
	atw_source_close(s);
	snprintf(text, sizeof(text), "raw:%s", im.path);
	CHECK_EQ(atw_source_open(text, NULL, 0, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "raw");
	atw_source_close(s);
	snprintf(text, sizeof(text), "lime:%s", im.path);
	CHECK_EQ(atw_source_open(text, NULL, 0, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, im.path) == err.text);
	image_free(&im);
}

TEST(a_file_may_be_called_like_a_format)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	char dir[] = "/tmp/atwalk-test-XXXXXX", cwd[4096];

	small_core(&im);
	CHECK(mkdtemp(dir) && getcwd(cwd, sizeof(cwd)) && !chdir(dir));
	image_save(&im, im.len);
	CHECK_EQ(rename(im.path, "raw:x"), 0);
	CHECK_EQ(atw_source_open("./raw:x", NULL, 0, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "elf");
	atw_source_close(s);
	CHECK_EQ(atw_source_open("raw:x", NULL, 0, &s, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "x: No such file or directory");
	CHECK_EQ(rename("raw:x", "qcow:x"), 0);
	CHECK_EQ(atw_source_open("qcow:x", NULL, 0, &s, &err), ATW_OK);
	atw_source_close(s);
	CHECK_EQ(unlink("qcow:x"), 0);
	CHECK_EQ(atw_source_open("qcow:x", NULL, 0, &s, &err), ATW_E_MISSING);
	CHECK(!strncmp(err.hint, "formats that can stand before a colon: elf, ", 44));
	CHECK(!chdir(cwd) && !rmdir(dir));
	image_free(&im);
}

TEST(says_what_is_wrong_with_a_path)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };

	CHECK_EQ(atw_source_open("/nonexistent/x", NULL, 0, &s, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "/nonexistent/x: No such file or directory");
	CHECK_EQ(atw_source_open("/tmp", NULL, 0, &s, &err), ATW_E_FORMAT);
	CHECK_STR(err.text, "/tmp: is a directory");
	CHECK_STR(err.hint, "");
	CHECK_EQ(atw_source_open("", NULL, 0, &s, &err), ATW_E_MISSING);
	fill(&im, 0, 1, 0);
	image_save(&im, 0);
	CHECK_EQ(atw_source_open(im.path, NULL, 0, &s, &err), ATW_E_FORMAT);
	CHECK(strstr(err.text, ": is empty"));
	image_free(&im);
}

/* It is looked at twice, and a pipe can be read once. */
TEST(reads_pipes)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };
	char path[32];
	uint8_t b;
	int fd[2];

	small_core(&im);
	CHECK_EQ(pipe(fd), 0);
	CHECK_EQ(write(fd[1], im.data, im.len), im.len);
	close(fd[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	CHECK_EQ(atw_source_open(path, NULL, 0, &s, &err), ATW_OK);
	CHECK_STR(s->ops->name, "elf");
	CHECK_EQ(atw_read(s, ATW_PA(0x10ff), &b, 1, &err), 1);
	CHECK_EQ(b, 'c');
	atw_source_close(s);
	/* Now it is at its end. */
	CHECK_EQ(atw_source_open(path, NULL, 0, &s, &err), ATW_E_FORMAT);
	CHECK(strstr(err.text, ": is empty"));
	close(fd[0]);
	image_free(&im);
}

TEST(closing_nothing_is_fine)
{
	atw_source_close(NULL);
}
