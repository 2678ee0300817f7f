// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that this test starts are stopped with all their threads, and go on unharmed.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/host_file.h"
#include "host/freeze.h"
#include "test.h"

enum {
	THREADS = 8,
	PATIENCE = 300000,       /* looks, a millisecond apart: only a hang gets there */
};

/* Shared with children: what each of their threads counts. */
static volatile uint64_t *counts;

static void sleep_ms(unsigned ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static void *count(void *slot)
{
	for (;;) {
		counts[(uintptr_t)slot]++;
		sleep_ms(1);
	}
	return NULL;
}

static void *count_once(void *slot)
{
	counts[(uintptr_t)slot]++;
	return NULL;
}

/* Threads that end as soon as they begin. */
static void *churn(void *slot)
{
	for (;;) {
		pthread_t t;

		if (!pthread_create(&t, NULL, count_once, slot))
			pthread_join(t, NULL);
	}
	return NULL;
}

static void plain_child(void)
{
	count(0);
}

static void threads_child(void)
{
	pthread_t t;

	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&t, NULL, i < 4 ? count : churn, (void *)i);
	count(0);
}

/*
 * A program that calls execve(2) again and again, with threads that end when it does.
 * It is this program: with the variable in the environment, main() is never reached.
 */
#define AGAIN "ATWALK_TEST_AGAIN"

static void *wait_for_ever(void *slot)
{
	for (;;)
		pause();
	return slot;
}

__attribute__((constructor)) static void again(void)
{
	pthread_t t;

	if (!getenv(AGAIN))
		return;
	for (unsigned i = 0; i < 2 * THREADS; i++)
		pthread_create(&t, NULL, wait_for_ever, NULL);
	sleep_ms(2);
	execl("/proc/self/exe", "again", NULL);
	_exit(1);
}

static void again_child(void)
{
	counts[0]++;
	setenv(AGAIN, "1", 1);
	execl("/proc/self/exe", "again", NULL);
}

static void headless_child(void)
{
	pthread_t t;

	pthread_create(&t, NULL, count, (void *)1);
	pthread_exit(NULL);
}

static void vfork_child(void)
{
	counts[0]++;
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep_ms(2 * PATIENCE);
		_exit(0);
	}
	count(0);
}

/* A child that has begun, and ends with us at the latest. */
static pid_t start(void (*run)(void), unsigned slot)
{
	pid_t pid;

	if (!counts)
		counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < THREADS; i++)
		counts[i] = 0;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	for (unsigned i = 0; i < PATIENCE && !counts[slot]; i++)
		sleep_ms(1);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static char state_of(pid_t pid)
{
	char path[64], text[512] = "", *s;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	s = strrchr(text, ')');
	return s ? s[2] : 0;
}

static uint64_t sum(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < THREADS; i++)
		n += counts[i];
	return n;
}

/* Does it count? */
static bool runs(void)
{
	uint64_t before = sum();

	for (unsigned i = 0; i < PATIENCE && sum() == before; i++)
		sleep_ms(1);
	return sum() > before;
}

/* As often as a thread would have counted, had it gone on. */
static bool stands_still(void)
{
	uint64_t before = sum();

	for (unsigned i = 0; i < 30 && sum() == before; i++)
		sleep_ms(1);
	return sum() == before;
}

static bool allowed(struct freeze *f, pid_t pid, struct atw_err *err)
{
	return freeze_stop(f, (uint32_t)pid, err) == ATW_OK;
}

TEST(stands_still_and_goes_on)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(plain_child, 0);

	if (!allowed(&f, pid, &err)) {
		end(pid);
		SKIP(err.text);
	}
	CHECK_EQ(f.threads, 1);
	CHECK_EQ(state_of(pid), 't');
	CHECK(stands_still());
	freeze_thaw(&f);
	CHECK(runs());
	CHECK(f.ns >= 30 * 1000 * 1000);
	freeze_thaw(&f);                   /* twice is fine */
	freeze_thaw(NULL);
	/* Often enough to meet it wherever it is. */
	for (unsigned i = 0; i < 200; i++) {
		CHECK_EQ(freeze_stop(&f, (uint32_t)pid, &err), ATW_OK);
		freeze_thaw(&f);
	}
	CHECK(runs());
	end(pid);
}

TEST(all_threads_and_those_that_begin_meanwhile)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(threads_child, THREADS - 1);

	for (unsigned i = 0; i < 20; i++) {
		if (!allowed(&f, pid, &err) && !i) {
			end(pid);
			SKIP(err.text);
		}
		CHECK_STR(err.text, "");
		CHECK(f.threads >= THREADS);
		CHECK(stands_still());
		freeze_thaw(&f);
		CHECK(runs());
	}
	end(pid);
}

