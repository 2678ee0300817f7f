/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/references_operands.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_ZYDIS

#include <Zydis/Zydis.h>
#include <dlfcn.h>

struct operands {
	void *lib;
	ZydisDecoder decoder;
	__typeof__(ZydisDecoderInit) *init;
	__typeof__(ZydisDecoderDecodeFull) *decode;
};

int operands_open(struct operands **ret, struct atw_err *err)
{
	struct operands *o = calloc(1, sizeof(*o));
	char name[64];

	if (!o)
		return atw_err_nomem(err);
	/* Its soname has the numbers of the version that the headers are of. */
	snprintf(name, sizeof(name), "libZydis.so.%u.%u",
		 (unsigned)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
		 (unsigned)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	o->lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (o->lib) {
		o->init = (__typeof__(o->init))dlsym(o->lib, "ZydisDecoderInit");
		o->decode = (__typeof__(o->decode))dlsym(o->lib, "ZydisDecoderDecodeFull");
	}
	if (!o->init || !o->decode ||
	    !ZYAN_SUCCESS(o->init(&o->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
		operands_close(o);
		atw_err_set(err, ATW_E_UNSUPPORTED, "cannot decode instructions: %s is not installed",
			    name);
		atw_err_hint(err, "Install the package libzydis4.0.");
		return ATW_E_UNSUPPORTED;
	}
	*ret = o;
	return ATW_OK;
}

void operands_close(struct operands *o)
{
	if (o && o->lib)
		dlclose(o->lib);
	free(o);
}

/* ---- addresses ---- */

static bool operands_register(ZydisRegister reg, const struct operands_regs *regs,
			      uint64_t next, uint64_t *ret)
{
	if (reg == ZYDIS_REGISTER_NONE)
		*ret = 0;
	else if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
		*ret = regs->r[reg - ZYDIS_REGISTER_RAX];
	else if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
		*ret = (uint32_t)regs->r[reg - ZYDIS_REGISTER_EAX];
	else if (reg >= ZYDIS_REGISTER_AX && reg <= ZYDIS_REGISTER_R15W)
		*ret = (uint16_t)regs->r[reg - ZYDIS_REGISTER_AX];
	else if (reg == ZYDIS_REGISTER_AL)
		*ret = (uint8_t)regs->r[0];
	else if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		*ret = next;
	else
		return false;
	return true;
}

/* Bits of memory that a register counts: SDM 3.1.1.9, bit(BitBase, BitOffset). */
static bool operands_bit_offset(const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *op,
				const struct operands_regs *regs, uint64_t *ret)
{
	uint64_t bits;

	*ret = 0;
	if ((in->mnemonic != ZYDIS_MNEMONIC_BT && in->mnemonic != ZYDIS_MNEMONIC_BTS &&
	     in->mnemonic != ZYDIS_MNEMONIC_BTR && in->mnemonic != ZYDIS_MNEMONIC_BTC) ||
	    op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return true;
	if (!operands_register(op[1].reg.value, regs, 0, &bits))
		return false;
	if (op[1].size == 16)
		bits = (uint64_t)(int16_t)bits;
	else if (op[1].size == 32)
		bits = (uint64_t)(int32_t)bits;
	*ret = (uint64_t)((int64_t)bits >> (op[1].size == 16 ? 4 : op[1].size == 32 ? 5 : 6)) *
	       (op[1].size / 8);
	return true;
}

/* The stack pointer moves before a push, and before the operand of a pop is computed. */
static uint64_t operands_stack(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
			       bool hidden)
{
	if (hidden && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return -(uint64_t)(op->size / 8);
	return !hidden && in->mnemonic == ZYDIS_MNEMONIC_POP ? op->size / 8 : 0;
}

static bool operands_address(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *all,
			     const ZydisDecodedOperand *op, const struct operands_regs *regs,
			     uint64_t *ret)
{
	const ZydisDecodedOperandMem *m = &op->mem;
	uint64_t next = regs->rip + in->length, base, index, at, bit;
	bool hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	if (!operands_register(m->base, regs, next, &base) ||
	    !operands_register(m->index, regs, next, &index) ||
	    !operands_bit_offset(in, all, regs, &bit))
		return false;
	if (m->base == ZYDIS_REGISTER_RSP)
		base += operands_stack(in, op, hidden);
	if (in->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		base = regs->r[5];
	/* Zydis 4.0 leaves AL out. */
	if (in->mnemonic == ZYDIS_MNEMONIC_XLAT)
		base = regs->r[3] + (uint8_t)regs->r[0];
	at = base + index * m->scale + (m->disp.has_displacement ? (uint64_t)m->disp.value : 0) + bit;
	if (in->address_width == 32)
		at = (uint32_t)at;
	*ret = at + (m->segment == ZYDIS_REGISTER_FS ? regs->fs_base
		     : m->segment == ZYDIS_REGISTER_GS ? regs->gs_base : 0);
	return true;
}

/* ---- instructions ---- */

/* Instructions that name memory and do not access it, or not as data. */
static bool operands_idle(const ZydisDecodedInstruction *in, const struct operands_regs *regs)
{
	if (in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    in->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	    in->meta.category == ZYDIS_CATEGORY_PREFETCHWT1 ||
	    in->meta.category == ZYDIS_CATEGORY_CLFLUSHOPT ||
	    in->meta.category == ZYDIS_CATEGORY_CLWB || in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH)
		return true;
	/* A repeated string instruction traps after each element, and once without any. */
	return (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				  ZYDIS_ATTRIB_HAS_REPNE)) &&
	       !(in->address_width == 32 ? (uint32_t)regs->r[1] : regs->r[1]);
}

static int operands_list(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
			 const struct operands_regs *regs, struct operands_ref ret[OPERANDS_MAX])
{
	int n = 0;

	for (unsigned i = 0; i < in->operand_count; i++) {
		bool reads = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
		bool writes = op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		uint64_t at;

		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY || op[i].size < 8 || (!reads && !writes) ||
		    op[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		if (op[i].mem.type != ZYDIS_MEMOP_TYPE_MEM || n == OPERANDS_MAX ||
		    !operands_address(in, op, &op[i], regs, &at))
			return -1;
		ret[n++] = (struct operands_ref){
			at, op[i].size / 8,
			reads && writes ? TRACE_KIND_BOTH
					: writes ? TRACE_KIND_WRITE : TRACE_KIND_READ,
		};
	}
	return n;
}

int operands_of(const struct operands *o, const void *code, size_t len,
		const struct operands_regs *regs, struct operands_ref ret[OPERANDS_MAX])
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!ZYAN_SUCCESS(o->decode(&o->decoder, code, len, &in, op)) ||
	    in.mnemonic == ZYDIS_MNEMONIC_ENTER)
		return -1;
	return operands_idle(&in, regs) ? 0 : operands_list(&in, op, regs, ret);
}

#else

int operands_open(struct operands **ret, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED,
			   "cannot decode instructions: atwalk was built without Zydis");
}

void operands_close(struct operands *o)
{
}

int operands_of(const struct operands *o, const void *code, size_t len,
		const struct operands_regs *regs, struct operands_ref ret[OPERANDS_MAX])
{
	return -1;
}

#endif
