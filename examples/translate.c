/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate - where addresses lead: hexadecimal addresses from standard input, a line
 * each, and where each of them leads.
 *
 * usage: translate SOURCE [PID] <LIST
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <atwalk/atwalk.h>

enum { BATCH = 4096 };

static int translate(struct atw_space *space, struct atw_err *err)
{
	static atw_va va[BATCH];
	static atw_pa pa[BATCH];
	static uint8_t state[BATCH];
	size_t n;
	int rc = ATW_OK;

	do {
		for (n = 0; n < BATCH && scanf("%" SCNx64, &va[n].u) == 1; n++)
			;
		rc = atw_translate_many(space, va, n, pa, state, err);
		for (size_t i = 0; i < n && rc == ATW_OK; i++)
			if (state[i] == ATW_STATE_PRESENT)
				printf("0x%" PRIx64 " 0x%" PRIx64 "\n", va[i].u, pa[i].u);
			else
				printf("0x%" PRIx64 " -\n", va[i].u);
	} while (n == BATCH && rc == ATW_OK);
	return rc;
}

int main(int argc, char **argv)
{
	struct atw_subject subject = { .size = sizeof(subject) };
	struct atw_target *target = NULL;
	struct atw_space *space = NULL;
	struct atw_err err = { 0 };
	int rc;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: translate SOURCE [PID] <LIST\n");
		return 2;
	}
	if (argc == 3)
		subject.pid = (uint32_t)strtoul(argv[2], NULL, 10);
	rc = atw_target_open(argv[1], NULL, &target, &err);
	if (rc == ATW_OK)
		rc = atw_space_open(target, &subject, &space, &err);
	if (rc == ATW_OK)
		rc = translate(space, &err);
	atw_space_close(space);
	atw_target_close(target);
	if (rc < 0)
		fprintf(stderr, "translate: %s\n", err.text);
	return rc < 0 ? 3 : 0;
}
