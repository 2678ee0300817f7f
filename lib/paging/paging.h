/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paging.h - paging modes as data: the meaning of the words of a page table.
 *
 * A paging mode is one struct of tables. Everything here is pure: no I/O, no allocation,
 * no failure; every 64-bit word can be decoded.
 *
 * Sources: Intel SDM vol. 3A ch. 4 and AMD APM vol. 2 ch. 5 (x86), Arm ARM DDI 0487 ch.
 * D8 and DDI 0406 ch. B3 (Arm), RISC-V Privileged ISA ch. "Supervisor" with Svnapot,
 * Svpbmt and Svadu, and ch. "Hypervisor"; Intel SDM vol. 3C ch. 29 (EPT).
 */
#pragma once

#include <atwalk/base.h>

#define ATW_MAX_LEVELS 6

enum atw_kind {
	ATW_ABSENT,              /* the CPU faults; the other bits belong to the OS */
	ATW_TABLE,               /* points to a table of the next lower level */
	ATW_LEAF,                /* maps memory */
	ATW_BAD,                 /* reserved bits set: no CPU accepts it */
};
#define ATW_K(kind) (1u << (kind))
#define ATW_K_ANY   (ATW_K(ATW_TABLE) | ATW_K(ATW_LEAF))

/* Level sets: level 0 holds the smallest pages. */
#define ATW_L(n)       (1u << (n))
#define ATW_L_ALL      0x3fu
#define ATW_L_FROM(n)  (ATW_L_ALL & ~(ATW_L(n) - 1))

/*
 * Entry bits hi..lo are address bits from `to` up, and `to` is not below lo. With a mask,
 * only in leaves above level 0 for which (word & mask) == value (i386 PSE-36, Arm
 * supersections): in the smallest pages the same bits have another meaning.
 */
struct atw_bits {
	uint8_t hi, lo, to;
	uint64_t mask, value;
};

/*
 * The first rule matches that includes the level and has (word & mask) == value and, if
 * `nonzero` is set, at least one bit of it in the word. The last rule has levels
 * ATW_L_ALL and mask 0: it matches every word.
 */
struct atw_rule {
	uint64_t mask, value, nonzero;
	uint32_t levels;
	enum atw_kind kind;
};

/*
 * Permissions of the kernel and of user mode. All are granted until an entry clears some.
 */
enum atw_right {
	ATW_KR = 1, ATW_KW = 2, ATW_KX = 4,
	ATW_UR = 8, ATW_UW = 16, ATW_UX = 32,
};
#define ATW_RIGHTS_ALL 0x3fu

/* If (word & mask) == value in an entry of that level and kind, `clear` is removed. */
struct atw_right_rule {
	uint64_t mask, value;
	uint32_t levels;
	uint8_t kinds;           /* ATW_K() of TABLE, LEAF */
	uint8_t clear;           /* enum atw_right */
};

/* A named property of an entry: (word & mask) == value. At most 64 per mode. */
struct atw_flag {
	uint64_t mask, value;
	uint32_t levels;
	uint8_t kinds;
	char letter;             /* unique within a level and kind */
	const char *name, *help; /* name: lower case, [a-z0-9-]+ */
};

/*
 * Leaves that belong to a contiguous range: runs of entries that form one translation
 * (arm64 contiguous, RISC-V NAPOT, Arm large pages).
 */
struct atw_span_rule {
	uint64_t mask, value;
	uint32_t levels;
	uint8_t shift;           /* log2 of the bytes of the whole run */
	bool replaces;           /* address bits below `shift` come from the VA */
};

/*
 * What entries of all CPUs express, whatever their bits are called. The first three are
 * table-driven; the last two follow from the size of the translation.
 */
enum atw_property {
	ATW_ACCESSED = 1, ATW_DIRTY = 2, ATW_GLOBAL = 4,
	ATW_LARGE = 8,           /* more than the smallest page of the mode */
	ATW_CONTIGUOUS = 16,     /* one of several entries that form one translation */
};
enum { ATW_PROPERTIES = 5 };

/* If (word & mask) == value in an entry of that kind, it has the properties. */
struct atw_property_rule {
	uint64_t mask, value;
	uint32_t levels;
	uint8_t kinds;
	uint8_t has;             /* enum atw_property */
};

