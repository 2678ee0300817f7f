// SPDX-License-Identifier: GPL-2.0-or-later
/* log.c - kernel log and crash information. */
#include "linux/machine.h"

#include <string.h>

/* ---- the ring buffer ---- */

static int log_read(void *arg, uint64_t at, void *buf, size_t len, struct atw_err *err)
{
	return kmem_read(arg, at, buf, len, err);
}

/* A number of VMCOREINFO, or of the types. */
static bool log_number(const struct atw_kernel *k, const char *key, uint32_t from_types,
		       uint32_t none, uint32_t *ret)
{
	uint64_t u;

	if (k->have_vi && atw_vmcoreinfo_u64(&k->vi, key, &u) == ATW_OK && u < NEED_NONE)
		from_types = (uint32_t)u;
	*ret = from_types;
	return from_types != none;
}

static bool log_layout(struct atw_kernel *k, const struct needs *n, struct printk_layout *l)
{
	const struct { const char *key; enum need_member id; uint32_t *to; } at[] = {
		{ "OFFSET(printk_ringbuffer.desc_ring)", N_prb_desc_ring, &l->desc_ring },
		{ "OFFSET(printk_ringbuffer.text_data_ring)", N_prb_text_ring, &l->text_ring },
		{ "OFFSET(prb_desc_ring.count_bits)", N_prb_count_bits, &l->count_bits },
		{ "OFFSET(prb_desc_ring.descs)", N_prb_descs, &l->descs },
		{ "OFFSET(prb_desc_ring.infos)", N_prb_infos, &l->infos },
		{ "OFFSET(prb_desc_ring.head_id)", N_prb_head_id, &l->head_id },
		{ "OFFSET(prb_desc_ring.tail_id)", N_prb_tail_id, &l->tail_id },
		{ "OFFSET(prb_data_ring.size_bits)", N_prb_size_bits, &l->size_bits },
		{ "OFFSET(prb_data_ring.data)", N_prb_data, &l->data },
		{ "OFFSET(prb_desc.state_var)", N_prb_state, &l->state },
		{ "OFFSET(prb_desc.text_blk_lpos)", N_prb_lpos, &l->lpos },
		{ "OFFSET(prb_data_blk_lpos.begin)", N_prb_begin, &l->begin },
		{ "OFFSET(prb_data_blk_lpos.next)", N_prb_next, &l->next },
		{ "OFFSET(printk_info.seq)", N_printk_seq, &l->seq },
		{ "OFFSET(printk_info.ts_nsec)", N_printk_time, &l->time },
		{ "OFFSET(printk_info.text_len)", N_printk_len, &l->len },
		{ "OFFSET(printk_info.caller_id)", N_printk_caller, &l->caller },
	};
	bool all = log_number(k, "SIZE(prb_desc)", n->types ? n->size[S_prb_desc] : 0, 0,
			      &l->desc_size) &&
		   log_number(k, "SIZE(printk_info)", n->types ? n->size[S_printk_info] : 0, 0,
			      &l->info_size);

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		all &= log_number(k, at[i].key, n->types ? n->member[at[i].id] : NEED_NONE,
				  NEED_NONE, at[i].to);
	return all;
}

int kernel_log(struct atw_kernel *k, struct printk_ring *ret, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	struct printk_layout l = { 0 };
	struct kmem *m;
	uint64_t prb = 0;
	int r = kernel_kmem(k, &m, err) ?: kernel_symbol(k, "prb", &prb, err);

	if (r < 0)
		return r;
	if (!log_layout(k, n, &l))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "neither VMCOREINFO nor types describe the log's ring buffer (in v5.10)");
	r = kmem_u64(m, prb, &prb, err);
	if (r == ATW_OK && !prb)
		return atw_err_set(err, ATW_E_MISSING, "the source does not have the kernel's log");
	return r < 0 ? r : printk_open(&l, prb, log_read, m, ret, err);
}

int log_is_crash(const char *line, const char **ret)
{
	/* Messages that crash(8) searches for as well, the last one of a panic first. */
	static const struct { const char *words; int how; } message[] = {
		{ "Kernel panic - not syncing", 2 },
		{ "sysrq: Trigger a crash", 1 }, { "BUG: ", 1 }, { "kernel BUG at ", 1 },
		{ "Unable to handle kernel ", 1 }, { "Oops", 1 }, { "Internal error: ", 1 },
		{ "general protection fault", 1 }, { "watchdog: BUG", 1 },
	};

	for (size_t i = 0; i < sizeof(message) / sizeof(message[0]); i++)
		if ((*ret = strstr(line, message[i].words)))
			return message[i].how;
	return 0;
}

