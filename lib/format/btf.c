// SPDX-License-Identifier: GPL-2.0-or-later
/* btf.c - parser of BTF type information. */
#include "format/btf.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/huge.h"

enum {
	MAGIC = 0xeb9f,
	HEADER = 24,
	TYPE = 12,               /* name, info, size or type: every type has them */
	MEMBER = 12,             /* name, type, offset */
	DEPTH = 32,              /* typedefs, arrays, members within members */
	/*
	 * Limit of members visited in one lookup. The largest struct has some hundreds;
	 * two anonymous members of the same type at each of 32 levels would be 2^32.
	 */
	BUDGET = 1 << 20,
	BTF_HUGE = 1 << 20,      /* bytes of types: at[] is worth a huge page */
};

/* Size of what follows the first 12 bytes: fixed part, and part per element of `vlen`. */
static const struct { uint8_t fixed, each; } tail[BTF_KINDS] = {
	[BTF_INT] = { 4, 0 },
	[BTF_ARRAY] = { 12, 0 },
	[BTF_STRUCT] = { 0, MEMBER },
	[BTF_UNION] = { 0, MEMBER },
	[BTF_ENUM] = { 0, 8 },
	[BTF_FUNC_PROTO] = { 0, 8 },
	[BTF_VAR] = { 4, 0 },
	[BTF_DATASEC] = { 0, 12 },
	[BTF_DECL_TAG] = { 4, 0 },
	[BTF_ENUM64] = { 0, 12 },
};

/* The header of a type; its tail begins at `more`. */
struct type {
	uint32_t name, size;     /* size: or the id of another type */
	uint16_t vlen;
	uint8_t kind;
	bool flag;               /* struct, union: offsets carry bit-field widths */
	const char *more;
};

static struct type btf_type_at(const char *p)
{
	uint32_t info = get_le32(p + 4);

	return (struct type){
		.name = get_le32(p), .size = get_le32(p + 8),
		.vlen = info & 0xffff, .kind = info >> 24 & 0x1f, .flag = info >> 31,
		.more = p + TYPE,
	};
}

/* All ids below n have been checked: each lies in the section with its whole tail. */
static struct type btf_type_of(const struct btf *b, uint32_t id)
{
	if (b->base && id < b->first)
		b = b->base;
	if (!id || id >= b->n)
		return (struct type){ .kind = BTF_VOID };
	return btf_type_at((const char *)b->types.data + b->at[id - b->first]);
}

/* ---- opening ---- */

static int btf_sections(struct atw_blob blob, struct btf *ret, struct atw_err *err)
{
	const char *p = blob_at(blob, 0, HEADER);
	uint32_t hdr, types, types_len, str, str_len;

	if (p && get_be16(p) == MAGIC)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "is big-endian BTF");
	if (!p || get_le16(p) != MAGIC)
		return atw_err_set(err, ATW_E_FORMAT, "is not BTF");
	if (p[2] != 1)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "is BTF of version %d, and only 1 is known", p[2]);
	hdr = get_le32(p + 4);
	types = get_le32(p + 8);
	types_len = get_le32(p + 12);
	str = get_le32(p + 16);
	str_len = get_le32(p + 20);
	ret->types = (struct atw_blob){
		blob_at(blob, (uint64_t)hdr + types, types_len), types_len,
	};
	ret->strings = (struct atw_blob){
		blob_at(blob, (uint64_t)hdr + str, str_len), str_len,
	};
	if (hdr < HEADER || !ret->types.data || !ret->strings.data)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "BTF header: 0x%x+0x%x and 0x%x+0x%x behind 0x%x bytes do not lie in 0x%zx",
				   types, types_len, str, str_len, hdr, blob.len);
	/* The section ends with a NUL, so every string in it is terminated. */
	p = ret->strings.data;
	if (!str_len || p[str_len - 1])
		return atw_err_set(err, ATW_E_DAMAGED, "BTF strings do not end with a NUL");
	/* BTF of a module continues the ids and strings of the kernel's and needs it. */
	if (p[0] && !ret->base)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "is one part of split BTF, not a kernel's own");
	return ATW_OK;
}

