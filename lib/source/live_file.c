// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "source/live_caps.h"
#include "source/live_host.h"

static ssize_t read_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n;
}

bool live_file_text(const char *path, char *buf, size_t len)
{
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read_some(fd, buf, len - 1);

	if (n < 0)
		return false;
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return true;
}

int live_file_paced(const char *path, size_t max, struct pace *pace, struct buf *ret,
		    struct atw_err *err)
{
	size_t len = pace_slice(pace, 256 * 1024);
	_auto_free char *chunk = malloc(256 * 1024);
	_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return atw_err_set(err, errno == ENOENT || errno == ESRCH ? ATW_E_MISSING :
				   errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	while (chunk) {
		pace_wait(pace);
		n = read_some(fd, chunk, len);
		if (!n)
			break;
		if (n < 0)
			return atw_err_set(err, errno == ESRCH ? ATW_E_MISSING : ATW_E_IO,
					   "%s: %s", path, strerror(errno));
		if (ret->len + (size_t)n > max)
			return atw_err_set(err, ATW_E_LIMIT, "%s: is larger than %zu bytes",
					   path, max);
		pace_done(pace, pace ? &pace->proc : NULL, (uint64_t)n);
		buf_add(ret, chunk, (size_t)n);
	}
	return !chunk || ret->failed ? atw_err_nomem(err) : ATW_OK;
}

int live_file_all(const char *path, size_t max, struct buf *ret,
		  struct atw_err *err)
{
	return live_file_paced(path, max, NULL, ret, err);
}

/* ---- what a process says of itself ---- */

/* 65536 groups of up to 10 digits, and the rest. */
enum { STATUS_MAX = 1 << 20 };

bool live_status(const char *what, struct buf *ret)
{
	struct buf text = { 0 };
	char path[64];
	int r;

	*ret = text;
	snprintf(path, sizeof(path), "/proc/%s/status", what);
	r = live_file_all(path, STATUS_MAX, &text, NULL);
	if (r == ATW_OK && text.len) {
		*ret = text;
		return true;
	}
	buf_deinit(&text);
	if (r == ATW_OK || r == ATW_E_LIMIT || r == ATW_E_NOMEM)
		errno = r == ATW_E_NOMEM ? ENOMEM : EIO;
	return false;
}

const char *live_status_field(const struct buf *status, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = status->data; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (!strncmp(s, key, n) && s[n] == ':')
			return s + n + 1 + strspn(s + n + 1, "\t ");
	}
	return "";
}

/* ---- RAM ---- */

/*
 * "100000000-63fffffff : System RAM". Memory that was plugged in later is part of a
 * device's range, so indented, and names its owner in brackets.
 */
static int iomem_line(struct extents *x, const char *line, struct atw_err *err)
{
	static const char ram[] = " : System RAM";
	const char *start = line + strspn(line, " ");
	const char *dash = strchr(start, '-'), *colon = strstr(start, ram);
	uint64_t first, last;

	if (!colon || !dash || dash > colon ||
	    (strcmp(colon, ram) && strncmp(colon + sizeof(ram) - 1, " (", 2)) ||
	    !num_hex(start, (size_t)(dash - start), &first) ||
	    !num_hex(dash + 1, (size_t)(colon - dash - 1), &last) || last <= first)
		return ATW_OK;
	return extents_add(x, first, last - first + 1, 0, ATW_DATA, err);
}

static int from_iomem(struct extents *x, struct atw_err *err)
{
	struct buf text = { 0 };
	char *save = NULL;
	int r = live_file_all("/proc/iomem", 1 << 20, &text, err);

	for (char *l = r == ATW_OK && text.len ? strtok_r(text.data, "\n", &save) : NULL;
	     l && r == ATW_OK; l = strtok_r(NULL, "\n", &save))
		r = iomem_line(x, l, err);
	buf_deinit(&text);
	return r;
}

static bool memmap_number(unsigned i, const char *name, uint64_t *ret)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/sys/firmware/memmap/%u/%s", i, name);
	return live_file_text(path, text, sizeof(text)) && num_any(text, strlen(text), ret);
}

static int from_firmware(struct extents *x, struct atw_err *err)
{
	char path[64], type[32];
	uint64_t first, last;
	int r = ATW_OK;

	for (unsigned i = 0; i < 4096 && r == ATW_OK; i++) {
		snprintf(path, sizeof(path), "/sys/firmware/memmap/%u/type", i);
		if (!live_file_text(path, type, sizeof(type)))
			break;
		if (!strcmp(type, "System RAM") && memmap_number(i, "start", &first) &&
		    memmap_number(i, "end", &last) && last > first)
			r = extents_add(x, first, last - first + 1, 0, ATW_DATA, err);
	}
	return r;
}

