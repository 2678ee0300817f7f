/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census_text.h - captures in memory, and the counts of what is read from them. */
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pack.h"
#include "base/bytes.h"
#include "census/census.h"

#define FRONT "H: atwalk-capture, 1\n"
#define TASK "T: a, 7, 0, 0, 0, 0, 0, 0, 0, 0\n"
#define AREA "V: 00001000, 00004FFF, 00004000, 00001000, -, 00000000, NULL\n"

/* A capture with every kind of line, exactly as atwalk writes it. */
#define ALL_KINDS FRONT "H: page, 4096\nR: 00001000, 0009FFFF, System RAM, node=0\n" \
	"R: 100000000, 23FFFFFFF, System RAM\nS: 0, 262144, 17, /dev/vda2\n" \
	"U: FE:1, 12, /usr/bin/a, build=00AB09, loads=0:0:4B10:4B10:5|4D80:5D80:4A0:640:6\n" \
	"T: a\\054b\\012, 7, FFFF888100000000, 1, 2, 3, 4, 5, 6, 7, tgid=7, brk=5000:6000\n" \
	"V: 7F0000000000, 7F00003FFFFF, 00400000, 00201000, 00000412, 00000075, /usr/bin/a, " \
	"dev=FE:1, inode=12, offset=1000, shared=0, more=1\n" \
	"P: 513, 0, 512, 512, 1, swap=1, anon=1, file=512, huge=512\n" \
	"M: 7F0000000000*512=100000212, 1, 00000868, refs=1, order=9, folio=9 | " \
	"7F0000200000=00002012, -, -, map=141 | 7F0000202000=00000000, -, -, swap=0:1F | " \
	"7F0000203000*2=00003012, 0, 01000000, state=zero, same=1 |\n" \
	"V: 7F0000400000, 7F0000400FFF, 00001000, 00000000, -, -, /usr/bin/a\n" \
	"L: 7, pages, which of them are in memory is not recorded, start=7F0000400000, " \
	"last=7F0000400FFF\n" \
	"T: b, 8, 00000000, -, -, -, -, -, -, -\n" \
	"F: 00001000*159=kernel | 100000000=anon | 100001000*1310719=free |\n" \
	"L: 9, pagemap, Permission denied, start=1000, last=1FFF\n" \
	"E: 15, 2, 2, 2\n"

struct totals {
	uint64_t records, runs, pages, frames, faults;
	uint64_t incomplete;             /* L: lines about pages, not in `records` */
	char letters[256];               /* letters of the first records */
	char fault[512], last_fault[512];    /* the first and the last */
	bool refuse;                     /* fail at the first run */
	bool too_much;                   /* reject every run */
};

static inline int add_record(void *arg, const struct capture_record *rec,
			     struct atw_err *e)
{
	struct totals *h = arg;

	(void)e;
	if (rec->letter == 'L' && blob_is(rec->l.what, "pages")) {
		h->incomplete++;
		return ATW_OK;
	}
	if (h->records < sizeof(h->letters) - 1)
		h->letters[h->records] = rec->letter;
	h->records++;
	return ATW_OK;
}

static inline int add_run(void *arg, const struct capture_run *run, struct atw_err *e)
{
	struct totals *h = arg;

	if (h->refuse)
		return atw_err_set(e, ATW_E_IO, "no more");
	if (h->too_much)
		return atw_err_set(e, ATW_E_LIMIT, "too much");
	h->runs++;
	h->pages += run->pages;
	return ATW_OK;
}

static inline int add_frames(void *arg, const struct capture_frames *run,
			     struct atw_err *e)
{
	struct totals *h = arg;

	(void)e;
	h->frames += run->pages;
	return ATW_OK;
}

static inline void add_fault(void *arg, const struct atw_err *e)
{
	struct totals *h = arg;

	snprintf(h->faults++ ? h->last_fault : h->fault, sizeof(h->fault), "%s", e->text);
}

static inline int read_capture_by(unsigned threads, const char *path, struct totals *h,
				  struct atw_err *e)
{
	const struct census_sink to = {
		.record = add_record, .run = add_run, .frames = add_frames, .arg = h,
	};
	const struct census_read_opts o = { .damaged = add_fault, .arg = h, .threads = threads };

	return census_read(path, &o, &to, e);
}

static inline int read_capture(const char *path, struct totals *h, struct atw_err *e)
{
	return read_capture_by(0, path, h, e);
}

/* A file in memory; its name goes to path[]. */
static inline int text_file(const void *data, size_t len, char path[64])
{
	int fd = memfd_create("capture", MFD_CLOEXEC);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd >= 0 && write(fd, data, len) == (ssize_t)len ? fd : -1;
}

/* The same, compressed; -1 without zstd. */
static inline int packed_file(const void *data, size_t len, char path[64])
{
	int fd = text_file("", 0, path);
	struct pack *p = NULL;

	if (fd < 0 || pack_open(fd, 1, &p, NULL) != ATW_OK)
		return -1;
	if (pack_write(p, data, len, NULL) != ATW_OK || pack_end(p, NULL) != ATW_OK)
		fd = -1;
	pack_close(p);
	return fd;
}

static inline int read_text(const void *data, size_t len, struct totals *h,
			    struct atw_err *e)
{
	char path[64];
	int fd = text_file(data, len, path), r = read_capture(path, h, e);

	close(fd);
	return r;
}
