/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs.c - processes and swap, read from /proc of the running kernel. */
#include "target/procfs.h"
#include "target/frame_use.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "format/pagemap.h"
#include "format/procmaps.h"
#include "host/caps.h"
#include "linux/kpf.h"
#include "linux/soft.h"
#include "host/host_file.h"
#include "host/host.h"

/* ---- processes ---- */

enum { PF_EXITING = 0x4 };               /* include/linux/sched.h */

unsigned proc_stat_fields(struct atw_blob text, struct atw_blob *number,
			  struct atw_blob *name, uint64_t v[FIELDS])
{
	const char *s = text.data, *open = memchr(s, '(', text.len), *end = s + text.len;
	const char *close = memrchr(s, ')', text.len);
	unsigned i = 3;

	if (!open || !close || close < open)
		return 0;
	*number = (struct atw_blob){ s, (size_t)(open - s) };
	*name = (struct atw_blob){ open + 1, (size_t)(close - open - 1) };
	for (s = close + 1; i < FIELDS; i++) {
		size_t n = 0;

		while (s < end && *s == ' ')
			s++;
		while (s + n < end && s[n] != ' ' && s[n] != '\n')
			n++;
		if (!n)
			break;
		v[i] = 0;
		if (!num_dec(s, n, &v[i]) && i == F_FLAGS)
			break;
		s += n;
	}
	return i;
}

/* "12 (a (b) c) S 1 12 12 0 -1 4194560 ...": some files end early. */
int proc_stat_parse(struct atw_blob text, struct proc_stat *ret)
{
	struct proc_stat st = { 0 };
	struct atw_blob number, name;
	uint64_t v[FIELDS] = { 0 };

	/* They are followed by another field, or cut off. */
	if (proc_stat_fields(text, &number, &name, v) <= F_FLAGS + 1)
		return ATW_E_FORMAT;
	blob_text(name, st.name, sizeof(st.name));
	st.kernel = v[F_FLAGS] & (PF_KTHREAD | PF_EXITING);
	st.headless = st.kernel && !(v[F_FLAGS] & PF_KTHREAD) && v[F_THREADS] > 1;
	st.start = v[F_START];
	*ret = st;
	return ATW_OK;
}

/* What errno says of a file that each process has. */
static int procfs_no_process(const char *path, uint32_t pid, struct atw_err *err)
{
	if (errno == ENOENT || errno == ESRCH) {
		/* The mount may hide it (hidepid=); signals are sent all the same, and this is none. */
		if (pid && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM))
			return host_check_proc(err) < 0 ? ATW_E_MISSING :
			       atw_err_set(err, ATW_E_PERM, "/proc hides process %" PRIu32 " from this process", pid);
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
	}
	return atw_err_set(err, errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
			   "%s: %s", path, strerror(errno));
}

/* A thread of it that goes on; 0: none does. */
static uint32_t procfs_living_thread(uint32_t pid)
{
	_auto_free uint32_t *tid = NULL;
	char path[64], text[512];
	struct proc_stat st;
	size_t n = 0;

	proc_tids(pid, &tid, &n, NULL);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid[i]);
		if (host_file_text(path, text, sizeof(text)) &&
		    proc_stat_parse(blob_of(text), &st) == ATW_OK && !st.kernel)
			return tid[i];
	}
	return 0;
}

int proc_stat(uint32_t pid, struct proc_stat *ret, struct atw_err *err)
{
	char path[48], text[512];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	if (!host_file_text(path, text, sizeof(text)))
		return procfs_no_process(path, pid, err);
	if (proc_stat_parse((struct atw_blob){ text, strlen(text) }, ret) < 0)
		return atw_err_set(err, ATW_E_FORMAT, "%s: '%.40s' is not what it should be",
				   path, text);
	ret->thread = ret->headless ? procfs_living_thread(pid) : pid;
	if (ret->headless)
		ret->kernel = !ret->thread;
	return ATW_OK;
}

int proc_tgid(uint32_t pid, uint32_t *ret, struct atw_err *err)
{
	char what[16], path[48];
	struct buf text;
	bool known;

	snprintf(what, sizeof(what), "%" PRIu32, pid);
	snprintf(path, sizeof(path), "/proc/%s/status", what);
	if (!host_status(what, &text))
		return procfs_no_process(path, pid, err);
	known = sscanf(host_status_field(&text, "Tgid"), "%" SCNu32, ret) == 1;
	buf_deinit(&text);
	return known ? ATW_OK : atw_err_set(err, ATW_E_FORMAT, "%s: has no Tgid", path);
}

