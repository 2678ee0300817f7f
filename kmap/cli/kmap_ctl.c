/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_ctl.c - atwalk kmap ctl: reads or writes a control of a running recording, through
 * its socket or its folder; the folder may be Memorizer's own.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/io.h"
#include "base/message.h"
#include "kmap.h"
#include "kmap/lib/control.h"
#include "output/outfile.h"

struct ctl {
	const char *at, *name, *value;   /* value NULL: read it; name NULL: list all */
	struct outfile to;
};

static int ctl_write_all(const struct ctl *x, int fd, const char *buf, size_t len,
			 struct atw_err *err)
{
	return io_write(fd, buf, len) == len ? ATW_OK :
	       atw_err_set(err, ATW_E_IO, "%s: %s", fd == x->to.fd ? outfile_name(&x->to) : x->at,
			   strerror(errno));
}

/* ---- by a folder ---- */

static int ctl_refused(const struct ctl *x, int number, const char *why,
		       struct atw_err *err)
{
	return atw_err_set(err, io_status(number), "%s: %s%s%s", x->at,
			   x->name ? x->name : "", x->name ? ": " : "", why);
}

static int ctl_copy_file(const struct ctl *x, int fd, struct atw_err *err)
{
	char buf[1 << 16];
	ssize_t n;

	while ((n = io_read_some(fd, buf, sizeof(buf))) != 0) {
		if (n < 0)
			return ctl_refused(x, errno, strerror(errno), err);
		if (ctl_write_all(x, x->to.fd, buf, (size_t)n, err) < 0)
			return err->status;
	}
	return ATW_OK;
}

static int ctl_list_folder(const struct ctl *x, struct atw_err *err)
{
	const struct kmap_control *f;
	bool any = false;
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && (f = kmap_control_at(i)); i++) {
		char line[80], path[4096];
		struct stat st;
		int len = snprintf(path, sizeof(path), "%s/%s", x->at, f->name);

		if ((size_t)len >= sizeof(path) || stat(path, &st) < 0)
			continue;
		any = true;
		len = snprintf(line, sizeof(line), "%s %s%s\n", f->name,
			       st.st_mode & 0444 ? "r" : "", st.st_mode & 0222 ? "w" : "");
		r = ctl_write_all(x, x->to.fd, line, (size_t)len, err);
	}
	return any ? r : atw_err_set(err, ATW_E_MISSING, "%s: not the control folder of a recording",
				     x->at);
}

static int ctl_by_folder(const struct ctl *x, struct atw_err *err)
{
	char path[4096], text[KMAP_CONTROL_TEXT + 2];
	int fd, r = ATW_OK, len;

	if (!x->name)
		return ctl_list_folder(x, err);
	len = snprintf(path, sizeof(path), "%s/%s", x->at, x->name);
	if (strchr(x->name, '/') || (size_t)len >= sizeof(path))
		return ctl_refused(x, ENOENT, _("there is no such control"), err);
	fd = open(path, (x->value ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return ctl_refused(x, errno, strerror(errno), err);
	if (!x->value) {
		r = ctl_copy_file(x, fd, err);
	} else {
		/* Write all at once: a part would be another value. */
		len = snprintf(text, sizeof(text), "%s\n", x->value);
		if (write(fd, text, (size_t)len) != len)
			r = ctl_refused(x, errno, strerror(errno), err);
	}
	close(fd);
	return r;
}

/* ---- by a socket ---- */

static int ctl_cut(const struct ctl *x, struct atw_err *err)
{
	return ctl_refused(x, EIO, _("the recording ended before all was read"), err);
}

static int ctl_copy_data(const struct ctl *x, FILE *in, uint64_t n, struct atw_err *err)
{
	char buf[1 << 16];

	while (n) {
		size_t want = n < sizeof(buf) ? (size_t)n : sizeof(buf);
		size_t got = fread(buf, 1, want, in);

		if (!got)
			return ctl_cut(x, err);
		if (ctl_write_all(x, x->to.fd, buf, got, err) < 0)
			return err->status;
		n -= got;
	}
	return ATW_OK;
}

static int ctl_copy_answer(const struct ctl *x, FILE *in, struct atw_err *err)
{
	char line[1024];

	while (fgets(line, sizeof(line), in)) {
		unsigned long long n;
		int at = 0, number;

		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "end"))
			return ATW_OK;
		if (sscanf(line, "error %d %n", &number, &at) == 1 && at)
			return ctl_refused(x, number, line + at, err);
		if (sscanf(line, "data %llu", &n) != 1)
			return ctl_refused(x, 0, _("not the socket of a recording"), err);
		if (ctl_copy_data(x, in, n, err) < 0)
			return err->status;
	}
	return ctl_cut(x, err);
}