uint64_t btf_length(struct atw_blob head)
{
	const char *p = blob_at(head, 0, HEADER);
	uint64_t hdr, types, str;

	if (!p || get_le16(p) != MAGIC || p[2] != 1)
		return 0;
	hdr = get_le32(p + 4);
	types = (uint64_t)get_le32(p + 8) + get_le32(p + 12);
	str = (uint64_t)get_le32(p + 16) + get_le32(p + 20);
	if (hdr < HEADER || hdr > 4096)
		return 0;
	return hdr + (types > str ? types : str);
}

/* Types are stored consecutively and numbered in that order. */
static int btf_number_types(struct btf *b, struct atw_err *err)
{
	/*
	 * Types of most kernels have 24 bytes on average. A kernel has half a megabyte of
	 * offsets; types of a module are few.
	 */
	const bool huge = b->types.len > BTF_HUGE;

	if (!huge_reserve((void **)&b->at, &b->room, b->types.len / 24 + 1, sizeof(*b->at), huge))
		return atw_err_nomem(err);
	b->first = b->n = b->base ? b->base->n : 0;
	if (!b->base)
		b->at[b->n++] = 0;       /* void */
	/* Very many types: each is touched once, and nothing is called for it. */
	for (uint64_t off = 0, len; off < b->types.len; off += len) {
		const char *p = (const char *)b->types.data + off;
		const uint64_t left = b->types.len - off;
		struct type t = { 0 };

		if (left >= TYPE)
			t = btf_type_at(p);
		if (left >= TYPE && (t.kind == BTF_VOID || t.kind >= BTF_KINDS))
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "BTF type %u is of kind %u, which is not known",
					   b->n, t.kind);
		len = TYPE + tail[t.kind].fixed + (uint64_t)tail[t.kind].each * t.vlen;
		if (len > left)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "BTF type %u at 0x%llx reaches out of the section of types",
					   b->n, (unsigned long long)off);
		if (b->n == UINT32_MAX ||
		    (b->n - b->first >= b->room &&
		     !huge_reserve((void **)&b->at, &b->room, (size_t)(b->n - b->first) + 1,
				   sizeof(*b->at), huge)))
			return atw_err_nomem(err);
		b->at[b->n++ - b->first] = (uint32_t)off;
	}
	return ATW_OK;
}

int btf_init(struct btf *ret, struct atw_blob blob, struct atw_err *err)
{
	return btf_init_split(ret, NULL, blob, err);
}

int btf_init_split(struct btf *ret, const struct btf *base, struct atw_blob blob,
		   struct atw_err *err)
{
	struct btf b = { .base = base };
	int r = btf_sections(blob, &b, err) ?: btf_number_types(&b, err);

	if (r < 0)
		btf_deinit(&b);
	else
		*ret = b;
	return r;
}

int btf_init_numbered(struct btf *ret, struct atw_blob blob, struct atw_blob at,
		      struct atw_err *err)
{
	struct btf b = {
		/* The array is only read. */
		.at = (uint32_t *)(uintptr_t)at.data, .n = (uint32_t)(at.len / sizeof(*b.at)),
	};
	int r = btf_sections(blob, &b, err);

	if (r == ATW_OK)
		*ret = b;
	return r;
}

void btf_deinit(struct btf *b)
{
	if (b->room)
		huge_free(b->at, b->room * sizeof(*b->at));
	*b = (struct btf){ 0 };
}

/* ---- names ---- */

static const char *btf_string_at(const struct btf *b, uint32_t off)
{
	if (b->base && off < b->base->strings.len)
		b = b->base;
	else if (b->base)
		off -= (uint32_t)b->base->strings.len;
	return off < b->strings.len ? (const char *)b->strings.data + off : "";
}

enum btf_kind btf_kind(const struct btf *b, uint32_t id)
{
	return (enum btf_kind)btf_type_of(b, id).kind;
}

