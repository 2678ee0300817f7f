/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.c - files of a folder of images, and the lists that images refer to by number. */
#include "folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/sorted.h"

int folder_wrong(const char *name, const struct image_reader *m, const char *what, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_DAMAGED, "%s: entry %" PRIu64 " %s", name, m->n, what);
}

static int folder_cut(const char *name, const struct image_reader *m, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_DAMAGED, "%s: it ends within entry %" PRIu64, name, m->n + 1);
}

int folder_image(const struct folder *f, const char *name, enum image_magic magic,
		 struct file *file, struct image_reader *ret, struct atw_err *err)
{
	struct buf path = { 0 };
	struct atw_err why = { 0 };
	int r;

	buf_printf(&path, "%s/%s", f->path, name);
	r = path.failed ? atw_err_nomem(&why) : file_open(path.data, file, &why);
	buf_deinit(&path);
	if (r < 0)
		return atw_err_set(err, r, "%s: %s", name, atw_err_reason(&why));
	if (!image_open(file->map, magic, ret))
		return atw_err_set(err, ATW_E_FORMAT, "%s: it is not such an image of CRIU", name);
	return ATW_OK;
}

int folder_first(const struct folder *f, const char *name, enum image_magic magic,
		 struct file *file, struct proto *ret, struct atw_err *err)
{
	struct image_reader m;
	int r = folder_image(f, name, magic, file, &m, err);

	return r == ATW_OK && image_next(&m, ret) != IMAGE_ENTRY ? folder_cut(name, &m, err) : r;
}

/* ---- pages ---- */

static int folder_add_run(struct folder_runs *runs, const struct image_pages *p, uint64_t page,
			  const char *name, const struct image_reader *m, struct atw_err *err)
{
	uint64_t bytes, end, last = runs->n ? runs->v[runs->n - 1].end : 0;

	if (!p->n || p->address % page || p->address < last ||
	    __builtin_mul_overflow(p->n, page, &bytes) ||
	    __builtin_add_overflow(p->address, bytes, &end))
		return folder_wrong(name, m, "has no pages, or pages that are not behind the one before", err);
	if (p->address == last && runs->n) {
		runs->v[runs->n - 1].end = end;
		return ATW_OK;
	}
	if (!ARRAY_ROOM(runs->v, runs->n, runs->cap))
		return atw_err_nomem(err);
	runs->v[runs->n++] = (struct folder_run){ p->address, end };
	return ATW_OK;
}

int folder_runs(const struct folder *f, const char *name, uint64_t page, struct folder_runs *ret,
		struct atw_err *err)
{
	struct file file = { 0 };
	struct image_pages pages;
	struct image_reader m;
	struct proto p;
	enum image_result got = IMAGE_END;
	int r;

	ret->n = 0;
	r = folder_image(f, name, IMAGE_PAGEMAP, &file, &m, err);
	while (r == ATW_OK && (got = image_next(&m, &p)) == IMAGE_ENTRY) {
		/* The head names the file with the bytes. */
		if (m.n == 1)
			continue;
		r = image_pages(p, &pages) ? folder_add_run(ret, &pages, page, name, &m, err)
					   : folder_wrong(name, &m, "is not one of pages", err);
	}
	if (r == ATW_OK && got == IMAGE_WRONG)
		r = folder_cut(name, &m, err);
	if (r == ATW_OK && !m.n)
		r = folder_cut(name, &m, err);
	file_close(&file);
	return r;
}

/* ---- lists ---- */

static int folder_by_id(const void *a, const void *b)
{
	const struct image_file *x = a, *y = b;

	return ORDER(x->id, y->id);
}

static int folder_by_inode(const void *a, const void *b)
{
	const struct image_memfd *x = a, *y = b;

	return ORDER(x->inode, y->inode);
}

const struct image_file *folder_file(const struct folder *f, uint64_t id)
{
	const struct image_file key = { .id = (uint32_t)id };

	return id <= UINT32_MAX && f->nfiles
		? bsearch(&key, f->file, f->nfiles, sizeof(key), folder_by_id) : NULL;
}

const struct image_memfd *folder_memfd(const struct folder *f, uint64_t inode)
{
	const struct image_memfd key = { .inode = inode };

	return f->nmemfds ? bsearch(&key, f->memfd, f->nmemfds, sizeof(key), folder_by_inode) : NULL;
}

static int folder_add_file(struct folder *f, const struct image_file *file, struct atw_err *err)
{
	if (!ARRAY_ROOM(f->file, f->nfiles, f->files_cap))
		return atw_err_nomem(err);
	f->file[f->nfiles++] = *file;
	return ATW_OK;
}

static int folder_read_files(struct folder *f, const char *name, enum image_magic magic,
			     bool (*read)(struct proto p, struct image_file *ret),
			     struct atw_err *err)
{
	struct image_file file;
	struct image_reader m;
	struct proto p;
	enum image_result got = IMAGE_END;
	int r = folder_image(f, name, magic, &f->files_image, &m, err);

	while (r == ATW_OK && (got = image_next(&m, &p)) == IMAGE_ENTRY)
		r = read(p, &file) ? folder_add_file(f, &file, err)
				   : folder_wrong(name, &m, "is not one of a file", err);
	if (r == ATW_OK && got == IMAGE_WRONG)
		r = folder_cut(name, &m, err);
	if (r == ATW_OK && f->nfiles)
		qsort(f->file, f->nfiles, sizeof(*f->file), folder_by_id);
	return r;
}

static int folder_read_memfds(struct folder *f, struct atw_err *err)
{
	static const char name[] = "memfd.img";
	struct image_memfd memfd;
	struct image_reader m;
	struct proto p;
	enum image_result got = IMAGE_END;
	int r = folder_image(f, name, IMAGE_MEMFD, &f->memfd_image, &m, err);

	while (r == ATW_OK && (got = image_next(&m, &p)) == IMAGE_ENTRY) {
		if (!image_memfd(p, &memfd))
			return folder_wrong(name, &m, "is not one of a memfd", err);
		if (!ARRAY_ROOM(f->memfd, f->nmemfds, f->memfds_cap))
			return atw_err_nomem(err);
		f->memfd[f->nmemfds++] = memfd;
	}
	if (r == ATW_OK && got == IMAGE_WRONG)
		r = folder_cut(name, &m, err);
	if (r == ATW_OK && f->nmemfds)
		qsort(f->memfd, f->nmemfds, sizeof(*f->memfd), folder_by_inode);
	return r;
}

int folder_open(const char *path, struct folder *ret, struct atw_err *err)
{
	struct image_reader m;
	int r;

	*ret = (struct folder){ .path = path };
	r = folder_image(ret, "pstree.img", IMAGE_PSTREE, &ret->tree, &m, err);
	if (r < 0)
		return r;
	/* Processes without files have no lists; which names are missing is seen where they are used. */
	r = folder_read_files(ret, "files.img", IMAGE_FILES, image_file, err);
	if (r == ATW_E_MISSING)
		r = folder_read_files(ret, "reg-files.img", IMAGE_REG_FILES, image_reg_file, err);
	if (r == ATW_OK || r == ATW_E_MISSING)
		r = folder_read_memfds(ret, err);
	return r == ATW_E_MISSING ? ATW_OK : r;
}

void folder_close(struct folder *f)
{
	file_close(&f->tree);
	file_close(&f->files_image);
	file_close(&f->memfd_image);
	free(f->file);
	free(f->memfd);
	*f = (struct folder){ 0 };
}
