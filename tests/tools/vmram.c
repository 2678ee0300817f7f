/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmram -m MIB -M MACHINE -x KIND BASE DUMP [OPTION...] - a process with a guest's RAM
 *
 * Copied to a file of QEMU's name, it looks to a reader of /proc like QEMU: it maps MIB
 * of memory as QEMU does (KIND: anon, memfd or hugetlb, a memfd of huge pages; "less" maps
 * half of it, "two" another of
 * the same size, which is not RAM; "found" has VMCOREINFO in its last page, which in DUMP
 * is a note, and of each address space what an extract of a dump lacks; "large" is aligned, and
 * in large pages where the kernel gives them; "uffd" has a userfaultfd that fills in none of its
 * pages above the middle, and "swapped" gives all pages to swap;
 * several words may be given, as in "found,memfd"), copies into it what DUMP has from the physical address BASE on, prints
 * "ready" and sleeps. Options of QEMU that follow are for readers of its command line, but "-qmp
 * unix:PATH,..." makes it listen there, where "-says FILE" has each client get what FILE has
 * then, and "-runas USER" makes it not dumpable, as a change of its user does. "-accel kvm:GPA" has a virtual machine of KVM with that memory from
 * GPA on, in three slots, and a ROM of a page below 4 GiB; "-accel kvm-run:GPA" the same on
 * x86, with a CPU that writes the byte at 0x5000 and halts, or prints "cannot run";
 * "-accel kvm2" two of them.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/userfaultfd.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "linux/kernel.h"
#include "linux/process.h"
#include "source/source.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1    /* Since 5.11; older kernels refuse it. */
#endif

static void die(const char *why)
{
	fprintf(stderr, "vmram: %s\n", why);
	exit(2);
}

#define LARGE ((size_t)2 << 20)

