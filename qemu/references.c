/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.c - plugin for QEMU's user mode that counts the memory references of a
 * program by address, instruction and thread.
 *
 * Argument: share=FD (struct references_share), inherited. Threads write to entries of
 * their own, without locks; a thread is found by thread-local storage, because QEMU gives
 * the number of a CPU to another thread when one has ended.
 */
#include "qemu/references.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu/api.h"

FOR_QEMU int qemu_plugin_version = QEMU_API;
FOR_QEMU int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				 char **argv);

struct refs_state refs;

/* ---- references ---- */

static void references_count_slowly(uint32_t site, qemu_plugin_meminfo_t info, uint64_t va)
{
	struct refs_thread *t = refs_self ? refs_self : refs_thread_begin();
	unsigned shift = qemu_plugin_mem_size_shift(info);
	/* Bits of QEMU's enum qemu_plugin_mem_rw, which no function returns: 6.0 to 10.2. */
	unsigned both = info >> 16 & 3;
	struct refs_key key = {
		.va = va, .site = site, .info = info, .shift = (uint8_t)shift,
		.kind = both == 3 ? REFERENCES_BOTH
				  : qemu_plugin_mem_is_store(info) ? REFERENCES_WRITE : REFERENCES_READ,
	};

	if (!refs_in_range(va, UINT64_C(1) << shift))
		return;
	if (!t) {
		atomic_fetch_add(&refs.s->lost, 1);
		return;
	}
	refs_count(t, &key);
}

static void references_count(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *arg)
{
	struct refs_thread *t = refs_self;
	uint32_t site = (uint32_t)(uintptr_t)arg;
	struct references_entry *e;
	uint64_t off, slot;

	(void)vcpu;
	if (__builtin_expect(!t, 0)) {
		references_count_slowly(site, info, va);
		return;
	}
	e = *refs_last(t, site, info, va);
	off = va - e->block;
	/* Rotated: what is not aligned, or outside of the block, is large. */
	slot = off >> e->shift | off << (-e->shift & 63);
	if (__builtin_expect(e->site != site || e->info != info || slot >= REFERENCES_SLOTS ||
			     e->count[slot] == UINT8_MAX, 0)) {
		references_count_slowly(site, info, va);
		return;
	}
	e->count[slot]++;
}

/* ---- translation ---- */

/* The program is loaded when its first block is translated. */
static void references_find_load(void)
{
	uint64_t (*start)(void) = NULL;
	void *fn = dlsym(RTLD_DEFAULT, "qemu_plugin_start_code");

	memcpy(&start, &fn, sizeof(fn));
	if (start) {
		refs.s->load = start() - refs.s->file_code;
		atomic_store(&refs.s->has_load, 1);
	}
	refs_ranges_init();
}

static void references_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	refs_lock();
	if (!refs.begun)
		references_find_load();
	refs.begun = true;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t site = refs_site(qemu_plugin_insn_vaddr(insn));

		qemu_plugin_register_vcpu_mem_cb(insn, references_count, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)site);
	}
	refs_unlock();
}

/* ---- beginning and end ---- */

static void references_end(qemu_plugin_id_t id, void *arg)
{
	(void)id;
	(void)arg;
	if (getpid() == refs.pid)
		atomic_store(&refs.s->ended, 1);
}

static int references_error(const char *why)
{
	fprintf(stderr, "atwalk: the recorder: %s\n", why);
	return -1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct stat st = { 0 };
	int fd = -1;

	for (int i = 0; i < argc; i++)
		sscanf(argv[i], "share=%d", &fd);
	if (info->system_emulation)
		return references_error("this plugin counts for QEMU's user mode only");
	if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size > sizeof(*refs.s))
		refs.s = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!refs.s || refs.s == MAP_FAILED || refs.s->magic != REFERENCES_MAGIC)
		return references_error("this plugin can only be loaded by a matching atwalk");
	refs.fd = fd;
	refs.size = (size_t)st.st_size;
	refs.pid = getpid();
	if (refs_init() < 0)
		return references_error("out of memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, references_translate);
	qemu_plugin_register_atexit_cb(id, references_end, NULL);
	atomic_store(&refs.s->attached, 1);
	return 0;
}
