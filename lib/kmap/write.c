/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/write.h"

#include <stdlib.h>

#include "base/pack.h"

enum { PIECE = 128 << 10 };

struct kmap_writer {
	struct pack *pack;
	enum kmap_version version;
	struct kmap_losses losses;
	size_t len;
	char buf[PIECE + KMAP_LINE];
};

int kmap_writer_open(int fd, int level, enum kmap_version version, struct kmap_writer **ret,
		     struct atw_err *err)
{
	struct kmap_writer *w = malloc(sizeof(*w));
	int r;

	if (!w)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	w->pack = NULL;
	w->version = version;
	w->losses = (struct kmap_losses){ 0 };
	w->len = 0;
	r = pack_open(fd, level, &w->pack, err);
	if (r != ATW_OK) {
		kmap_writer_close(w);
		return r;
	}
	*ret = w;
	return ATW_OK;
}

static int flush(struct kmap_writer *w, struct atw_err *err)
{
	int r = pack_write(w->pack, w->buf, w->len, err);

	w->len = 0;
	return r;
}

/* Does it have no line at all in that version, or one that would be wrong there? */
static bool passed(const struct kmap_writer *w, const struct kmap_record *rec, uint32_t lost)
{
	return rec->kind == KMAP_END || rec->kind == KMAP_BLANK ||
	       (w->version != KMAP_COMPRESSED && kmap_says_compressed(rec)) ||
	       (lost && rec->kind != KMAP_OBJECT && rec->kind != KMAP_ACCESS);
}

static int on_record(void *arg, const struct kmap_record *rec, struct atw_err *err)
{
	struct kmap_writer *w = arg;
	uint32_t lost = kmap_loses(rec, w->version);
	size_t n;

	for (uint32_t left = lost; left; left &= left - 1)
		w->losses.n[__builtin_ctz(left)]++;
	if (passed(w, rec, lost))
		return ATW_OK;
	n = kmap_write(rec, w->version, w->buf + w->len, sizeof(w->buf) - w->len);
	if (!n)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "a line of %s would be longer than %d bytes",
				   kmap_version_name(w->version), KMAP_LINE);
	w->len += n;
	return w->len >= PIECE ? flush(w, err) : ATW_OK;
}

struct kmap_sink kmap_writer_sink(struct kmap_writer *w)
{
	return (struct kmap_sink){ on_record, w };
}

const struct kmap_losses *kmap_writer_losses(const struct kmap_writer *w)
{
	return &w->losses;
}

int kmap_writer_end(struct kmap_writer *w, struct atw_err *err)
{
	int r = flush(w, err);

	return r == ATW_OK ? pack_end(w->pack, err) : r;
}

void kmap_writer_close(struct kmap_writer *w)
{
	if (!w)
		return;
	pack_close(w->pack);
	free(w);
}
