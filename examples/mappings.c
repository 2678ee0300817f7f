/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings - every mapping of a process: its VMAs, and the pages in them.
 *
 * usage: mappings SOURCE PID
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <atwalk/atwalk.h>

static int fail(const struct atw_err *err)
{
	fprintf(stderr, "mappings: %s\n", err->text);
	if (err->hint[0])
		fprintf(stderr, "          %s\n", err->hint);
	return err->status == ATW_E_PARTIAL ? 4 : 3;
}

/* Bytes of the VMA that are in memory. */
static int count_pages(struct atw_space *space, const struct atw_vma *vma, uint64_t *present,
		       struct atw_err *err)
{
	const struct atw_pages_opts opts = {
		.size = sizeof(opts), .first = vma->start, .last = ATW_VA(vma->end.u - 1),
	};
	const struct atw_page_run *run;
	struct atw_pages *pages;
	int rc = atw_pages_open(space, &opts, &pages, err);

	if (rc < 0)
		return rc;
	*present = 0;
	while ((rc = atw_pages_next(pages, &run, err)) == ATW_OK) {
		/* A run may begin before the VMA and end behind it. */
		uint64_t from = run->va.u > vma->start.u ? run->va.u : vma->start.u;
		uint64_t to = run->va.u + run->bytes;

		if (run->state == ATW_STATE_PRESENT)
			*present += (to < vma->end.u ? to : vma->end.u) - from;
	}
	atw_pages_close(pages);
	return rc;
}

static int list(struct atw_space *space, struct atw_err *err)
{
	const struct atw_vma *vma;
	struct atw_vmas *vmas;
	uint64_t present;
	int rc = atw_vmas_open(space, &vmas, err);

	if (rc < 0)
		return rc;
	while ((rc = atw_vmas_next(vmas, &vma, err)) == ATW_OK) {
		rc = count_pages(space, vma, &present, err);
		if (rc < 0)
			break;
		printf("%" PRIx64 "-%" PRIx64 " %c%c%c%c %8" PRIu64 " kB %8" PRIu64
		       " kB %s\n",
		       vma->start.u, vma->end.u, vma->flags & ATW_VMA_READ ? 'r' : '-',
		       vma->flags & ATW_VMA_WRITE ? 'w' : '-',
		       vma->flags & ATW_VMA_EXEC ? 'x' : '-',
		       vma->flags & ATW_VMA_SHARED ? 's' : 'p',
		       (vma->end.u - vma->start.u) / 1024, present / 1024, vma->name);
	}
	atw_vmas_close(vmas);
	return rc;
}

int main(int argc, char **argv)
{
	struct atw_subject subject = { .size = sizeof(subject) };
	struct atw_target *target = NULL;
	struct atw_space *space = NULL;
	struct atw_err err = { 0 };
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: mappings SOURCE PID\n");
		return 2;
	}
	subject.pid = (uint32_t)strtoul(argv[2], NULL, 10);
	rc = atw_target_open(argv[1], NULL, &target, &err);
	if (rc == ATW_OK)
		rc = atw_space_open(target, &subject, &space, &err);
	if (rc == ATW_OK)
		rc = list(space, &err);
	atw_space_close(space);
	atw_target_close(target);
	return rc < 0 ? fail(&err) : 0;
}
