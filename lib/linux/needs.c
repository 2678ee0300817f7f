/* SPDX-License-Identifier: GPL-2.0-or-later */
/* needs.c - the list of required members and its lookup in BTF. */
#include "linux/needs.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"

/* ---- the list of requirements ---- */

enum needs_kind { KIND_MEMBER, KIND_SIZE, KIND_CONST, KIND_SYMBOL };

struct needs_entry {
	const char *names;
	uint8_t serves;
	bool must, bits;         /* bits: it may be a bit field */
};

static const struct needs_entry members[] = {
#define MEMBER(id, paths, serves, must) { paths, serves, must, false },
#define BITFIELD(id, paths, serves, must) { paths, serves, must, true },
#include "linux/needs.def"
};
static const struct needs_entry sizes[] = {
#define SIZE(id, types, serves, must) { types, serves, must, false },
#include "linux/needs.def"
};
static const struct needs_entry consts[] = {
#define CONST(id, names, serves, must) { names, serves, must, false },
#include "linux/needs.def"
	{NULL, 0, false, false},
};
static const struct needs_entry symbols[] = {
#define SYMBOL(id, names, serves, must) { names, serves, must, false },
#include "linux/needs.def"
};

const char *needs_for_name(enum need_for f)
{
	static const char *const names[FOR_COUNT] = {
		[FOR_TASKS] = N_("the list of tasks"),
		[FOR_SPACES] = N_("page tables of processes"),
		[FOR_AREAS] = N_("memory areas"),
		[FOR_NAMES] = N_("names of areas"),
		[FOR_PAGES] = N_("what the kernel says of pages"),
		[FOR_SLAB] = N_("names of slab caches"),
		[FOR_SWAP] = N_("names of swap devices"),
		[FOR_LARGE] = N_("whether large pages are allowed"),
		[FOR_REGIONS] = N_("names of kernel regions"),
		[FOR_MODULES] = N_("types of modules"),
		[FOR_CPUS] = N_("page tables of a CPU"),
		[FOR_CGROUPS] = N_("memory cgroups of pages"),
		[FOR_ABOUT] = N_("what tasks are, and have used"),
		[FOR_MACHINE] = N_("how much RAM there is, and where"),
		[FOR_COUNTERS] = N_("what the kernel counts of its memory"),
		[FOR_LOG] = N_("the kernel's log"),
		[FOR_CRASH] = N_("where and when it crashed"),
		[FOR_GUESTS] = N_("virtual machines of KVM"),
		[FOR_STAGE2] = N_("page tables of virtual machines (stage 2)"),
	};

	return f < FOR_COUNT ? names[f] : "";
}

/* ---- lookup in BTF ---- */

static bool needs_want(struct name_index *l, const struct needs_entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!wanted_add(l, e[i].names, (uint16_t)i))
			return false;
	return true;
}

bool needs_set_bits(struct needs *n, size_t i, uint64_t bit, unsigned bits)
{
	if (!members[i].bits)
		return false;
	/* The smallest aligned number that has all of it. */
	for (unsigned width = 1; width <= 8; width *= 2) {
		uint64_t at = bit / (8 * width) * width;

		if (bit - 8 * at + bits > 8 * width || at >= NEED_NONE)
			continue;
		n->member[i] = (uint32_t)at;
		n->width[i] = (uint8_t)width;
		n->bits[i] = (uint8_t)bits;
		n->low[i] = (uint8_t)(bit - 8 * at);
		return true;
	}
	return false;
}

static void needs_find_member(struct needs *n, const struct btf *b,
			      const struct name_index *l, size_t i)
{
	char path[128];

	for (const char *p = members[i].names; (p = wanted_alternative(p, path, sizeof(path)));) {
		char *dot = strchr(path, '.');
		struct name_entry *w;
		struct btf_member m;
		uint64_t size;

		if (!dot)
			continue;
		*dot = 0;
		w = wanted_find(l, path);
		if (!w || !w->id || btf_member(b, (uint32_t)w->id, dot + 1, &m) < 0)
			continue;
		if (m.width && needs_set_bits(n, i, m.bit, m.width))
			return;
		if (m.width || m.bit % 8 || m.bit / 8 >= NEED_NONE)
			continue;
		n->member[i] = (uint32_t)(m.bit / 8);
		n->width[i] = btf_size(b, m.type, &size) == ATW_OK &&
			(size == 1 || size == 2 || size == 4 || size == 8) ? (uint8_t)size : 0;
		return;
	}
}

static void needs_find_size(struct needs *n, const struct btf *b,
			    const struct name_index *l, size_t i)
{
	char name[128];

	for (const char *p = sizes[i].names; (p = wanted_alternative(p, name, sizeof(name)));) {
		struct name_entry *w = wanted_find(l, name);
		uint64_t size;

		if (w && w->id && btf_size(b, (uint32_t)w->id, &size) == ATW_OK && size < NEED_NONE) {
			n->size[i] = (uint32_t)size;
			return;
		}
	}
}