static char *map_ram(const char *kind, size_t len)
{
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	bool huge = strstr(kind, "hugetlb"), large = huge || strstr(kind, "large");
	char *guard, *p;

	if (huge || strstr(kind, "memfd")) {
		fd = memfd_create("memory-backend-memfd", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
		if (fd < 0 || ftruncate(fd, (off_t)len) < 0)
			die("no memfd");
		flags = MAP_SHARED;
	}
	/* Without a gap, it would be one mapping with what is beside it. */
	guard = mmap(NULL, len + 8192 + LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (guard == MAP_FAILED)
		die("no addresses");
	/* As QEMU maps files, those of 4096 bytes are the only alignment. */
	if (large)
		guard += (-(uintptr_t)guard - 4096) & (LARGE - 1);
	else if (!(((uintptr_t)guard + 4096) & (LARGE - 1)))
		guard += 4096;
	p = mmap(guard + 4096, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

static void copy(struct atw_source *s, uint64_t base, char *ram, size_t len)
{
	struct atw_extent e;
	uint64_t at = base;

	while (at - base < len && atw_extent_at(s, ATW_PA(at), &e) == ATW_OK && e.len) {
		if (e.kind == ATW_DATA &&
		    (e.start.u - base > len || e.len > len - (e.start.u - base) ||
		     atw_read(s, e.start, ram + (e.start.u - base), e.len, NULL) !=
			     (ssize_t)e.len))
			die("the dump does not fit");
		at = e.start.u + e.len;
	}
}

/* A number of an mm_struct, if the dump has none. */
static void have_number(const struct members *v, uint64_t mm, enum need_member id, uint64_t value,
			size_t bytes, uint64_t base, char *ram, size_t len)
{
	uint64_t at, none = 0;
	atw_pa pa;

	if (member_at(v, mm, id, &at, NULL) == ATW_OK && kmem_physical(v->m, at, &pa, NULL) == ATW_OK &&
	    pa.u - base < len - bytes && !memcmp(ram + (pa.u - base), &none, bytes))
		memcpy(ram + (pa.u - base), &value, bytes);
}

static uint64_t pages_of_areas(struct atw_kernel *k, uint64_t mm)
{
	struct atw_areas *areas = NULL;
	struct atw_area a;
	uint64_t n = 0;

	if (atw_areas_open(k, mm, &areas, NULL) == ATW_OK)
		while (atw_areas_next(areas, &a, NULL) == ATW_OK)
			n += (a.end.u - a.start.u) >> 12;
	atw_areas_close(areas);
	return n;
}

/*
 * What is read of running machines only: how many use an address space, where 0 means that it
 * is freed, and its size.
 */
static void have_spaces(struct atw_source *s, uint64_t base, char *ram, size_t len)
{
	struct atw_kernel *k = NULL;
	struct lnx_tasks *tasks = NULL;
	struct members v = {0};
	struct lnx_task t;

	if (atw_kernel_open(s, NULL, &k, NULL) == ATW_OK &&
	    kernel_access_types(k, FOR_AREAS, &v, NULL) == ATW_OK &&
	    lnx_tasks_open(k, &tasks, NULL) == ATW_OK)
		while (lnx_tasks_next(tasks, &t, NULL) == ATW_OK)
			if (t.mm) {
				have_number(&v, t.mm, N_mm_users, 1, 4, base, ram, len);
				have_number(&v, t.mm, N_mm_total_vm, pages_of_areas(k, t.mm), 8,
					    base, ram, len);
			}
	lnx_tasks_close(tasks);
	atw_kernel_close(k);
}

/* What is absent from the middle on is filled in by nothing. */
static void register_late(char *ram, size_t len)
{
	struct uffdio_register r = {
		.range = { .start = (uintptr_t)ram + len / 2, .len = len / 2 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &r) < 0)
		puts("no userfaultfd");
}

/* Nothing accepts a connection, unless there is something to say. */
static int listen_at(const char *text)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || sscanf(text, "unix:%107[^,]", to.sun_path) != 1 ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0 || listen(fd, 1) < 0)
		die("no socket");
	return fd;
}

/* All of the file at once, and then what the client sends is ignored until it ends. */
static void answer(int listener, const char *path)
{
	char text[65536];

	for (;;) {
		int fd = accept(listener, NULL, NULL);
		FILE *f = fopen(path, "r");
		size_t n;

		if (fd < 0 || !f)
			die("no client, or nothing to say");
		while ((n = fread(text, 1, sizeof(text), f)))
			if (send(fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
				break;
		fclose(f);
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static void add_slot(int vm, unsigned slot, uint64_t gpa, void *at, size_t len, unsigned flags)
{
	struct kvm_userspace_memory_region r = {
		.slot = slot, .flags = flags, .guest_phys_addr = gpa, .memory_size = len,
		.userspace_addr = (uintptr_t)at,
	};

	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &r) < 0)
		die("no memory slot");
}

/* In real mode, from the last 16 bytes of the ROM on. */
static void run_machine(int kvm, int vm, char *rom)
{
	static const char program[] = {
		(char)0xa2, 0x00, 0x50, (char)0xf4,      /* mov [0x5000], al; hlt */
	};
	int cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	long size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	struct kvm_run *run;

	memcpy(rom + 4096 - 16, program, sizeof(program));
	run = cpu < 0 || size < 0 ? MAP_FAILED :
	      mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (run == MAP_FAILED || ioctl(cpu, KVM_RUN, 0) < 0 || run->exit_reason != KVM_EXIT_HLT)
		puts("cannot run");
}

/* Without a CPU, unless it is to run. Descriptors stay open. */
static void virtual_machine(const char *word, char *ram, size_t len)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm = ioctl(kvm, KVM_CREATE_VM, 0);
	bool runs = !strncmp(word, "kvm-run:", 8);
	uint64_t gpa = 0;
	size_t quarter = len / 4;
	char *rom;

	if (kvm < 0 || vm < 0)
		die("no KVM");
	if (!strcmp(word, "kvm2") && ioctl(kvm, KVM_CREATE_VM, 0) < 0)
		die("no second KVM");
	if (sscanf(word, runs ? "kvm-run:%" SCNx64 : "kvm:%" SCNx64, &gpa) != 1)
		return;
	add_slot(vm, 3, gpa + quarter, ram + quarter, quarter, 0);
	add_slot(vm, 1, gpa, ram, quarter, 0);
	add_slot(vm, 2, gpa + 2 * quarter, ram + 2 * quarter, len - 2 * quarter, 0);
	rom = map_ram("anon", 4096);
	add_slot(vm, 7, 0xfffff000, rom, 4096, KVM_MEM_READONLY);
	if (runs)
		run_machine(kvm, vm, rom);
}

int main(int argc, char **argv)
{
	struct atw_source *s;
	struct atw_err err = {0};
	const char *says = NULL;
	int listener = -1;
	size_t len;
	char *ram;

	if (argc < 9 || strcmp(argv[1], "-m") || strcmp(argv[3], "-M") ||
	    strcmp(argv[5], "-x"))
		die("usage: vmram -m MIB -M MACHINE -x KIND BASE DUMP [OPTION...]");
	len = strtoull(argv[2], NULL, 10) << 20;
	len /= !strcmp(argv[6], "less") ? 2 : 1;
	ram = map_ram(argv[6], len);
	madvise(ram, len, MADV_DONTFORK);
	/* Else one written page would bring its neighbours. */
	madvise(ram, len, strstr(argv[6], "large") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (!strcmp(argv[6], "two"))
		map_ram(argv[6], len);
	if (atw_source_open(argv[8], NULL, 0, &s, &err) < 0)
		die(err.text);
	copy(s, strtoull(argv[7], NULL, 16), ram, len);
	if (strstr(argv[6], "found")) {
		struct atw_blob note;

		if (atw_fact(s, "vmcoreinfo", &note) < 0 || note.len > 4096 || len < 4096)
			die("no VMCOREINFO");
		memcpy(ram + len - 4096, note.data, note.len);
		have_spaces(s, strtoull(argv[7], NULL, 16), ram, len);
	}
	atw_source_close(s);
	for (int i = 9; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-qmp"))
			listener = listen_at(argv[i + 1]);
		else if (!strcmp(argv[i], "-says"))
			says = argv[i + 1];
		else if (!strcmp(argv[i], "-runas"))
			prctl(PR_SET_DUMPABLE, 0);
		else if (!strcmp(argv[i], "-accel"))
			virtual_machine(argv[i + 1], ram, len);
	if (strstr(argv[6], "uffd"))
		register_late(ram, len);
	if (strstr(argv[6], "swapped") && madvise(ram, len, MADV_PAGEOUT) < 0)
		puts("no swap");
	puts("ready");
	fflush(stdout);
	if (says)
		answer(listener, says);
	pause();
	return 0;
}
