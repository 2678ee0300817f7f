/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proof.c - the RAM of a guest that was found by the rule of its machine: the kernel in it
 * proves that, or another way has to find it: memory slots of KVM, or QEMU's monitor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "host/vmm_process.h"
#include "linux/kernel.h"
#include "linux/machine.h"
#include "target/guest.h"

static int guest_slots_of_kvm(uint32_t pid, struct vmm *ret, struct atw_err *err)
{
	return vmm_process_has_kvm(pid) ? guest_by_slots(pid, ret, err) : ATW_E_NONE;
}

/* From the best one on. */
static const struct {
	int (*open)(uint32_t pid, struct vmm *ret, struct atw_err *err);
	const char *remark;
} guest_ways[] = {
	{ guest_slots_of_kvm,
	  N_("its RAM is not where machine '%s' has it (%s): the memory slots of KVM are used") },
	{ vmm_open_monitor,
	  N_("its RAM is not where machine '%s' has it (%s): the answer of its monitor is used") },
};

static int guest_prove(const struct vmm *v, struct atw_kernel *k, struct atw_err *err)
{
	const struct vmm_piece *last = &v->piece[v->npieces - 1];
	/* Above it are DIMMs that the rule does not have. */
	uint64_t above = v->extra ? last->gpa + last->len : UINT64_MAX;

	return kernel_prove_ram(k, above, v->nareas > 1, err);
}

/* What it was, as the user may type it. */
static void guest_add_layout(const struct vmm *v, struct atw_err *err)
{
	size_t at = strlen(err->text);

	for (size_t i = 0; i < v->npieces && at < sizeof(err->text) - 1; i++) {
		const struct vmm_piece *p = &v->piece[i];

		snprintf(err->text + at, sizeof(err->text) - at, "%s%" PRIx64 ":%" PRIx64 ":0x%" PRIx64,
			 i ? "," : _("; it was "), p->gpa, p->start, p->len);
		at = strlen(err->text);
	}
}

/* ATW_END: none of them finds the kernel. ATW_OK without *ret: the layout is right. */
static int guest_other_way(struct atw_source *s, const struct atw_kernel_opts *o,
			   const struct atw_err *why, struct atw_kernel **ret, char *remark)
{
	const struct vmm *v = source_guest(s);

	for (size_t i = 0; i < sizeof(guest_ways) / sizeof(guest_ways[0]); i++) {
		char machine[sizeof(v->machine)];
		struct vmm other;
		int r;

		snprintf(machine, sizeof(machine), "%s", v->machine);
		if (guest_ways[i].open(v->pid, &other, NULL) != ATW_OK)
			continue;
		if (vmm_same_pieces(v, &other)) {
			vmm_close(&other);
			return ATW_OK;
		}
		source_guest_swap(s, &other);
		r = atw_kernel_open(s, o, ret, NULL);
		if (r < 0)
			source_guest_swap(s, &other);
		vmm_close(&other);
		if (r == ATW_OK) {
			snprintf(remark, GUEST_REMARK, _(guest_ways[i].remark), machine, why->text);
			return ATW_OK;
		}
	}
	return ATW_END;
}

int guest_kernel_open(struct atw_source *s, const struct atw_kernel_opts *o,
		      struct atw_kernel **ret, char remark[GUEST_REMARK], struct atw_err *err)
{
	const struct vmm *v = source_guest(s);
	struct atw_kernel *k = NULL, *other = NULL;
	struct atw_err why = { 0 };
	int r = atw_kernel_open(s, o, &k, &why), proof = r;

	if (!v || v->way != VMM_BY_RULE || v->privacy.secret != VMM_OPEN || o->has_root ||
	    (r < 0 && r != ATW_E_MISSING)) {
		*ret = r == ATW_OK ? k : *ret;
		return atw_err_give(err, r, &why);
	}
	proof = r == ATW_OK ? guest_prove(v, k, &why) : r;
	if (proof != ATW_OK) {
		int found = guest_other_way(s, o, &why, &other, remark);

		if (other) {
			if (k)
				kernel_forget(k);
			atw_kernel_close(k);
			k = other;
			r = ATW_OK;
		} else if (r == ATW_OK && found == ATW_END) {
			char reason[sizeof(why.text)];

			snprintf(reason, sizeof(reason), "%s", why.text);
			kernel_forget(k);
			atw_kernel_close(k);
			r = atw_err_set(&why, ATW_E_DAMAGED,
					"its RAM is not where machine '%s' has it: %.200s", v->machine,
					reason);
			guest_add_layout(v, &why);
			atw_err_remedy(&why, ATW_PARAM_LAYOUT);
		}
	}
	if (r == ATW_OK)
		*ret = k;
	return r == ATW_OK ? r : atw_err_give(err, r, &why);
}