int proc_pids(uint32_t **ret, size_t *n, struct atw_err *err)
{
	return host_numbers("/proc", ret, n, err);
}

int proc_tids(uint32_t pid, uint32_t **ret, size_t *n, struct atw_err *err)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	return host_numbers(path, ret, n, err);
}

int proc_allowed(uint32_t thread, struct atw_err *err)
{
	static const char *const files[] = { "maps", "pagemap" };
	char path[48];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", thread, files[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return atw_err_set(err, errno == ENOENT || errno == ESRCH ? ATW_E_MISSING :
					   errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
					   "%s: %s", path, strerror(errno));
		close(fd);
	}
	return ATW_OK;
}

void proc_hint(struct atw_err *err)
{
	host_hint_setcap(err, "cap_dac_read_search,cap_sys_admin,cap_sys_ptrace");
}

/* ---- what the kernel shows to us ---- */

/*
 * The pagemap word of a page that is present and private to this process, and the word of
 * its frame in `file`, /proc/kpageflags, unless `kpageflags` is NULL.
 */
static bool procfs_own_word(uint64_t *ret, int file, uint64_t *kpageflags)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	_auto_fd int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t word = 0;

	if (p == MAP_FAILED)
		return false;
	*(volatile char *)p = 1;
	if (fd < 0 || pread(fd, &word, 8, (off_t)((uintptr_t)p / page * 8)) != 8)
		word = 0;
	*ret = word;
	if (kpageflags && (!(word & PAGEMAP_PRESENT) ||
			   pread(file, kpageflags, 8, (off_t)((word & PAGEMAP_FRAME) * 8)) != 8))
		*kpageflags = 0;
	munmap(p, page);
	return true;
}

bool proc_hides_frames(void)
{
	uint64_t word = 0;

	procfs_own_word(&word, -1, NULL);
	return !(word & PAGEMAP_FRAME);
}

bool proc_ksm_is_broken(int kpageflags)
{
	uint64_t word, flags;

	return !procfs_own_word(&word, kpageflags, &flags) || flags & kpf(KPF_KSM);
}

bool proc_is_zero(uint64_t pfn)
{
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	uint64_t flags = 0;
	bool read = fd >= 0 && pread(fd, &flags, 8, (off_t)(pfn * 8)) == 8;

	if (fd >= 0)
		close(fd);
	return read && flags & kpf(KPF_ZERO_PAGE);
}

bool proc_ksm_is_unused(void)
{
	char text[64];

	return host_file_text("/sys/kernel/mm/ksm/pages_shared", text, sizeof(text)) &&
	       !strcmp(text, "0");
}

uint64_t proc_true_flags(bool ksm_broken, bool ksm_unused, uint64_t word)
{
	if (word & frame_types())
		word &= ~(kpf(KPF_ANON) | kpf(KPF_KSM) | kpf(KPF_MMAP));
	/* A page that only one may write was not merged. */
	if (ksm_broken && (ksm_unused || word & kpf(KPF_OWNER_2) || !(word & kpf(KPF_ANON))))
		word &= ~kpf(KPF_KSM);
	return word;
}

bool proc_scans(void)
{
	_auto_fd int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at = (uintptr_t)&page & ~(page - 1);
	struct pagescan_region v[2];
	struct pagescan_arg a = {
		.size = sizeof(a), .start = at, .end = at + page, .vec = (uintptr_t)v,
		.vec_len = 2, .category_mask = PAGESCAN_PRESENT, .return_mask = PAGESCAN_PRESENT,
	};

	return fd >= 0 && ioctl(fd, PAGESCAN_IOCTL, &a) >= 0;
}

/* ---- swap ---- */

/*
 * The n-th line is of type n as long as no device before it was taken off; the
 * kernel does not list those, and says nothing of types.
 */
int proc_swap(unsigned type, struct atw_swap *ret)
{
	struct buf text = { 0 };
	char *save, *line;
	int r = host_file_all("/proc/swaps", 1 << 20, &text, NULL);

	line = r == ATW_OK && text.len ? strtok_r(text.data, "\n", &save) : NULL;
	for (unsigned i = 0; line && i <= type; i++)
		line = strtok_r(NULL, "\n", &save);
	r = ATW_E_MISSING;
	if (line) {
		struct procswap { unsigned long long size, used; } s = { 0, 0 };
		size_t n = strcspn(line, " \t");

		*ret = (struct atw_swap){ 0 };
		snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(n < 255 ? n : 255), line);
		if (sscanf(line + n, " %*s %llu %llu", &s.size, &s.used) == 2) {
			ret->pages = s.size * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);
			ret->used = s.used * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);
		}
		r = ATW_OK;
	}
	buf_deinit(&text);
	return r;
}

