/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.c - output stream with optional zstd compression. */
#include "base/pack.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { PACKED = 128 << 10 };

struct pack {
	int fd;
	int status;              /* status of the first failure */
	int error;               /* its errno; 0: not from a system call */
	void *zstd;              /* NULL: bytes are written uncompressed */
	char *out;               /* PACKED bytes, if compressed */
};

static int pack_failed(const struct pack *p, struct atw_err *err)
{
	if (!p->error)
		return atw_err_set(err, p->status, "no memory to pack it");
	return atw_err_set(err, p->status, "cannot write: %s", strerror(p->error));
}

static int pack_put(struct pack *p, const char *s, size_t len, struct atw_err *err)
{
	if (io_write(p->fd, s, len) == len)
		return ATW_OK;
	p->error = errno;
	p->status = ATW_E_IO;
	return pack_failed(p, err);
}

#ifdef HAVE_ZSTD
static int pack_start(struct pack *p, int level, struct atw_err *err)
{
	p->out = malloc(PACKED);
	p->zstd = p->out ? ZSTD_createCStream() : NULL;
	if (!p->zstd || ZSTD_isError(ZSTD_initCStream(p->zstd, level)) ||
	    /* The checksum reveals bytes that were changed in transit. */
	    ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)))
		return atw_err_nomem(err);
	return ATW_OK;
}

/* Repeat until all input is consumed or, at the end, all output is written. */
static int pack_squeeze(struct pack *p, const void *data, size_t len,
			ZSTD_EndDirective how, struct atw_err *err)
{
	ZSTD_inBuffer in = { data, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { p->out, PACKED, 0 };
		int r;

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left)) {
			p->status = ATW_E_NOMEM;
			return pack_failed(p, err);
		}
		r = pack_put(p, p->out, out.pos, err);
		if (r != ATW_OK)
			return r;
	} while (how == ZSTD_e_continue ? in.pos < in.size : left);
	return ATW_OK;
}
#define CONTINUE ZSTD_e_continue
#define END ZSTD_e_end
#else
enum { CONTINUE, END };

static int pack_start(struct pack *p, int level, struct atw_err *err)
{
	(void)p, (void)level;
	atw_err_set(err, ATW_E_UNSUPPORTED, "this build has no zstd");
	atw_err_hint(err, "write plain text, or install libzstd-dev and build again");
	return ATW_E_UNSUPPORTED;
}

static int pack_squeeze(struct pack *p, const void *data, size_t len, int how,
			struct atw_err *err)
{
	(void)data, (void)len, (void)how;
	return pack_failed(p, err);
}
#endif

int pack_open(int fd, int level, struct pack **ret, struct atw_err *err)
{
	struct pack *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return atw_err_nomem(err);
	p->fd = fd;
	r = level ? pack_start(p, level, err) : ATW_OK;
	if (r != ATW_OK) {
		pack_close(p);
		return r;
	}
	*ret = p;
	return ATW_OK;
}

int pack_write(struct pack *p, const void *data, size_t len, struct atw_err *err)
{
	if (p->status)
		return pack_failed(p, err);
	return p->zstd ? pack_squeeze(p, data, len, CONTINUE, err)
		       : pack_put(p, data, len, err);
}

int pack_end(struct pack *p, struct atw_err *err)
{
	if (p->status)
		return pack_failed(p, err);
	return p->zstd ? pack_squeeze(p, NULL, 0, END, err) : ATW_OK;
}

void pack_close(struct pack *p)
{
	if (!p)
		return;
#ifdef HAVE_ZSTD
	ZSTD_freeCStream(p->zstd);
#endif
	free(p->out);
	free(p);
}

bool pack_have(void)
{
#ifdef HAVE_ZSTD
	return true;
#else
	return false;
#endif
}

int pack_block(int level, const void *data, size_t len, struct buf *ret, struct atw_err *err)
{
#ifdef HAVE_ZSTD
	size_t room = ZSTD_compressBound(len), n;
	char *to = malloc(room);

	if (!to)
		return atw_err_nomem(err);
	n = ZSTD_compress(to, room, data, len, level);
	if (!ZSTD_isError(n))
		buf_add(ret, to, n);
	free(to);
	return ZSTD_isError(n) || ret->failed ? atw_err_nomem(err) : ATW_OK;
#else
	return pack_start(NULL, level, err);
#endif
}

bool pack_have_gzip(void)
{
#ifdef HAVE_ZLIB
	return true;
#else
	return false;
#endif
}

int pack_gzip(const void *data, size_t len, struct buf *ret, struct atw_err *err)
{
#ifdef HAVE_ZLIB
	/* windowBits above 15: with gzip's header. */
	enum { WINDOW = 15 + 16, MEMORY = 8 };
	z_stream z = { .next_in = (Bytef *)data };
	char to[8192];
	int r;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return atw_err_nomem(err);
	do {
		if (!z.avail_in) {
			z.avail_in = len < UINT32_MAX ? (uInt)len : UINT32_MAX;
			len -= z.avail_in;
		}
		z.next_out = (Bytef *)to;
		z.avail_out = sizeof(to);
		r = deflate(&z, len ? Z_NO_FLUSH : Z_FINISH);
		buf_add(ret, to, sizeof(to) - z.avail_out);
	} while (r == Z_OK && !ret->failed);
	deflateEnd(&z);
	return r == Z_STREAM_END && !ret->failed ? ATW_OK : atw_err_nomem(err);
#else
	return atw_err_set(err, ATW_E_UNSUPPORTED, "this build has no zlib");
#endif
}
