/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remember.c - what was found of a kernel, for those that are opened later: where its
 * VMCOREINFO lies in memory, and members, constants and symbols of needs.def. Of a running
 * kernel it is kept for the next command, of any for further threads of this one.
 *
 * A file in the runtime folder belongs to one boot of the machine, or one process of a
 * virtual machine. The kernel is the same one only if it has the same VMCOREINFO: that text
 * has the build, and where the kernel was loaded, so it is compared as a whole.
 * Dumps are not remembered: a file is replaced more easily than memory.
 */
#include "linux/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/runtime_folder.h"

enum { TEXT_MAX = 65536 };

struct remembered {
	uint64_t made_by;
	uint64_t at;             /* of the text, where it was found in memory; else 0 */
	uint64_t len;            /* of the text */
	struct needs needs;      /* needs.symbols: symbols were looked up */
	char text[];
};

/* Versions of atwalk differ in what they require, and where that stands in the file. */
static uint64_t remember_made_by(void)
{
	uint64_t sum = sizeof(struct remembered);

	for (size_t i = 0; i < needs_count(); i++) {
		const char *names = needs_names(i);

		sum = runtime_folder_sum(sum, names, strlen(names) + 1);
	}
	return sum;
}

/* The file's name; false: there is nothing to remember of this source. */
static bool remember_name(const struct atw_kernel *k, char *ret, size_t len)
{
	struct atw_blob b;

	return k->remember && !k->file && atw_fact(k->mem, "instance", &b) == ATW_OK &&
	       b.len && (size_t)snprintf(ret, len, "%.*s", (int)b.len, (const char *)b.data) < len &&
	       !strchr(ret, '/');
}

/* Read when it is first asked for; NULL: there is nothing of use. */
static const struct remembered *remember_of(struct atw_kernel *k)
{
	const size_t most = sizeof(struct remembered) + TEXT_MAX;
	_auto_free struct remembered *m = NULL;
	char name[96];
	size_t len;

	if (k->recalled)
		return k->remembered;
	k->recalled = true;
	if (!remember_name(k, name, sizeof(name)))
		return NULL;
	m = runtime_folder_read(k->remember, name, most, &len);
	if (!m || len < sizeof(*m) || m->len != len - sizeof(*m) ||
	    m->made_by != remember_made_by())
		return NULL;
	k->remembered = m;
	m = NULL;
	return k->remembered;
}

bool kernel_recalled_text(struct atw_kernel *k, struct atw_vmcoreinfo *ret, atw_pa *ret_at)
{
	const struct remembered *m = remember_of(k);

	if (!m || !m->at)
		return false;
	*ret = (struct atw_vmcoreinfo){ m->text, (size_t)m->len };
	*ret_at = ATW_PA(m->at);
	return true;
}

/* What is remembered of this very kernel; NULL: nothing. */
static const struct remembered *remember_same(struct atw_kernel *k)
{
	const struct remembered *m = k->have_vi ? remember_of(k) : NULL;

	return m && m->len == k->vi.len && !memcmp(m->text, k->vi.text, k->vi.len) ? m : NULL;
}

bool kernel_recalled_needs(struct atw_kernel *k, struct needs *ret)
{
	const struct remembered *m = remember_same(k);

	if (!m || !m->needs.types)
		return false;
	*ret = m->needs;
	return true;
}

/* Was something found that is not remembered? Only of the kernel itself, and no failure. */
static bool remember_is_worth(struct atw_kernel *k)
{
	const struct remembered *m;

	if (!k->have_vi || k->vi.len > TEXT_MAX || !(k->vi_copy || k->needs.types))
		return false;
	m = remember_same(k);
	return !m || (k->vi_copy && !m->at) || (k->needs.types && !m->needs.types) ||
	       (k->needs.symbols && !m->needs.symbols);
}

void kernel_forget(struct atw_kernel *k)
{
	free(k->remember);
	k->remember = NULL;
}

static size_t remember_bytes(const struct remembered *m)
{
	return sizeof(*m) + m->len;
}

/* NULL: no memory. */
static struct remembered *remember_all(const struct atw_kernel *k)
{
	struct remembered *m = calloc(1, sizeof(*m) + k->vi.len);

	if (!m)
		return NULL;
	m->made_by = remember_made_by();
	m->at = k->vi_copy ? k->vi_at.u : 0;
	m->len = k->vi.len;
	if (k->needs.types)
		m->needs = k->needs;
	m->needs.why = NULL;
	memcpy(m->text, k->vi.text, k->vi.len);
	return m;
}

void kernel_remember(struct atw_kernel *k)
{
	_auto_free struct remembered *m = NULL;
	char name[96];

	if (!remember_name(k, name, sizeof(name)) || !remember_is_worth(k))
		return;
	m = remember_all(k);
	if (m)
		runtime_folder_write(k->remember, name, m, remember_bytes(m));
}

struct remembered *atw_kernel_known(struct atw_kernel *k)
{
	return k->have_vi && kernel_needs(k)->types ? remember_all(k) : NULL;
}

int kernel_take_known(struct atw_kernel *k, const struct remembered *known, struct atw_err *err)
{
	k->remembered = malloc(remember_bytes(known));
	if (!k->remembered)
		return atw_err_nomem(err);
	memcpy(k->remembered, known, remember_bytes(known));
	k->recalled = true;
	return ATW_OK;
}
