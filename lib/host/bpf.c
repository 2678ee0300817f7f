// SPDX-License-Identifier: GPL-2.0-or-later
/* bpf.c - reads of kernel memory by a BPF program. */
#include "host/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "host/caps.h"
#include "host/host_file.h"
#include "host/host.h"

/* Bytes that the kernel does not know must be zero, also those of other members. */
static void bpf_attr_init(union bpf_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
}

static long bpf_sys(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

/* ---- reasons of failures ---- */

static bool bpf_has_cap(const struct __user_cap_data_struct *c, unsigned cap)
{
	return c[cap / 32].effective >> cap % 32 & 1;
}

static void bpf_hint_caps(struct atw_err *err)
{
	host_hint_setcap(err, "cap_bpf,cap_perfmon");
}

/*
 * Checked first, because bpf(2) reports all kinds of problems with the same two errors.
 */
static int bpf_check_caps(struct atw_err *err)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3] = { 0 };
	bool bpf, perfmon;

	if (syscall(__NR_capget, &head, c) < 0 || bpf_has_cap(c, CAP_SYS_ADMIN))
		return ATW_OK;
	bpf = bpf_has_cap(c, CAP_BPF);
	perfmon = bpf_has_cap(c, CAP_PERFMON);
	if (bpf && perfmon)
		return ATW_OK;
	atw_err_set(err, ATW_E_PERM,
		    "reading the running kernel needs %s%s%s, which this process does not have",
		    bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : _(" and "),
		    perfmon ? "" : "CAP_PERFMON");
	bpf_hint_caps(err);
	return ATW_E_PERM;
}

static int bpf_refused(const char *what, int e, struct atw_err *err)
{
	int r = host_check_lockdown(err);

	if (r < 0)
		return r;
	if (e == ENOSYS)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
	if (e != EPERM && e != EACCES)
		return atw_err_set(err, e == ENOMEM ? ATW_E_NOMEM : ATW_E_IO,
				   "bpf: %s: %s", what, strerror(e));
	atw_err_set(err, ATW_E_PERM, "the kernel does not let this process use BPF (%s: %s)",
		    what, strerror(e));
	if (host_in_user_namespace())
		bpf_hint_caps(err);
	else
		atw_err_hint(err, "in a container: --cap-add BPF --cap-add PERFMON, and a seccomp profile that lets bpf(2) through");
	return ATW_E_PERM;
}

/* The last line of the verifier that is not a statistic. */
static const char *bpf_last_words(char *log)
{
	char *line;

	while ((line = strrchr(log, '\n')) != NULL) {
		if (line[1] && strncmp(line + 1, "processed ", 10))
			return line + 1;
		*line = '\0';
	}
	return log;
}

/* The verifier's message, with a hint if there is one. */
static int bpf_rejected(char *log, struct atw_err *err)
{
	const char *why = bpf_last_words(log);
	char jit[16];

	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "this kernel does not accept the BPF program: %.200s", why);
	/*
	 * RISC-V disables it by default, and the interpreter of 7.2 rejects this program,
	 * unlike that of 6.12.
	 */
	if (host_file_text("/proc/sys/net/core/bpf_jit_enable", jit, sizeof(jit)) &&
	    !strcmp(jit, "0"))
		atw_err_hint_command(err, "switch the compiler on",
				     "sudo sysctl net.core.bpf_jit_enable=1");
	return ATW_E_UNSUPPORTED;
}

/* ---- programs ---- */

/* A signal interrupts the verifier; the program was not rejected then. */
static long bpf_load_program(union bpf_attr *a)
{
	long fd;
	int tries = 8;

	do
		fd = bpf_sys(BPF_PROG_LOAD, a);
	while (fd < 0 && errno == EAGAIN && --tries);
	return fd;
}

