/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btf.h - parser of BTF, the kernel's own type information: the contents of
 * /sys/kernel/btf/vmlinux, or the same bytes found in a dump. Layout: Linux,
 * Documentation/bpf/btf.rst.
 *
 * Pure: the blob is borrowed, and every offset, count and type id in it is checked before
 * it is used. A lookup in types that contain themselves ends with ATW_E_DAMAGED.
 */
#pragma once

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
	const struct btf *base;  /* of a module: BTF of the kernel */
	uint32_t first;          /* first id of this blob; 0 without a base */
	uint32_t *at;            /* offset in `types` of the type with id first + i */
	uint32_t n;              /* ids: 0 to n - 1, the base's included */
	size_t room;             /* for so many in at[]; 0: it is borrowed */
};

/*
 * The length of the BTF blob that begins here, from its header; 0 if there is none. For
 * searches in memory: only btf_init() checks the types.
 */
uint64_t btf_length(struct atw_blob head);

/* ATW_E_FORMAT: no BTF. _UNSUPPORTED: big-endian, a split part, a new kind. */
int btf_init(struct btf *ret, struct atw_blob blob, struct atw_err *err);
/*
 * BTF of a module: ids and strings continue those of `base`, which is borrowed and must
 * stay valid.
 */
int btf_init_split(struct btf *ret, const struct btf *base, struct atw_blob blob,
		   struct atw_err *err);
/*
 * BTF whose types were indexed before: `at` is the array of that struct, n times 4 bytes,
 * which is borrowed and must stay valid.
 */
int btf_init_numbered(struct btf *ret, struct atw_blob blob, struct atw_blob at,
		      struct atw_err *err);
/* A zeroed struct is accepted. */
void btf_deinit(struct btf *b);

/* Cannot fail: an invalid id is of kind BTF_VOID and has the name "". */
enum btf_kind btf_kind(const struct btf *b, uint32_t id);
const char *btf_name(const struct btf *b, uint32_t id);

/* The first type from this id on of a kind with its bit in `kinds`; b->n: there is none. */
uint32_t btf_next(const struct btf *b, uint32_t id, uint32_t kinds);

/*
 * The first type of this kind and name: a struct, or a BTF_FUNC, whose id BPF programs
 * use to call a kernel function. ATW_E_MISSING: there is none.
 */
int btf_find(const struct btf *b, enum btf_kind kind, const char *name, uint32_t *ret);

/* The same for several names in one pass over all types; id 0: not found. */
struct btf_wanted {
	enum btf_kind kind;
	const char *name;
	uint32_t id;
};
void btf_find_all(const struct btf *b, struct btf_wanted *w, size_t n);

/*
 * Lists the enumerators of an enum in their order: BTF_ENUM and BTF_ENUM64, signed or
 * unsigned as declared. Other kinds have none.
 */
typedef void btf_enumerator_fn(void *arg, const char *name, int64_t value);
void btf_enumerators(const struct btf *b, uint32_t id, btf_enumerator_fn *fn, void *arg);

/* Bytes of a type, through typedefs, qualifiers and arrays; pointers are 8. */
int btf_size(const struct btf *b, uint32_t id, uint64_t *ret);

struct btf_member {
	uint32_t type;           /* its type's id */
	uint64_t bit;            /* its first bit, from the start of the struct */
	uint8_t width;           /* bits of a bit field; 0: not one */
};

/*
 * A member by its path, such as "pid" or "se.cfs_rq": in the struct itself or in
 * anonymous members of it. ATW_E_MISSING: there is none.
 */
int btf_member(const struct btf *b, uint32_t id, const char *path,
	       struct btf_member *ret);

/*
 * The offset of a variable in its section, in bytes: in the kernel's BTF these are the
 * static per-CPU variables. ATW_E_MISSING: there is none.
 */
int btf_variable(const struct btf *b, const char *name, uint32_t *ret);

/* The offset in bytes of a member by struct name and path. */
int btf_offset(const struct btf *b, const char *name, const char *path,
	       uint32_t *ret, struct atw_err *err);
/* The same by the id of the struct; id 0: it was not found. */
int btf_offset_in(const struct btf *b, const struct btf_wanted *w, const char *path,
		  uint32_t *ret, struct atw_err *err);
