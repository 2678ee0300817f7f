/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's side of the tests on real kernels: one static program, /init of
 * an initramfs.  It starts processes that use every feature of page tables,
 * records the kernel's information about each of their pages, and goes idle so
 * that the machine can be stopped and dumped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* First word of a stamped page: "atwalkpg" as it lies in memory. */
#define STAMP_MAGIC	0x67706b6c61777461ULL

/* What is at the start of a stamped page.  Written in the guest's byte order. */
struct stamp {
	uint64_t magic;
	uint64_t pid;
	uint64_t vaddr;
};

/*
 * A range in which every present page carries a stamp.  The stamp is that of
 * the last writer, which may be another process with the page mapped at
 * another address.
 */
struct stamped {
	uint64_t start, end;
	uint64_t by_start;
	pid_t pid, by;
};

#define MAX_STAMPED	1024

/* What atwalk diff is to find: its name of a change; of an area or pages their place. */
struct change {
	char what[20];
	pid_t pid;
	uint64_t start, size;
};

/*
 * A memory slot of a virtual machine, and the pages of it that its CPU accessed: from
 * `first` on.
 */
struct machine_slot {
	pid_t pid;
	unsigned int flags;
	uint64_t gpa, start, size;
	uint64_t first, pages;
};

/* Shared between pid 1 and its children, which fill it in. */
struct registry {
	unsigned int ready;		/* test processes that are set up */
	unsigned int helpers;		/* and their own children and threads */
	unsigned int stamped_count;
	struct stamped stamped[MAX_STAMPED];
	/* init-changes.c */
	bool go_on, born, changed;
	unsigned int changes;
	struct change change[16];
	/* init-kvm.c */
	unsigned int slots;
	struct machine_slot slot[8];
	uint64_t tables;		/* guest-physical: root of tables of the first */
	char paging[20];		/* and their mode, for --paging */
};

extern struct registry *registry;
extern size_t page_size;

/* init-util.c: small things that do not know of tests. */

/*
 * A buffered writer to a virtio-serial port.  Its buffer is part of it, so
 * that writing touches no memory that was not touched before.
 */
struct port {
	int fd;
	uint64_t hash;			/* of all that was written since reset */
	size_t used;
	char buf[32768];
};

void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int port_find(const char *name, int flags, int timeout_ms);
bool port_open(struct port *p, const char *name);
void port_write(struct port *p, const void *data, size_t len);
void port_printf(struct port *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void port_hex(struct port *p, uint64_t value, char end);
void port_flush(struct port *p);
ssize_t read_file(const char *path, char *buf, size_t size);
bool write_file(const char *path, const char *text);
bool cmdline_has(const char *word);
void load_modules(void);

/* init-procs.c, init-memory.c and init-crowd.c: the test processes. */

typedef void proc_fn(void);

void spawn(const char *comm, proc_fn *fn);
void child_ready(void);
void helper_ready(void);
void wait_ready(const unsigned int *counter, unsigned int count, pid_t child,
		const char *comm);
pid_t fork_helper(const char *comm);
void idle(void) __attribute__((noreturn));
void stamp_note(const void *start, size_t len, pid_t by, const void *by_start);
void stamp_page(void *page);
void stamp_pages(void *start, size_t len);
void touch_pages(const void *start, size_t len);
void map_device(void);
void *map_anon(void *hint, size_t len, int prot, int flags);
char *map_aligned(size_t len, size_t align);
size_t huge_page_size(void);
void start_memory_processes(void);
void proc_crowd(void);
void start_processes(void);

/* init-changes.c: a process that changes on request, and the list of its changes. */
void proc_changes(void);
void changes_write(struct port *p);

/* init-kvm.c: processes that run virtual machines, and the list of their memory slots. */
void start_machines(void);
void machines_write(struct port *p);

/* init-many.c: for measuring. */
void start_many_processes(void);

/* init-truth.c: what the kernel says of every page. */
void truth_prepare(void);
void truth_write(struct port *p, struct port *status);

/* init-info.c: what the kernel reports of itself. Counters are read last of all. */
void info_write(void);
void info_write_counters(void);

/* init-live.c: what atwalk says of the kernel it runs under. */
void live_run(void);

/* init-vmcore.c: crashing, and the kernel that comes after a crash. */
void vmcore_copy(void) __attribute__((noreturn));
void crash_prepare(void);
void crash(void) __attribute__((noreturn));
