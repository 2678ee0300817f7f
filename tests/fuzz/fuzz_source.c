/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any file, recognised by its first bytes, behind the wrappers as well. */
#include "source.h"
#include "fault.h"

static void on_read(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	(void)arg;
	(void)pa;
	FUZZ_CHECK(result <= (ssize_t)len, "read %zd of %zu", result, len);
}

static void wrapped(const uint8_t *data, size_t len)
{
	const struct atw_fault faults[] = {
		{ ATW_PA(0x1000), 0x800, ATW_EXCLUDED },
		{ ATW_PA(0x3000), 0x1000, ATW_NONE },
	};
	char path[64];
	int fd = memory_file(data, len, path);
	struct atw_source *s = NULL, *w = NULL;
	struct atw_err err = { 0 };

	if (atw_source_open(path, NULL, 0, &s, &err) == ATW_OK) {
		if (atw_source_faults(s, faults, 2, &w, &err) == ATW_OK)
			s = w;
		if (atw_source_trace(s, on_read, NULL, &w, &err) == ATW_OK)
			s = w;
		check_source(s);
		atw_source_close(s);
	}
	close(fd);
}

/* Whatever it is, a kernel may be looked for in it. */
static void kernel_in(const char *text)
{
	const struct atw_kernel_opts o = { 0 };
	struct atw_source *s = NULL;
	struct atw_kernel *k = NULL;
	struct atw_err err = { 0 };
	int r;

	if (atw_source_open(text, NULL, 0, &s, NULL) < 0)
		return;
	r = atw_kernel_open(s, &o, &k, &err);
	check_err(r, &err);
	atw_kernel_close(k);
	check_source(s);
	atw_source_close(s);
}

/* As a plain image: at the address its first bytes say, and at the very top. */
static void raw(const uint8_t *data, size_t len)
{
	char path[64], text[128];
	int fd = memory_file(data, len, path);
	uint64_t at = len >= 8 ? get_le64(data) : 0;

	kernel_in(path);
	snprintf(text, sizeof(text), "raw:%s@0x%" PRIx64, path, at);
	kernel_in(text);
	snprintf(text, sizeof(text), "raw:%s@0x%" PRIx64, path, UINT64_MAX - len);
	kernel_in(text);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_file(NULL, data, len);
	wrapped(data, len);
	raw(data, len);
	return 0;
}
