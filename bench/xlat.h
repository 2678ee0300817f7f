/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xlat.h - the same walk by libaddrxlat, twice: over libkdumpfile, as its
 * users have it, and over memory lent in whole segments, where nothing but its
 * own walk is left to measure. Without the libraries, xlat_open() says so.
 */
#pragma once

#include "plain.h"

#ifdef HAVE_ADDRXLAT
#include <libkdumpfile/addrxlat.h>
#include <libkdumpfile/kdumpfile.h>

struct xlat {
	kdump_ctx_t *dump;
	int fd;
	addrxlat_ctx_t *over_kdumpfile, *over_lent;
	addrxlat_meth_t walk;
};

static inline void xlat_put(const addrxlat_buffer_t *buf)
{
}

static inline addrxlat_status xlat_get(const addrxlat_cb_t *cb, addrxlat_buffer_t *buf)
{
	const struct plain *p = cb->priv;

	for (unsigned i = 0; i < p->nbanks; i++) {
		const struct plain_bank *b = &p->bank[i];

		if (buf->addr.addr - b->start >= b->len)
			continue;
		buf->addr.addr = b->start;
		buf->ptr = b->at;
		buf->size = b->len;
		buf->byte_order = ADDRXLAT_LITTLE_ENDIAN;
		buf->put_page = xlat_put;
		return ADDRXLAT_OK;
	}
	return ADDRXLAT_ERR_NODATA;
}

static inline unsigned long xlat_caps(const addrxlat_cb_t *cb)
{
	return ADDRXLAT_CAPS(ADDRXLAT_MACHPHYSADDR);
}

/* NULL, or why there is nothing to compare with. */
static inline const char *xlat_open(struct xlat *x, struct plain *p, const char *path)
{
	addrxlat_cb_t *cb;

	*x = (struct xlat){
		.walk = {
			.kind = ADDRXLAT_PGT, .target_as = ADDRXLAT_MACHPHYSADDR,
			.param.pgt = {
				.root = { p->root, ADDRXLAT_MACHPHYSADDR },
				.pf = { ADDRXLAT_PTE_X86_64, 5, { 12, 9, 9, 9, 9 } },
			},
		},
		.fd = open(path, O_RDONLY | O_CLOEXEC),
		.dump = kdump_new(),
		.over_lent = addrxlat_ctx_new(),
	};
	if (x->fd < 0 || !x->dump || !x->over_lent)
		return "libkdumpfile could not be started";
	if (kdump_open_fd(x->dump, x->fd) != KDUMP_OK ||
	    kdump_set_string_attr(x->dump, KDUMP_ATTR_OSTYPE, "linux") != KDUMP_OK ||
	    kdump_get_addrxlat(x->dump, &x->over_kdumpfile, NULL) != KDUMP_OK)
		return kdump_get_err(x->dump);
	cb = addrxlat_ctx_add_cb(x->over_lent);
	if (!cb)
		return "libaddrxlat could not be started";
	cb->priv = p;
	cb->get_page = xlat_get;
	cb->read_caps = xlat_caps;
	return NULL;
}

static inline uint64_t xlat_translate(addrxlat_ctx_t *ctx, const struct xlat *x,
				      uint64_t va)
{
	addrxlat_step_t step = {
		.ctx = ctx, .meth = &x->walk, .base = { va, ADDRXLAT_KVADDR },
	};

	return addrxlat_walk(&step) == ADDRXLAT_OK ? step.base.addr : PLAIN_NONE;
}

static inline void xlat_close(struct xlat *x)
{
	if (x->over_kdumpfile)
		addrxlat_ctx_decref(x->over_kdumpfile);
	if (x->over_lent)
		addrxlat_ctx_decref(x->over_lent);
	if (x->dump)
		kdump_free(x->dump);
	if (x->fd >= 0)
		close(x->fd);
}

#else

struct xlat { int nothing; };

static inline const char *xlat_open(struct xlat *x, struct plain *p, const char *path)
{
	return "not installed when this was built (libkdumpfile-dev)";
}

static inline void xlat_close(struct xlat *x)
{
}

#endif
