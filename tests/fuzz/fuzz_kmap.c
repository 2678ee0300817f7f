/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_kmap.c - KMAPs. The first byte selects the sizes in which the rest is passed to
 * the reader, which must return the same records as for all of it at once. A record that
 * is written in its own version must read back the same, and in other versions it must
 * be one line. Then the whole file is converted to the compressed version and to our own.
 */
#include "kmap/lib/format.h"
#include "kmap/lib/compress.h"
#include "kmap/lib/write.h"
#include "pieces.h"

static struct kmap_reader reader;
static struct kmap_record latest;

static bool equal(struct atw_blob a, struct atw_blob b)
{
	return a.len == b.len && !a.data == !b.data && (!a.len || !memcmp(a.data, b.data, a.len));
}

static bool same(const struct kmap_record *a, const struct kmap_record *b)
{
	const struct kmap_object *x = &a->u.object, *y = &b->u.object;

	if (a->kind != b->kind)
		return false;
	if (a->kind == KMAP_USED)
		return a->u.used.first == b->u.used.first && a->u.used.last == b->u.used.last;
	if (a->kind == KMAP_TASK)
		return a->u.task.pid == b->u.task.pid && equal(a->u.task.name, b->u.task.name);
	if (a->kind == KMAP_MARK)
		return a->u.marks == b->u.marks;
	if (a->kind == KMAP_ACCESS)
		return a->u.access.ip == b->u.access.ip && a->u.access.pid == b->u.access.pid &&
		       a->u.access.writes == b->u.access.writes &&
		       a->u.access.reads == b->u.access.reads &&
		       a->u.access.frees == b->u.access.frees &&
		       a->u.access.caller == b->u.access.caller && a->u.access.has == b->u.access.has;
	return a->kind != KMAP_OBJECT ||
	       (x->alloc_ip == y->alloc_ip && x->va == y->va && x->size == y->size &&
		x->alloc_time == y->alloc_time && x->free_time == y->free_time &&
		x->free_ip == y->free_ip && x->pid == y->pid && x->has == y->has &&
		equal(x->type, y->type) && equal(x->task, y->task) && equal(x->cache, y->cache) &&
		equal(x->new_type, y->new_type) && equal(x->name, y->name));
}

/* The same record in its own version, if that has it, and one line in others. */
static void again(const struct kmap_record *rec, enum kmap_version own, unsigned flags)
{
	static char text[KMAP_LINE], twice[KMAP_LINE];
	struct kmap_record got;
	struct atw_err err;

	for (enum kmap_version v = KMAP_V1; v < KMAP_VERSIONS; v++) {
		uint32_t lost = kmap_loses(rec, v);
		size_t n = kmap_write(rec, v, text, sizeof(text));

		FUZZ_CHECK(!(lost >> KMAP_LOSES), "a loss without a name");
		if (!n)
			continue;
		FUZZ_CHECK(text[n - 1] == '\n' && !memchr(text, '\n', n - 1), "not one line");
		/* A name that is rewritten may have another length. */
		if (kmap_parse((struct atw_blob){ text, n - 1 }, v, flags, &got,
			       &err) != ATW_OK) {
			FUZZ_CHECK(v != own, "%.*s: %s", (int)n, text, err.text);
			continue;
		}
		if (rec->kind == KMAP_HEADER || rec->kind == KMAP_COMMENT)
			continue;
		FUZZ_CHECK(v != own || lost || same(rec, &got), "%.*s is another record", (int)n, text);
		FUZZ_CHECK(v != own || lost || (kmap_write(&got, v, twice, sizeof(twice)) == n &&
			   !memcmp(text, twice, n)), "%.*s is another line", (int)n, text);
	}
}

static void record(uint64_t *digest)
{
	const struct kmap_record *rec = &latest;
	const struct kmap_object *o = &rec->u.object;

	add(digest, rec->kind);
	if (rec->kind == KMAP_OBJECT) {
		FUZZ_CHECK(reader.version, "an object without a version");
		add(digest, o->alloc_ip ^ o->va << 1 ^ o->size << 2 ^ o->free_ip << 3);
		add(digest, touch(o->task.data, o->task.len) + o->has);
		add(digest, touch(o->type.data, o->type.len));
		add(digest, touch(o->cache.data, o->cache.len));
		add(digest, touch(o->new_type.data, o->new_type.len));
		add(digest, touch(o->name.data, o->name.len));
	} else if (rec->kind == KMAP_ACCESS || rec->kind == KMAP_LINE_HEAT) {
		FUZZ_CHECK(reader.in_object && !reader.passing, "access without object");
		add(digest, rec->u.access.ip ^ rec->u.access.writes << 1 ^
			    rec->u.access.reads << 2 ^ (uint64_t)rec->u.access.pid << 3);
	} else if (rec->kind == KMAP_USED) {
		FUZZ_CHECK(reader.in_object && !reader.passing, "times without object");
		FUZZ_CHECK(rec->u.used.first <= rec->u.used.last, "it ends before it begins");
		add(digest, rec->u.used.first ^ rec->u.used.last << 1);
	} else if (rec->kind == KMAP_MARK) {
		FUZZ_CHECK(reader.in_object && !reader.passing && rec->u.marks,
			   "marks without object");
		add(digest, rec->u.marks);
	}
	FUZZ_CHECK(rec->kind != KMAP_BLANK, "a blank line was reported");
	if (reader.version)
		again(rec, reader.version, (reader.ours ? KMAP_OURS : 0) |
						 (reader.declared ? KMAP_DECLARED : 0));
}