const char *btf_name(const struct btf *b, uint32_t id)
{
	return id && id < b->n ? btf_string_at(b, btf_type_of(b, id).name) : "";
}

int btf_find(const struct btf *b, enum btf_kind kind, const char *name, uint32_t *ret)
{
	struct btf_wanted w = { .kind = kind, .name = name };

	btf_find_all(b, &w, 1);
	if (w.id)
		*ret = w.id;
	return w.id ? ATW_OK : ATW_E_MISSING;
}

uint32_t btf_next(const struct btf *b, uint32_t id, uint32_t kinds)
{
	while (id < b->n && !(kinds >> btf_type_of(b, id).kind & 1))
		id++;
	return id;
}

/* Kinds of those that are not found yet. */
static uint32_t btf_kinds_left(const struct btf_wanted *w, size_t n)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < n; i++)
		kinds |= w[i].id ? 0 : (uint32_t)1 << w[i].kind;
	return kinds;
}

void btf_find_all(const struct btf *b, struct btf_wanted *w, size_t n)
{
	uint32_t kinds;

	for (size_t i = 0; i < n; i++)
		w[i].id = 0;
	kinds = btf_kinds_left(w, n);
	for (uint32_t id = 1; kinds && (id = btf_next(b, id, kinds)) < b->n; id++) {
		struct type t = btf_type_of(b, id);
		const char *name = btf_string_at(b, t.name);

		for (size_t i = 0; i < n; i++)
			if (w[i].kind == t.kind && !w[i].id && name[0] == w[i].name[0] &&
			    !strcmp(name, w[i].name)) {
				w[i].id = id;
				kinds = btf_kinds_left(w, n);
			}
	}
}

void btf_enumerators(const struct btf *b, uint32_t id, btf_enumerator_fn *fn, void *arg)
{
	struct type t = btf_type_of(b, id);

	if (t.kind != BTF_ENUM && t.kind != BTF_ENUM64)
		return;
	for (unsigned i = 0; i < t.vlen; i++) {
		const char *e = t.more + (size_t)i * tail[t.kind].each;
		uint32_t low = get_le32(e + 4);
		int64_t value = t.kind == BTF_ENUM64 ?
			(int64_t)(low | (uint64_t)get_le32(e + 8) << 32) :
			t.flag ? (int32_t)low : (int64_t)low;

		fn(arg, btf_string_at(b, get_le32(e)), value);
	}
}

/* ---- sizes and members ---- */

static bool btf_is_alias(unsigned kind)
{
	return kind == BTF_TYPEDEF || kind == BTF_VOLATILE || kind == BTF_CONST ||
	       kind == BTF_RESTRICT || kind == BTF_TYPE_TAG;
}

/* The type behind a chain of typedefs and qualifiers. */
static int btf_resolve(const struct btf *b, uint32_t id, uint32_t *ret)
{
	for (int i = 0; i < DEPTH; i++) {
		struct type t = btf_type_of(b, id);

		if (!btf_is_alias(t.kind)) {
			*ret = id;
			return ATW_OK;
		}
		id = t.size;
	}
	return ATW_E_DAMAGED;
}

int btf_size(const struct btf *b, uint32_t id, uint64_t *ret)
{
	uint64_t count = 1, size = 0;

	for (int i = 0; i < DEPTH; i++) {
		struct type t;

		if (btf_resolve(b, id, &id) < 0)
			return ATW_E_DAMAGED;
		t = btf_type_of(b, id);
		switch (t.kind) {
		case BTF_ARRAY:
			if (!mul_u64(count, get_le32(t.more + 8), &count))
				return ATW_E_DAMAGED;
			id = get_le32(t.more);
			continue;
		case BTF_PTR:
			size = 8;
			break;
		case BTF_INT: case BTF_STRUCT: case BTF_UNION: case BTF_ENUM:
		case BTF_DATASEC: case BTF_FLOAT: case BTF_ENUM64:
			size = t.size;
			break;
		default:
			return ATW_E_MISSING;    /* void, functions and others have no
						  * size */
		}
		if (!mul_u64(count, size, &size))
			return ATW_E_DAMAGED;
		*ret = size;
		return ATW_OK;
	}
	return ATW_E_DAMAGED;
}

