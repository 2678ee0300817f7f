/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap.c - cost of reading and writing the text of KMAPs, and peak memory of reading a
 * long one.
 *
 * The text is generated as recorders write it, with about 50 accesses per object. Times
 * are CPU time of one thread that reads a file in memory several times; memory is that of
 * a process that reads a gigabyte from a pipe.
 */
#include "child.h"
#include "measure.h"

#include <sys/mman.h>

#include "kmap/lib/write.h"
#include "random.h"

enum { TEXT = 64 << 20, TIMES = 4, ACCESSES = 50 };
#define LONG ((uint64_t)1 << 30)

/* ---- the maker ---- */

static void name(struct atw_blob *b, const char *s)
{
	*b = (struct atw_blob){ s, strlen(s) };
}

static struct kmap_record object(uint64_t *seed, uint64_t clock)
{
	static const char *const tasks[] = { "bash", "swapper/0", "kworker/0:1", "a,b", "tar" };
	static const char *const caches[] = { "filp", "dentry(123:cg)", "kmalloc-192", "cred" };
	struct kmap_record rec = { .kind = KMAP_OBJECT };
	struct kmap_object *o = &rec.u.object;

	o->alloc_ip = 0xffffffff81000000 + (random_next(seed) & 0xffffff);
	o->va = 0xffff888000000000 + (random_next(seed) & 0xffffffc0);
	o->size = 32u << (random_next(seed) & 7);
	o->alloc_time = clock;
	o->free_time = clock + (random_next(seed) & 0xffff);
	o->free_ip = o->alloc_ip + 64;
	o->pid = (int64_t)(random_next(seed) & 0xfff);
	o->has = KMAP_HAS_TYPE | KMAP_HAS_CACHE | KMAP_HAS_NEW_TYPE;
	name(&o->type, "KMEM_CACHE");
	name(&o->new_type, "NONE");
	name(&o->task, tasks[random_next(seed) % 5]);
	name(&o->cache, caches[random_next(seed) & 3]);
	return rec;
}

static struct kmap_record access_of(uint64_t *seed)
{
	struct kmap_record rec = { .kind = KMAP_ACCESS };
	uint64_t r = random_next(seed);

	rec.u.access = (struct kmap_access){
		.ip = 0xffffffff81000000 + (r & 0xffffff), .writes = r >> 24 & 7,
		.reads = r >> 28 & (r >> 40 & 1 ? 0xfff : 7), .pid = (int64_t)(r >> 48 & 0xfff),
		.has = KMAP_HAS_PID,
	};
	return rec;
}

/* Writes at least `bytes` of text to `fd`; returns the number of accesses. */
static uint64_t make(int fd, enum kmap_version v, uint64_t bytes)
{
	static char buf[1 << 20];
	uint64_t seed = 7, done = 0, accesses = 0;
	struct kmap_record rec;
	size_t len = 0;

	for (uint64_t i = 0; done < bytes; i++) {
		rec = i % (ACCESSES + 1) ? access_of(&seed) : object(&seed, i);
		accesses += rec.kind == KMAP_ACCESS;
		len += kmap_write(&rec, v, buf + len, sizeof(buf) - len);
		if (len > sizeof(buf) - KMAP_LINE || done + len >= bytes) {
			if (write(fd, buf, len) != (ssize_t)len)
				err(1, "write");
			done += len;
			len = 0;
		}
	}
	return accesses;
}

/* ---- reading ---- */

struct sums {
	uint64_t accesses, reads, writes;
};

static int on_record(void *arg, const struct kmap_record *rec, struct atw_err *e)
{
	struct sums *s = arg;

	if (rec->kind == KMAP_ACCESS) {
		s->accesses++;
		s->reads += rec->u.access.reads;
		s->writes += rec->u.access.writes;
	}
	return ATW_OK;
}

static void take(const char *path, struct sums *s)
{
	const struct kmap_sink to = { on_record, s };
	struct atw_err e = { 0 };

	need(kmap_read(path, NULL, &to, NULL, &e), &e);
}

static void text(enum kmap_version v)
{
	int fd = memfd_create("kmap", MFD_CLOEXEC), null = child_null();
	uint64_t want = make(fd, v, TEXT);
	struct kmap_writer *w;
	struct kmap_sink to;
	struct sums s = { 0 };
	struct atw_err e = { 0 };
	char path[64], row[80];
	double spent;

	if (fd < 0)
		err(1, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	take(path, &s);
	if (s.accesses != want)
		errx(1, "%" PRIu64 " accesses of %" PRIu64, s.accesses, want);
	spent = now_ns();
	for (int i = 0; i < TIMES; i++)
		take(path, &s);
	spent = now_ns() - spent;
	snprintf(row, sizeof(row), "reading %s, MB/s", kmap_version_name(v));
	least(row, (double)TEXT * TIMES * 1e3 / spent, 300);
	need(kmap_writer_open(null, 0, (struct kmap_form){ v, false }, &w, &e), &e);
	to = kmap_writer_sink(w);
	spent = now_ns();
	need(kmap_read(path, NULL, &to, NULL, &e), &e);
	spent = now_ns() - spent;
	kmap_writer_close(w);
	snprintf(row, sizeof(row), "reading and writing it, MB/s");
	least(row, (double)TEXT * 1e3 / spent, 150);
	close(fd);
	close(null);
}

/* ---- memory ---- */

static void long_one(void)
{
	pid_t maker, reader;
	int fd[2];

	child_pipe(fd);
	maker = child_fork();
	if (!maker) {
		make(fd[1], KMAP_V4, LONG);
		_exit(0);
	}
	reader = child_fork();
	if (!reader) {
		struct sums s = { 0 };

		if (dup2(fd[0], 0) < 0)
			_exit(1);
		close(fd[1]);
		take("-", &s);
		_exit(!s.accesses);
	}
	close(fd[0]);
	close(fd[1]);
	child_end(maker, "the maker");
	figure("peak memory for reading 1 GiB, MiB",
	       (double)child_end(reader, "the reader").ru_maxrss / 1024, 16);
}

int main(void)
{
	heading("a KMAP's text, of a core", NULL);
	for (enum kmap_version v = KMAP_V1; v <= KMAP_V4; v++)
		text(v);
	text(KMAP_COMPRESSED);
	long_one();
	return 0;
}
