// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmemwork trace FILE    do some work in a child, and have the kernel's own tracing write
 *                        down in FILE what its allocators did for it meanwhile
 * kmemwork seek SECONDS  keep the structs of four open files busy
 * kmemwork work ROUNDS   do that work so often
 * kmemwork storm ROUNDS  open pipes and close them, as fast as it goes, until SIGUSR1;
 *                        and then a thousand times ROUNDS more
 * kmemwork large ROUNDS  have the kernel ask for what no slab cache is large enough for
 *
 * The child is called "worker" as long as it works, and only then; it prints nothing.
 * Exit status 77: there is no tracing here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 500, KEPT = 250, PIPES = 40, PAGES = 300 };

struct shared {
	_Atomic int ready, go, done;
};

static char folder[256];         /* of our own instance of tracing */
static pid_t child;

static int put(const char *name, const char *text)
{
	char path[512];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	if (fd >= 0) {
		n = write(fd, text, strlen(text));
		close(fd);
	}
	return n < 0 ? -1 : 0;
}

/* What stays behind would slow the machine down for good. */
static int end_tracing(void)
{
	if (child > 0)
		kill(child, SIGKILL);
	put("events/enable", "0");
	if (rmdir(folder) == 0)
		return 0;
	dprintf(2, "kmemwork: %s stays behind: %s\n", folder, strerror(errno));
	return 1;
}

static void on_signal(int number)
{
	end_tracing();
	_exit(128 + number);
}

static void at_end(void (*handler)(int number))
{
	signal(SIGTERM, handler);
	signal(SIGINT, handler);
	signal(SIGHUP, handler);
}

/* In a private mount namespace, which ends with this process. */
static int mount_tracing(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tracefs", "/mnt", "tracefs", 0, NULL) < 0)
		return -1;
	snprintf(folder, sizeof(folder), "/mnt/instances/atwalk-%d", (int)getpid());
	if (mkdir(folder, 0700) < 0)
		return -1;
	at_end(on_signal);
	return 0;
}

static void work(void)
{
	static int fd[FILES], pipes[PIPES][2];
	char *pages;

	for (int i = 0; i < FILES; i++)
		fd[i] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (int i = KEPT; i < FILES; i++)
		close(fd[i]);
	for (int i = 0; i < PIPES; i++)
		if (pipe(pipes[i]) < 0)
			_exit(1);
	pages = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(pages, (size_t)PAGES * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	munmap(pages, (size_t)PAGES * 4096);
	for (int i = 0; i < KEPT; i++)
		close(fd[i]);
	for (int i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static void worker(struct shared *s)
{
	struct timespec moment = { 0, 1000000 };

	at_end(SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the program touches first, and tables of descriptors as large as they get. */
	work();
	s->ready = 1;
	while (!s->go)
		nanosleep(&moment, NULL);
	prctl(PR_SET_NAME, "worker");
	work();
	prctl(PR_SET_NAME, "worked");
	s->done = 1;
	for (;;)
		nanosleep(&moment, NULL);
}

/* Nothing of the folder stays open, or it cannot be removed. */
static int copy(const char *name, const char *to)
{
	char path[512], buf[65536];
	int in, out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n = -1;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = open(path, O_RDONLY | O_CLOEXEC);
	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	close(in);
	close(out);
	return n ? -1 : 0;
}

static int trace(const char *file)
{
	struct timespec moment = { 0, 1000000 };
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char number[32];
	int failed = 1;

	if (s == MAP_FAILED || mount_tracing() < 0)
		return 77;
	child = fork();
	if (!child)
		worker(s);
	snprintf(number, sizeof(number), "%d", (int)child);
	if (child > 0 && !put("set_event_pid", number) && !put("buffer_size_kb", "8192") &&
	    !put("events/kmem/kmalloc/enable", "1") &&
	    !put("events/kmem/kmem_cache_alloc/enable", "1") &&
	    !put("events/kmem/mm_page_alloc/enable", "1")) {
		while (!s->ready)
			nanosleep(&moment, NULL);
		put("trace", "");
		s->go = 1;
		while (!s->done)
			nanosleep(&moment, NULL);
		put("tracing_on", "0");
		failed = copy("trace", file) < 0;
	}
	failed |= end_tracing();
	waitpid(child, NULL, 0);
	return failed;
}

static int seek(unsigned seconds)
{
	time_t end = time(NULL) + seconds;
	int fd[4];

	for (int i = 0; i < 4; i++)
		fd[i] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	prctl(PR_SET_NAME, "seeker");
	while (time(NULL) < end)
		for (int i = 0; i < 40000; i++)
			lseek(fd[i % 4], i / 4 & 1, SEEK_SET);
	return 0;
}

static volatile sig_atomic_t enough;

static void on_enough(int number)
{
	(void)number;
	enough = 1;
}

static int storm(unsigned rounds)
{
	int fd[2];

	signal(SIGUSR1, on_enough);
	while (!enough || rounds--)
		for (int i = 0; i < 1000 && pipe2(fd, O_CLOEXEC) == 0; i++) {
			close(fd[0]);
			close(fd[1]);
		}
	return 0;
}

/* 256 structs of a pipe's buffers, 10 KiB or so: F_SETPIPE_SZ is an array of them. */
static int large(unsigned rounds)
{
	int fd[2];

	prctl(PR_SET_NAME, "worker");
	for (; rounds; rounds--) {
		if (pipe2(fd, O_CLOEXEC) < 0 || fcntl(fd[1], F_SETPIPE_SZ, 1 << 20) < 0)
			return 77;
		close(fd[0]);
		close(fd[1]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "trace"))
		return trace(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "seek"))
		return seek((unsigned)atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "work")) {
		for (int i = atoi(argv[2]); i > 0; i--)
			work();
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "storm"))
		return storm((unsigned)atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "large"))
		return large((unsigned)atoi(argv[2]));
	fputs("usage: kmemwork trace FILE | seek SECONDS | work ROUNDS | storm ROUNDS | large ROUNDS\n",
	      stderr);
	return 2;
}
