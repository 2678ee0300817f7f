/* SPDX-License-Identifier: GPL-2.0-or-later */
/* to_references.c - memory references from a KMAP. */
#include "kmap/lib/to_references.h"

#include <errno.h>

#include "base/buf.h"
#include "base/io.h"
#include "trace/recording.h"

enum {
	TO_REFERENCES_LINE = 64,
	TO_REFERENCES_BUFFER = 1 << 16,
};

struct kmap_references {
	int fd;
	struct trace_recording rec;
	bool begun;
	struct kmap_object object;       /* the one at hand, without its texts */
	bool in_object, has_lines;
	/* Its accesses: they are rows unless it has lines. */
	struct trace_ref *ref;
	size_t n, cap;
	uint64_t accesses, placeless;
	char *buf;
	size_t len;
};

int kmap_references_open(int fd, struct kmap_references **ret, struct atw_err *err)
{
	struct kmap_references *k = calloc(1, sizeof(*k));

	if (k)
		k->buf = malloc(TO_REFERENCES_BUFFER + RECORDING_HEAD);
	if (!k || !k->buf) {
		free(k);
		return atw_err_nomem(err);
	}
	k->fd = fd;
	k->rec = (struct trace_recording){
		.backend = "kmap",
		.scale = 1, .line = TO_REFERENCES_LINE,
	};
	*ret = k;
	return ATW_OK;
}

void kmap_references_close(struct kmap_references *k)
{
	if (!k)
		return;
	free(k->ref);
	free(k->buf);
	free(k);
}

uint64_t kmap_references_placeless(const struct kmap_references *k)
{
	return k->placeless;
}

static int to_references_flush(struct kmap_references *k, struct atw_err *err)
{
	if (io_write(k->fd, k->buf, k->len) < k->len)
		return atw_err_set(err, ATW_E_IO, "cannot write: %s", strerror(errno));
	k->len = 0;
	return ATW_OK;
}

static int to_references_begin(struct kmap_references *k)
{
	if (!k->begun)
		k->len += recording_write_head(&k->rec, k->buf + k->len, RECORDING_HEAD);
	k->begun = true;
	return ATW_OK;
}

static int to_references_write(struct kmap_references *k, const struct trace_ref *ref,
			       struct atw_err *err)
{
	if (k->len > TO_REFERENCES_BUFFER - RECORDING_ROW &&
	    to_references_flush(k, err) < 0)
		return err ? err->status : ATW_E_IO;
	k->len += recording_write(&k->rec, ref, k->buf + k->len, RECORDING_ROW);
	return ATW_OK;
}

/* Reads and writes of the same bytes are two references. */
static int to_references_both(struct kmap_references *k, struct trace_ref ref,
			      uint64_t reads, uint64_t writes,
			      int (*put)(struct kmap_references *, const struct trace_ref *,
					 struct atw_err *),
			      struct atw_err *err)
{
	int r = ATW_OK;

	ref.kind = TRACE_KIND_READ;
	ref.count = reads;
	if (reads)
		r = put(k, &ref, err);
	ref.kind = TRACE_KIND_WRITE;
	ref.count = writes;
	if (r == ATW_OK && writes)
		r = put(k, &ref, err);
	return r;
}

static int to_references_keep(struct kmap_references *k, const struct trace_ref *ref,
			      struct atw_err *err)
{
	if (!array_reserve((void **)&k->ref, &k->cap, k->n + 1, sizeof(*k->ref)))
		return atw_err_nomem(err);
	k->ref[k->n++] = *ref;
	return ATW_OK;
}

/* The object is over. */
static int to_references_leave(struct kmap_references *k, struct atw_err *err)
{
	int r = ATW_OK;

	if (k->in_object && !k->has_lines && k->object.size <= TO_REFERENCES_LINE)
		for (size_t i = 0; i < k->n && r == ATW_OK; i++)
			r = to_references_write(k, &k->ref[i], err);
	else if (k->in_object && !k->has_lines)
		k->placeless += k->accesses;
	k->in_object = k->has_lines = false;
	k->n = 0;
	k->accesses = 0;
	return r;
}

