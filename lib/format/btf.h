/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btf.h - the types of a kernel as it carries them itself: the contents of
 * /sys/kernel/btf/vmlinux, or the same bytes found in a dump. Layout: Linux,
 * Documentation/bpf/btf.rst.
 *
 * Pure: the blob is borrowed and every offset, count and type id in it is
 * checked before it is followed. Types that contain themselves end a lookup
 * with ATW_E_DAMAGED, however cleverly they do it.
 */
#ifndef FORMAT_BTF_H
#define FORMAT_BTF_H

#include <atwalk/base.h>

enum btf_kind {
	BTF_VOID, BTF_INT, BTF_PTR, BTF_ARRAY, BTF_STRUCT, BTF_UNION, BTF_ENUM,
	BTF_FWD, BTF_TYPEDEF, BTF_VOLATILE, BTF_CONST, BTF_RESTRICT, BTF_FUNC,
	BTF_FUNC_PROTO, BTF_VAR, BTF_DATASEC, BTF_FLOAT, BTF_DECL_TAG,
	BTF_TYPE_TAG, BTF_ENUM64,
	BTF_KINDS
};

struct btf {
	struct atw_blob types;   /* the section of types */
	struct atw_blob strings; /* that of strings; its last byte is 0 */
	const struct btf *base;  /* of a module: the kernel's, which comes first */
	uint32_t first;          /* the first id of its own; 0 without a base */
	uint32_t *at;            /* where the type of id first + i lies in types */
	uint32_t n;              /* ids: 0 to n - 1, the base's included */
	bool lent;               /* at[] is another's */
};

/*
 * Bytes of the blob that begins here, by its header; 0 when none does. For a
 * search through memory; that the types are good only btf_init() knows.
 */
uint64_t btf_length(struct atw_blob head);

/* ATW_E_FORMAT: no BTF. _UNSUPPORTED: big-endian, a split part, a new kind. */
int btf_init(struct btf *ret, struct atw_blob blob, struct atw_err *err);
/*
 * Of a module: ids and strings go on where those of `base` end, which is
 * borrowed and must stay.
 */
int btf_init_split(struct btf *ret, const struct btf *base, struct atw_blob blob,
		   struct atw_err *err);
/*
 * The same blob once more, which was numbered before: `at` is the array of that struct,
 * n times 4 bytes, and must stay.
 */
int btf_init_numbered(struct btf *ret, struct atw_blob blob, struct atw_blob at,
		      struct atw_err *err);
/* Fine on a zeroed struct. */
void btf_deinit(struct btf *b);

/* Cannot fail: an id that is none is of kind BTF_VOID and has the name "". */
enum btf_kind btf_kind(const struct btf *b, uint32_t id);
const char *btf_name(const struct btf *b, uint32_t id);

/*
 * The first type of this kind and name: a struct, or BTF_FUNC for the id by
 * which BPF programs call a kernel function. ATW_E_MISSING: there is none.
 */
int btf_find(const struct btf *b, enum btf_kind kind, const char *name,
	     uint32_t *ret);

/* The same of several at once, for all types are gone through; id 0: there is none. */
struct btf_wanted {
	enum btf_kind kind;
	const char *name;
	uint32_t id;
};
void btf_find_all(const struct btf *b, struct btf_wanted *w, size_t n);

/*
 * Every enumerator of an enum, in its order: BTF_ENUM and BTF_ENUM64, signed as
 * they say. Other kinds have none.
 */
typedef void btf_enumerator_fn(void *arg, const char *name, int64_t value);
void btf_enumerators(const struct btf *b, uint32_t id, btf_enumerator_fn *fn,
		     void *arg);

/* Bytes of a type, through typedefs, qualifiers and arrays; pointers are 8. */
int btf_size(const struct btf *b, uint32_t id, uint64_t *ret);

struct btf_member {
	uint32_t type;           /* its type's id */
	uint64_t bit;            /* its first bit, from the start of the struct */
	uint8_t width;           /* bits of a bit field; 0: not one */
};

/*
 * A member by its path, such as "pid" or "se.cfs_rq": in the struct itself or
 * in the members without a name that it contains. ATW_E_MISSING: no such.
 */
int btf_member(const struct btf *b, uint32_t id, const char *path,
	       struct btf_member *ret);

/*
 * Where a variable lies in the section that is listed with it, in bytes: of the
 * kernel these are the static per-CPU ones. ATW_E_MISSING: there is none.
 */
int btf_variable(const struct btf *b, const char *name, uint32_t *ret);

/* Its offset in bytes: struct name and path in one go, with a sentence. */
int btf_offset(const struct btf *b, const char *name, const char *path,
	       uint32_t *ret, struct atw_err *err);
/* The same where the struct was found already, or was not: id 0. */
int btf_offset_in(const struct btf *b, const struct btf_wanted *w, const char *path,
		  uint32_t *ret, struct atw_err *err);

#endif
