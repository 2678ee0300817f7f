/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - entry points that QEMU calls.
 *
 * Instructions get their callbacks when QEMU translates them (watch.c). The first
 * instructions of the kernel cause a request to the program, which then finds the kernel
 * in RAM.
 *
 * Arguments: share=FD (struct kshare), ram=FD (the guest's RAM), both inherited.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "qemu/api.h"
#include "recorder.h"

FOR_QEMU int qemu_plugin_version = QEMU_API;
FOR_QEMU int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				 char **argv);

struct recorder rec;

/* The thread with the lock may be waiting for the program. */
void lock_slowly(void)
{
	for (unsigned n = 0; atomic_exchange_explicit(&rec.locked, true, memory_order_acquire); n++)
		if (n % 64 == 63)
			sched_yield();
}

/* Called with the lock, so that all other threads wait for it. */
void stand_still(void)
{
	struct kshare *s = rec.s;

	do {
		atomic_store_explicit(&s->busy, 0, memory_order_release);
		while (atomic_load(&s->hold) && wait_for_program(NULL))
			;
		atomic_store(&s->busy, 1);
	} while (atomic_load(&s->hold) && !atomic_load(&s->failed));
}

void give_up(const char *why)
{
	struct kshare *s = rec.s;

	if (atomic_exchange(&s->failed, 1))
		return;
	snprintf(s->why, sizeof(s->why), "%s", why);
	atomic_store(&s->gate, 0);
}

bool wait_for_program(void *unused)
{
	static const struct timespec moment = { 0, 50000 };

	(void)unused;
	nanosleep(&moment, NULL);
	if (!atomic_load(&rec.s->failed) && getppid() == rec.s->program)
		return true;
	give_up("the program that writes is gone");
	return false;
}

/* ---- the program ---- */

/* Send a request to the program; false: there was no reply. */
static bool plugin_query_program(void)
{
	uint32_t turn = atomic_fetch_add(&rec.s->asked, 1) + 1;

	while (atomic_load(&rec.s->answered) != turn)
		if (!wait_for_program(NULL))
			return false;
	kstore_learn(&rec.store);
	return atomic_load(&rec.s->ready);
}

void learn_memory(void)
{
	static struct kshare_region had[KSHARE_REGIONS];
	static uint32_t nhad;

	plugin_query_program();
	if (nhad != rec.s->kernel.nregions || memcmp(had, rec.s->kernel.region, sizeof(had)) != 0)
		shadow_regions();
	nhad = rec.s->kernel.nregions;
	memcpy(had, rec.s->kernel.region, sizeof(had));
	if (!rec.near_len && rec.s->kernel.direct && shadow_ram() < 0)
		give_up("out of memory");
	task_learn();
}

/* The kernel's own code: what is known of it, from the program. */
static bool plugin_query(void)
{
	/* Too early there is nothing to find yet; but calls.c has something to see soon. */
	static uint64_t blocks, again = QEMU_API >= 2 ? 800 : 2000;

	if (++blocks < again || atomic_load(&rec.s->failed))
		return false;
	again = blocks + blocks / 2;
	if (!plugin_query_program())
		return false;
	if (shadow_image() < 0) {
		give_up("out of memory");
		return false;
	}
	return true;
}

/* ---- translation ---- */

static void plugin_again(qemu_plugin_id_t id);

static void plugin_watch_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct kshare *s = rec.s;
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!rec.known && plugin_query()) {
		rec.known = true;
		/* All that was translated before is translated again. */
		qemu_plugin_reset(id, plugin_again);
	}
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t ip = qemu_plugin_insn_vaddr(insn);

		if (rec.known && watch_known(insn, ip, i == 0))
			continue;
		if (rec.known)
			calls_watch(insn, ip);
		graph_watch(insn, ip, i == 0);
		if (ip - s->code.start < s->code.end - s->code.start)
			watch_access(insn, ip);
	}
}

static void plugin_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	/* Nothing more is recorded when it has failed. */
	if (qemu_plugin_tb_vaddr(tb) < rec.s->first_code || atomic_load(&rec.s->failed))
		return;
	lock_for_change();
	plugin_watch_block(id, tb);
	unlock();
}

/* ---- beginning and end ---- */

static void plugin_end(qemu_plugin_id_t id, void *arg)
{
	(void)id;
	(void)arg;
	lock();
	kstore_reclaim(&rec.store);
	object_name_all();
	unlock();
	atomic_store(&rec.s->attached, 2);
}

static void plugin_again(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, plugin_translate);
	qemu_plugin_register_atexit_cb(id, plugin_end, NULL);
}

static int plugin_error(const char *why)
{
	fprintf(stderr, "atwalk: the recorder: %s\n", why);
	return -1;
}

static void *plugin_map_fd(int fd, int prot, uint64_t *ret_size)
{
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || !st.st_size)
		return NULL;
	p = mmap(NULL, (size_t)st.st_size, prot, MAP_SHARED, fd, 0);
	*ret_size = (uint64_t)st.st_size;
	return p == MAP_FAILED ? NULL : p;
}

static enum call_machine plugin_machine_of(const char *target)
{
	return !strcmp(target, "x86_64") ? CALL_X86 : !strcmp(target, "aarch64") ? CALL_ARM64 :
	       !strcmp(target, "riscv64") ? CALL_RISCV : CALL_OTHER;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int share = -1, ram = -1;
	uint64_t size = 0;

	for (int i = 0; i < argc; i++) {
		sscanf(argv[i], "share=%d", &share);
		sscanf(argv[i], "ram=%d", &ram);
	}
	watch_init(info->version.cur);
	rec.machine = plugin_machine_of(info->target_name);
	calls_init();
	rec.s = plugin_map_fd(share, PROT_READ | PROT_WRITE, &size);
	if (!rec.s || size < sizeof(*rec.s) || rec.s->magic != KSHARE_MAGIC)
		return plugin_error("this plugin can only be loaded by a matching "
				    "`atwalk kmap record`");
	rec.ram = plugin_map_fd(ram, PROT_READ, &rec.ram_size);
	if (rec.s->nrams && !rec.ram)
		return plugin_error("cannot map the guest's memory");
	if (info->system.max_vcpus > KSHARE_CPUS)
		return plugin_error(
			"the guest has more CPUs than can be followed (64)");
	rec.locks = rec.s->locks;
	rec.first = rec.s->first;
	rec.span = rec.s->last - rec.s->first;
	task_learn();
	if (kstore_init(&rec.store, rec.s, wait_for_program, NULL) < 0 || access_init() < 0)
		return plugin_error("out of memory");
	if (atomic_load(&rec.s->ready))
		rec.known = true;
	plugin_again(id);
	atomic_store(&rec.s->attached, 1);
	return 0;
}
