/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_types.c - the running kernel's types.
 *
 * To number all types of BTF takes longer than to answer for a process, and a dozen
 * numbers of it are needed to begin. They belong to one boot, as the file that they are
 * kept in does.
 */
#include "source/live_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/runtime_folder.h"

/* What the file holds. */
struct live_types_kept {
	uint64_t made_by;
	struct bpf_types of_tasks;
	uint32_t pptrs;
};

/* Versions of atwalk differ in what they require. */
static uint64_t live_types_made_by(void)
{
	static const char also[] = "bpf_array.pptrs";
	const char *names = bpf_types_names();
	uint64_t sum = runtime_folder_sum(sizeof(struct live_types_kept), also, sizeof(also));

	return runtime_folder_sum(sum, names, strlen(names));
}

int live_types_read(struct live_types *t, struct atw_err *err)
{
	int r;

	if (t->read)
		return ATW_OK;
	r = host_btf_read(&t->file, err);
	if (r < 0)
		return r;
	r = btf_init(&t->btf, t->file.bytes, err);
	if (r < 0) {
		host_btf_close(&t->file);
		atw_err_wrap(err, "the kernel's types");
		return r;
	}
	t->read = true;
	return ATW_OK;
}

int live_types_find_again(struct live_types *t, struct atw_err *err)
{
	int r = live_types_read(t, err);

	if (r < 0)
		return r;
	t->recalled = false;
	r = bpf_types_find(&t->btf, &t->of_tasks, err);
	if (r < 0)
		atw_err_wrap(err, "the kernel's types");
	if (btf_offset(&t->btf, "bpf_array", "pptrs", &t->pptrs, NULL) < 0)
		t->pptrs = 0;
	return r;
}

int live_types_find(struct live_types *t, const char *folder, const char *name,
		    struct atw_err *err)
{
	_auto_free struct live_types_kept *k = NULL;
	size_t len = 0;

	if (folder)
		k = runtime_folder_read(folder, name, sizeof(*k), &len);
	if (!k || len != sizeof(*k) || k->made_by != live_types_made_by())
		return live_types_find_again(t, err);
	t->of_tasks = k->of_tasks;
	t->pptrs = k->pptrs;
	t->recalled = true;
	return ATW_OK;
}

void live_types_keep(const struct live_types *t, const char *folder, const char *name)
{
	struct live_types_kept k;

	if (!folder || t->recalled)
		return;
	/* Padding is part of the file. */
	memset(&k, 0, sizeof(k));
	k.made_by = live_types_made_by();
	k.of_tasks = t->of_tasks;
	k.pptrs = t->pptrs;
	runtime_folder_write(folder, name, &k, sizeof(k));
}

void live_types_close(struct live_types *t)
{
	btf_deinit(&t->btf);
	host_btf_close(&t->file);
	*t = (struct live_types){ 0 };
}
