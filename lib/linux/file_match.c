// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * file_match.c - check that the file of --kernel belongs to this kernel, and the offset
 * that KASLR added.
 *
 * A file of another build gives plausible but wrong results, so it is refused: by the
 * build ID if both have one, else by the distances between symbols that both have, which
 * differ from build to build, or by the sizes of types.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "format/elf.h"
#include "linux/vmfile.h"

/* VMCOREINFO has the addresses of these, not their values. */
static const char *const known[] = {
	"_stext", "init_task", "init_uts_ns", "node_online_map", "swapper_pg_dir",
	"init_top_pgt", "clear_seq", "prb", "printk_rb_static", "vmap_area_list",
	"node_data", "kallsyms_names", "kallsyms_token_table", "kallsyms_num_syms",
};
enum { KNOWN = ARRAY_SIZE(known), STEXT = 0, TASK = 1, ENOUGH = 3 };

struct match {
	const struct atw_kernel *k;
	struct vmfile *f;
	uint64_t in_file[KNOWN], in_dump[KNOWN];
	bool both[KNOWN];
	int anchor;              /* the reference for distances; -1: none */
	unsigned agree;          /* symbols that agree, besides the anchor */
	int differs;             /* a symbol that differs; -1: none does */
};

/* ---- distances between symbols ---- */

static bool match_in_dump(const struct atw_kernel *k, int i, uint64_t *ret)
{
	char key[64];

	/*
	 * If the kernel was found by its first task, the address of that task is known.
	 */
	if (i == TASK && k->from == ATW_ROOT_TASK) {
		*ret = k->init_task;
		return true;
	}
	snprintf(key, sizeof(key), "SYMBOL(%s)", known[i]);
	return k->have_vi && atw_vmcoreinfo_u64(&k->vi, key, ret) == ATW_OK;
}

static void match_compare(struct match *m)
{
	bool have[KNOWN];

	m->differs = -1;
	vmfile_find_many(m->f, known, m->in_file, have, KNOWN);
	for (int i = 0; i < KNOWN; i++)
		m->both[i] = have[i] && match_in_dump(m->k, i, &m->in_dump[i]);
	m->anchor = m->both[STEXT] ? STEXT : m->both[TASK] ? TASK : -1;
	for (int i = m->anchor + 1; m->anchor >= 0 && i < KNOWN; i++) {
		if (!m->both[i])
			continue;
		if (m->in_file[i] - m->in_file[m->anchor] ==
		    m->in_dump[i] - m->in_dump[m->anchor])
			m->agree++;
		else if (m->differs < 0)
			m->differs = i;
	}
	/* This key is the start of the image, not the symbol of that name. */
	if (m->anchor == TASK && m->k->stext)
		m->agree += m->k->stext - m->in_dump[TASK] ==
			    m->f->first - m->in_file[TASK];
}

/* ---- build IDs ---- */

/*
 * Some stable releases have bytes that are no build ID in VMCOREINFO: a backport to the
 * parser of notes was wrong until the next one. The release of Debian's 6.1.0-50 does not
 * include the patch level of 6.1.
 */
static bool match_id_may_be_garbage(const struct match *m)
{
	static const struct { unsigned major, minor, first, last; } bad[] = {
		{ 5, 15, 168, UINT32_MAX }, { 6, 1, 113, 118 }, { 6, 6, 55, 62 },
		{ 6, 10, 14, UINT32_MAX }, { 6, 11, 3, 9 },
	};
	unsigned v[3] = { 0 };

	if (sscanf(m->k->release, "%u.%u.%u", &v[0], &v[1], &v[2]) < 2)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (v[0] == bad[i].major && v[1] == bad[i].minor &&
		    (!v[2] || (v[2] >= bad[i].first && v[2] <= bad[i].last)))
			return true;
	return false;
}

enum { ID_TEXT = 2 * 64 + 1 };

/* false: one of them has no build ID. */
static bool match_build_ids(const struct match *m, char *file, char *dump)
{
	const uint8_t *p = m->f->build_id.data;
	struct atw_blob b;
	size_t n = m->f->build_id.len;

	if (!n || n > 64 || !m->k->have_vi ||
	    atw_vmcoreinfo_text(&m->k->vi, "BUILD-ID", &b) < 0 || !b.len || b.len > 128)
		return false;
	for (size_t i = 0; i < n; i++)
		snprintf(file + 2 * i, 3, "%02x", p[i]);
	snprintf(dump, ID_TEXT, "%.*s", (int)b.len, (const char *)b.data);
	return true;
}

static int match_check_build(struct match *m, char *how, size_t len, struct atw_err *err)
{
	char file[ID_TEXT], dump[ID_TEXT];
	bool ids = match_build_ids(m, file, dump);

	if (ids && !strcasecmp(file, dump)) {
		m->f->matched = true;
		snprintf(how, len, "its build ID is the kernel's");
		return ATW_OK;
	}
	if (ids && !(m->differs < 0 && m->agree >= ENOUGH && match_id_may_be_garbage(m)))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "is of another kernel: its build ID is %s, that of the source's kernel %s",
				   file, dump);
	if (m->differs >= 0) {
		int i = m->differs;

		return atw_err_set(err, ATW_E_DAMAGED,
			"is of another kernel: %s lies 0x%" PRIx64 " behind %s in it, and 0x%" PRIx64 " in the source",
			known[i], m->in_file[i] - m->in_file[m->anchor], known[m->anchor],
			m->in_dump[i] - m->in_dump[m->anchor]);
	}
	m->f->matched = m->agree >= 1;
	if (m->agree)
		snprintf(how, len, "%u symbol%s as far from %s as the kernel's", m->agree,
			 m->agree == 1 ? " is" : "s are", known[m->anchor]);
	else
		snprintf(how, len, "not verified to match this kernel");
	return ATW_OK;
}

