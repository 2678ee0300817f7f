/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdinfo.c - memory of a client of a GPU, and of a dma-buf, as fdinfo has it. */
#include "drm.h"

#include <string.h>

#include "base/bytes.h"
#include "base/num.h"

/* "key:\tvalue": one line; false: the text is at its end. */
static bool fdinfo_line(const char **at, const char *end, struct atw_blob *key,
			struct atw_blob *value)
{
	const char *s = *at, *line, *colon;

	if (s >= end)
		return false;
	line = memchr(s, '\n', (size_t)(end - s));
	line = line ? line : end;
	*at = line + 1;
	colon = memchr(s, ':', (size_t)(line - s));
	*key = (struct atw_blob){ s, colon ? (size_t)(colon - s) : 0 };
	s = colon ? colon + 1 : line;
	while (s < line && (*s == '\t' || *s == ' '))
		s++;
	while (line > s && (line[-1] == ' ' || line[-1] == '\t'))
		line--;
	*value = (struct atw_blob){ s, (size_t)(line - s) };
	return true;
}

/* The unit differs from line to line; without one it is bytes. */
static bool fdinfo_bytes(struct atw_blob v, uint64_t *ret)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = { { "", 0 }, { "B", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	const char *s = v.data;
	size_t n = 0, unit;
	uint64_t u;

	while (n < v.len && s[n] != ' ')
		n++;
	for (unit = n; unit < v.len && s[unit] == ' ';)
		unit++;
	if (!num_dec(s, n, &u))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (blob_is((struct atw_blob){ s + unit, v.len - unit }, units[i].unit)) {
			*ret = u << units[i].shift;
			return *ret >> units[i].shift == u;
		}
	return false;
}

static void fdinfo_text(struct atw_blob v, char ret[DRM_NAME])
{
	size_t n = v.len < DRM_NAME ? v.len : DRM_NAME - 1;

	memcpy(ret, v.data, n);
	ret[n] = '\0';
}

/* NULL: there are too many. */
static struct drm_region *fdinfo_region(struct drm_client *c, struct atw_blob name)
{
	struct drm_region *r;

	for (size_t i = 0; i < c->regions; i++)
		if (blob_is(name, c->region[i].name))
			return &c->region[i];
	if (c->regions == DRM_REGIONS || !name.len || name.len >= DRM_NAME)
		return NULL;
	r = &c->region[c->regions++];
	memset(r, 0, sizeof(*r));
	fdinfo_text(name, r->name);
	return r;
}

/* drm-memory- is what older kernels call drm-resident-, and newer ones have beside it. */
static const struct {
	const char *head;
	enum drm_amount amount;
	bool old;
} fdinfo_amounts[] = {
	{ "drm-total-", DRM_TOTAL, false }, { "drm-shared-", DRM_SHARED, false },
	{ "drm-resident-", DRM_RESIDENT, false }, { "drm-purgeable-", DRM_PURGEABLE, false },
	{ "drm-active-", DRM_ACTIVE, false }, { "drm-memory-", DRM_RESIDENT, true },
	{ "amd-evicted-", DRM_EVICTED, false },
};

static void fdinfo_amount(struct drm_client *c, struct atw_blob key, struct atw_blob value,
			  uint32_t *old)
{
	for (size_t i = 0; i < sizeof(fdinfo_amounts) / sizeof(fdinfo_amounts[0]); i++) {
		size_t n = strlen(fdinfo_amounts[i].head);
		struct atw_blob name = { (const char *)key.data + n, key.len - n };
		struct drm_region *r;
		uint64_t bytes;

		if (!blob_begins(key, fdinfo_amounts[i].head))
			continue;
		/* drm-total-cycles-ENGINE is not of memory. */
		if (blob_begins(name, "cycles-") || !fdinfo_bytes(value, &bytes))
			return;
		r = fdinfo_region(c, name);
		if (!r)
			return;
		if (fdinfo_amounts[i].old) {
			uint32_t bit = 1u << (r - c->region);

			if (r->have >> DRM_RESIDENT & 1 && !(*old & bit))
				return;
			*old |= bit;
		} else if (fdinfo_amounts[i].amount == DRM_RESIDENT) {
			*old &= ~(1u << (r - c->region));
		}
		r->v[fdinfo_amounts[i].amount] = bytes;
		r->have |= 1u << fdinfo_amounts[i].amount;
		return;
	}
}

/* With any drm-resident-, those of drm-memory- are another way to count. */
static void fdinfo_drop_old(struct drm_client *c, uint32_t old)
{
	bool any = false;

	for (size_t i = 0; i < c->regions; i++)
		any |= c->region[i].have >> DRM_RESIDENT & 1 && !(old >> i & 1);
	for (size_t i = 0; i < c->regions && any; i++)
		if (old >> i & 1)
			c->region[i].have &= ~(1u << DRM_RESIDENT);
}

bool drm_fdinfo(const char *text, size_t len, struct drm_client *ret)
{
	const char *at = text;
	struct atw_blob key, value;
	uint32_t old = 0;

	memset(ret, 0, sizeof(*ret));
	while (fdinfo_line(&at, text + len, &key, &value)) {
		if (blob_is(key, "drm-driver"))
			fdinfo_text(value, ret->driver);
		else if (blob_is(key, "drm-pdev"))
			fdinfo_text(value, ret->pdev);
		else if (blob_is(key, "drm-client-name"))
			fdinfo_text(value, ret->name);
		else if (blob_is(key, "drm-client-id"))
			ret->has_id = num_dec(value.data, value.len, &ret->id);
		else
			fdinfo_amount(ret, key, value, &old);
	}
	fdinfo_drop_old(ret, old);
	return *ret->driver;
}

bool drm_fdinfo_buffer(const char *text, size_t len, struct drm_buffer *ret)
{
	const char *at = text;
	struct atw_blob key, value;

	memset(ret, 0, sizeof(*ret));
	while (fdinfo_line(&at, text + len, &key, &value)) {
		if (blob_is(key, "exp_name"))
			fdinfo_text(value, ret->exporter);
		else if (blob_is(key, "name"))
			fdinfo_text(value, ret->name);
		else if (blob_is(key, "size"))
			ret->has_size = num_dec(value.data, value.len, &ret->size);
		else if (blob_is(key, "count"))
			ret->has_count = num_dec(value.data, value.len, &ret->count);
		else if (blob_is(key, "ino"))
			ret->has_inode = num_dec(value.data, value.len, &ret->inode);
	}
	return *ret->exporter;
}
