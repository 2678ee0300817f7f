/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - names and texts that reports share. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/picture.h"
#include "report/report.h"

static const char *const classes[CENSUS_CLASSES] = {
	[CENSUS_TEXT] = "text", [CENSUS_RODATA] = "rodata", [CENSUS_RELRO] = "relro",
	[CENSUS_DATA] = "data", [CENSUS_BSS] = "bss", [CENSUS_HEAP] = "heap",
	[CENSUS_STACK] = "stack", [CENSUS_ANON] = "anon", [CENSUS_JIT] = "jit",
	[CENSUS_SHM] = "shm", [CENSUS_FILE] = "file", [CENSUS_SPECIAL] = "special",
	[CENSUS_DEVICE] = "device", [CENSUS_RESERVED] = "reserved",
};
const struct atw_names census_class_names = { CENSUS_CLASSES, classes, NULL };

static const char *const flags[] = { "grows", "own", "readable", "writable", "executable",
				     "zeroes" };
const struct atw_names census_flag_names = { 6, flags, "SXrwxB" };

static const char *const counters[] = { "seen", "kernel" };
const struct atw_names census_count_names = { 2, counters, NULL };

static const char *const guess[] = { "guessed" };
const struct atw_names census_guess_names = { 1, guess, "~" };

bool is_executable(const struct census_unit *u)
{
	u = census_unit_root(u);
	return u->code || u->program;
}

void device_text(const struct census_unit *u, char buf[48])
{
	snprintf(buf, 48, "%" PRIx64 ":%" PRIx64, u->major, u->minor);
}

void build_text(const struct capture_bytes *id, char buf[2 * CAPTURE_BUILD + 1])
{
	buf[0] = '\0';
	for (size_t i = 0; i < id->len && i < CAPTURE_BUILD; i++)
		snprintf(buf + 2 * i, 3, "%02x", id->b[i]);
}

/* ---- texts of pictures ---- */

const char *picture_pages(uint64_t page, char buf[48])
{
	char size[16];

	snprintf(buf, 48, "pages of %s", num_human(page, size));
	return buf;
}

const char *picture_process(const char *name, uint64_t pid, char buf[64])
{
	int room = 64 - 26;              /* ", " and 20 digits, and an ellipsis */

	snprintf(buf, 64, "%.*s%s, %" PRIu64, room, name,
		 strlen(name) <= (size_t)room ? "" : "\xe2\x80\xa6", pid);
	return buf;
}