/* ---- types ---- */

/* VMCOREINFO has these, and they change with many releases and options. */
static const struct { const char *key, *type, *member; } compared[] = {
	{ "SIZE(pglist_data)", "pglist_data", NULL }, { "SIZE(zone)", "zone", NULL },
	{ "SIZE(free_area)", "free_area", NULL }, { "SIZE(page)", "page", NULL },
	{ "OFFSET(zone.vm_stat)", "zone", "vm_stat" },
	{ "OFFSET(zone.spanned_pages)", "zone", "spanned_pages" },
	{ "OFFSET(pglist_data.nr_zones)", "pglist_data", "nr_zones" },
	{ "OFFSET(pglist_data.node_id)", "pglist_data", "node_id" },
};

/* BTF has no build ID, but sizes and members that VMCOREINFO has, too. */
static int match_check_types(struct match *m, char *how, size_t len, struct atw_err *err)
{
	struct btf b;
	uint64_t want, size;
	uint32_t id, off;
	unsigned agree = 0;
	int r;

	if (m->f->matched || !m->f->btf.len || !m->k->have_vi)
		return ATW_OK;
	r = btf_init(&b, m->f->btf, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == ATW_OK && i < ARRAY_SIZE(compared); i++) {
		if (atw_vmcoreinfo_u64(&m->k->vi, compared[i].key, &want) < 0 ||
		    btf_find(&b, BTF_STRUCT, compared[i].type, &id) < 0)
			continue;
		if (compared[i].member) {
			if (btf_offset(&b, compared[i].type, compared[i].member, &off,
				       NULL) < 0)
				continue;
			size = off;
		} else if (btf_size(&b, id, &size) < 0) {
			continue;
		}
		agree += size == want;
		if (size != want)
			r = atw_err_set(err, ATW_E_DAMAGED,
				"has types of another kernel: %s is %" PRIu64 " there, and %" PRIu64 " in VMCOREINFO",
				compared[i].key, size, want);
	}
	btf_deinit(&b);
	if (r == ATW_OK && agree) {
		m->f->matched = true;
		snprintf(how, len, "%u sizes and offsets are the kernel's", agree);
	}
	return r;
}

/* ---- address of the kernel ---- */

/* Without VMCOREINFO: is the kernel at its link address? */
static bool match_runs_unshifted(const struct atw_kernel *k, uint64_t stext)
{
	struct mmu_seen s;

	return mmu_translate(&k->own, ATW_VA(stext), &s, NULL) == ATW_OK && !s.loss &&
	       s.kind == ATW_LEAF && s.rights & ATW_KX;
}

static void match_place(struct match *m)
{
	static const char *const stext = "_stext";
	uint64_t offset;
	bool have;

	m->f->placed = true;
	if (m->anchor >= 0) {
		m->f->shift = m->in_dump[m->anchor] - m->in_file[m->anchor];
	} else if (m->k->have_vi &&
		   atw_vmcoreinfo_u64(&m->k->vi, "KERNELOFFSET", &offset) == ATW_OK) {
		m->f->shift = offset;
	} else {
		vmfile_find_many(m->f, &stext, &offset, &have, 1);
		m->f->placed = have && match_runs_unshifted(m->k, offset);
	}
}

static void match_describe(const struct match *m, const char *how)
{
	const struct vmfile *f = m->f;

	snprintf(m->f->from, sizeof(m->f->from), "%.80s (%s)%s", m->k->file, how,
		 !f->symbols || f->placed ? "" : ", unused: the address of the kernel is not known");
}

static int match_check_machine(const struct match *m, struct atw_err *err)
{
	const struct elf elf = { .is64 = true, .machine = m->f->elf.machine };
	const char *name = elf_machine_name(&elf);
	struct atw_blob b;

	if (m->f->kind != VMFILE_ELF || atw_fact(m->k->mem, "machine", &b) < 0 || !b.len ||
	    (name && strlen(name) == b.len && !memcmp(name, b.data, b.len)))
		return ATW_OK;
	return atw_err_set(err, ATW_E_DAMAGED, "is for %s, and the source is of %.*s",
			   name ? name : _("another machine"), (int)(b.len < 40 ? b.len : 40),
			   (const char *)b.data);
}

int kernel_file_open(struct atw_kernel *k, struct atw_err *err)
{
	struct match m = { .k = k };
	char how[96] = "";
	int r;

	if (!k->file)
		return ATW_OK;
	r = vmfile_open(k->file, &m.f, err);
	if (r == ATW_OK) {
		match_compare(&m);
		r = match_check_machine(&m, err) ?:
		    match_check_build(&m, how, sizeof(how), err) ?:
		    match_check_types(&m, how, sizeof(how), err);
		if (r < 0) {
			vmfile_close(m.f);
			atw_err_wrap(err, "%s", k->file);
		}
	}
	if (r < 0) {
		atw_err_param(err, ATW_PARAM_KERNEL_FILE);
		return r;
	}
	match_place(&m);
	match_describe(&m, how);
	k->vmfile = m.f;
	return ATW_OK;
}
