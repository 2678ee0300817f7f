/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the kernel: any VMCOREINFO, as a note and in memory, over any page
 * tables; registers of a CPU; options of the user. What is found can be walked.
 *
 *	options: a byte; the text up to an empty line; then a machine
 */
#include "tables.h"

struct noted {
	struct machine *m;
	struct atw_source s;
	struct atw_blob note;
	uint64_t cr[5];
	uint8_t options;
};

static struct noted *noted_of(struct atw_source *s)
{
	return s->impl;
}

static ssize_t noted_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	return machine_read(&noted_of(s)->m->s, pa, buf, len, err);
}

static int noted_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	return machine_extent(&noted_of(s)->m->s, pa, ret);
}

static int noted_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct noted *n = noted_of(s);

	if (!strcmp(key, "vmcoreinfo") && n->options & 1 && n->note.len)
		*ret = n->note;
	else if (!strncmp(key, "cpu0.cr", 7) && n->options & 2 &&
		 key[7] >= '0' && key[7] <= '4')
		*ret = (struct atw_blob){ &n->cr[key[7] - '0'], 8 };
	else
		return ATW_E_MISSING;
	return ATW_OK;
}

static const struct atw_source_ops noted_ops = {
	.name = "noted", .help = "",
	.read = noted_read, .extent = noted_extent, .fact = noted_fact,
};

static void use(const struct atw_kernel *k)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .want = 0xf, .budget = 20,
	};
	const struct mmu_space *sp = atw_kernel_space(k);
	const struct atw_vmcoreinfo *vi = atw_kernel_vmcoreinfo(k);
	const struct mmu_seen *seen;
	struct mmu_walk *w;
	atw_pa at;

	FUZZ_CHECK(sp->paging.name && sp->paging.nlevels && sp->mem, "no address space");
	FUZZ_CHECK(sp->low.have || sp->high.have, "no root");
	FUZZ_CHECK(atw_kernel_root_from(k) <= ATW_ROOT_GIVEN &&
		   strlen(atw_kernel_root_why(k)), "out of nowhere");
	if (vi)
		touch(vi->text, vi->len);
	if (atw_kernel_vmcoreinfo_at(k, &at) == ATW_OK)
		FUZZ_CHECK(vi, "a place without a text");
	if (mmu_walk_open(sp, &o, &w, NULL) < 0)
		return;
	for (int i = 0; i < 200 && mmu_walk_next(w, &seen, NULL) == ATW_OK; i++)
		;
	mmu_walk_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const ext[] = { NULL, "thead", "lpa2,cbit=51", "cbit=47,no" };
	struct input in = { data, len };
	struct noted n = { .options = (uint8_t)take(&in, 1) };
	const uint8_t *end = in.len ? memmem(in.p, in.len, "\n\n", 2) : NULL;
	size_t text = end ? (size_t)(end + 1 - in.p) : 0;
	struct atw_kernel_opts o = { .has_cpu = n.options & 4 };
	struct atw_kernel *k = NULL;
	struct atw_err err = { 0 };
	int r;

	n.note = (struct atw_blob){ in.p, text };
	in.p += text + (end != NULL);
	in.len -= text + (end != NULL);
	for (unsigned i = 0; i < 5 && n.options & 2; i++)
		n.cr[i] = i == 3 ? take(&in, 2) << 8 : take(&in, 2);
	n.cr[0] <<= 16;
	n.m = machine_new(&in);
	/* Behind a note's header, or from a page's first byte. */
	if (text && text < 3000)
		memcpy(n.m->bytes + 7 * 4096 + (n.options & 8 ? 24 : 0), n.note.data,
		       text);
	if (n.options & 16)
		o.paging = n.m->sp.paging.name;
	o.has_root = n.options & 32;
	o.root = ATW_PA(n.cr[2]);
	o.ext = ext[n.options >> 6];
	n.s = (struct atw_source){ &noted_ops, &n, NULL };
	r = atw_kernel_open(&n.s, &o, &k, &err);
	check_err(r, &err);
	if (r == ATW_OK)
		use(k);
	atw_kernel_close(k);
	return 0;
}
