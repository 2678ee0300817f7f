/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.c - search for the kernel's own address space, verified by a walk.
 *
 * VMCOREINFO has the address of the root; a walk from there to _stext verifies it. The
 * container's note comes first, then copies in memory (there are several, some stale),
 * then what CPUs had in CR3, then the user.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "linux/root.h"
#include "linux/search.h"
#include "linux/vmfile.h"

/* Result of a walk from a candidate root to the kernel's text. */
enum proof { PROVED, UNPROVED, DISPROVED };

static enum proof root_prove(struct atw_source *mem, const struct layout_guess *g)
{
	struct mmu_space sp = { .mem = mem, .paging = g->paging };
	struct mmu_seen s;

	if (g->root.u & (atw_table_bytes(&g->paging, g->paging.nlevels - 1u) - 1))
		return DISPROVED;
	root_set(&sp, g->root);
	if (mmu_translate(&sp, ATW_VA(g->text_va), &s, NULL) < 0)
		return DISPROVED;
	if (s.loss)
		return UNPROVED;
	return s.kind == ATW_LEAF && s.rights & ATW_KX &&
	       s.pa.u + (g->text_va - s.va.u) == g->text_pa.u ? PROVED : DISPROVED;
}

/* ---- the methods of finding a root, in order ---- */

static bool root_from_note(struct atw_kernel *k, struct atw_err *err)
{
	struct layout_guess g;
	struct atw_blob note;
	enum proof p;

	if (atw_fact(k->mem, "vmcoreinfo", &note) < 0)
		return false;
	k->vi = (struct atw_vmcoreinfo){
		note.data, atw_vmcoreinfo_probe(note.data, note.len),
	};
	if (!k->vi.len) {
		atw_err_set(err, ATW_E_DAMAGED, "its VMCOREINFO note is not VMCOREINFO");
		return false;
	}
	k->have_vi = true;
	if (layout_from_vmcoreinfo(&k->vi, &g, err) < 0)
		return false;
	p = root_prove(k->mem, &g);
	if (p == DISPROVED) {
		atw_err_set(err, ATW_E_DAMAGED,
			    "the root in its VMCOREINFO note does not lead to the kernel's text");
		return false;
	}
	k->space.paging = g.paging;
	root_set(&k->space, g.root);
	k->from = ATW_ROOT_NOTE;
	k->proved = p == PROVED;
	snprintf(k->why, sizeof(k->why), "VMCOREINFO note%s",
		 p == PROVED ? ", proved by a walk to _stext"
			     : "; not proved: tables on the way to _stext are not in the dump");
	return true;
}

static int root_try_scanned(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at)
{
	struct atw_kernel *k = arg;
	struct layout_guess g;

	if (layout_from_vmcoreinfo(vi, &g, NULL) < 0 || root_prove(k->mem, &g) != PROVED)
		return 0;
	k->vi_copy = malloc(vi->len);
	if (!k->vi_copy)
		return ATW_E_NOMEM;
	memcpy(k->vi_copy, vi->text, vi->len);
	k->vi = (struct atw_vmcoreinfo){ k->vi_copy, vi->len };
	k->vi_at = at;
	k->have_vi = true;
	k->space.paging = g.paging;
	root_set(&k->space, g.root);
	k->from = ATW_ROOT_SCAN;
	k->proved = true;
	snprintf(k->why, sizeof(k->why),
		 "VMCOREINFO in memory at 0x%" PRIx64 ", proved by a walk to _stext", at.u);
	return 1;
}

/* The text that an earlier command found is still there, and leads to the kernel. */
static bool root_recalled(struct atw_kernel *k)
{
	_auto_free char *text = NULL;
	struct atw_vmcoreinfo vi;
	atw_pa at;

	if (!kernel_recalled_text(k, &vi, &at))
		return false;
	text = malloc(vi.len);
	return text && atw_read(k->mem, at, text, vi.len, NULL) == (ssize_t)vi.len &&
	       !memcmp(text, vi.text, vi.len) && root_try_scanned(k, &vi, at) > 0;
}

struct texts {
	struct atw_source *mem;
	atw_kernel_text_fn *fn;
	void *arg;
};

