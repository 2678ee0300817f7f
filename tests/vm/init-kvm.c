// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init-kvm.c - a process with a virtual machine of KVM in it, of which this kernel is the
 * host: memory slots that differ in what page tables they lead to, and a CPU that has
 * stored to some of their pages. A second process has a machine that has not run yet.
 *
 * The CPU runs without paging and without firmware. Its program stores to (or loads from) a
 * word in each of a number of pages, and then leaves by an access that has no memory, on x86
 * by HLT.
 */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB		(1UL << 20)
#define GIB		(1UL << 30)
#define HUGE_SIZE	(2 * MIB)
#define PAGE		4096UL		/* what the program goes on by */
#define LOADS		64		/* where the program that loads begins */

#if defined(__x86_64__)
#define RAM_BASE	0UL
/* mov [edi], edi or mov eax, [edi]; add edi, 4096; dec ecx; jnz to the start; hlt */
static const unsigned char stores[] = {
	0x89, 0x3f, 0x81, 0xc7, 0x00, 0x10, 0x00, 0x00, 0x49, 0x75, 0xf5, 0xf4,
};
static const unsigned char loads[] = {
	0x8b, 0x07, 0x81, 0xc7, 0x00, 0x10, 0x00, 0x00, 0x49, 0x75, 0xf5, 0xf4,
};
#elif defined(__aarch64__)
#define RAM_BASE	GIB
/* str x0, [x0] or ldr x3, [x0]; add x0, x0, 4096; subs x1, x1, 1; b.ne; str x2, [x2] */
static const uint32_t stores[] = {
	0xf9000000, 0x91400400, 0xf1000421, 0x54ffffa1, 0xf9000042,
};
static const uint32_t loads[] = {
	0xf9400003, 0x91400400, 0xf1000421, 0x54ffffa1, 0xf9000042,
};
#else
#define RAM_BASE	(2 * GIB)
/* sd a0, (a0) or ld a3, (a0); lui t0, 1; add a0, a0, t0; addi a1, a1, -1; bnez a1; sd a2, (a2) */
static const uint32_t stores[] = {
	0x00a53023, 0x000012b7, 0x00550533, 0xfff58593, 0xfe0598e3, 0x00c63023,
};
static const uint32_t loads[] = {
	0x00053683, 0x000012b7, 0x00550533, 0xfff58593, 0xfe0598e3, 0x00c63023,
};
#endif

/*
 * Page tables that map the slots where they are, as the machine's kernel would have: atwalk
 * finds pages of the guest by them. The CPU does not use them.
 */
#if defined(__x86_64__)
#define PAGING		"x86_64-4"
#define TABLE(pa)	((pa) | 0x63)
#define LEAF(pa)	((pa) | 0x63)
#define ADDRESS(word)	((word) & ~(PAGE - 1))
#elif defined(__aarch64__)
#define PAGING		"arm64-4k-48"
#define TABLE(pa)	((pa) | 0x3)
#define LEAF(pa)	((pa) | 0x703)
#define ADDRESS(word)	((word) & ~(PAGE - 1))
#else
#define PAGING		"riscv64-sv48"
#define TABLE(pa)	((pa) >> 2 | 0x1)
#define LEAF(pa)	((pa) >> 2 | 0xcf)
#define ADDRESS(word)	((word) >> 10 << 12)
#endif
#define TABLES_AT	(MIB / 2)	/* in the first slot: the root, then the others */
#define LEVELS		4

/* From the base of RAM on; at the last nothing is. */
enum { SMALL_AT = 0, ROM_AT = 512, HUGE_AT = 1024, LOGGED_AT = 1040, NOTHING_AT = 1536 };

struct machine {
	int kvm, vm, cpu;
	struct kvm_run *run;
	size_t run_size;
};

static void must(int result, const char *what)
{
	if (result < 0)
		die("%s", what);
}

static struct machine_slot *add_slot(struct machine *m, uint64_t mib, void *at, size_t len,
				 unsigned int flags)
{
	struct machine_slot *s = &registry->slot[registry->slots++];
	struct kvm_userspace_memory_region r = {
		.slot = registry->slots, .flags = flags,
		.guest_phys_addr = RAM_BASE + mib * MIB, .memory_size = len,
		.userspace_addr = (uintptr_t)at,
	};

	must(ioctl(m->vm, KVM_SET_USER_MEMORY_REGION, &r), "KVM_SET_USER_MEMORY_REGION");
	*s = (struct machine_slot){
		.pid = getpid(), .gpa = r.guest_phys_addr, .start = r.userspace_addr,
		.size = len, .flags = flags,
	};
	return s;
}

