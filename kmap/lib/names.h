/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - function, file and folder of an instruction, and aggregation of instructions
 * by one of these.
 */
#pragma once

#include "kmap/lib/model.h"

enum kmap_level {
	KMAP_INSTRUCTION, KMAP_FUNCTION, KMAP_FILE, KMAP_DIRECTORY, KMAP_TOPDIR, KMAP_LEVELS,
};
extern const char *const kmap_level_words[KMAP_LEVELS], *const kmap_level_many[KMAP_LEVELS];

struct kmap_names;

/* For a model that is whole. Errors name the option and its file. */
int kmap_names_open(const struct kmap_symbols_opts *o, const struct kmap_model *m,
		    struct kmap_names **ret, struct atw_err *err);
void kmap_names_close(struct kmap_names *n);

/* Are there symbols; and files? If not, `why` of the latter is a sentence. */
bool kmap_names_symbols(const struct kmap_names *n);
bool kmap_names_files(const struct kmap_names *n, const char **why);
/* Instructions that have a symbol, of all. */
void kmap_names_found(const struct kmap_names *n, size_t *found, size_t *all);

/* Of an instruction. Texts last until close. */
struct kmap_name {
	const char *function;            /* as it is called; NULL: not known */
	const char *file;                /* likewise */
	uint64_t at, size;               /* of the function; 0: not known */
};

/* Of instruction `code` of the model. */
const struct kmap_name *kmap_name(const struct kmap_names *n, size_t code);
/* "vfs_read+0x12"; without a symbol the address alone. Returns buf. */
const char *kmap_place(const struct kmap_names *n, size_t code, char buf[600]);

/*
 * ".part.0", ".constprop.1", ".isra.2", ".cold" and "_noprof" are how a compiler or
 * a macro calls pieces of one function: its length without them.
 */
size_t kmap_plain_name(const char *name, size_t len);

/* ---- units.c: together ---- */

struct kmap_unit {
	const char *name;                /* NULL: unknown for this code */
	uint64_t reads, writes, frees, instructions;
	uint64_t size;                   /* bytes of its functions; 0: not known */
};

struct kmap_units {
	enum kmap_level level;
	uint32_t *of;                    /* of each instruction of the model */
	struct kmap_unit *v;
	size_t n;
	struct kmap_table by_name;
	struct intern texts;
};

/* ATW_E_MISSING: nothing is known at that level; the sentence says what is missing. */
int kmap_units_init(struct kmap_units *u, const struct kmap_model *m,
		    const struct kmap_names *n, enum kmap_level level, struct atw_err *err);
/* Fine on a zeroed struct. */
void kmap_units_deinit(struct kmap_units *u);
