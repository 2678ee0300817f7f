/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_outfile.c - files that are whole or not there, and writes that fail. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "output_capture.h"
#include "output/outfile.h"
#include "output/writer.h"

static const struct atw_column cols[] = { { .key = "n", .type = ATW_T_COUNT } };
static const struct atw_schema schema = { "test", cols, 1 };
static const union atw_value one[] = { U(1) };
static const struct atw_row row = { one, 1 };
static struct atw_err err;

static char dir[64];             /* of the running test */

static const char *in_dir(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ & 3];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void enter(void)
{
	strcpy(dir, "/tmp/output_outfile.XXXXXX");
	if (!mkdtemp(dir))
		abort();
}

/* How many files there are; they are gone then. */
static int leave(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' &&
		    (!e->d_name[1] || (e->d_name[1] == '.' && !e->d_name[2])))
			continue;
		n++;
		unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	return n;
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		abort();
	close(fd);
}

static const char *get(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return "(no file)";
	capture_read(fd);
	close(fd);
	return capture_text;
}

static struct atw_output *open_csv(const char *path)
{
	const struct atw_output_opts o = { .path = path, .format = "csv" };
	struct atw_output *out = NULL;

	memset(&err, 0, sizeof(err));
	atw_output_open(&o, &schema, &out, &err);
	return out;
}

TEST(appears_on_commit)
{
	const char *path;
	struct atw_output *out;
	struct stat st;
	mode_t mask = umask(027);

	enter();
	path = in_dir("new.csv");
	out = open_csv(path);
	CHECK(out);
	CHECK_EQ(atw_output_row(out, &row, &err), ATW_OK);
	CHECK_STR(get(path), "(no file)");
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	CHECK_STR(get(path), "n\n1\n");
	atw_output_close(out);
	CHECK_STR(get(path), "n\n1\n");
	CHECK(!stat(path, &st));
	CHECK_EQ(st.st_mode & 07777, 0640);
	umask(mask);
	CHECK_EQ(leave(), 1);
}

TEST(untouched_without_commit)
{
	const char *path;
	struct atw_output *out;

	enter();
	path = in_dir("old.csv");
	put(path, "old\n", 0604);
	out = open_csv(path);
	CHECK(out);
	for (int i = 0; i < 300000; i++)
		CHECK_EQ(atw_output_row(out, &row, &err), ATW_OK);
	CHECK_STR(get(path), "old\n");
	atw_output_close(out);
	CHECK_STR(get(path), "old\n");
	out = open_csv(in_dir("new.csv"));
	CHECK(out);
	atw_output_close(out);
	CHECK_EQ(leave(), 1);
}

TEST(replaces_and_keeps_the_mode)
{
	const char *path;
	struct atw_output *out;
	struct stat st;

	enter();
	path = in_dir("old.csv");
	put(path, "something longer than what comes\n", 0604);
	out = open_csv(path);
	CHECK(out);
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	atw_output_close(out);
	CHECK_STR(get(path), "n\n");
	CHECK(!stat(path, &st));
	CHECK_EQ(st.st_mode & 07777, 0604);
	CHECK_EQ(leave(), 1);
}

TEST(a_private_file_is_its_owners_unless_it_was_there)
{
	struct outfile t;
	struct stat st;
	mode_t mask = umask(0);
	const char *path;

	enter();
	path = in_dir("new.cap");
	CHECK_EQ(outfile_open_private(path, &t, &err), ATW_OK);
	CHECK(!fstat(t.fd, &st) && (st.st_mode & 07777) == 0600);
	CHECK_EQ(outfile_commit(&t, &err), ATW_OK);
	outfile_close(&t);
	CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0600);
	CHECK(!chmod(path, 0644));
	CHECK_EQ(outfile_open_private(path, &t, &err), ATW_OK);
	CHECK_EQ(outfile_commit(&t, &err), ATW_OK);
	outfile_close(&t);
	CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0644);
	umask(mask);
	CHECK_EQ(leave(), 1);
}

