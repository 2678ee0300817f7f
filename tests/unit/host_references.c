/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operands of x86-64 instructions as addresses; the table of recorders. */
#include "host/references.h"
#include "host/references_operands.h"
#include "test.h"

#define R TRACE_KIND_READ
#define W TRACE_KIND_WRITE
#define B TRACE_KIND_BOTH

/* Register N is N0000000 and RSP 40000000, so that an address shows what is in it. */
static const struct operands_regs regs = {
	.r = { 0x00000003, 0x10000000, 0x20000000, 0x30000000, 0x40000000, 0x50000000, 0x60000000,
	       0x70000000, 0x80000000, 0x90000000, 0xa0000000, 0xb0000000, 0xc0000000, 0xd0000000,
	       0xe0000000, UINT64_C(0xfffffffff0000000) },
	.rip = 0x400000, .fs_base = UINT64_C(0x7f0000000000), .gs_base = UINT64_C(0x7e0000000000),
};

static const struct {
	const char *text;
	const char *code;
	int len, n;              /* n: -1 if it cannot be said */
	struct operands_ref ref[2];
} known[] = {
	{ "mov (%rbx),%rax", "\x48\x8b\x03", 3, 1, { { 0x30000000, 8, R } } },
	{ "mov %al,8(%rbx,%rcx,4)", "\x88\x44\x8b\x08", 4, 1, { { 0x70000008, 1, W } } },
	{ "lock addl $1,(%rdx)", "\xf0\x83\x02\x01", 4, 1, { { 0x20000000, 4, B } } },
	{ "lock cmpxchg %rcx,(%rdx)", "\xf0\x48\x0f\xb1\x0a", 5, 1, { { 0x20000000, 8, B } } },
	{ "xchg %eax,(%rdx)", "\x87\x02", 2, 1, { { 0x20000000, 4, B } } },
	{ "cmpw $1,(%rdx)", "\x66\x83\x3a\x01", 4, 1, { { 0x20000000, 2, R } } },
	{ "mov 0x10(%rip),%eax", "\x8b\x05\x10\x00\x00\x00", 6, 1, { { 0x400016, 4, R } } },
	{ "mov %fs:0x28,%rax", "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, 1,
	  { { UINT64_C(0x7f0000000028), 8, R } } },
	{ "mov %gs:(%rbx),%eax", "\x65\x8b\x03", 3, 1, { { UINT64_C(0x7e0030000000), 4, R } } },
	{ "mov -8(%r15),%eax", "\x41\x8b\x47\xf8", 4, 1, { { UINT64_C(0xffffffffeffffff8), 4, R } } },
	{ "mov (%r15d),%eax", "\x67\x41\x8b\x07", 4, 1, { { 0xf0000000, 4, R } } },
	{ "push %rax", "\x50", 1, 1, { { 0x3ffffff8, 8, W } } },
	{ "pushw $1", "\x66\x6a\x01", 3, 1, { { 0x3ffffffe, 2, W } } },
	{ "pop %rax", "\x58", 1, 1, { { 0x40000000, 8, R } } },
	{ "push (%rbx)", "\xff\x33", 2, 2, { { 0x30000000, 8, R }, { 0x3ffffff8, 8, W } } },
	{ "pop 8(%rsp)", "\x8f\x44\x24\x08", 4, 2, { { 0x40000010, 8, W }, { 0x40000000, 8, R } } },
	{ "call .", "\xe8\xfb\xff\xff\xff", 5, 1, { { 0x3ffffff8, 8, W } } },
	{ "call *(%rbx)", "\xff\x13", 2, 2, { { 0x30000000, 8, R }, { 0x3ffffff8, 8, W } } },
	{ "jmp *(%rbx)", "\xff\x23", 2, 1, { { 0x30000000, 8, R } } },
	{ "ret", "\xc3", 1, 1, { { 0x40000000, 8, R } } },
	{ "leave", "\xc9", 1, 1, { { 0x50000000, 8, R } } },
	{ "movsq", "\x48\xa5", 2, 2, { { 0x70000000, 8, W }, { 0x60000000, 8, R } } },
	{ "rep stosb", "\xf3\xaa", 2, 1, { { 0x70000000, 1, W } } },
	{ "repne scasb", "\xf2\xae", 2, 1, { { 0x70000000, 1, R } } },
	{ "cmpsb", "\xa6", 1, 2, { { 0x60000000, 1, R }, { 0x70000000, 1, R } } },
	{ "xlat", "\xd7", 1, 1, { { 0x30000003, 1, R } } },
	{ "bt %rcx,(%rbx)", "\x48\x0f\xa3\x0b", 4, 1, { { 0x32000000, 8, R } } },
	{ "btsl $33,(%rbx)", "\x0f\xba\x2b\x21", 4, 1, { { 0x30000000, 4, B } } },
	{ "movaps %xmm0,(%rdx)", "\x0f\x29\x02", 3, 1, { { 0x20000000, 16, W } } },
	{ "vmovdqu (%rdx),%ymm0", "\xc5\xfe\x6f\x02", 4, 1, { { 0x20000000, 32, R } } },
	{ "vpgatherdd %ymm1,(%rdx,%ymm2,4),%ymm0", "\xc4\xe2\x75\x90\x04\x92", 6, -1, { { 0 } } },
	{ "lea 8(%rbx),%rax", "\x48\x8d\x43\x08", 4, 0, { { 0 } } },
	{ "nopw 0(%rax,%rax,1)", "\x66\x0f\x1f\x44\x00\x00", 6, 0, { { 0 } } },
	{ "nop", "\x90", 1, 0, { { 0 } } },
	{ "prefetcht0 (%rbx)", "\x0f\x18\x0b", 3, 0, { { 0 } } },
	{ "add %rax,%rbx", "\x48\x01\xc3", 3, 0, { { 0 } } },
	{ "syscall", "\x0f\x05", 2, 0, { { 0 } } },
	{ "invalid", "\x06", 1, -1, { { 0 } } },
	{ "cut off", "\x48\x8b", 2, -1, { { 0 } } },
};

