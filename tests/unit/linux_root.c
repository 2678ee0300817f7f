/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every way to the kernel's root page table is tried in order, and what it finds is
 * verified.
 */
#include "linux/linux.h"

#include "memory.h"
#include "test.h"

/* A source that carries facts, which memory.h's does not. */
struct machine {
	struct memory m;
	const char *note;
	uint64_t cr3[2], cr4[2], cr0;
	uint64_t cpus;
};

static int machine_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct machine *x = (struct machine *)s;
	unsigned n = (unsigned)(key[3] - 0x30);

	if (!strcmp(key, "vmcoreinfo") && x->note)
		*ret = (struct atw_blob){ x->note, strlen(x->note) };
	else if (!strcmp(key, "cpus") && x->cpus)
		*ret = (struct atw_blob){ &x->cpus, 8 };
	else if (!strncmp(key, "cpu", 3) && n < x->cpus && !strcmp(key + 4, ".cr3"))
		*ret = (struct atw_blob){ &x->cr3[n], 8 };
	else if (!strncmp(key, "cpu", 3) && n < x->cpus && !strcmp(key + 4, ".cr4"))
		*ret = (struct atw_blob){ &x->cr4[n], 8 };
	else if (!strncmp(key, "cpu", 3) && n < x->cpus && x->cr0 && !strcmp(key + 4, ".cr0"))
		*ret = (struct atw_blob){ &x->cr0, 8 };
	else
		return ATW_E_MISSING;
	return ATW_OK;
}

static const struct atw_source_ops machine_ops = {
	.name = "machine", .help = "a test's",
	.close = mem_close, .read = mem_read, .extent = mem_extent,
	.fact = machine_fact,
};

/*
 * x86-64, 4 levels: phys_base 0x3000000, so that swapper_pg_dir at virtual
 * 0xffffffff80010000 lies at 0x3010000; _stext in a 2 MiB page.
 */
static struct machine *x86(void)
{
	struct machine *x = calloc(1, sizeof(*x));

	x->m.s.ops = &machine_ops;
	mem_put64(&x->m, 0x3010ff8, 0x3011063);
	mem_put64(&x->m, 0x3011ff0, 0x3012063);
	mem_put64(&x->m, 0x3012040, 0x40001e1);          /* 0x1000000: r-x */
	return x;
}

static void machine_free(struct machine *x)
{
	mem_close(&x->m.s);
	free(x);
}

#define X86_INFO(root) \
	"OSRELEASE=6.1.0-test\nPAGESIZE=4096\nSYMBOL(swapper_pg_dir)=" root "\n" \
	"SYMBOL(_stext)=ffffffff81000000\nNUMBER(phys_base)=50331648\n" \
	"NUMBER(pgtable_l5_enabled)=0\nKERNELOFFSET=0\n"

static const struct atw_kernel_opts plain = { 0 };

TEST(from_a_note)
{
	struct machine *x = x86();
	struct atw_kernel *k;
	struct atw_err err = { 0 };
	uint64_t v;

	x->note = X86_INFO("ffffffff80010000");
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_NOTE);
	CHECK_STR(atw_kernel_root_why(k), "VMCOREINFO note, proved by a walk to _stext");
	CHECK_STR(atw_kernel_space(k)->paging.name, "x86_64-4");
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x3010000);
	CHECK_EQ(atw_vmcoreinfo_u64(atw_kernel_vmcoreinfo(k), "SYMBOL(_stext)", &v), ATW_OK);
	CHECK_EQ(v, 0xffffffff81000000);
	atw_kernel_close(k);
	machine_free(x);
}