static void begin(void)
{
	kmap_init(&reader);
}

static int next(struct atw_blob text, bool last, size_t *pos, struct atw_err *err)
{
	return kmap_next(&reader, text, last, pos, &latest, err);
}

static int finish(uint64_t *digest, struct atw_err *err)
{
	add(digest, reader.version);
	return kmap_finish(&reader, err);
}

static const struct pieces pieces = { begin, next, record, finish, ATW_E_UNSUPPORTED };

static void damaged(void *arg, const struct atw_err *err)
{
	(void)arg;
	FUZZ_CHECK(err->text[0], "an error without text");
}

/* Converts to the compressed version, and reads that. */
static void compress(struct input in)
{
	char from[64], to[64];
	int fd = memory_file(in.p, in.len, from), packed = memory_file(NULL, 0, to);
	const struct kmap_read_opts o = { .damaged = damaged };
	struct kmap_compress *c = NULL;
	struct kmap_writer *w = NULL;
	struct kmap_summary total, again;
	struct kmap_sink sink;
	struct atw_err err;
	uint64_t objects;
	int r;

	if (kmap_compress_open(&c, &err) != ATW_OK ||
	    kmap_writer_open(packed, 0, (struct kmap_form){ KMAP_COMPRESSED, false }, &w, &err) != ATW_OK)
		abort();
	sink = kmap_compress_sink(c);
	r = kmap_read(from, &o, &sink, &total, &err);
	check_err(r, &err);
	sink = kmap_writer_sink(w);
	if (r == ATW_OK && kmap_compress_end(c, &sink, &objects, &err) == ATW_OK) {
		FUZZ_CHECK(objects <= total.objects, "more objects than in the input");
		if (kmap_writer_end(w, NULL, &err) != ATW_OK)
			abort();
		kmap_compress_close(c);
		if (kmap_compress_open(&c, &err) != ATW_OK)
			abort();
		sink = kmap_compress_sink(c);
		r = kmap_read(to, &o, &sink, &again, &err);
		FUZZ_CHECK(r == ATW_OK && again.version == KMAP_COMPRESSED && !again.faults &&
			   again.objects == objects, "what was written cannot be read: %s", err.text);
	}
	kmap_compress_close(c);
	kmap_writer_close(w);
	close(fd);
	close(packed);
}

/* Converts to our own version; returns the status and the totals of the input. */
static int to_own(const char *from, int to, struct kmap_summary *total)
{
	const struct kmap_read_opts o = { .damaged = damaged };
	struct kmap_writer *w = NULL;
	struct kmap_sink sink;
	struct atw_err err;
	int r;

	if (kmap_writer_open(to, 0, (struct kmap_form){ KMAP_V4, true }, &w, &err) != ATW_OK)
		abort();
	sink = kmap_writer_sink(w);
	r = kmap_read(from, &o, &sink, total, &err);
	check_err(r, &err);
	if (r == ATW_OK && total->version != KMAP_COMPRESSED &&
	    kmap_writer_end(w, total, &err) != ATW_OK)
		abort();
	kmap_writer_close(w);
	return r;
}

static bool same_bytes(int a, int b)
{
	static char x[1 << 16], y[1 << 16];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(a, x, sizeof(x), at)) > 0) {
		if (pread(b, y, sizeof(y), at) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
		at += n;
	}
	return pread(b, y, 1, at) == 0;
}

/* A conversion loses nothing, and a second one changes nothing. */
static void own(struct input in)
{
	char from[64], once[64], twice[64];
	int fd = memory_file(in.p, in.len, from), first = memory_file(NULL, 0, once);
	int second = memory_file(NULL, 0, twice);
	struct kmap_summary total, again;

	if (to_own(from, first, &total) == ATW_OK && total.version != KMAP_COMPRESSED) {
		FUZZ_CHECK(to_own(once, second, &again) == ATW_OK && again.ours && !again.faults,
			   "what was written cannot be read");
		/* Accesses to objects that could not be read were counted, too. */
		FUZZ_CHECK(again.objects == total.objects && again.calls == total.calls &&
			   (total.faults || again.accesses == total.accesses) &&
			   again.cut == (total.cut || total.faults) &&
			   (again.cut || again.lost == total.lost), "the copy differs");
		FUZZ_CHECK(same_bytes(first, second), "the second copy differs");
	}
	close(fd);
	close(first);
	close(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	size_t step = take(&in, 1);

	kmap_probe((struct atw_blob){ in.p, in.len });
	check_pieces(&pieces, in, step);
	compress(in);
	own(in);
	return 0;
}