static int ctl_by_socket(const struct ctl *x, struct atw_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[256];
	FILE *in;
	int fd, len, r;

	if (strlen(x->at) >= sizeof(at.sun_path))
		return atw_err_set(err, ATW_E_IO, "%s: %s", x->at, strerror(ENAMETOOLONG));
	memcpy(at.sun_path, x->at, strlen(x->at) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		atw_err_set(err, errno == EACCES ? ATW_E_PERM : ATW_E_IO, "%s: %s", x->at,
			    errno == ECONNREFUSED ? _("the recording has ended") : strerror(errno));
		if (fd >= 0)
			close(fd);
		return err->status;
	}
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return atw_err_nomem(err);
	}
	len = !x->name ? snprintf(text, sizeof(text), "list\n")
	    : x->value ? snprintf(text, sizeof(text), "write %s %s\n", x->name, x->value)
		       : snprintf(text, sizeof(text), "read %s\n", x->name);
	r = (size_t)len < sizeof(text)
		    ? ctl_write_all(x, fd, text, (size_t)len, err)
		    : ctl_refused(x, ENOENT, _("there is no such control"), err);
	if (r == ATW_OK)
		r = ctl_copy_answer(x, in, err);
	fclose(in);
	return r;
}

/* ---- the command ---- */

static int ctl_query(const struct ctl *x, struct atw_err *err)
{
	struct stat st;

	if (stat(x->at, &st) < 0)
		return atw_err_set(err, ATW_E_MISSING, "%s: %s", x->at, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ctl_by_folder(x, err);
	if (S_ISSOCK(st.st_mode))
		return ctl_by_socket(x, err);
	return atw_err_set(err, ATW_E_USAGE, "%s: neither the socket nor the folder of a recording", x->at);
}

static int ctl_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct ctl x = { .to.fd = -1 };
	struct atw_err err = { 0 };
	int r;

	if (argc < 1 || argc > 3)
		return usage_error("kmap ctl", "expected SOCKET|FOLDER [NAME [VALUE]]");
	x.at = argv[0];
	x.name = argc > 1 ? argv[1] : NULL;
	x.value = argc == 3 ? argv[2] : NULL;
	if (x.value && (strlen(x.value) > KMAP_CONTROL_TEXT || strchr(x.value, '\n')))
		return usage_error("kmap ctl", "a value is one line of at most %d bytes", KMAP_CONTROL_TEXT);
	if (x.name && (!*x.name || strpbrk(x.name, " \n")))
		return usage_error("kmap ctl", "'%s' is not the name of a control", x.name);
	r = x.value ? ATW_OK : outfile_open_private(c->output, &x.to, &err);
	if (r == ATW_OK)
		r = ctl_query(&x, &err);
	if (r == ATW_OK && !x.value)
		r = outfile_commit(&x.to, &err);
	if (!x.value)
		outfile_close(&x.to);
	return r < 0 ? print_error(&err) : EXIT_COMPLETE;
}

static const char *ctl_operand(int at, size_t i)
{
	const struct kmap_control *control = at == 1 ? kmap_control_at(i) : NULL;

	return control ? control->name : NULL;
}

const struct command kmap_ctl = {
	.name = "kmap ctl",
	.args = "SOCKET|FOLDER [NAME [VALUE]]",
	.summary = "read and write the controls of a running recording",
	.about =
		"Reads a control of a running recording, or writes VALUE to it. Controls have\n"
		"the names of Memorizer's control files in all its versions: kmap, stats,\n"
		"clear_object_list, memorizer_log_access and others. Without NAME, lists them.",
	.common = OPT_COMMON_OUTPUT,
	.options = NULL,
	.opts_size = 0,
	.run = ctl_run,
	.operand = ctl_operand,
};