struct atw_level {
	const char *name;        /* "PGD" "P4D" "PUD" "PMD" "PTE" */
	uint8_t shift, bits;     /* of the virtual address */
};

enum atw_family { ATW_X86, ATW_ARM64, ATW_RISCV, ATW_ARM };

/* How the bits above the translated ones select a half of the address space. */
enum atw_halves {
	ATW_FLAT,                /* all of it is translated, or the rest is zero */
	ATW_SIGNED,              /* copies of the top translated bit; one root */
	ATW_SPLIT,               /* all zero: low root; all ones: high root (Arm) */
};

/* Plain data, freely copied; the arrays behind the pointers are static. */
struct atw_paging {
	const char *name;        /* "x86_64-4", "arm64-16k-48", "riscv64-sv48" */
	const char *help;
	enum atw_family family;
	enum atw_halves halves;
	bool stage2;             /* from guest-physical addresses: rights are those
				  * of the guest, kernel and user alike */
	uint8_t page_shift;
	uint8_t pa_bits;         /* physical bits an entry can carry */
	uint8_t va_bits;         /* translated bits of a virtual address */
	uint8_t word_size;       /* 4 or 8 bytes an entry */
	uint8_t nlevels;
	struct atw_level level[ATW_MAX_LEVELS];   /* [nlevels - 1] is the root */
	struct atw_bits addr[4];                  /* unused ones all zero */
	const struct atw_rule *rules;             /* ends with the match-all rule */
	const struct atw_right_rule *rights;      /* ends with clear 0 */
	const struct atw_flag *flags;             /* ends with letter 0 */
	const struct atw_span_rule *spans;        /* NULL, or ends with shift 0 */
	const struct atw_property_rule *properties;       /* ends with has 0 */
	uint64_t ignore;         /* encryption bits (SME/SEV C-bit, TDX shared):
				  * cleared in every word before it is decoded */
};

/* The modes, by number and by name; NULL past the end or when unknown. */
const struct atw_paging *atw_paging_at(size_t i);
const struct atw_paging *atw_paging_find(const char *name);

/*
 * Change a copy of a mode for a CPU extension: "thead" (RISC-V C9xx memory
 * type bits 59..63), "svrsw60t59b" (RISC-V software bits 60, 59), "lpa2" (4K/16K arm64 tables in the LPA2 layout at any
 * address width), "ipa=39" (arm64 stage 2: width of guest-physical addresses), "cbit=47"
 * (mask an encryption bit). ATW_E_USAGE when the mode has no such extension.
 */
int atw_paging_extend(struct atw_paging *pg, const char *ext, struct atw_err *err);

/* log2 of the bytes this leaf is one translation for; at least the slot's. */
unsigned atw_entry_span(const struct atw_paging *pg, unsigned level, uint64_t word);
/* Bit i is set if pg->flags[i] matches. */
uint64_t atw_entry_flags(const struct atw_paging *pg, unsigned level,
			 enum atw_kind kind, uint64_t word);
/* Set of enum atw_property; those that the mode has no bits for are never set. */
unsigned atw_entry_properties(const struct atw_paging *pg, unsigned level,
			      enum atw_kind kind, uint64_t word);
/* Those that entries of the mode can express. */
unsigned atw_known_properties(const struct atw_paging *pg);
/*
 * The bits of a level's leaf that determine its kind, permissions, flags and span: two
 * leaves of the level that agree in them differ in the address only.
 */
uint64_t atw_leaf_attrs(const struct atw_paging *pg, unsigned level);

/* "rwxu": permissions of user mode for user pages, and of the kernel for all others. */
void atw_rights_letters(unsigned rights, char ret[5]);

/* Slot of an address in a table of that level, and its size in bytes. */
static inline unsigned atw_index(const struct atw_paging *pg, unsigned level, atw_va va)
{
	return (va.u >> pg->level[level].shift) & ((1u << pg->level[level].bits) - 1);
}

static inline size_t atw_table_bytes(const struct atw_paging *pg, unsigned level)
{
	return (size_t)pg->word_size << pg->level[level].bits;
}

/* Is `va` canonical: can the mode translate it at all? */
bool atw_va_valid(const struct atw_paging *pg, atw_va va);
/* The canonical form: with the copies of the top bit (or of the half) filled in. */
atw_va atw_va_canonical(const struct atw_paging *pg, uint64_t low, bool high_half);
