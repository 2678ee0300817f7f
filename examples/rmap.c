/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rmap - the mappings of a frame: addresses of every process and the kernel that lead to
 * a physical page.
 *
 * usage: rmap SOURCE PHYSICAL-ADDRESS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <atwalk/atwalk.h>

static int list(struct atw_target *target, uint64_t pa, struct atw_err *err)
{
	uint64_t page = atw_target_get_info(target)->page_size;
	const struct atw_mapping *m;
	struct atw_rmap *rmap;
	char perms[5];
	int rc = atw_rmap_open(target, ATW_PA(pa & -page), page, NULL, &rmap, err);

	if (rc < 0)
		return rc;
	while ((rc = atw_rmap_next(rmap, &m, err)) == ATW_OK) {
		atw_perms_letters(m->perms, perms);
		printf("%6" PRIu32 " %-16s 0x%016" PRIx64 " %s", m->pid, m->comm, m->va.u,
		       m->state == ATW_STATE_TABLE ? "table" : perms);
		if (m->times > 1)
			printf(" %" PRIu64 " times, each 0x%" PRIx64 " bytes on", m->times,
			       m->stride);
		if (m->npids > 1)
			printf(" shared by %" PRIu32 " processes", m->npids);
		printf("\n");
	}
	atw_rmap_close(rmap);
	return rc;
}

int main(int argc, char **argv)
{
	struct atw_target *target = NULL;
	struct atw_err err = { 0 };
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: rmap SOURCE PHYSICAL-ADDRESS\n");
		return 2;
	}
	rc = atw_target_open(argv[1], NULL, &target, &err);
	if (rc == ATW_OK)
		rc = atw_target_need(target, ATW_CAP_RMAP, &err);
	if (rc == ATW_OK)
		rc = list(target, strtoull(argv[2], NULL, 16), &err);
	atw_target_close(target);
	if (rc < 0)
		fprintf(stderr, "rmap: %s\n", err.text);
	return rc == ATW_E_PARTIAL ? 4 : rc < 0 ? 3 : 0;
}