static int root_on_text(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at)
{
	struct texts *t = arg;
	struct layout_guess g;

	return t->fn(t->arg, at, vi->len,
		     layout_from_vmcoreinfo(vi, &g, NULL) == ATW_OK &&
			     root_prove(t->mem, &g) == PROVED);
}

int atw_kernel_texts(struct atw_kernel *k, atw_kernel_text_fn *fn, void *arg)
{
	struct texts t = { .fn = fn, .arg = arg };
	uint64_t unreadable = 0;

	t.mem = k->mem;
	return atw_source_is_here(k->mem)
		       ? 0
		       : scan_vmcoreinfo(k->mem, &k->meter, root_on_text, &t,
					 &unreadable);
}

/* No VMCOREINFO at all: search for the first task. */
static bool root_from_task(struct atw_kernel *k)
{
	struct root_task t;

	if (root_by_task(k->mem, &k->meter, &t, NULL) < 0)
		return false;
	k->space.paging = t.paging;
	root_set(&k->space, t.root);
	k->from = ATW_ROOT_TASK;
	k->proved = true;
	k->init_task = t.init_task;
	k->task_at = t.task_at;
	k->pgd_at = t.mm_at;
	k->stext = t.stext;
	k->sought_init.done = true;
	memcpy(k->release, t.release, sizeof(t.release));
	snprintf(k->why, sizeof(k->why),
		 "the first task's memory (no VMCOREINFO was found), proved by a walk to it");
	return true;
}

/* An extract: its opening note has the root and the paging mode (lib/extract/notes.c). */
static bool root_from_extract(struct atw_kernel *k)
{
	const struct atw_paging *pg;
	struct atw_blob mode;
	char name[32];
	uint64_t root;

	if (atw_fact(k->mem, "paging", &mode) < 0 || mode.len >= sizeof(name) ||
	    atw_fact_u64(k->mem, "root", &root) < 0)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)mode.len, (const char *)mode.data);
	pg = atw_paging_find(name);
	if (!pg || root & (atw_table_bytes(pg, pg->nlevels - 1u) - 1))
		return false;
	k->space.paging = *pg;
	atw_fact_u64(k->mem, "ignore", &k->space.paging.ignore);
	root_set(&k->space, ATW_PA(root));
	k->from = ATW_ROOT_NOTE;
	snprintf(k->why, sizeof(k->why), "the extract's note; not proved");
	return true;
}

static void root_note_facts(struct atw_kernel *k)
{
	struct atw_blob b;

	if (k->have_vi)
		atw_vmcoreinfo_u64(&k->vi, "SYMBOL(_stext)", &k->stext);
	if (k->have_vi && atw_vmcoreinfo_text(&k->vi, "OSRELEASE", &b) == ATW_OK)
		snprintf(k->release, sizeof(k->release), "%.*s",
			 (int)(b.len < 95 ? b.len : 95), (const char *)b.data);
}

/*
 * CR4: bit 5 PAE, bit 12 LA57. Whether PAE means three or four levels depends on EFER,
 * which no note contains; the machine of the dump is used instead.
 */
static const char *root_x86_mode(struct atw_source *mem, uint64_t cr4)
{
	struct atw_blob machine = { "", 0 };

	atw_fact(mem, "machine", &machine);
	if (!(cr4 & 1u << 5))
		return "i386";
	if (machine.len == 4 && !memcmp(machine.data, "i386", 4))
		return "i386-pae";
	return cr4 & 1u << 12 ? "x86_64-5" : "x86_64-4";
}

/* The address bits of CR3: without PCID 11:0, LAM 62:61 and no-flush 63. */
static uint64_t root_x86_root_mask(const char *mode)
{
	return !strcmp(mode, "i386-pae") ? UINT64_C(0xffffffe0) :
	       !strcmp(mode, "i386")     ? UINT64_C(0xfffff000) :
					   UINT64_C(0x000ffffffffff000);
}

