/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - selection of the instructions that get callbacks, and of their kind. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/api.h"
#include "recorder.h"

enum { PLACE_BITS = 18, SITES = 1024 };
/* Sites by address. What is compared first is in the table: sites are all over memory. */
static struct place { struct site *site; uint64_t ip; } *places;
static uint64_t nsites, place_room;
static struct site *next_site;
static unsigned left;

/* ---- instructions that were seen ---- */

static struct place *rec_watch_place_of(uint64_t ip)
{
	uint64_t i = (ip * 0x9e3779b97f4a7c15u) >> 20 & (place_room - 1);

	while (places[i].site && places[i].ip != ip)
		i = (i + 1) & (place_room - 1);
	return &places[i];
}

static bool rec_watch_more_room(void)
{
	uint64_t had = place_room, room = had ? had * 2 : 1u << PLACE_BITS;
	struct place *old = places, *more = calloc(room, sizeof(*more));

	if (!more)
		return false;
	places = more;
	place_room = room;
	for (uint64_t i = 0; i < had; i++)
		if (old[i].site)
			*rec_watch_place_of(old[i].ip) = old[i];
	free(old);
	return true;
}

/* QEMU translates the same code again and again. */
static struct site *rec_watch_site_of(uint64_t ip)
{
	struct place *at;

	if (nsites >= place_room / 2 && !rec_watch_more_room())
		return NULL;
	at = rec_watch_place_of(ip);
	if (at->site)
		return at->site;
	if (!left) {
		next_site = aligned_alloc(sizeof(*next_site), SITES * sizeof(*next_site));
		if (!next_site)
			return NULL;
		left = SITES;
	}
	left--;
	nsites++;
	*next_site = (struct site){ .ip = ip };
	*at = (struct place){ next_site, ip };
	return next_site++;
}

/* Of string instructions, by their number from 1. */
static struct strings **strings;
static uint32_t nstrings, strings_room;

/* An address may get another instruction, of another kind. */
static struct strings *rec_watch_strings_of(struct site *site)
{
	if (site->strings)
		return strings[site->strings - 1];
	if (nstrings == strings_room) {
		uint32_t room = strings_room ? strings_room * 2 : 64;
		struct strings **more = realloc(strings, room * sizeof(*more));

		if (!more)
			return NULL;
		strings = more;
		strings_room = room;
	}
	strings[nstrings] = calloc(1, sizeof(**strings));
	if (!strings[nstrings])
		return NULL;
	strings[nstrings]->site = site;
	site->strings = ++nstrings;
	return strings[nstrings - 1];
}

static bool rec_watch_is_in(struct kshare_code c, uint64_t ip)
{
	return ip - c.start < c.end - c.start;
}

/* ---- callbacks of few instructions ---- */

static void rec_watch_at_event(unsigned vcpu, void *arg)
{
	lock();
	event_enter(vcpu, (unsigned)(uintptr_t)arg);
	unlock();
}

static void rec_watch_at_event_store(unsigned vcpu, uint32_t info, uint64_t va, void *arg)
{
	if (!qemu_plugin_mem_is_store(info))
		return;
	if (unlikely(!rec.near_len)) {
		lock_for_change();
		event_learn_direct(info, va);
		unlock();
	}
	event_store(vcpu, (unsigned)(uintptr_t)arg, info, va);
}

static void rec_watch_at_commit(unsigned vcpu, void *arg)
{
	(void)arg;
	lock_for_change();
	rec.cpu[vcpu].tracing = rec.cpu[vcpu].pendings > 0;
	event_commit(vcpu);
	unlock();
}

static void rec_watch_at_reserve(unsigned vcpu, void *arg)
{
	(void)arg;
	rec.cpu[vcpu].tracing = rec.cpu[vcpu].pendings > 0;
}

/* Back in the tracepoint's own function. */
static void rec_watch_at_event_again(unsigned vcpu, void *arg)
{
	lock();
	event_again(vcpu, (unsigned)(uintptr_t)arg);
	unlock();
}

static void rec_watch_at_change(unsigned vcpu, void *arg)
{
	(void)arg;
	rec.cpu[vcpu].changing = true;
}

static void rec_watch_at_change_load(unsigned vcpu, uint32_t info, uint64_t va, void *arg)
{
	(void)arg;
	if (qemu_plugin_mem_is_store(info))
		return;
	lock_for_change();
	task_load(vcpu, va);
	unlock();
}

/* ---- translation ---- */

/* Since version 3 the bytes are copied; before, the same name gave a pointer to them. */
static size_t (*new_data)(const struct qemu_plugin_insn *insn, void *to, size_t len);
static const void *(*old_data)(const struct qemu_plugin_insn *insn);

void watch_init(int version)
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
static bool rec_watch_is_string(const struct qemu_plugin_insn *insn)
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
static struct { uint64_t ip; struct strings *strings; } ends[ENDS];

static unsigned rec_watch_end_slot(uint64_t ip)
{
	unsigned i = (unsigned)(ip * 0x9e3779b97f4a7c15u >> 52);

	for (unsigned n = 0; ends[i].ip && ends[i].ip != ip && n < ENDS; n++)
		i = (i + 1) % ENDS;
	return i;
}

static bool watch_string(struct qemu_plugin_insn *insn, struct site *site)
{
	unsigned at = rec_watch_end_slot(site->ip + qemu_plugin_insn_size(insn));
	struct strings *runs = rec_watch_strings_of(site);

	if (!runs)
		return false;
	if (!ends[at].ip) {
		ends[at].ip = site->ip + qemu_plugin_insn_size(insn);
		ends[at].strings = runs;
	}
	qemu_plugin_register_vcpu_mem_cb(insn,
					 access_is_usual() ? access_string : access_string_any,
					 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, runs);
	return true;
}

void watch_access(struct qemu_plugin_insn *insn, uint64_t ip)
{
	struct site *site = rec_watch_site_of(ip);
	unsigned end = rec_watch_end_slot(ip);

	if (!site) {
		give_up("out of memory");
		return;
	}
	if (ends[end].ip == ip)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, access_string_end,
						       QEMU_PLUGIN_CB_NO_REGS, ends[end].strings);
	if (rec_watch_is_string(insn)) {
		if (!watch_string(insn, site))
			give_up("out of memory");
		return;
	}
	qemu_plugin_register_vcpu_mem_cb(insn,
					 access_is_usual() ? access_memory : access_memory_any,
					 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, site);
}

/* true: it is of the tracing, which is not recorded. begins: a block of code does. */
bool watch_known(struct qemu_plugin_insn *insn, uint64_t ip, bool begins)
{
	const struct kshare_kernel *k = &rec.s->kernel;

	for (unsigned e = 0; e < KSHARE_EVENTS; e++) {
		const struct kshare_event *v = &k->event[e];
		void *arg = (void *)(uintptr_t)e;

		if (ip == v->code.start)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, rec_watch_at_event, QEMU_PLUGIN_CB_NO_REGS, arg);
		else if (begins && rec_watch_is_in(v->code, ip))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, rec_watch_at_event_again, QEMU_PLUGIN_CB_NO_REGS,
				arg);
		if (rec_watch_is_in(v->code, ip)) {
			qemu_plugin_register_vcpu_mem_cb(insn, rec_watch_at_event_store,
							 QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, arg);
			return true;
		}
	}
	if (ip == k->reserve)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, rec_watch_at_reserve,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (ip == k->commit)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, rec_watch_at_commit,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (rec_watch_is_in(k->change, ip)) {
		if (ip == k->change.start)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, rec_watch_at_change, QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, rec_watch_at_change_load,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
	return false;
}