struct const_search {
	struct needs *n;
	struct name_index names;
	uint8_t place[N_CONSTS + 1];     /* index of the alternative that was found; 0:
					  * none */
};

/* Earlier alternatives have precedence, in whatever order the types come. */
static void needs_on_enumerator(void *arg, const char *name, int64_t value)
{
	struct const_search *s = arg;
	const struct name_entry *w = wanted_find(&s->names, name);

	if (!w || (s->place[w->owner] && s->place[w->owner] <= w->place))
		return;
	s->place[w->owner] = w->place;
	s->n->constant[w->owner] = value;
	s->n->have_const[w->owner] = true;
}

/* One pass over the types: finds structs and all required enumerators. */
static void needs_look_at_all(const struct btf *b, struct name_index *types,
			      struct const_search *cs)
{
	const uint32_t enums = 1u << BTF_ENUM | 1u << BTF_ENUM64,
		       named = 1u << BTF_STRUCT | 1u << BTF_UNION | 1u << BTF_TYPEDEF;

	for (uint32_t id = 1; (id = btf_next(b, id, enums | named)) < b->n; id++) {
		enum btf_kind kind = btf_kind(b, id);
		struct name_entry *w;

		if (enums >> kind & 1) {
			btf_enumerators(b, id, needs_on_enumerator, cs);
			continue;
		}
		w = wanted_find(types, btf_name(b, id));
		/* A struct has precedence over a typedef of the same name. */
		if (w && (!w->id || (kind == BTF_STRUCT && btf_kind(b, (uint32_t)w->id) != BTF_STRUCT)))
			w->id = id;
	}
}

void needs_from_types(struct needs *n, const struct btf *b)
{
	struct name_index types = {0};
	struct const_search cs = { .n = n };

	memset(n->member, 0xff, sizeof(n->member));
	n->types = b && needs_want(&types, members, N_MEMBERS) &&
		   needs_want(&types, sizes, N_SIZES) &&
		   needs_want(&cs.names, consts, N_CONSTS);
	if (n->types) {
		wanted_settle(&types);
		wanted_settle(&cs.names);
		needs_look_at_all(b, &types, &cs);
		for (size_t i = 0; i < ARRAY_SIZE(members); i++)
			needs_find_member(n, b, &types, i);
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			needs_find_size(n, b, &types, i);
	}
	wanted_deinit(&types);
	wanted_deinit(&cs.names);
}

void needs_add(struct needs *n, const struct needs *more, enum need_for f)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (members[i].serves == f && n->member[i] == NEED_NONE) {
			n->member[i] = more->member[i];
			n->width[i] = more->width[i];
			n->bits[i] = more->bits[i];
			n->low[i] = more->low[i];
		}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i].serves == f && !n->size[i])
			n->size[i] = more->size[i];
	for (size_t i = 0; i < N_CONSTS; i++)
		if (consts[i].serves == f && !n->have_const[i]) {
			n->constant[i] = more->constant[i];
			n->have_const[i] = more->have_const[i];
		}
}

/* ---- results ---- */

size_t needs_count(void)
{
	return N_MEMBERS + N_SIZES + N_CONSTS + N_SYMBOLS;
}

struct need_info needs_at(const struct needs *n, size_t i)
{
	const size_t size = i - N_MEMBERS, constant = size - N_SIZES,
		     symbol = constant - N_CONSTS;
	const struct needs_entry *e;
	const char *kind;
	bool have;

	if (i < N_MEMBERS) {
		kind = "member";
		e = &members[i];
		have = n->member[i] != NEED_NONE;
	} else if (size < N_SIZES) {
		kind = "size";
		e = &sizes[size];
		have = n->size[size];
	} else if (constant < N_CONSTS) {
		kind = "constant";
		e = &consts[constant];
		have = n->have_const[constant];
	} else {
		kind = "symbol";
		e = &symbols[symbol];
		have = n->symbol[symbol];
	}
	return (struct need_info){ kind, e->names, e->serves, e->must, have };
}

const char *needs_names(size_t i)
{
	static const struct needs none;

	return needs_at(&none, i).names;
}

int needs_check(const struct needs *n, enum need_for f, struct atw_err *err)
{
	if (!n->types && n->why) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "%s cannot be found: %s",
			    message(needs_for_name(f)), n->why->text);
		atw_err_hint(err, "%s", n->why->hint);
		return ATW_E_UNSUPPORTED;
	}
	if (!n->types)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "%s cannot be found without the kernel's types (BTF)",
				   message(needs_for_name(f)));
	for (size_t i = 0; i < needs_count(); i++) {
		struct need_info info = needs_at(n, i);

		if (info.serves == f && info.must && !info.have)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "%s cannot be found: this kernel has no %s %s",
					   message(needs_for_name(f)), info.kind, info.names);
	}
	return ATW_OK;
}

const char *needs_symbol_names(enum need_symbol i)
{
	return symbols[i].names;
}