/* Only x86: notes of dumps have no registers of other architectures. */
static int root_from_cpu(struct atw_kernel *k, unsigned cpu, struct atw_err *err)
{
	uint64_t cr0, cr3, cr4, cpus = 0;
	char key[32];
	const char *name;

	atw_fact_u64(k->mem, "cpus", &cpus);
	snprintf(key, sizeof(key), "cpu%u.cr3", cpu);
	if (atw_fact_u64(k->mem, key, &cr3) < 0)
		return cpus && cpu >= cpus ?
			atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_CPU,
					  "there is no CPU %u: the source has %" PRIu64,
					  cpu, cpus) :
			atw_err_set(err, ATW_E_MISSING,
				    "it does not have the page-table root of CPU %u", cpu);
	snprintf(key, sizeof(key), "cpu%u.cr4", cpu);
	if (atw_fact_u64(k->mem, key, &cr4) < 0)
		cr4 = 0x20;
	snprintf(key, sizeof(key), "cpu%u.cr0", cpu);
	if (atw_fact_u64(k->mem, key, &cr0) == ATW_OK && !(cr0 >> 31))
		return atw_err_set(err, ATW_E_MISSING,
				   "CPU %u had paging switched off", cpu);
	name = root_x86_mode(k->mem, cr4);
	/* The kernel's own mode includes an encryption mask, too. */
	if (!k->space.paging.name || strcmp(k->space.paging.name, name))
		k->space.paging = *atw_paging_find(name);
	k->space.low = (struct mmu_root){ATW_PA(cr3 & root_x86_root_mask(name)), true};
	k->space.high.have = false;
	k->from = ATW_ROOT_CPU;
	k->proved = false;
	snprintf(k->why, sizeof(k->why), "CR3 of CPU %u", cpu);
	return ATW_OK;
}

static int root_unknown_mode(const char *name, struct atw_err *err)
{
	char list[300] = "";
	const struct atw_paging *pg;

	for (size_t i = 0, n = 0; (pg = atw_paging_at(i)) && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, " %s", pg->name);
	atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_PAGING, "unknown mode '%.64s'",
			  name);
	atw_err_hint(err, "known:%.240s", list);
	return ATW_E_USAGE;
}

static int root_extend(struct atw_paging *pg, const char *list, struct atw_err *err)
{
	_auto_free char *copy = strdup(list);
	char *save = NULL;

	if (!copy)
		return atw_err_nomem(err);
	for (char *e = strtok_r(copy, ",", &save); e; e = strtok_r(NULL, ",", &save)) {
		int r = atw_paging_extend(pg, e, err);

		if (r < 0) {
			atw_err_param(err, ATW_PARAM_PTE_EXT);
			return r;
		}
	}
	return ATW_OK;
}

/* A root without its mode or a mode without a root, if nothing else was found. */
static int root_half_given(const struct atw_kernel_opts *o, struct atw_err *err)
{
	if (o->has_root)
		atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_ROOT,
				  "its paging mode could not be found, and is not given");
	else
		atw_err_set_param(err, ATW_E_USAGE,
				  o->paging ? ATW_PARAM_PAGING : ATW_PARAM_PTE_EXT,
				  "no page-table root could be found, and none is given");
	atw_err_remedy(err, ATW_PARAM_ROOT);
	return ATW_E_USAGE;
}

/* Options override what was found. */
static int root_given(struct atw_kernel *k, const struct atw_kernel_opts *o, bool found,
		      struct atw_err *err)
{
	const struct atw_paging *pg = o->paging ? atw_paging_find(o->paging) : NULL;
	int r;

	if (o->paging && !pg)
		return root_unknown_mode(o->paging, err);
	if (!found && !(pg && o->has_root))
		return root_half_given(o, err);
	if (pg) {
		struct mmu_root root = k->space.high.have ? k->space.high : k->space.low;

		if (!k->space.paging.name || strcmp(k->space.paging.name, pg->name)) {
			k->proved = false;
			snprintf(k->why + strlen(k->why), sizeof(k->why) - strlen(k->why),
				 "%sthe mode as given", k->why[0] ? "; " : "");
		}
		k->space.paging = *pg;
		k->space.low.have = k->space.high.have = false;
		if (root.have)
			root_set(&k->space, root.pa);
	}
	if (o->has_root) {
		uint64_t size = atw_table_bytes(&k->space.paging,
						k->space.paging.nlevels - 1u);

		if (o->root.u & (size - 1))
			return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_ROOT,
						 "0x%" PRIx64 " is no multiple of %" PRIu64
						 ", the size of a root table of %s",
						 o->root.u, size, k->space.paging.name);
		/* A given root may be of either half, so it is used for both. */
		k->space.low = (struct mmu_root){ o->root, true };
		k->space.high.have = false;
		if (k->space.paging.halves == ATW_SPLIT)
			k->space.high = k->space.low;
		k->from = ATW_ROOT_GIVEN;
		k->proved = false;
		snprintf(k->why, sizeof(k->why), "as given");
	}
	r = ATW_OK;
	if (o->ext)
		r = root_extend(&k->space.paging, o->ext, err);
	return r;
}

