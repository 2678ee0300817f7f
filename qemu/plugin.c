/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - what QEMU calls. It has no work of its own: instructions are given their
 * callbacks when QEMU translates them, and the first that are the kernel's make the
 * program beside us look for what is to be known of it.
 *
 * Arguments: share=FD (struct kshare), ram=FD (the guest's RAM), both inherited.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "recorder.h"

FOR_QEMU int qemu_plugin_version = QEMU_API;
FOR_QEMU int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				 char **argv);

struct recorder rec;

enum { SITE_BITS = 18 };
static struct site **sites;      /* by address */
static uint64_t nsites, site_room;
static struct site *next_site;
static unsigned left;

/* Who has it may be waiting for the program. */
void lock_slowly(void)
{
	for (unsigned n = 0; atomic_exchange_explicit(&rec.locked, true, memory_order_acquire); n++)
		if (n % 64 == 63)
			sched_yield();
}

/* Whoever else wants to work waits for the lock, which is ours. */
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

/* ---- instructions that were seen ---- */

static uint64_t place_of(uint64_t ip)
{
	uint64_t i = (ip * 0x9e3779b97f4a7c15u) >> 20 & (site_room - 1);

	while (sites[i] && sites[i]->ip != ip)
		i = (i + 1) & (site_room - 1);
	return i;
}

static bool more_room(void)
{
	struct site **old = sites;
	uint64_t had = site_room;

	site_room = had ? had * 2 : 1u << SITE_BITS;
	sites = calloc(site_room, sizeof(*sites));
	if (!sites)
		return false;
	for (uint64_t i = 0; i < had; i++)
		if (old[i])
			sites[place_of(old[i]->ip)] = old[i];
	free(old);
	return true;
}

/* QEMU translates the same code again and again. */
static struct site *site_of(uint64_t ip)
{
	uint64_t at;

	if (nsites >= site_room / 2 && !more_room())
		return NULL;
	at = place_of(ip);
	if (sites[at])
		return sites[at];
	if (!left) {
		left = 1024;
		next_site = calloc(left, sizeof(*next_site));
		if (!next_site)
			return NULL;
	}
	left--;
	nsites++;
	*next_site = (struct site){ .ip = ip };
	return sites[at] = next_site++;
}

static bool is_in(struct kshare_code c, uint64_t ip)
{
	return ip - c.start < c.end - c.start;
}

/* ---- callbacks of few instructions ---- */

static void at_event(unsigned vcpu, void *arg)
{
	lock();
	event_enter(vcpu, (unsigned)(uintptr_t)arg);
	unlock();
}

static void at_event_store(unsigned vcpu, uint32_t info, uint64_t va, void *arg)
{
	if (!qemu_plugin_mem_is_store(info))
		return;
	lock();
	event_store(vcpu, (unsigned)(uintptr_t)arg, info, va);
	unlock();
}

static void at_commit(unsigned vcpu, void *arg)
{
	(void)arg;
	lock();
	rec.cpu[vcpu].tracing = rec.cpu[vcpu].pendings > 0;
	event_commit(vcpu);
	unlock();
}

static void at_reserve(unsigned vcpu, void *arg)
{
	(void)arg;
	rec.cpu[vcpu].tracing = rec.cpu[vcpu].pendings > 0;
}

/* Back in the tracepoint's own function. */
static void at_event_again(unsigned vcpu, void *arg)
{
	lock();
	event_again(vcpu, (unsigned)(uintptr_t)arg);
	unlock();
}

static void at_change(unsigned vcpu, void *arg)
{
	(void)arg;
	rec.cpu[vcpu].changing = true;
}

static void at_change_load(unsigned vcpu, uint32_t info, uint64_t va, void *arg)
{
	(void)arg;
	if (qemu_plugin_mem_is_store(info))
		return;
	lock();
	task_load(vcpu, va);
	unlock();
}

/* ---- translation ---- */

/* Since version 3 the bytes are copied; before, the same name gave a pointer to them. */
static size_t (*new_data)(const struct qemu_plugin_insn *insn, void *to, size_t len);
static const void *(*old_data)(const struct qemu_plugin_insn *insn);

static void find_data(int version)
{
	void *fn = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");

	if (version >= 3)
		memcpy(&new_data, &fn, sizeof(fn));
	else
		memcpy(&old_data, &fn, sizeof(fn));
}

size_t insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *to)
{
	size_t n = qemu_plugin_insn_size(insn);

	if (n > 15)
		return 0;
	if (new_data)
		return new_data(insn, to, n);
	memcpy(to, old_data(insn), n);
	return n;
}

/* MOVS, CMPS, STOS, LODS, SCAS with a prefix that repeats them. */
static bool is_string(const struct qemu_plugin_insn *insn)
{
	uint8_t b[15];
	size_t n = rec.machine == CALL_X86 ? insn_bytes(insn, b) : 0, i = 0;
	bool repeats = false;

	for (; i < n; i++) {
		bool prefix = b[i] == 0xf2 || b[i] == 0xf3;

		repeats |= prefix;
		if (!prefix && b[i] != 0x66 && b[i] != 0x67 && (b[i] & 0xf0) != 0x40)
			break;
	}
	return repeats && i < n &&
	       ((b[i] >= 0xa4 && b[i] <= 0xa7) || (b[i] >= 0xaa && b[i] <= 0xaf));
}

/* Addresses behind string instructions, where such a one has ended. */
enum { ENDS = 4096 };
static struct { uint64_t ip; struct site *site; } ends[ENDS];

