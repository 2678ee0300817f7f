// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A crash that leaves a real vmcore.  The guest loads its own kernel again, as
 * the one to start after a crash, and crashes on request; the second kernel
 * runs this same program, which copies /proc/vmcore to the port "vmcore".
 */
#include "init.h"

#include <fcntl.h>
#include <linux/kexec.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CRASH_KERNEL	"/crash/vmlinuz"
#define CRASH_INITRD	"/crash/initrd"
#define CRASH_TOOL	"/crash/kexec"

/*
 * A crash kernel has memory for one CPU and few drivers.  The console comes
 * from the host, which knows its name.
 */
static const char crash_args[] =
	"atwalk.vmcore panic=-1 loglevel=4 nr_cpus=1 reset_devices irqpoll";

static bool load_by_syscall(const char *args)
{
#ifdef SYS_kexec_file_load
	int kernel, initrd;
	long err;

	kernel = open(CRASH_KERNEL, O_RDONLY | O_CLOEXEC);
	initrd = open(CRASH_INITRD, O_RDONLY | O_CLOEXEC);
	err = syscall(SYS_kexec_file_load, kernel, initrd, strlen(args) + 1, args,
		      KEXEC_FILE_ON_CRASH);
	if (err)
		perror("kexec_file_load");
	close(kernel);
	close(initrd);
	return !err;
#else
	(void)args;
	return false;
#endif
}

/* Where the kernel cannot load by itself, with the tool that can. */
static bool load_by_tool(const char *args)
{
	char append[1200];
	int status;
	pid_t pid;

	snprintf(append, sizeof(append), "--append=%s", args);
	pid = fork();
	if (pid == 0) {
		execl(CRASH_TOOL, CRASH_TOOL, "-p", CRASH_KERNEL,
		      "--initrd=" CRASH_INITRD, append, (char *)NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

void crash_prepare(void)
{
	char args[1024], line[4096], *word, *save;

	/* The second kernel speaks to the same console as this one. */
	snprintf(args, sizeof(args), "%s", crash_args);
	if (read_file("/proc/cmdline", line, sizeof(line)) < 0)
		die("/proc/cmdline");
	for (word = strtok_r(line, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (strncmp(word, "console=", 8) &&
		    strncmp(word, "earlycon", 8))
			continue;
		strncat(args, " ", sizeof(args) - strlen(args) - 1);
		strncat(args, word, sizeof(args) - strlen(args) - 1);
	}
	if (!(access(CRASH_TOOL, X_OK) ? load_by_syscall(args) :
					 load_by_tool(args)))
		die("cannot load a crash kernel");
}

void crash(void)
{
	write_file("/proc/sysrq-trigger", "c");
	die("still alive after sysrq c");
}

void vmcore_copy(void)
{
	static char buf[1 << 20];
	struct port status;
	ssize_t n, done;
	int in, out;

	if (!port_open(&status, "status"))
		die("no ports");
	in = open("/proc/vmcore", O_RDONLY | O_CLOEXEC);
	out = port_find("vmcore", O_WRONLY, 10000);
	if (in < 0 || out < 0)
		die("no /proc/vmcore, or no port to write it to");
	while ((n = read(in, buf, sizeof(buf))) > 0) {
		for (done = 0; done < n;) {
			ssize_t w = write(out, buf + done, n - done);

			if (w < 0)
				die("writing the vmcore");
			done += w;
		}
	}
	if (n < 0)
		die("reading /proc/vmcore");
	port_printf(&status, "vmcore\n");
	port_flush(&status);
	sync();
	reboot(RB_POWER_OFF);
	idle();
}