TEST(the_first_thread_may_have_ended)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(headless_child, 1);

	for (unsigned i = 0; i < PATIENCE && state_of(pid) != 'Z'; i++)
		sleep_ms(1);
	if (!allowed(&f, pid, &err)) {
		end(pid);
		SKIP(err.text);
	}
	CHECK_EQ(f.threads, 1);
	CHECK(stands_still());
	freeze_thaw(&f);
	CHECK(runs());
	end(pid);
}

TEST(who_is_stopped_stays_stopped)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(plain_child, 0);
	int status = 0;

	kill(pid, SIGSTOP);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK_EQ(state_of(pid), 'T');
	if (!allowed(&f, pid, &err)) {
		end(pid);
		SKIP(err.text);
	}
	freeze_thaw(&f);
	/* The kernel has it stop once more, in its own time. */
	for (unsigned i = 0; i < PATIENCE && state_of(pid) != 'T'; i++)
		sleep_ms(1);
	CHECK_EQ(state_of(pid), 'T');
	CHECK(stands_still());
	/* A process that receives SIGCONT while it is frozen continues afterwards. */
	CHECK(allowed(&f, pid, &err));
	kill(pid, SIGCONT);
	CHECK(stands_still());
	freeze_thaw(&f);
	CHECK(runs());
	end(pid);
}

/* A signal that came before the stop, and one that came after it. */
TEST(signals_are_not_lost)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	int status;

	for (unsigned i = 0; i < 40; i++) {
		pid_t pid = start(plain_child, 0);

		if (i % 2)
			kill(pid, SIGTERM);
		if (!allowed(&f, pid, &err)) {
			/* Its parent here, we have heard of its end already. */
			if (i % 2 && err.status == ATW_E_NONE)
				continue;
			end(pid);
			if (!i)
				SKIP(err.text);
			CHECK_STR(err.text, "");
		}
		if (!(i % 2)) {
			kill(pid, SIGTERM);
			CHECK(stands_still());
		}
		freeze_thaw(&f);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	}
}

TEST(killed_while_it_stands)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(threads_child, 1);
	int status = 0;

	if (!allowed(&f, pid, &err)) {
		end(pid);
		SKIP(err.text);
	}
	kill(pid, SIGKILL);
	for (unsigned i = 0; i < PATIENCE && state_of(pid) == 't'; i++)
		sleep_ms(1);
	freeze_thaw(&f);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

/*
 * Another process, which stops that process if permitted (`*ret_may`), and then waits.
 * 0: there is none, and the test has failed.
 */