static unsigned end_slot(uint64_t ip)
{
	unsigned i = (unsigned)(ip * 0x9e3779b97f4a7c15u >> 52);

	for (unsigned n = 0; ends[i].ip && ends[i].ip != ip && n < ENDS; n++)
		i = (i + 1) % ENDS;
	return i;
}

static void watch_string(struct qemu_plugin_insn *insn, struct site *site)
{
	unsigned at = end_slot(site->ip + qemu_plugin_insn_size(insn));

	if (!ends[at].ip) {
		ends[at].ip = site->ip + qemu_plugin_insn_size(insn);
		ends[at].site = site;
	}
	qemu_plugin_register_vcpu_mem_cb(insn, access_string, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, site);
}

static void watch_access(struct qemu_plugin_insn *insn, uint64_t ip)
{
	struct site *site = site_of(ip);
	unsigned end = end_slot(ip);

	if (!site) {
		give_up("out of memory");
		return;
	}
	if (ends[end].ip == ip)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, access_string_end,
						       QEMU_PLUGIN_CB_NO_REGS, ends[end].site);
	if (is_string(insn)) {
		watch_string(insn, site);
		return;
	}
	qemu_plugin_register_vcpu_mem_cb(insn, access_memory, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, site);
}

/* true: it is of the tracing, which is not recorded. begins: a block of code does. */
static bool watch_known(struct qemu_plugin_insn *insn, uint64_t ip, bool begins)
{
	const struct kshare_kernel *k = &rec.s->kernel;

	for (unsigned e = 0; e < KSHARE_EVENTS; e++) {
		const struct kshare_event *v = &k->event[e];
		void *arg = (void *)(uintptr_t)e;

		if (ip == v->code.start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_event,
							       QEMU_PLUGIN_CB_NO_REGS, arg);
		else if (begins && is_in(v->code, ip))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_event_again,
							       QEMU_PLUGIN_CB_NO_REGS, arg);
		if (is_in(v->code, ip)) {
			qemu_plugin_register_vcpu_mem_cb(insn, at_event_store,
							 QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, arg);
			return true;
		}
	}
	if (ip == k->reserve)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, at_reserve, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (ip == k->commit)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, at_commit, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (is_in(k->change, ip)) {
		if (ip == k->change.start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_change,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, at_change_load, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
	return false;
}

/* A question to the program; false: there is no answer. */
static bool ask_program(void)
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
	ask_program();
	if (!rec.near_len && rec.s->kernel.direct && shadow_ram() < 0)
		give_up("out of memory");
	task_learn();
}

/* The kernel's own code: what is known of it, from the program. */
static bool ask(void)
{
	/* Too early there is nothing to find yet; but calls.c has something to see soon. */
	static uint64_t blocks, again = QEMU_API >= 2 ? 800 : 2000;

	if (++blocks < again || atomic_load(&rec.s->failed))
		return false;
	again = blocks + blocks / 2;
	if (!ask_program())
		return false;
	if (shadow_image() < 0) {
		give_up("out of memory");
		return false;
	}
	return true;
}

static void again(qemu_plugin_id_t id);

static void watch_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct kshare *s = rec.s;
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!rec.known && ask()) {
		rec.known = true;
		/* All that was translated before is translated again. */
		qemu_plugin_reset(id, again);
	}
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t ip = qemu_plugin_insn_vaddr(insn);

		if (rec.known && watch_known(insn, ip, i == 0))
			continue;
		if (rec.known)
			calls_watch(insn, ip);
		graph_watch(insn, ip, i == 0);
		if (is_in(s->code, ip))
			watch_access(insn, ip);
	}
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	if (qemu_plugin_tb_vaddr(tb) < rec.s->first_code)
		return;
	lock();
	watch_block(id, tb);
	unlock();
}

/* ---- beginning and end ---- */

static void end(qemu_plugin_id_t id, void *arg)
{
	(void)id;
	(void)arg;
	lock();
	kstore_reclaim(&rec.store);
	object_name_all();
	unlock();
	atomic_store(&rec.s->attached, 2);
}

static void again(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, end, NULL);
}

static int complain(const char *why)
{
	fprintf(stderr, "atwalk: the recorder: %s\n", why);
	return -1;
}

static void *map_fd(int fd, int prot, uint64_t *ret_size)
{
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || !st.st_size)
		return NULL;
	p = mmap(NULL, (size_t)st.st_size, prot, MAP_SHARED, fd, 0);
	*ret_size = (uint64_t)st.st_size;
	return p == MAP_FAILED ? NULL : p;
}

static enum call_machine machine_of(const char *target)
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
	find_data(info->version.cur);
	rec.machine = machine_of(info->target_name);
	calls_init();
	rec.s = map_fd(share, PROT_READ | PROT_WRITE, &size);
	if (!rec.s || size < sizeof(*rec.s) || rec.s->magic != KSHARE_MAGIC)
		return complain("it is loaded by `atwalk kmap record` of its own version, and by nobody else");
	rec.ram = map_fd(ram, PROT_READ, &rec.ram_size);
	if (rec.s->nrams && !rec.ram)
		return complain("the guest's memory cannot be mapped");
	if (info->system.max_vcpus > KSHARE_CPUS)
		return complain("the guest has more CPUs than can be followed (64)");
	rec.locks = rec.s->locks;
	rec.first = rec.s->first;
	rec.span = rec.s->last - rec.s->first;
	task_learn();
	if (kstore_init(&rec.store, rec.s, wait_for_program, NULL) < 0)
		return complain("out of memory");
	if (atomic_load(&rec.s->ready))
		rec.known = true;
	again(id);
	atomic_store(&rec.s->attached, 1);
	return 0;
}