int live_ram(struct extents *ret, struct atw_err *err)
{
	struct extents x = { 0 };
	int r = from_iomem(&x, err);

	if (r != ATW_E_NOMEM && !x.n)
		r = from_firmware(&x, err);
	if (r != ATW_E_NOMEM && !x.n)
		r = live_check_proc_files(err);
	if (r == ATW_OK && !x.n) {
		r = atw_err_set(err, ATW_E_PERM,
				"/proc/iomem does not tell this process what is RAM");
		live_hint_setcap(err, "cap_bpf,cap_perfmon,cap_sys_admin");
	}
	if (r == ATW_OK)
		r = extents_build(&x, err);
	if (r < 0)
		extents_deinit(&x);
	else
		*ret = x;
	return r;
}

/* ---- VMCOREINFO ---- */

int live_note_place(uint64_t *ret_pa, uint64_t *ret_len, struct atw_err *err)
{
	static const char path[] = "/sys/kernel/vmcoreinfo";
	char text[64];
	size_t blank;

	if (!live_file_text(path, text, sizeof(text)))
		return live_check_sys(path, err) < 0 ? ATW_E_MISSING :
		       atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel does not tell where its VMCOREINFO is (no %s)", path);
	/* The address has its 0x, the size has none and is hexadecimal as well. */
	blank = strcspn(text, " ");
	if (!text[blank] || !num_hex(text, blank, ret_pa) ||
	    !num_hex(text + blank + 1, strlen(text + blank + 1), ret_len))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "/sys/kernel/vmcoreinfo holds '%.40s', not an address and a size",
				   text);
	return ATW_OK;
}

/* ---- types ---- */

enum { BTF_MAX = 64 * 1024 * 1024 };

int live_btf_read(struct live_btf *ret, struct atw_err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct live_btf b = { 0 };
	int r = ATW_OK;

	/* Since 6.16 it can be mapped; a read gives 4 KiB at a time. */
	if (file_open(path, &b.file, NULL) < 0)
		r = live_file_all(path, BTF_MAX, &b.copy, err);
	if (r == ATW_E_MISSING && live_check_sys(path, err) == ATW_OK)
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"this kernel does not describe its types (no %s: CONFIG_DEBUG_INFO_BTF)",
				path);
	b.bytes = b.file.map.data ? b.file.map : (struct atw_blob){ b.copy.data, b.copy.len };
	if (r == ATW_OK)
		*ret = b;
	else
		live_btf_close(&b);
	return r;
}

void live_btf_close(struct live_btf *b)
{
	file_close(&b->file);
	buf_deinit(&b->copy);
	*b = (struct live_btf){ 0 };
}

/* ---- how to be allowed more ---- */

bool live_in_user_namespace(void)
{
	char text[256];
	unsigned long long inside, outside, n;

	return live_file_text("/proc/self/uid_map", text, sizeof(text)) &&
	       (sscanf(text, "%llu %llu %llu", &inside, &outside, &n) != 3 ||
		inside || outside || n != UINT32_MAX);
}

/* "cap_bpf,cap_perfmon" is "--cap-add BPF --cap-add PERFMON" to a container. */
static void container_options(const char *caps, char *buf, size_t len)
{
	size_t n = 0;

	for (const char *s = caps; *s && n + 1 < len;) {
		size_t name = strcspn(s, ",");
		const char *bare = strncmp(s, "cap_", 4) ? s : s + 4;

		n += (size_t)snprintf(buf + n, len - n, " --cap-add ");
		for (; bare < s + name && n + 1 < len; bare++)
			buf[n++] = *bare >= 'a' && *bare <= 'z' ? (char)(*bare - 'a' + 'A') : *bare;
		s += name + (s[name] == ',');
	}
	buf[n < len ? n : len - 1] = '\0';
}

bool live_has_capability(unsigned cap)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(__NR_capget, &head, c) &&
	       c[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

#define SETCAP_WHAT "run it as root, or allow it once"
#define SETCAP "sudo setcap %s %s"

void live_hint_setcap(struct atw_err *err, const char *caps)
{
	char self[128], options[128], all[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool known = n > 0 && n < (ssize_t)sizeof(self) - 1;
	const struct caps have = caps_of_program();

	if (known)
		self[n] = '\0';
	if (live_in_user_namespace()) {
		atw_err_hint(err, "no capability of this user namespace counts; outside of it: sudo %s",
			     known ? self : "atwalk");
	} else if (!geteuid() && live_has_capability(CAP_SYS_ADMIN)) {
		atw_err_hint(err, "security rules of this machine keep even root out");
	} else if (!geteuid()) {
		container_options(caps, options, sizeof(options));
		atw_err_hint(err, "root may, but this one lacks capabilities; in a container:%s",
			     options);
	} else if (known && caps_join(caps, &have, all, sizeof(all)) &&
		   sizeof(SETCAP_WHAT ": " SETCAP) + strlen(all) + strlen(self) <
			   sizeof(err->hint)) {
		atw_err_hint_command(err, SETCAP_WHAT, SETCAP, all, self);
	} else {                 /* a command that does not fit would not work */
		atw_err_hint(err, "run it as root");
	}
}