static int bpf_load_as(enum bpf_prog_type type, uint32_t flags,
		       const struct bpf_insn *insns, size_t n, struct atw_err *err)
{
	char log[4096] = "";
	union bpf_attr a;
	long fd;

	bpf_attr_init(&a);
	a.prog_type = type;
	a.prog_flags = flags;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = (uint32_t)n;
	a.license = (uintptr_t)"GPL";
	strcpy(a.prog_name, "atwalk");
	fd = bpf_load_program(&a);
	if (fd >= 0)
		return (int)fd;
	/* The failure is not caused by the program. */
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		return bpf_refused(_("loading a program"), errno, err);
	/* Load it again with a log: writing the log costs as much as the rest. */
	a.log_buf = (uintptr_t)log;
	a.log_size = sizeof(log);
	a.log_level = 1;
	fd = bpf_load_program(&a);
	if (fd >= 0)
		return (int)fd;
	log[sizeof(log) - 1] = '\0';
	if (errno != EPERM && log[0])
		return bpf_rejected(log, err);
	/* Without a message of the verifier: the kernel has no programs of this type. */
	if (errno == EINVAL)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel cannot run BPF programs on request (Linux 5.14 can)");
	return bpf_refused(_("loading a program"), errno, err);
}

int bpf_load(const struct bpf_insn *insns, size_t n, struct atw_err *err)
{
	return bpf_load_as(BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE, insns, n, err);
}

int bpf_load_atomic(const struct bpf_insn *insns, size_t n, struct atw_err *err)
{
	return bpf_load_as(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, insns, n, err);
}

int bpf_trace(const char *tracepoint, const struct bpf_insn *insns, size_t n,
		   struct atw_err *err)
{
	int prog = bpf_load_atomic(insns, n, err), fd, e;
	union bpf_attr a;

	if (prog < 0)
		return prog;
	bpf_attr_init(&a);
	a.raw_tracepoint.name = (uintptr_t)tracepoint;
	a.raw_tracepoint.prog_fd = (uint32_t)prog;
	fd = (int)bpf_sys(BPF_RAW_TRACEPOINT_OPEN, &a);
	e = errno;
	close(prog);             /* the attachment keeps it */
	if (fd >= 0)
		return fd;
	if (e == ENOENT)
		return atw_err_set(err, ATW_E_MISSING, "this kernel has no tracepoint %s",
				   tracepoint);
	return bpf_refused(_("attaching to a tracepoint"), e, err);
}

int bpf_run(int prog, struct atw_err *err)
{
	union bpf_attr a;

	bpf_attr_init(&a);
	a.test.prog_fd = (uint32_t)prog;
	return bpf_sys(BPF_PROG_TEST_RUN, &a) < 0
		       ? bpf_refused(_("running a program"), errno, err)
		       : ATW_OK;
}

/*
 * The loop has a constant bound, for the verifier, and ends where the list does. R6
 * points to the current piece, R9 to the area.
 */
static int bpf_load_reader(int map, struct atw_err *err)
{
	const struct bpf_insn insns[] = {
		/*  0 */ MAP_VALUE(R6, map),
		/*  2 */ CALL(BPF_FUNC_get_current_task),
		/*  3 */ STORE64(R6, BPF_AREA(current), R0),
		/*  4 */ LOAD64(R7, R6, BPF_AREA(count)),
		/*  5 */ COPY(R9, R6),
		/*  6 */ SET(R8, 0),
		/*  7 */ IF_GE(R8, R7, 14),               /* to 22 */
		/*  8 */ LOAD32(R0, R6, BPF_PIECE(place)),
		/*  9 */ AND(R0, LIVE_PLACES - 1),
		/* 10 */ TIMES(R0, LIVE_PIECE),
		/* 11 */ COPY(R1, R9),
		/* 12 */ ADD_TO(R1, R0),
		/* 13 */ ADD(R1, offsetof(struct bpf_area, data)),
		/* 14 */ LOAD32(R2, R6, BPF_PIECE(len)),
		/* 15 */ IF_GT_VALUE(R2, LIVE_PIECE, 6),  /* to 22 */
		/* 16 */ LOAD64(R3, R6, BPF_PIECE(va)),
		/* 17 */ CALL(BPF_FUNC_probe_read_kernel),
		/* 18 */ STORE32(R6, BPF_PIECE(result), R0),
		/* 19 */ ADD(R6, sizeof(struct bpf_piece)),
		/* 20 */ ADD(R8, 1),
		/* 21 */ IF_LT_VALUE(R8, LIVE_BATCH, -15), /* to 7 */
		/* 22 */ SET(R0, 0),
		/* 23 */ EXIT(),
	};

	return bpf_load(insns, ARRAY_SIZE(insns), err);
}