struct btf_search {
	const struct btf *b;
	const char *name;
	size_t len;
	uint32_t budget;
};

static int btf_find_member(struct btf_search *s, uint32_t id, unsigned depth,
			   uint64_t base, struct btf_member *ret)
{
	struct type t;

	if (depth == DEPTH || btf_resolve(s->b, id, &id) < 0)
		return ATW_E_DAMAGED;
	t = btf_type_of(s->b, id);
	/* An array has the members of its first element. */
	if (t.kind == BTF_ARRAY)
		return btf_find_member(s, get_le32(t.more), depth + 1, base, ret);
	if (t.kind != BTF_STRUCT && t.kind != BTF_UNION)
		return ATW_E_MISSING;
	for (unsigned i = 0; i < t.vlen; i++) {
		const char *m = t.more + (size_t)i * MEMBER;
		const char *name = btf_string_at(s->b, get_le32(m));
		uint32_t type = get_le32(m + 4), off = get_le32(m + 8);
		uint64_t bit = base + (t.flag ? off & 0xffffff : off);

		if (!s->budget--)
			return ATW_E_DAMAGED;
		if (!strncmp(name, s->name, s->len) && !name[s->len]) {
			*ret = (struct btf_member){
				type, bit, t.flag ? (uint8_t)(off >> 24) : 0,
			};
			return ATW_OK;
		}
		if (!name[0]) {
			int r = btf_find_member(s, type, depth + 1, bit, ret);

			if (r != ATW_E_MISSING)
				return r;
		}
	}
	return ATW_E_MISSING;
}

int btf_member(const struct btf *b, uint32_t id, const char *path, struct btf_member *ret)
{
	struct btf_member m = { .type = id };

	/* Each word of the path descends into the member before it. */
	for (;;) {
		struct btf_search s = {b, path, strcspn(path, "."), BUDGET};
		int r = s.len ? btf_find_member(&s, m.type, 0, m.bit, &m) : ATW_E_MISSING;

		if (r < 0)
			return r;
		if (!path[s.len])
			break;
		path += s.len + 1;
	}
	*ret = m;
	return ATW_OK;
}

int btf_variable(const struct btf *b, const char *name, uint32_t *ret)
{
	enum { VARIABLE = 12 };          /* struct btf_var_secinfo: type, offset, size */

	for (uint32_t id = 1; id < b->n; id++) {
		struct type t = btf_type_of(b, id);

		for (unsigned i = 0; t.kind == BTF_DATASEC && i < t.vlen; i++) {
			const char *v = t.more + (size_t)i * VARIABLE;

			if (btf_kind(b, get_le32(v)) == BTF_VAR &&
			    !strcmp(btf_name(b, get_le32(v)), name)) {
				*ret = get_le32(v + 4);
				return ATW_OK;
			}
		}
	}
	return ATW_E_MISSING;
}

int btf_offset(const struct btf *b, const char *name, const char *path,
	       uint32_t *ret, struct atw_err *err)
{
	struct btf_wanted w = { .kind = BTF_STRUCT, .name = name };

	btf_find_all(b, &w, 1);
	return btf_offset_in(b, &w, path, ret, err);
}

int btf_offset_in(const struct btf *b, const struct btf_wanted *w, const char *path,
		  uint32_t *ret, struct atw_err *err)
{
	struct btf_member m = { 0 };
	int r = w->id ? btf_member(b, w->id, path, &m) : ATW_E_MISSING;

	if (r != ATW_OK)
		return atw_err_set(err, r, "the kernel's types have no %s.%s", w->name, path);
	if (m.bit % 8 || m.width || m.bit / 8 > UINT32_MAX)
		return atw_err_set(err, ATW_E_DAMAGED, "%s.%s does not lie at a byte", w->name,
				   path);
	*ret = (uint32_t)(m.bit / 8);
	return ATW_OK;
}
