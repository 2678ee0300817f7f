// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Very many mapped pages, to measure with: eight processes with 80 MiB of their
 * own each and seven mappings of one file of 64 MiB, a million pages in all.
 */
#include "init.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROCESSES = 8, MAPPINGS = 7 };

#define FILE_BYTES	(64u << 20)
#define OWN_BYTES	(80u << 20)

static void proc_many(void)
{
	int fd = open("/many.bin", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int i;

	if (fd < 0 || ftruncate(fd, FILE_BYTES))
		die("many.bin");
	for (i = 0; i < MAPPINGS; i++)
		if (mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			die("mapping %d", i);
	if (mmap(NULL, OWN_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
		die("own memory");
	close(fd);
}

void start_many_processes(void)
{
	char comm[16];
	int i;

	for (i = 0; i < PROCESSES; i++) {
		snprintf(comm, sizeof(comm), "many-%d", i);
		spawn(comm, proc_many);
	}
}