TEST(follows_a_symbolic_link)
{
	const char *path, *target;
	struct atw_output *out;
	struct stat st;

	enter();
	path = in_dir("link.csv");
	target = in_dir("real.csv");
	put(target, "old\n", 0644);
	CHECK(!symlink("real.csv", path));
	out = open_csv(path);
	CHECK(out);
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	atw_output_close(out);
	CHECK_STR(get(target), "n\n");
	CHECK(!lstat(path, &st) && S_ISLNK(st.st_mode));
	CHECK_EQ(leave(), 2);
}

TEST(a_killed_process_leaves_nothing_half_done)
{
	const char *path;
	int status;
	pid_t pid;

	enter();
	path = in_dir("old.csv");
	put(path, "old\n", 0644);
	pid = fork();
	if (!pid) {
		struct atw_output *out = open_csv(path);

		for (int i = 0; out && i < 300000; i++)
			atw_output_row(out, &row, NULL);
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_STR(get(path), "old\n");
	/* One without a name where the file system can do that. */
	CHECK(leave() <= 2);
}

TEST(what_cannot_be_written)
{
	char want[256];

	enter();
	CHECK(!open_csv(dir));
	snprintf(want, sizeof(want), "%s: cannot write: Is a directory", dir);
	CHECK_STR(err.text, want);
	CHECK_EQ(err.status, ATW_E_IO);
	CHECK(!open_csv(in_dir("no/such.csv")));
	snprintf(want, sizeof(want), "%s/no/such.csv: cannot create a file "
		 "beside it: No such file or directory", dir);
	CHECK_STR(err.text, want);
	CHECK_EQ(err.status, ATW_E_MISSING);
	CHECK(!open_csv("/dev/fd/999"));
	CHECK_STR(err.text, "/dev/fd/999: cannot write: Bad file descriptor");
	CHECK_EQ(leave(), 0);
}

TEST(wrong_options_touch_no_file)
{
	struct atw_output_opts o = { .filter = "n=" };
	struct atw_output *out = NULL;

	enter();
	o.path = in_dir("old.csv");
	put(o.path, "old\n", 0644);
	CHECK_EQ(atw_output_open(&o, &schema, &out, &err), ATW_E_USAGE);
	CHECK(!out);
	CHECK_STR(get(o.path), "old\n");
	CHECK_EQ(leave(), 1);
}

TEST(full_device)
{
	struct atw_output *out = open_csv("/dev/full");
	int rc = ATW_OK;

	if (!out)
		SKIP("no /dev/full");
	for (int i = 0; rc == ATW_OK && i < 300000; i++)
		rc = atw_output_row(out, &row, &err);
	CHECK_EQ(rc, ATW_E_IO);
	CHECK_STR(err.text, "/dev/full: cannot write: No space left on device");
	/* It stays that way. */
	memset(&err, 0, sizeof(err));
	CHECK_EQ(atw_output_commit(out, &err), ATW_E_IO);
	CHECK_STR(err.text, "/dev/full: cannot write: No space left on device");
	atw_output_close(out);

	out = open_csv("/dev/full");
	CHECK(out);
	CHECK_EQ(atw_output_commit(out, &err), ATW_E_IO);
	atw_output_close(out);
}

TEST(a_file_that_fills_its_disk_is_not_put_in_place)
{
	struct rlimit old, small = { 1 << 16, RLIM_INFINITY };
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct atw_output *out;
	const char *path;
	int rc = ATW_OK;

	enter();
	path = in_dir("old.csv");
	put(path, "old\n", 0644);
	CHECK(!getrlimit(RLIMIT_FSIZE, &old));
	small.rlim_max = old.rlim_max;
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	out = open_csv(path);
	for (int i = 0; out && rc == ATW_OK && i < 300000; i++)
		rc = atw_output_row(out, &row, &err);
	if (out && rc == ATW_OK)
		rc = atw_output_commit(out, &err);
	atw_output_close(out);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, handler);
	CHECK_EQ(rc, ATW_E_IO);
	CHECK(strstr(err.text, "old.csv: cannot write: File too large"));
	CHECK_STR(get(path), "old\n");
	CHECK_EQ(leave(), 1);
}