static int to_references_object(struct kmap_references *k, const struct kmap_object *o,
				struct atw_err *err)
{
	int r;

	to_references_begin(k);
	r = to_references_leave(k, err);
	if (r == ATW_OK && o->has & KMAP_HAS_NAME)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "an object of a compressed KMAP stands for all of its site");
	k->object = (struct kmap_object){.va = o->va, .size = o->size};
	/* Without an address it is all other memory of a kind. */
	k->in_object = o->va && o->size;
	return r;
}

static int to_references_access(struct kmap_references *k, const struct kmap_access *a,
				struct atw_err *err)
{
	struct trace_ref ref = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE,
		.address = k->object.va, .size = (uint32_t)k->object.size, .ip = a->ip,
	};

	k->accesses += a->reads + a->writes;
	if (!k->in_object || k->object.size > TO_REFERENCES_LINE)
		return ATW_OK;
	if (!(a->has & KMAP_IS_FROM))
		ref.has |= TRACE_HAS_IP;
	if (a->has & KMAP_HAS_PID && a->pid >= 0 && a->pid <= UINT32_MAX) {
		ref.has |= TRACE_HAS_TID;
		ref.tid = (uint32_t)a->pid;
	}
	return to_references_both(k, ref, a->reads, a->writes, to_references_keep, err);
}

static int to_references_line(struct kmap_references *k, const struct kmap_access *a,
			      struct atw_err *err)
{
	uint64_t at = a->line <= k->object.size / TO_REFERENCES_LINE
			      ? a->line * TO_REFERENCES_LINE
			      : k->object.size;
	struct trace_ref ref = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE,
		.address = k->object.va + at, .size = TO_REFERENCES_LINE,
	};

	/* A line behind the end of the object is none. */
	if (!k->in_object || at >= k->object.size)
		return ATW_OK;
	if (k->object.size - at < TO_REFERENCES_LINE)
		ref.size = (uint32_t)(k->object.size - at);
	k->has_lines = true;
	return to_references_both(k, ref, a->reads, a->writes, to_references_write, err);
}

static bool to_references_is(struct atw_blob b, const char *word)
{
	return b.len == strlen(word) && !memcmp(b.data, word, b.len);
}

static int to_references_header(struct kmap_references *k, const struct kmap_record *rec,
				struct atw_err *err)
{
	if (!to_references_is(rec->u.header.key, "mode"))
		return ATW_OK;
	if (to_references_is(rec->u.header.value, "site"))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "an object of this KMAP stands for all of its site");
	if (!k->begun && to_references_is(rec->u.header.value, "sample")) {
		k->rec.sampled = true;
		k->rec.scale = 0;
	}
	return ATW_OK;
}

static int to_references_record(void *arg, const struct kmap_record *rec,
				struct atw_err *err)
{
	struct kmap_references *k = arg;

	switch (rec->kind) {
	case KMAP_OBJECT:
		return to_references_object(k, &rec->u.object, err);
	case KMAP_ACCESS:
		return to_references_access(k, &rec->u.access, err);
	case KMAP_LINE_HEAT:
		return to_references_line(k, &rec->u.access, err);
	case KMAP_HEADER:
		return to_references_header(k, rec, err);
	case KMAP_USED:
	case KMAP_TASK:
	case KMAP_MARK:
	case KMAP_CALL:
	case KMAP_COMMENT:
	case KMAP_BLANK:
	case KMAP_END:
		break;
	}
	return ATW_OK;
}

struct kmap_sink kmap_references_sink(struct kmap_references *k)
{
	return (struct kmap_sink){to_references_record, k};
}

int kmap_references_end(struct kmap_references *k, const struct kmap_summary *of,
			struct atw_err *err)
{
	int r;

	to_references_begin(k);
	r = to_references_leave(k, err);
	k->rec.lost = of->lost;
	if (r == ATW_OK)
		r = to_references_flush(k, err);
	if (r < 0)
		return r;
	k->len = recording_write_end(&k->rec, k->buf, RECORDING_HEAD);
	return to_references_flush(k, err);
}
