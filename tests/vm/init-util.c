// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports, files and modules: small things that do not know of tests. */
#include "init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dprintf(STDERR_FILENO, "atwalk-init: ");
	vdprintf(STDERR_FILENO, fmt, ap);
	dprintf(STDERR_FILENO, "\n");
	va_end(ap);
}

/*
 * Say what is wrong on the console.  The end of pid 1 is the end of the guest,
 * by a panic that makes the emulator exit; of another process, a missing child
 * that pid 1 notices.
 */
void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dprintf(STDERR_FILENO, "atwalk-init: failed: ");
	vdprintf(STDERR_FILENO, fmt, ap);
	dprintf(STDERR_FILENO, ": %s\n", strerror(errno));
	va_end(ap);
	_exit(1);
}

/* The whole of a small file as a string; -1 where there is none. */
ssize_t read_file(const char *path, char *buf, size_t size)
{
	ssize_t n, total = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((size_t)total < size - 1) {
		n = read(fd, buf + total, size - 1 - total);
		if (n <= 0)
			break;
		total += n;
	}
	close(fd);
	buf[total] = '\0';
	return total;
}

bool write_file(const char *path, const char *text)
{
	ssize_t n;
	int fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

/* Is this word on the kernel's command line? */
bool cmdline_has(const char *word)
{
	char line[4096], *save, *w;

	if (read_file("/proc/cmdline", line, sizeof(line)) < 0)
		return false;
	for (w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		if (!strcmp(w, word))
			return true;
	return false;
}

/*
 * In the order of their dependencies.  Kernels have some of them built in, and
 * those are then not in the initramfs.
 */
void load_modules(void)
{
	static const char *const modules[] = {
		"virtio", "virtio_ring", "virtio_pci_legacy_dev",
		"virtio_pci_modern_dev", "virtio_pci", "virtio_console",
		"virtio_blk", "qemu_fw_cfg", "irqbypass", "ccp", "kvm", "kvm-amd",
	};
	char path[64];
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(modules); i++) {
		snprintf(path, sizeof(path), "/modules/%s.ko", modules[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			warn("%s: %s", modules[i], strerror(errno));
		close(fd);
	}
}

static int port_find_once(const char *name, int flags)
{
	static const char class[] = "/sys/class/virtio-ports";
	char path[320], have[64];
	struct dirent *e;
	int fd = -1;
	DIR *dir;

	dir = opendir(class);
	if (!dir)
		return -1;
	while (fd < 0 && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s/name", class, e->d_name);
		if (read_file(path, have, sizeof(have)) <= 0)
			continue;
		have[strcspn(have, "\n")] = '\0';
		if (strcmp(have, name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		fd = open(path, flags | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

/* Ports appear some time after the driver does, hence the patience. */
int port_find(const char *name, int flags, int timeout_ms)
{
	const struct timespec step = { .tv_nsec = 20 * 1000 * 1000 };
	int fd;

	for (;;) {
		fd = port_find_once(name, flags);
		if (fd >= 0 || timeout_ms <= 0)
			return fd;
		nanosleep(&step, NULL);
		timeout_ms -= 20;
	}
}

bool port_open(struct port *p, const char *name)
{
	p->fd = port_find(name, O_WRONLY, 10000);
	p->used = 0;
	p->hash = 0;
	memset(p->buf, 0, sizeof(p->buf));
	return p->fd >= 0;
}

/* A port without a device (fd -1) only hashes. */
void port_flush(struct port *p)
{
	size_t done = 0;
	ssize_t n;

	while (p->fd >= 0 && done < p->used) {
		n = write(p->fd, p->buf + done, p->used - done);
		if (n < 0 && errno != EINTR)
			die("writing to a port");
		if (n > 0)
			done += n;
	}
	p->used = 0;
}

void port_write(struct port *p, const void *data, size_t len)
{
	const unsigned char *s = data;
	size_t i, n;

	for (i = 0; i < len; i++)
		p->hash = (p->hash ^ s[i]) * 0x100000001b3ULL;
	while (len) {
		if (p->used == sizeof(p->buf))
			port_flush(p);
		n = sizeof(p->buf) - p->used;
		if (n > len)
			n = len;
		memcpy(p->buf + p->used, s, n);
		p->used += n;
		s += n;
		len -= n;
	}
}

void port_printf(struct port *p, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	port_write(p, line, n);
}

/* printf is slow under emulation, and most of the truth is hex numbers. */
void port_hex(struct port *p, uint64_t value, char end)
{
	char buf[17];
	int i = sizeof(buf) - 1;

	buf[i] = end;
	do {
		buf[--i] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	port_write(p, buf + i, sizeof(buf) - i);
}