/*
 * Before 5.11 a map counts as locked memory, whose limit may be low for root as well:
 * then the error is not about the map.
 */
static int bpf_no_map(int e, struct atw_err *err)
{
	const struct bpf_insn nothing[] = { SET(R0, 0), EXIT() };
	int fd = e == EPERM ? bpf_load(nothing, ARRAY_SIZE(nothing), err) : -1;

	if (fd >= 0)
		close(fd);
	return fd == ATW_E_UNSUPPORTED ? fd : bpf_refused(_("making a map"), e, err);
}

int bpf_map(uint32_t type, uint32_t value_size, uint32_t n, int inner, struct atw_err *err)
{
	union bpf_attr a;
	int fd;

	bpf_attr_init(&a);
	a.map_type = type;
	a.key_size = type == BPF_MAP_TYPE_RINGBUF ? 0 : 4;
	a.value_size = value_size;
	a.max_entries = n;
	if (type == BPF_MAP_TYPE_ARRAY)
		a.map_flags = BPF_F_MMAPABLE;
	if (type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
		a.inner_map_fd = (uint32_t)inner;
	strcpy(a.map_name, "atwalk");
	fd = (int)bpf_sys(BPF_MAP_CREATE, &a);
	return fd < 0 ? bpf_no_map(errno, err) : fd;
}

int bpf_map_set(int map, uint32_t key, uint32_t value, struct atw_err *err)
{
	union bpf_attr a;

	bpf_attr_init(&a);
	a.map_fd = (uint32_t)map;
	a.key = (uintptr_t)&key;
	a.value = (uintptr_t)&value;
	return bpf_sys(BPF_MAP_UPDATE_ELEM, &a) < 0
		       ? bpf_refused(_("filling a map"), errno, err)
		       : ATW_OK;
}

int bpf_share(size_t size, void **ret, struct atw_err *err)
{
	int map, r = bpf_check_caps(err);

	if (r < 0)
		return r;
	map = bpf_map(BPF_MAP_TYPE_ARRAY, (uint32_t)size, 1, 0, err);
	if (map < 0)
		return map;
	*ret = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (*ret != MAP_FAILED)
		return map;
	r = bpf_refused(_("sharing a map"), errno, err);
	close(map);
	return r;
}

int bpf_open(struct host_bpf *ret, struct atw_err *err)
{
	struct host_bpf b = { .prog = -1 };
	void *area;
	int r = b.map = bpf_share(sizeof(struct bpf_area), &area, err);

	if (r < 0)
		return r;
	b.area = area;
	r = b.prog = bpf_load_reader(b.map, err);
	if (r < 0) {
		bpf_close(&b);
		return r;
	}
	*ret = b;
	return ATW_OK;
}

void bpf_close(struct host_bpf *b)
{
	if (b->area)
		munmap(b->area, sizeof(*b->area));
	/* Descriptor 0 only occurs in a zeroed struct. */
	if (b->prog > 0)
		close(b->prog);
	if (b->lister > 0)
		close(b->lister);
	if (b->map > 0)
		close(b->map);
	*b = (struct host_bpf){ 0 };
}

int bpf_read(struct host_bpf *b, size_t n, struct atw_err *err)
{
	b->area->count = n;
	return bpf_run(b->prog, err);
}

int bpf_copy(struct host_bpf *b, uint64_t va, void *buf, size_t len, struct atw_err *err)
{
	int r;

	b->area->piece[0] = (struct bpf_piece){ .va = va, .len = (uint32_t)len,
						 .result = -EFAULT };
	r = len > LIVE_PIECE ? ATW_E_USAGE : bpf_read(b, 1, err);
	if (r < 0)
		return r;
	if (b->area->piece[0].result)
		return atw_err_set(err, ATW_E_IO, "the kernel has nothing to read at 0x%llx",
				   (unsigned long long)va);
	memcpy(buf, b->area->data[0], len);
	return ATW_OK;
}