/* ---- kernel variables ---- */

/* The address of the struct timekeeper; 0: not known. */
static uint64_t log_clock_at(const struct needs *n)
{
	if (!n->types || n->member[N_tk_up] == NEED_NONE)
		return 0;
	/* Since 6.13 both copies are in tk_core. */
	if (n->symbol[Y_tk_core] && n->member[N_tk_data] != NEED_NONE)
		return n->symbol[Y_tk_core] + n->member[N_tk_data];
	return n->symbol[Y_shadow_tk];
}

/* Is the address of the clock known, but its content left out of the dump? */
static bool log_is_zeroes(struct atw_kernel *k)
{
	const struct needs *n = kernel_needs(k);
	struct kernel_clock c;

	return log_clock_at(n) && kernel_clock(k, &c, NULL) < 0;
}

int kernel_crash_cpu(struct atw_kernel *k, unsigned *ret, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	const uint64_t at[] = { n->symbol[Y_panic_cpu], n->symbol[Y_crashing_cpu] };
	struct kmem *m;
	uint32_t cpu;
	int r = kernel_kmem(k, &m, err);

	if (r < 0)
		return r;
	if (!at[0])
		return atw_err_set(err, ATW_E_MISSING, "no symbol panic_cpu");
	/* PANIC_CPU_INVALID and the initial value of crashing_cpu are -1. */
	for (unsigned i = 0; i < 2; i++) {
		if (!at[i])
			continue;
		r = kmem_u32(m, at[i], &cpu, err);
		if (r < 0)
			return r;
		if (cpu == UINT32_MAX)
			continue;
		/*
		 * Bytes that an extract left out are zero, which looks like CPU 0; a
		 * clock of zero reveals them.
		 */
		if (!cpu && log_is_zeroes(k))
			return atw_err_set(err, ATW_E_MISSING, "the source does not have panic_cpu");
		*ret = cpu;
		return ATW_OK;
	}
	return atw_err_set(err, ATW_E_NONE, "no CPU has crashed");
}

int kernel_node_name(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	uint64_t at = 0, from = 0;
	uint32_t member;
	struct kmem *m;
	int r = kernel_kmem(k, &m, err) ?: kernel_symbol(k, "init_uts_ns", &at, err);

	if (r < 0)
		return r;
	/* struct new_utsname: sysname, nodename, ..., 65 bytes each (include/uapi/linux/utsname.h). */
	if (k->have_vi && atw_vmcoreinfo_u64(&k->vi, "OFFSET(uts_namespace.name)", &from) == ATW_OK)
		member = (uint32_t)from + 65;
	else
		member = n->types ? n->member[N_uts_node] : NEED_NONE;
	if (member == NEED_NONE)
		return atw_err_set(err, ATW_E_MISSING, "the names in init_uts_ns cannot be found");
	r = kmem_text(m, at + member, buf, len, err);
	/*
	 * sethostname(2) refuses an empty name, so an empty one was left out of the dump.
	 */
	if (r == ATW_OK && !*buf)
		r = atw_err_set(err, ATW_E_MISSING, "the source does not have it");
	return r;
}

int kernel_clock(struct atw_kernel *k, struct kernel_clock *ret, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	struct kernel_clock c = { 0 };
	uint64_t at = log_clock_at(n);
	struct kmem *m;
	int r = kernel_kmem(k, &m, err);

	if (r < 0)
		return r;
	if (!at)
		return atw_err_set(err, ATW_E_MISSING, "the kernel's clock cannot be found");
	r = kmem_u64(m, at + n->member[N_tk_up], &c.up, err);
	if (r == ATW_OK && n->member[N_tk_now] != NEED_NONE)
		r = kmem_u64(m, at + n->member[N_tk_now], &c.now, err);
	if (r == ATW_OK && !c.up && !c.now)
		r = atw_err_set(err, ATW_E_MISSING, "the source does not have the kernel's clock");
	if (r == ATW_OK)
		*ret = c;
	return r;
}
