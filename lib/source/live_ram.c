/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_ram.c - ranges of RAM of the running kernel, and the place of its VMCOREINFO. */
#include "source/live_ram.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "host/caps.h"
#include "host/host.h"
#include "host/host_file.h"

/*
 * "100000000-63fffffff : System RAM". Memory that was plugged in later is part of a
 * device's range, so indented, and names its owner in brackets.
 */
static int live_ram_iomem_line(struct extents *x, const char *line, struct atw_err *err)
{
	static const char ram[] = " : System RAM";
	const char *start = line + strspn(line, " ");
	const char *dash = strchr(start, '-'), *colon = strstr(start, ram);
	uint64_t first, last;

	if (!colon || !dash || dash > colon ||
	    (strcmp(colon, ram) && strncmp(colon + sizeof(ram) - 1, " (", 2)) ||
	    !num_hex(start, (size_t)(dash - start), &first) ||
	    !num_hex(dash + 1, (size_t)(colon - dash - 1), &last) || last <= first)
		return ATW_OK;
	return extents_add(x, first, last - first + 1, 0, ATW_DATA, err);
}

static int live_ram_from_iomem(struct extents *x, struct atw_err *err)
{
	struct buf text = { 0 };
	char *save = NULL;
	int r = host_file_all("/proc/iomem", 1 << 20, &text, err);

	for (char *l = r == ATW_OK && text.len ? strtok_r(text.data, "\n", &save) : NULL;
	     l && r == ATW_OK; l = strtok_r(NULL, "\n", &save))
		r = live_ram_iomem_line(x, l, err);
	buf_deinit(&text);
	return r;
}

static bool live_ram_memmap_number(unsigned i, const char *name, uint64_t *ret)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/sys/firmware/memmap/%u/%s", i, name);
	return host_file_text(path, text, sizeof(text)) && num_any(text, strlen(text), ret);
}

static int live_ram_from_firmware(struct extents *x, struct atw_err *err)
{
	char path[64], type[32];
	uint64_t first, last;
	int r = ATW_OK;

	for (unsigned i = 0; i < 4096 && r == ATW_OK; i++) {
		snprintf(path, sizeof(path), "/sys/firmware/memmap/%u/type", i);
		if (!host_file_text(path, type, sizeof(type)))
			break;
		if (!strcmp(type, "System RAM") &&
		    live_ram_memmap_number(i, "start", &first) &&
		    live_ram_memmap_number(i, "end", &last) && last > first)
			r = extents_add(x, first, last - first + 1, 0, ATW_DATA, err);
	}
	return r;
}

int live_ram(struct extents *ret, struct atw_err *err)
{
	struct extents x = { 0 };
	int r = live_ram_from_iomem(&x, err);

	if (r != ATW_E_NOMEM && !x.n)
		r = live_ram_from_firmware(&x, err);
	if (r != ATW_E_NOMEM && !x.n)
		r = host_check_proc_files(err);
	if (r == ATW_OK && !x.n) {
		r = atw_err_set(err, ATW_E_PERM,
				"/proc/iomem does not tell this process what is RAM");
		host_hint_setcap(err, "cap_bpf,cap_perfmon,cap_sys_admin");
	}
	if (r == ATW_OK)
		r = extents_build(&x, err);
	if (r < 0)
		extents_deinit(&x);
	else
		*ret = x;
	return r;
}

int live_note_place(uint64_t *ret_pa, uint64_t *ret_len, struct atw_err *err)
{
	static const char path[] = "/sys/kernel/vmcoreinfo";
	char text[64];
	size_t blank;

	if (!host_file_text(path, text, sizeof(text)))
		return host_check_sys(path, err) < 0 ? ATW_E_MISSING :
		       atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel does not tell where its VMCOREINFO is (no %s)", path);
	/* The address has its 0x, the size has none and is hexadecimal as well. */
	blank = strcspn(text, " ");
	if (!text[blank] || !num_hex(text, blank, ret_pa) ||
	    !num_hex(text + blank + 1, strlen(text + blank + 1), ret_len))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "/sys/kernel/vmcoreinfo holds '%.40s', not an address and a size",
				   text);
	return ATW_OK;
}
