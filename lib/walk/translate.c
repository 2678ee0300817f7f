/* SPDX-License-Identifier: GPL-2.0-or-later */
/* translate.c - one address at a time, and bytes by virtual address. */
#include <inttypes.h>
#include <string.h>

#include "walk/memory.h"
#include "walk/space.h"

uint64_t atw_seen_word(const struct atw_space *sp, const struct atw_seen *s,
		       uint32_t i)
{
	return load_word(s->words, sp->paging.word_size, i);
}

atw_pa atw_seen_pa(const struct atw_space *sp, const struct atw_seen *s,
		   uint32_t i)
{
	uint64_t va = s->va.u + ((uint64_t)i << sp->paging.level[s->level].shift);

	return space_leaf_pa(sp, s->level, atw_seen_word(sp, s, i), va);
}

/* The entry's word; false with *loss set when its table cannot be read. */
static bool read_entry(struct atw_source *mem, atw_pa at, unsigned word_size,
		       uint64_t *ret, enum atw_loss *loss, struct atw_err *err)
{
	const void *p;
	uint64_t copy;

	if (memory_words(mem, at, word_size, &copy, &p, loss, err) != word_size) {
		if (*loss == ATW_HAVE)
			*loss = ATW_LOST;
		return false;
	}
	*ret = load_word(p, word_size, 0);
	return true;
}

int atw_translate(const struct atw_space *sp, atw_va va, struct atw_seen *ret,
		  struct atw_err *err)
{
	const struct atw_paging *pg = &sp->paging;
	unsigned rights = ATW_RIGHTS_ALL, level = pg->nlevels - 1u, depth = 0;
	struct atw_root root;
	atw_pa table;

	if (!atw_va_valid(pg, va))
		return atw_err_set(err, ATW_E_USAGE,
				   "0x%" PRIx64 " is not an address that %s can translate (%u bits)",
				   va.u, pg->name, pg->va_bits);
	root = space_root(sp, va);
	if (!root.have)
		return atw_err_set(err, ATW_E_MISSING,
				   "no page tables are known for the %s half of the address space",
				   va.u >> 63 ? "upper" : "lower");
	ret->loss = ATW_HAVE;
	ret->count = 1;
	ret->repeat_of = 0;
	ret->words = NULL;
	for (table = root.pa;; level--) {
		struct atw_step *step = &ret->path[depth];
		unsigned index = atw_index(pg, level, va);
		enum atw_loss loss = ATW_HAVE;
		enum atw_kind kind;
		uint64_t word, slot = (uint64_t)1 << pg->level[level].shift;
		atw_pa at = ATW_PA(table.u + (uint64_t)index * pg->word_size);

		ret->level = (uint8_t)level;
		ret->va = ATW_VA(va.u & ~(slot - 1));
		ret->size = slot;
		if (!read_entry(sp->mem, at, pg->word_size, &word, &loss, err)) {
			ret->kind = ATW_TABLE;
			ret->loss = (uint8_t)loss;
			ret->pa = table;
			break;
		}
		kind = atw_entry_kind(pg, level, word);
		if (kind == ATW_TABLE || kind == ATW_LEAF)
			rights = atw_entry_rights(pg, level, kind, word, rights);
		*step = (struct atw_step){
			.level = (uint8_t)level, .kind = (uint8_t)kind,
			.rights = (uint8_t)rights, .index = (uint16_t)index,
			.at = at, .word = word,
		};
		depth++;
		if (kind == ATW_TABLE && level) {
			table = atw_entry_addr(pg, level, kind, word);
			continue;
		}
		ret->kind = (uint8_t)kind;
		ret->pa = kind == ATW_LEAF ? space_leaf_pa(sp, level, word, ret->va.u)
					   : ATW_PA(0);
		break;
	}
	if (depth)
		ret->words = &ret->path[depth - 1].word;
	ret->rights = (uint8_t)rights;
	ret->depth = (uint8_t)depth;
	return ATW_OK;
}

ssize_t atw_space_read(const struct atw_space *sp, atw_va va, void *buf,
		       size_t len, struct atw_err *err)
{
	struct atw_seen seen;
	size_t done = 0;

	while (done < len) {
		uint64_t at = va.u + done, off;
		size_t n = len - done;
		ssize_t got;
		int r = atw_translate(sp, ATW_VA(at), &seen, err);

		if (r < 0)
			return done ? (ssize_t)done : r;
		if (seen.kind != ATW_LEAF || seen.loss)
			break;
		off = at - seen.va.u;
		if (n > seen.size - off)
			n = (size_t)(seen.size - off);
		got = atw_read(sp->mem, ATW_PA(seen.pa.u + off),
			       (char *)buf + done, n, err);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += (size_t)got;
		if ((size_t)got < n)
			break;
	}
	return (ssize_t)done;
}