/* RAM holds several copies: one stale, one cut off, one that is true. */
TEST(from_memory_past_stale_copies)
{
	static const char stale[] = X86_INFO("ffffffff80050000");
	static const char format[] = "OSRELEASE=%s\n";
	static const char good[] = X86_INFO("ffffffff80010000");
	struct machine *x = x86();
	struct atw_kernel *k;
	struct atw_err err = { 0 };
	atw_pa at;

	mem_put(&x->m, 0x1000, format, sizeof(format));
	mem_put(&x->m, 0x2000, stale, sizeof(stale));
	mem_put(&x->m, 0x5000 + 24, good, sizeof(good));
	mem_put(&x->m, 0x6000, good, sizeof(good));
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_SCAN);
	CHECK_EQ(atw_kernel_vmcoreinfo_at(k, &at), ATW_OK);
	CHECK_EQ(at.u, 0x5018);
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x3010000);
	atw_kernel_close(k);
	machine_free(x);
}

/* A note that leads nowhere is worth less than a copy that is true. */
TEST(a_false_note_is_not_believed)
{
	static const char good[] = X86_INFO("ffffffff80010000");
	struct machine *x = x86();
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	x->note = X86_INFO("ffffffff80012000");          /* a PMD table */
	mem_put(&x->m, 0x5000, good, sizeof(good));
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_SCAN);
	atw_kernel_close(k);
	machine_free(x);
}

/* A filtered dump may lack the tables: then the note stands, and says so. */
TEST(a_note_that_cannot_be_proved)
{
	struct machine *x = x86();
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	x->note = X86_INFO("ffffffff80010000");
	mem_kind(&x->m, 0x3012000, 1, ATW_EXCLUDED);
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_NOTE);
	CHECK(strstr(atw_kernel_root_why(k), "not proved"));
	atw_kernel_close(k);
	machine_free(x);
}

TEST(from_registers)
{
	struct machine *x = x86();
	struct atw_kernel_opts o = plain;
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	x->cpus = 2;
	x->cr3[0] = 0x3010000 | 0x123;           /* PCID */
	x->cr4[0] = 0x20;
	x->cr3[1] = 0x8000000003010000;
	x->cr4[1] = 0x1020;                      /* LA57 */
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_CPU);
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x3010000);
	CHECK_STR(atw_kernel_space(k)->paging.name, "x86_64-4");
	atw_kernel_close(k);

	o.has_cpu = true;
	o.cpu = 1;
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_OK);
	CHECK_STR(atw_kernel_space(k)->paging.name, "x86_64-5");
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x3010000);
	atw_kernel_close(k);

	o.cpu = 2;
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "there is no CPU 2: the source has 2");
	CHECK_EQ(err.param, ATW_PARAM_CPU);
	x->cr0 = 0x33;
	o.cpu = 0;
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "CPU 0 had paging switched off");
	machine_free(x);
}

TEST(from_the_user)
{
	struct machine *x = x86();
	struct atw_kernel_opts o = plain;
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_E_MISSING);
	CHECK_EQ(err.remedy, ATW_PARAM_ROOT);
	CHECK_EQ(err.param, ATW_PARAM_NONE);
	o.ext = "cbit=51";
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_USAGE);
	CHECK_EQ(err.param, ATW_PARAM_PTE_EXT);
	o.ext = NULL;
	o.paging = "x86_64-4";
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_USAGE);
	CHECK_EQ(err.param, ATW_PARAM_PAGING);
	CHECK_EQ(err.remedy, ATW_PARAM_ROOT);
	o.paging = NULL;
	o.has_root = true;
	o.root = ATW_PA(0x3010000);
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_USAGE);
	CHECK_EQ(err.param, ATW_PARAM_ROOT);
	CHECK_EQ(err.remedy, ATW_PARAM_ROOT);
	o.paging = "x86_64-6";
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "unknown mode 'x86_64-6'");
	CHECK_EQ(err.param, ATW_PARAM_PAGING);
	CHECK(strstr(err.hint, "x86_64-5"));
	o.paging = "x86_64-4";
	o.ext = "cbit=51";
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_root_from(k), ATW_ROOT_GIVEN);
	CHECK_EQ(atw_kernel_space(k)->paging.ignore, (uint64_t)1 << 51);
	atw_kernel_close(k);
	/* A given root goes over one that was found; its mode is kept. */
	x->note = X86_INFO("ffffffff80010000");
	o = plain;
	o.has_root = true;
	o.root = ATW_PA(0x7000);
	CHECK_EQ(atw_kernel_open(&x->m.s, &o, &k, &err), ATW_OK);
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x7000);
	CHECK_STR(atw_kernel_space(k)->paging.name, "x86_64-4");
	atw_kernel_close(k);
	machine_free(x);
}