/* Aligned to a huge page. */
static char *memory(size_t len)
{
	char *p = map_anon(NULL, len + HUGE_SIZE, PROT_READ | PROT_WRITE, 0);
	char *at = (char *)(((uintptr_t)p + HUGE_SIZE - 1) & ~(HUGE_SIZE - 1));

	munmap(p, at - p);
	munmap(at + len, HUGE_SIZE - (at - p));
	return at;
}

static void create(struct machine *m)
{
	long size;

	m->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	must(m->kvm, "/dev/kvm");
	m->vm = ioctl(m->kvm, KVM_CREATE_VM, 0);
	must(m->vm, "KVM_CREATE_VM");
	m->cpu = ioctl(m->vm, KVM_CREATE_VCPU, 0);
	must(m->cpu, "KVM_CREATE_VCPU");
	size = ioctl(m->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	must(size, "KVM_GET_VCPU_MMAP_SIZE");
	m->run_size = size;
	m->run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->cpu, 0);
	if (m->run == MAP_FAILED)
		die("struct kvm_run");
}

#if defined(__x86_64__)
/* Protected mode with flat segments, as KVM has them after a reset but for their size. */
static void prepare(struct machine *m)
{
	struct kvm_sregs s;
	struct kvm_segment flat = {
		.limit = 0xffffffff, .selector = 8, .type = 11, .present = 1, .s = 1,
		.db = 1, .g = 1,
	};

	must(ioctl(m->cpu, KVM_GET_SREGS, &s), "KVM_GET_SREGS");
	s.cs = flat;
	flat.type = 3;
	flat.selector = 16;
	s.ds = s.es = s.ss = flat;
	s.cr0 |= 1;
	must(ioctl(m->cpu, KVM_SET_SREGS, &s), "KVM_SET_SREGS");
}

static void set_registers(struct machine *m, uint64_t pc, uint64_t at, uint64_t pages)
{
	struct kvm_regs r = { .rip = pc, .rdi = at, .rcx = pages, .rflags = 2 };

	must(ioctl(m->cpu, KVM_SET_REGS, &r), "KVM_SET_REGS");
}

#define LEAVES	KVM_EXIT_HLT

#else
static void set_one(struct machine *m, uint64_t id, uint64_t value)
{
	struct kvm_one_reg r = { .id = id, .addr = (uintptr_t)&value };

	must(ioctl(m->cpu, KVM_SET_ONE_REG, &r), "KVM_SET_ONE_REG");
}

#define LEAVES	KVM_EXIT_MMIO
#if defined(__aarch64__)
#define REGISTER(name) (KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
			KVM_REG_ARM_CORE_REG(regs.name))
#define FIRST	REGISTER(regs[0])
#define SECOND	REGISTER(regs[1])
#define THIRD	REGISTER(regs[2])

static void prepare(struct machine *m)
{
	struct kvm_vcpu_init init = { .target = 0 };

	must(ioctl(m->vm, KVM_ARM_PREFERRED_TARGET, &init), "KVM_ARM_PREFERRED_TARGET");
	must(ioctl(m->cpu, KVM_ARM_VCPU_INIT, &init), "KVM_ARM_VCPU_INIT");
}
#else
#define REGISTER(name) (KVM_REG_RISCV | KVM_REG_SIZE_U64 | KVM_REG_RISCV_CORE | \
			KVM_REG_RISCV_CORE_REG(name))
#define FIRST	REGISTER(regs.a0)
#define SECOND	REGISTER(regs.a1)
#define THIRD	REGISTER(regs.a2)

static void prepare(struct machine *m)
{
	(void)m;
}
#endif

#if defined(__riscv)
#define PC	REGISTER(regs.pc)
#else
#define PC	REGISTER(pc)
#endif

static void set_registers(struct machine *m, uint64_t pc, uint64_t at, uint64_t pages)
{
	set_one(m, FIRST, at);
	set_one(m, SECOND, pages);
	set_one(m, THIRD, RAM_BASE + NOTHING_AT * MIB);
	set_one(m, PC, pc);
}
#endif

