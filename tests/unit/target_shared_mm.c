/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that share an address space are recognised; copies are distinguished. */
#include "target/procfs.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/host_file.h"
#include "test.h"

__attribute__((noreturn)) static void rest(void)
{
	for (;;)
		pause();
}

/* A process of ours, with a copy of our memory, that waits. */
static pid_t copy(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rest();
	}
	return pid;
}

/* Another one, and one more that has its memory, and of which it says the number. */
static pid_t couple(int said)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!vfork()) {
			pid = getpid();
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(said, &pid, sizeof(pid)) != sizeof(pid))
				_exit(1);
			rest();
		}
		rest();
	}
	return pid;
}

static void stop(pid_t pid)
{
	if (pid > 0)
		kill(pid, SIGKILL);
}

/* The caller of vfork(2) is blocked in it. */
static bool stands(pid_t pid)
{
	const struct timespec ms = { 0, 1000000 };
	char path[48], text[512];
	const char *s;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (unsigned i = 0; i < 300000; i++) {
		if (host_file_text(path, text, sizeof(text)) && (s = strrchr(text, ')')) && s[2] == 'D')
			return true;
		nanosleep(&ms, NULL);
	}
	return false;
}

TEST(those_with_the_same_memory_and_those_with_a_copy)
{
	pid_t one, two = 0, other = copy();
	size_t first[5] = { 9, 9, 9, 9, 9 };
	bool stood;
	int said[2], r;

	CHECK(!pipe(said));
	one = couple(said[1]);
	CHECK_EQ(read(said[0], &two, sizeof(two)), sizeof(two));
	const uint32_t pid[] = { (uint32_t)other, (uint32_t)two, (uint32_t)getpid(),
				 (uint32_t)one, UINT32_MAX };
	stood = stands(one);
	r = share_find(pid, 5, first, NULL);
	stop(two);
	stop(one);
	stop(other);
	while (wait(NULL) > 0)
		;
	close(said[0]);
	close(said[1]);
	CHECK_EQ(r, ATW_OK);
	if (!stood)
		SKIP("vfork(2) is fork(2) here, as under valgrind");
	if (syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0) != 0)
		SKIP("this kernel has no kcmp(2), or not for us");
	CHECK_EQ(first[0], 0);
	CHECK_EQ(first[1], 1);
	CHECK_EQ(first[2], 2);
	CHECK_EQ(first[3], 1);
	CHECK_EQ(first[4], 4);
}

TEST(nobody_at_all)
{
	size_t first = 9;

	CHECK_EQ(share_find(NULL, 0, &first, NULL), ATW_OK);
	CHECK_EQ(first, 9);
}
