/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_kmap.c - kernel memory access patterns: one file for each of its commands. */
#include "kmap.h"

const struct command *const kmap_commands[] = {
	&kmap_record, &kmap_ctl, &kmap_show, &kmap_report, &kmap_diff, &kmap_convert, NULL,
};

const struct command cmd_kmap = {
	"kmap", "COMMAND [options] FILE", "which code touches which object of the kernel",
	"KMAPs (atwalk-kmap(5)): every object that the kernel allocated, and which of its\n"
	"instructions read and wrote it how often. Those of Memorizer are read in all the\n"
	"forms it ever had.",
	0, NULL, 0, NULL,
};