static bool has(const struct operands_ref *got, int n, const struct operands_ref *want)
{
	for (int i = 0; i < n; i++)
		if (got[i].address == want->address && got[i].size == want->size &&
		    got[i].kind == want->kind)
			return true;
	return false;
}

TEST(operands_as_addresses)
{
	struct operands *o = NULL;
	struct atw_err err = { 0 };

	if (operands_open(&o, &err) < 0)
		SKIP(err.text);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct operands_ref got[OPERANDS_MAX];
		int n = operands_of(o, known[i].code, (size_t)known[i].len, &regs, got);
		bool same = n == known[i].n;

		for (int k = 0; same && k < n; k++)
			same = has(got, n, &known[i].ref[k]);
		if (!same)
			TEST_FAIL("%s: %d references, first 0x%" PRIx64 " %u %d", known[i].text, n,
				  n > 0 ? got[0].address : 0, n > 0 ? got[0].size : 0,
				  n > 0 ? (int)got[0].kind : 0);
	}
	operands_close(o);
}

TEST(a_repeat_of_nothing)
{
	struct operands_regs none = regs;
	struct operands_ref got[OPERANDS_MAX];
	struct operands *o = NULL;
	struct atw_err err = { 0 };

	if (operands_open(&o, &err) < 0)
		SKIP(err.text);
	none.r[1] = 0;
	CHECK_EQ(operands_of(o, "\xf3\xa4", 2, &none, got), 0);
	CHECK_EQ(operands_of(o, "\xa4", 1, &none, got), 2);
	none.r[1] = UINT64_C(1) << 32;
	CHECK_EQ(operands_of(o, "\xf3\xa4", 2, &none, got), 2);
	CHECK_EQ(operands_of(o, "\x67\xf3\xa4", 3, &none, got), 0);
	operands_close(o);
}

TEST(recorders_by_name)
{
	const struct references_backend *b = NULL;
	struct atw_err err = { 0 };

	for (size_t i = 0; i < references_nbackends; i++) {
		const struct references_backend *want = references_backends[i];

		CHECK_EQ(references_find(want->name, &b, &err), ATW_OK);
		CHECK(b == want && want->gives && want->needs && want->probe && want->run);
		/* Exact is said where it is so, and nowhere else. */
		CHECK(!strncmp(want->gives, want->sampled ? "sampled" : "exact", 5));
	}
	CHECK_EQ(references_find("lackey", &b, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "expected one of "));
}