/* Has the CPU access `pages` pages from the page `first` of the slot on. */
static void access_pages(struct machine *m, struct machine_slot *s, uint64_t first, uint64_t pages)
{
	uint64_t pc = RAM_BASE + (s->flags & KVM_MEM_READONLY ? LOADS : 0);

	s->first = first;
	s->pages = pages;
	set_registers(m, pc, s->gpa + first * PAGE, pages);
	while (ioctl(m->cpu, KVM_RUN, 0) < 0)
		if (errno != EINTR && errno != EAGAIN)
			die("KVM_RUN");
	if (m->run->exit_reason != LEAVES) {
		errno = EPROTO;
		die("the machine left by %u, not %u", m->run->exit_reason, LEAVES);
	}
	/* The access that it left by ends at the next run, and would change registers then. */
	m->run->immediate_exit = 1;
	if (ioctl(m->cpu, KVM_RUN, 0) < 0 && errno != EINTR)
		die("KVM_RUN");
	m->run->immediate_exit = 0;
}

static void fill(char *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += PAGE)
		at[i] = 1;
}

/* Maps a page of the machine where it is, by tables in its first slot (`ram`). */
static void map_page(char *ram, uint64_t gpa, uint64_t *used)
{
	uint64_t *table = (uint64_t *)(ram + TABLES_AT);
	int level;

	for (level = LEVELS - 1; level; level--) {
		uint64_t *entry = &table[gpa >> (12 + 9 * level) & 511];

		if (!*entry) {
			*used += PAGE;
			*entry = TABLE(RAM_BASE + TABLES_AT + *used);
		}
		table = (uint64_t *)(ram + (ADDRESS(*entry) - RAM_BASE));
	}
	table[gpa >> 12 & 511] = LEAF(gpa);
}

static void map_slots(char *ram)
{
	uint64_t used = 0, at;
	unsigned int i;

	for (i = 0; i < registry->slots; i++)
		for (at = 0; at < registry->slot[i].size; at += PAGE)
			map_page(ram, registry->slot[i].gpa + at, &used);
	registry->tables = RAM_BASE + TABLES_AT;
	strcpy(registry->paging, PAGING);
}

static void proc_vmm(void)
{
	struct machine_slot *small_slot, *huge_slot, *logged_slot, *rom_slot;
	char *small, *huge, *logged, *rom;
	struct machine m;

	create(&m);
	/* Unwritten pages of the first slot stay absent. */
	small = memory(MIB);
	madvise(small, MIB, MADV_NOHUGEPAGE);
	fill(small, MIB / 4 * 3);
	memset(small + TABLES_AT, 0, MIB / 4);
	memcpy(small, stores, sizeof(stores));
	memcpy(small + LOADS, loads, sizeof(loads));
	huge = memory(2 * HUGE_SIZE);
	madvise(huge, 2 * HUGE_SIZE, MADV_HUGEPAGE);
	fill(huge, 2 * HUGE_SIZE);
	/* While writes are logged, KVM maps small pages. */
	logged = memory(HUGE_SIZE);
	madvise(logged, HUGE_SIZE, MADV_HUGEPAGE);
	fill(logged, HUGE_SIZE);
	rom = memory(64 << 10);
	madvise(rom, 64 << 10, MADV_NOHUGEPAGE);
	fill(rom, 64 << 10);

	small_slot = add_slot(&m, SMALL_AT, small, MIB, 0);
	huge_slot = add_slot(&m, HUGE_AT, huge, 2 * HUGE_SIZE, 0);
	logged_slot = add_slot(&m, LOGGED_AT, logged, HUGE_SIZE, KVM_MEM_LOG_DIRTY_PAGES);
	rom_slot = add_slot(&m, ROM_AT, rom, 64 << 10, KVM_MEM_READONLY);
	map_slots(small);
	prepare(&m);
	/* Most of the pages that this process wrote have never been the CPU's. */
	access_pages(&m, small_slot, 16, 112);
	access_pages(&m, huge_slot, 3, 2);
	access_pages(&m, logged_slot, 7, 9);
	access_pages(&m, rom_slot, 0, 4);
	munmap(m.run, m.run_size);
}

static void proc_not_run(void)
{
	struct machine m;
	char *p = memory(MIB);

	create(&m);
	fill(p, MIB);
	add_slot(&m, SMALL_AT, p, MIB, 0);
	munmap(m.run, m.run_size);
}

void start_machines(void)
{
	spawn("vmm", proc_vmm);
	spawn("vmm-not-run", proc_not_run);
}

void machines_write(struct port *p)
{
	unsigned int i;

	if (registry->slots)
		port_printf(p, "##### slots\nroot %lx\n", registry->tables);
	for (i = 0; i < registry->slots; i++) {
		const struct machine_slot *s = &registry->slot[i];

		port_printf(p, "%d %lx %lx %lx %x %lu %lu\n", s->pid, s->gpa, s->start,
			    s->size, s->flags, s->first, s->pages);
	}
}
