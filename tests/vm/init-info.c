// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel says of itself: each file after a line `##### path`, on the
 * port "info"; the symbols, which are megabytes, on a port of their own.
 */
#include "init.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/klog.h>
#include <unistd.h>

static void copy_file(struct port *p, const char *path)
{
	static char buf[16384];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		port_write(p, buf, n);
	close(fd);
}

static void copy_titled(struct port *p, const char *path)
{
	if (access(path, R_OK))
		return;
	port_printf(p, "##### %s\n", path);
	copy_file(p, path);
}

/* The log as dmesg(1) would have it: "<LEVEL>[SECONDS] TEXT". */
static void write_log(struct port *p)
{
	static char buf[256 << 10];
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, buf, sizeof(buf));

	port_printf(p, "##### dmesg\n");
	if (n > 0)
		port_write(p, buf, n);
}

/* The pools of huge pages, a folder for each size. */
static void write_hugepages(struct port *p)
{
	static const char dir_path[] = "/sys/kernel/mm/hugepages";
	char path[320];
	struct dirent *e;
	DIR *dir;

	dir = opendir(dir_path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/nr_hugepages", dir_path,
			 e->d_name);
		copy_titled(p, path);
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", dir_path,
			 e->d_name);
		copy_titled(p, path);
	}
	closedir(dir);
}

/* On which node the memory of each process is. */
static void write_numa(struct port *p)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/numa_maps", e->d_name);
		copy_titled(p, path);
	}
	closedir(dir);
}

static struct port info;

void info_write(void)
{
	static const char *const files[] = {
		"/proc/version", "/proc/cmdline", "/proc/iomem",
		"/proc/swaps", "/proc/cpuinfo", "/proc/modules", "/proc/uptime",
		"/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_ratio",
		"/sys/kernel/vmcoreinfo", "/sys/kernel/debug/kernel_page_tables",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
		"/proc/sys/kernel/tainted",
	};
	static struct port kallsyms;
	size_t i;

	if (!port_open(&info, "info") || !port_open(&kallsyms, "kallsyms"))
		die("no info port");
	for (i = 0; i < ARRAY_SIZE(files); i++)
		copy_titled(&info, files[i]);
	write_hugepages(&info);
	write_numa(&info);
	write_log(&info);
	machines_write(&info);
	port_flush(&info);

	copy_file(&kallsyms, "/proc/kallsyms");
	port_flush(&kallsyms);
	close(kallsyms.fd);
}

void info_write_counters(void)
{
	static const char *const files[] = {
		"/proc/meminfo", "/proc/zoneinfo", "/proc/buddyinfo", "/proc/slabinfo",
		"/proc/vmstat",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		copy_titled(&info, files[i]);
	port_flush(&info);
	close(info.fd);
}