/* ---- combination ---- */

static int root_no(const struct atw_source *mem, const struct atw_err *note,
		   uint64_t unreadable, struct atw_err *err)
{
	char pages[64] = "";

	if (unreadable)
		snprintf(pages, sizeof(pages), _(" (%" PRIu64 " pages could not be read)"),
			 unreadable);
	/* Firmware and a guest that has not started have no root that could be given. */
	if (atw_source_is_live(mem) && !atw_source_is_here(mem)) {
		atw_err_set(err, ATW_E_MISSING,
			    "no kernel was found in the guest%s: it has not booted so far, or it does not run Linux",
			    pages);
		atw_err_hint(err, "start it, if it is paused, and try again when it has booted");
		return ATW_E_MISSING;
	}
	return atw_err_set(err, ATW_E_MISSING,
			   "no page-table root was found: %s, no VMCOREINFO in memory that leads to a kernel%s, and no CPU's CR3",
			   note->status < 0 ? note->text : _("no VMCOREINFO note"), pages);
}

int atw_kernel_open(struct atw_source *mem, const struct atw_kernel_opts *o,
		    struct atw_kernel **ret, struct atw_err *err)
{
	static const struct atw_kernel_opts none = { 0 };
	struct atw_kernel *k;
	struct atw_err why = { 0 };
	uint64_t unreadable = 0;
	bool wanted, found;
	int r = ATW_OK;

	o = o ? o : &none;
	wanted = o->paging || o->has_root || o->ext;
	k = calloc(1, sizeof(*k));
	if (!k)
		return atw_err_nomem(err);
	k->mem = mem;
	k->meter = (struct meter){ .fn = o->progress, .arg = o->arg };
	k->space.mem = mem;
	k->file = o->file ? strdup(o->file) : NULL;
	k->remember = o->remember ? strdup(o->remember) : NULL;
	if ((o->file && !k->file) || (o->remember && !k->remember))
		r = atw_err_nomem(err);
	else if (o->known)
		r = kernel_take_known(k, o->known, err);
	if (r < 0) {
		atw_kernel_close(k);
		return r;
	}
	found = root_from_note(k, &why);
	/* The scan is skipped if the caller supplies both root and mode. */
	if (!found && !(o->has_root && o->paging) && !atw_source_is_here(mem))
		found = root_recalled(k) || scan_image(mem, root_try_scanned, k) > 0 ||
			scan_vmcoreinfo(mem, &k->meter, root_try_scanned, k,
					&unreadable) > 0 ||
			root_from_task(k);
	root_note_facts(k);
	k->own = k->space;
	k->have_own = found;
	if (o->has_cpu) {
		r = root_from_cpu(k, o->cpu, err);
	} else if (!found && !wanted) {
		found = root_from_cpu(k, 0, NULL) == ATW_OK;
		if (found && why.status < 0)
			snprintf(k->why, sizeof(k->why), "CR3 of CPU 0, because %.250s",
				 why.text);
		found = found || root_from_extract(k);
	}
	if (r == ATW_OK && wanted)
		r = root_given(k, o, found || o->has_cpu, err);
	else if (r == ATW_OK && !found && !o->has_cpu)
		r = root_no(mem, &why, unreadable, err);
	if (r < 0) {
		if (err && !err->hint[0] && r == ATW_E_MISSING)
			atw_err_remedy(err, ATW_PARAM_ROOT);
		atw_kernel_close(k);
		return r;
	}
	/* The given root is used if nothing else was found. */
	if (!k->have_own)
		k->own = k->space;
	/*
	 * --kernel is validated eagerly, so that a mismatch is reported even if the file
	 * is not needed.
	 */
	r = kernel_file_open(k, err);
	if (r < 0) {
		atw_kernel_close(k);
		return r;
	}
	*ret = k;
	return ATW_OK;
}