TEST(broken_pipe)
{
	void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
	struct atw_output *out;
	char path[32];
	int fd[2];

	CHECK(!pipe(fd));
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
	out = open_csv(path);
	CHECK(out);
	close(fd[0]);
	CHECK_EQ(atw_output_commit(out, &err), ATW_E_IO);
	CHECK(strstr(err.text, ": cannot write: Broken pipe"));
	atw_output_close(out);
	/* Our end of it is still the caller's. */
	CHECK(!close(fd[1]));
	signal(SIGPIPE, handler);
}

TEST(a_pipe_that_does_not_block)
{
	struct atw_output *out;
	char path[32], part[4096];
	size_t total = 0;
	ssize_t n;
	int fd[2], status;
	pid_t pid;

	CHECK(!pipe2(fd, O_NONBLOCK));
	pid = fork();
	if (!pid) {
		int rc;

		close(fd[0]);
		snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
		out = open_csv(path);
		for (int i = 0; out && i < 300000; i++)
			atw_output_row(out, &row, NULL);
		rc = out ? atw_output_commit(out, NULL) : -1;
		_exit(rc != ATW_OK);
	}
	close(fd[1]);
	fcntl(fd[0], F_SETFL, 0);
	while ((n = read(fd[0], part, sizeof(part))) > 0)
		total += (size_t)n;
	close(fd[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_EQ(total, 2 + 300000 * 2);
}

TEST(own_descriptors_are_not_opened_anew)
{
	char path[32], got[64] = "";
	FILE *f = tmpfile();
	struct atw_output *out;

	CHECK(f);
	fputs("before\n", f);
	fflush(f);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(f));
	out = open_csv(path);
	CHECK(out);
	CHECK_EQ(atw_output_row(out, &row, &err), ATW_OK);
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	atw_output_close(out);
	CHECK(pread(fileno(f), got, sizeof(got) - 1, 0) > 0);
	CHECK_STR(got, "before\nn\n1\n");
	fclose(f);
}

/* Without a commit, what was written so far ends with a row. */
TEST(only_whole_rows_leave)
{
	static char text[1 << 20];
	static const union atw_value v[] = { U(123456789012345) };
	int fd = memfd_create("rows", 0);
	struct atw_output *out;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	out = open_csv(path);
	CHECK(out);
	for (int i = 0; i < 50000; i++)
		CHECK_EQ(atw_output_row(out, &(struct atw_row){ v, 1 }, &err),
			 ATW_OK);
	atw_output_close(out);
	n = pread(fd, text, sizeof(text), 0);
	CHECK(n > 1000 && (n - 2) % 16 == 0 && text[n - 1] == '\n');
	close(fd);
}

TEST(texts_longer_than_the_buffer)
{
	static const struct atw_column c[] = {
		{ .key = "n", .type = ATW_T_COUNT },
		{ .key = "task", .type = ATW_T_TEXT },
		{ .key = "m", .type = ATW_T_COUNT },
	};
	static const struct atw_schema sc = { "test", c, 3 };
	enum { LEN = 1 << 20 };
	char *text = malloc(LEN + 1), *got = malloc(4 * LEN), path[32];
	const union atw_value v[] = { U(1), { .s = text }, U(2) };
	struct atw_output_opts o = { .format = "csv", .path = path };
	int fd = memfd_create("rows", 0);
	struct atw_output *out;
	bool ok;

	CHECK(text && got);
	memset(text, 'x', LEN);
	text[LEN] = '\0';
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	CHECK_EQ(atw_output_open(&o, &sc, &out, &err), ATW_OK);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(atw_output_row(out, &(struct atw_row){ v, 7 }, &err),
			 ATW_OK);
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	atw_output_close(out);
	CHECK_EQ(pread(fd, got, 4 * LEN, 0), 9 + 3 * (LEN + 5));
	ok = !memcmp(got, "n,task,m\n1,x", 12) && got[9 + 2 + LEN] == ',' &&
	     !memcmp(got + 9 + 2 * (LEN + 5), "1,x", 3);
	free(text);
	free(got);
	close(fd);
	CHECK(ok);
}