bool proc_has_swap(void)
{
	struct atw_swap s;

	return proc_swap(0, &s) == ATW_OK;
}

static bool procfs_in_kallsyms(void *arg, const char *name)
{
	const struct buf *text = arg;
	size_t n = strlen(name);

	for (const char *s = text->data; s && (s = strstr(s, name)); s += n)
		if (s > text->data && s[-1] == ' ' && (s[n] == '\n' || !s[n]))
			return true;
	return false;
}

void proc_soft_abi(const struct atw_paging *mode, struct pace *pace,
		   struct atw_soft_abi *ret)
{
	struct buf text = { 0 };
	struct utsname u;

	uname(&u);
	*ret = atw_soft_abi_for(mode, u.release);
	/* /proc/kallsyms shows names to all users, and addresses to privileged ones. */
	if (host_file_paced("/proc/kallsyms", 256 << 20, pace, &text, NULL) == ATW_OK && text.len)
		soft_configured(ret, u.release, procfs_in_kallsyms, &text);
	buf_deinit(&text);
}

/* Can a process here have the address with just that bit? The page is taken for no time. */
static bool procfs_has_address_bit(unsigned bit)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *want, *got;

	if (bit >= 8 * sizeof(want))
		return false;
	want = (void *)((uintptr_t)1 << bit);
	got = mmap(want, page, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return errno == EEXIST;
	munmap(got, page);
	return got == want;              /* kernels before 4.17 may put it elsewhere */
}

/*
 * The first paging mode with addresses that can be mapped: the number of levels depends
 * on the configuration and the boot options of the kernel.
 */
const struct atw_paging *proc_paging(void)
{
	static const struct { const char *machine; unsigned shift; const char *mode; } modes[] = {
		{ "x86_64", 12, "x86_64-5" }, { "x86_64", 12, "x86_64-4" }, { "i", 12, "i386-pae" },
		{ "aarch64", 12, "arm64-4k-52" }, { "aarch64", 12, "arm64-4k-48" },
		{ "aarch64", 12, "arm64-4k-39" }, { "aarch64", 14, "arm64-16k-52" },
		{ "aarch64", 14, "arm64-16k-48" }, { "aarch64", 14, "arm64-16k-47" },
		{ "aarch64", 14, "arm64-16k-36" }, { "aarch64", 16, "arm64-64k-52" },
		{ "aarch64", 16, "arm64-64k-48" }, { "aarch64", 16, "arm64-64k-42" },
		{ "riscv64", 12, "riscv64-sv57" }, { "riscv64", 12, "riscv64-sv48" },
		{ "riscv64", 12, "riscv64-sv39" }, { "riscv32", 12, "riscv32-sv32" },
		{ "arm", 12, "arm-lpae" },
	};
	const struct atw_paging *widest = NULL, *mode;
	long page = sysconf(_SC_PAGESIZE);
	struct utsname u;

	uname(&u);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strncmp(u.machine, modes[i].machine, strlen(modes[i].machine)) != 0 ||
		    page != 1L << modes[i].shift)
			continue;
		mode = atw_paging_find(modes[i].mode);
		if (!widest)
			widest = mode;
		if (mode && procfs_has_address_bit(mode->va_bits -
						   (mode->halves == ATW_SIGNED ? 2 : 1)))
			return mode;
	}
	return widest;
}

/* ---- VMAs ---- */

int proc_maps(uint32_t pid, uint64_t first, uint64_t last, struct atw_err *err)
{
	struct procmaps_area a;
	struct proc_stat st;
	struct buf text = { 0 };
	size_t pos = 0;
	bool yes = false;
	int r = host_proc_all(pid, "maps", 1 << 30, &text, err);

	/* Its main thread may be gone, and others not. */
	if (r == ATW_OK && !text.len && proc_stat(pid, &st, NULL) == ATW_OK && st.thread != pid)
		r = host_proc_all(st.thread, "maps", 1 << 30, &text, err);
	while (r == ATW_OK && !yes &&
	       (r = procmaps_next((struct atw_blob){ text.data, text.len }, &pos, &a)) != ATW_END) {
		yes = r == ATW_OK && a.start <= last && a.end > first;
		r = ATW_OK;              /* what is no line is no area, either */
	}
	buf_deinit(&text);
	return yes ? ATW_OK : r == ATW_OK ? ATW_END : r;
}