static void start_another(pid_t pid, pid_t *ret, bool *ret_may)
{
	struct atw_err err = { 0 };
	struct freeze f = { 0 };
	pid_t other;
	int fd[2];
	char c = 0;

	*ret = 0;
	CHECK_EQ(pipe(fd), 0);
	other = fork();
	if (!other) {
		c = allowed(&f, pid, &err) ? 'y' : 'n';
		if (write(fd[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	CHECK_EQ(read(fd[0], &c, 1), 1);
	close(fd[0]);
	close(fd[1]);
	*ret_may = c == 'y';
	*ret = other;
}

/* The process that froze it may die of any signal. */
TEST(goes_on_when_who_stopped_it_is_killed)
{
	struct atw_err err = { 0 };
	pid_t pid = start(threads_child, THREADS - 1), other;
	struct freeze f = { 0 };
	bool stops;

	start_another(pid, &other, &stops);
	if (!other)
		return;
	if (!stops) {
		end(other);
		end(pid);
		SKIP("a process may not stop its brother here");
	}
	CHECK(stands_still());
	/* Nor do two stop it at once. */
	CHECK_EQ(freeze_stop(&f, (uint32_t)pid, &err), ATW_E_PERM);
	CHECK(strstr(err.text, "traces it already"));
	CHECK(strstr(err.hint, "kill "));
	end(other);
	CHECK(runs());
	end(pid);
}

/* In all groups that one can be in. */
static void grouped_child(void)
{
	static gid_t group[NGROUPS_MAX];

	for (size_t i = 0; i < NGROUPS_MAX; i++)
		group[i] = (gid_t)(4000000000 + i);
	counts[1] = !setgroups(NGROUPS_MAX, group);
	count(0);
}

TEST(however_many_groups)
{
	char what[16], name[17] = "";    /* of this process or its parent */
	struct buf text = { 0 };
	pid_t pid = start(grouped_child, 0);
	bool may = counts[1];
	const char *s;

	CHECK_EQ(prctl(PR_GET_NAME, name), 0);
	strcat(name, "\n");
	snprintf(what, sizeof(what), "%d", (int)pid);
	CHECK(host_status(what, &text));
	CHECK_EQ(strtol(host_status_field(&text, "Pid"), NULL, 10), pid);
	CHECK_EQ(strtol(host_status_field(&text, "PPid"), NULL, 10), getpid());
	CHECK_STR(host_status_field(&text, "nothing"), "");
	s = host_status_field(&text, "VmHWM");
	CHECK(strtol(s, NULL, 10) > 0);
	s = host_status_field(&text, "nonvoluntary_ctxt_switches");
	CHECK_STR(s + strcspn(s, "\n"), "\n");
	CHECK_EQ(strncmp(host_status_field(&text, "Name"), name, strlen(name)), 0);
	buf_deinit(&text);
	end(pid);
	CHECK(!host_status(what, &text));
	CHECK_EQ(errno, ENOENT);
	CHECK(!text.data);
	if (!may)
		SKIP("a process may not choose its groups here");
}

/* That it has memory lies behind them. */
TEST(of_many_groups_it_is_no_kernel_thread)
{
	struct atw_err err = { 0 };
	pid_t pid = start(grouped_child, 0), other;
	struct freeze f = { 0 };
	bool may = counts[1];
	bool stops;

	start_another(pid, &other, &stops);
	if (!other)
		return;
	if (stops) {
		CHECK_EQ(freeze_stop(&f, (uint32_t)pid, &err), ATW_E_PERM);
		CHECK(strstr(err.text, "traces it already"));
	}
	end(other);
	end(pid);
	if (!stops || !may)
		SKIP("a process may not choose its groups here, or stop its brother");
}

TEST(whoever_does_not_stop_is_let_go)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	pid_t pid = start(vfork_child, 0);
	int r;

	for (unsigned i = 0; i < 20000 && state_of(pid) != 'D'; i++)
		sleep_ms(1);
	if (state_of(pid) != 'D') {
		end(pid);
		SKIP("vfork(2) is fork(2) here, as under valgrind");
	}
	r = freeze_stop(&f, (uint32_t)pid, &err);
	end(pid);
	if (r == ATW_E_PERM)
		SKIP(err.text);
	CHECK_EQ(r, ATW_E_IO);
	CHECK(strstr(err.text, "does not stop, its state is D"));
	CHECK(strstr(err.hint, "vfork"));
}

/*
 * execve(2) kills the other threads, waits until the traced ones have been reaped,
 * and blocks PTRACE_SEIZE until then: a tracer that waits for PTRACE_SEIZE and reaps
 * no thread waits forever.
 */
TEST(programs_that_begin_anew)
{
	struct freeze f = { 0 };
	pid_t pid = start(again_child, 0);
	unsigned stopped = 0;

	/* In between it cannot be stopped now and then. */
	alarm(2 * PATIENCE / 1000);
	for (unsigned i = 0; stopped < 150 && i < PATIENCE && state_of(pid) != 'Z'; i++) {
		struct atw_err err = { 0 };

		if (freeze_stop(&f, (uint32_t)pid, &err) == ATW_OK)
			stopped++;
		else if (!i && err.status == ATW_E_PERM) {
			end(pid);
			SKIP(err.text);
		}
		freeze_thaw(&f);
		sleep_ms(1);
	}
	alarm(0);
	if (kill(pid, 0) < 0 || state_of(pid) == 'Z') {
		end(pid);
		SKIP("a program cannot start itself here, as under valgrind");
	}
	CHECK_EQ(stopped, 150);
	end(pid);
}

TEST(not_oneself_and_not_ones_parents)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };

	CHECK_EQ(freeze_stop(&f, (uint32_t)getpid(), &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "is this one"));
	CHECK_EQ(freeze_stop(&f, (uint32_t)getppid(), &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "this one was started by"));
	CHECK_EQ(freeze_stop(&f, 4194305, &err), ATW_E_NONE);
	CHECK_STR(err.text, "there is no process 4194305");
}

/* Without a free file descriptor nothing is known about any process. */
TEST(a_process_that_cannot_be_asked_is_not_gone)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	struct rlimit old, none;
	pid_t pid = start(plain_child, 0);

	CHECK(!getrlimit(RLIMIT_NOFILE, &old));
	none = (struct rlimit){ 0, old.rlim_max };
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	CHECK_EQ(freeze_stop(&f, (uint32_t)pid, &err), ATW_E_IO);
	CHECK(!setrlimit(RLIMIT_NOFILE, &old));
	CHECK(strstr(err.text, "Too many open files"));
	CHECK_EQ(f.n, 0);
	end(pid);
}

/* The kernel always refuses that; no permission helps. */
TEST(kernel_threads_have_nothing_to_look_at)
{
	struct freeze f = { 0 };
	struct atw_err err = { 0 };
	char name[32];

	if (!host_file_text("/proc/2/comm", name, sizeof(name)) || strcmp(name, "kthreadd")) {
		SKIP("process 2 is no kernel thread here");
		return;
	}
	CHECK_EQ(freeze_stop(&f, 2, &err), ATW_E_NONE);
	CHECK_STR(err.text, "process 2 is a kernel thread or has ended: it has no address space of its own");
}