/*
 * A 64K kernel built for 52 bits on a 48-bit CPU: the root table is laid out
 * for 52 bits, so the CPU's root lies 0x1e00 bytes into it.
 */
TEST(arm64_64k_52_on_48)
{
	struct machine *x = calloc(1, sizeof(*x));
	struct atw_kernel *k;
	struct atw_err err = { 0 };
	struct mmu_seen s;

	x->m.s.ops = &machine_ops;
	x->note = "OSRELEASE=6.1.0\nPAGESIZE=65536\n"
		  "SYMBOL(swapper_pg_dir)=ffff800009000000\n"
		  "SYMBOL(_stext)=ffff800008000000\nNUMBER(VA_BITS)=52\n"
		  "NUMBER(kimage_voffset)=0xffff7fffc8000000\n"
		  "NUMBER(TCR_EL1_T1SZ)=0x10\n";
	/* swapper at 0x41000000; VA bits 47:42 = 0x20, as the CPU counts */
	mem_put64(&x->m, 0x41000000 + 0x1e00 + 0x20 * 8, 0x42000003);
	/* bits 41:29 = 0; a 512 MiB block is too large here: a PTE table */
	mem_put64(&x->m, 0x42000000, 0x43000003);
	mem_put64(&x->m, 0x43000000 + 0x800 * 8, 0x40000000 | 0x40000000000783);
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_STR(atw_kernel_space(k)->paging.name, "arm64-64k-48");
	CHECK_EQ(atw_kernel_space(k)->high.pa.u, 0x41001e00);
	CHECK(!atw_kernel_space(k)->low.have);
	CHECK_EQ(mmu_translate(atw_kernel_space(k), ATW_VA(0xffff800008001234), &s, &err), ATW_OK);
	CHECK_EQ(s.pa.u + 0x1234, 0x40001234);
	atw_kernel_close(k);
	machine_free(x);
}

TEST(riscv_by_its_offset)
{
	struct machine *x = calloc(1, sizeof(*x));
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	x->m.s.ops = &machine_ops;
	x->note = "OSRELEASE=6.12.0\nSYMBOL(swapper_pg_dir)=ffffffff81000000\n"
		  "SYMBOL(_stext)=ffffffff80002000\nNUMBER(VA_BITS)=39\n"
		  "NUMBER(phys_ram_base)=0x80000000\n"
		  "NUMBER(va_kernel_pa_offset)=0xfffffffeffe00000\n";
	mem_put64(&x->m, 0x81200000 + 510 * 8, UINT64_C(0x81201) << 10 | 1);
	mem_put64(&x->m, 0x81201000, UINT64_C(0x80200) << 10 | 0xeb);
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_OK);
	CHECK_STR(atw_kernel_space(k)->paging.name, "riscv64-sv39");
	CHECK_EQ(atw_kernel_space(k)->low.pa.u, 0x81200000);
	CHECK(strstr(atw_kernel_root_why(k), "proved by"));
	atw_kernel_close(k);
	machine_free(x);
}

TEST(vmcoreinfo_that_makes_no_sense)
{
	struct machine *x = x86();
	struct atw_kernel *k;
	struct atw_err err = { 0 };

	x->note = "OSRELEASE=6.1.0\nNUMBER(phys_base)=0\n";
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "VMCOREINFO has no SYMBOL(swapper_pg_dir)"));
	x->note = "OSRELEASE=6.1.0\nNUMBER(kimage_voffset)=0x0\nNUMBER(VA_BITS)=77\n";
	CHECK_EQ(atw_kernel_open(&x->m.s, &plain, &k, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "arm64-4k-77, a paging mode that does not exist"));
	machine_free(x);
}
