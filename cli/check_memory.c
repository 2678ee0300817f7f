/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_memory.c - whether a traced process has more memory than at its last look. */
#include "check_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host_file.h"

/* Between two looks at a process it grows by 1/32, and by 64K. */
enum { CHECK_MEMORY_PART = 32, CHECK_MEMORY_LEAST = 64 << 10 };

static const long check_memory_calls[] = {
	SYS_munmap, SYS_mremap,	   SYS_madvise, SYS_process_madvise, SYS_brk, SYS_execve,
	SYS_shmdt,  SYS_ftruncate, SYS_fallocate, SYS_execveat,
};

bool check_memory_shrinks(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};

	/* Before v5.3 the call is not known: each may be one. */
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) <= 0)
		return true;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	if (info.entry.nr == SYS_mmap)
		return info.entry.args[3] & MAP_FIXED;
	for (size_t i = 0; i < ARRAY_SIZE(check_memory_calls); i++)
		if (info.entry.nr == (uint64_t)check_memory_calls[i])
			return true;
	return false;
}

static uint64_t check_memory_sum(const struct buf *text, const char *const *keys)
{
	uint64_t sum = 0, kib;

	for (; *keys; keys++)
		if (sscanf(host_status_field(text, *keys), "%" SCNu64, &kib) == 1)
			sum += kib << 10;
	return sum;
}

uint64_t check_memory_of(pid_t tgid)
{
	static const char *const keys[] = {
		"Anonymous",       "Pss_Shmem",      "Swap",
		"Private_Hugetlb", "Shared_Hugetlb", NULL,
	};
	struct atw_err err = {0};
	struct buf text = {0};
	uint64_t sum = 0;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)tgid);
	if (host_file_all(path, 64 << 10, &text, &err) == ATW_OK)
		sum = check_memory_sum(&text, keys);
	buf_deinit(&text);
	return sum;
}

/*
 * The counters in /proc/PID/status are quickly read. Each CPU may keep pages that are not
 * in them yet (lib/percpu_counter.c, used since v6.2). 0: not known.
 */
static uint64_t check_memory_at_most(pid_t tgid)
{
	static const char *const keys[] = {
		"RssAnon", "RssShmem", "VmSwap", "HugetlbPages", NULL,
	};
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	const uint64_t pages = 3 * cpus * (2 * cpus > 32 ? 2 * cpus : 32);
	uint64_t sum = 0;
	struct buf text;
	char what[16];

	snprintf(what, sizeof(what), "%d", (int)tgid);
	if (!host_status(what, &text))
		return 0;
	sum = check_memory_sum(&text, keys) + pages * (uint64_t)sysconf(_SC_PAGESIZE);
	buf_deinit(&text);
	return sum;
}

bool check_memory_rises(pid_t tgid, uint64_t most)
{
	uint64_t more = most / CHECK_MEMORY_PART > CHECK_MEMORY_LEAST
				? most / CHECK_MEMORY_PART
				: CHECK_MEMORY_LEAST;

	return check_memory_at_most(tgid) > most + more &&
	       check_memory_of(tgid) > most + more;
}
