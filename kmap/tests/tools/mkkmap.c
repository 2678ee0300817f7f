/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkkmap [-e EDGES] [-s SEED] - the KMAP of a kernel that never was, to standard
 * output; the same for the same options, on every machine. An edge is an instruction
 * that accesses objects of an allocation site. Sites, caches, functions and tasks grow
 * with the number of edges, as those of recordings do: a million edges are of 5000 sites
 * and 40,000 instructions.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "random.h"

enum { TYPES = 4 };

#define TEXT UINT64_C(0xffffffff81000000)
#define HEAP UINT64_C(0xffff888000000000)

static uint64_t number(const char *s)
{
	uint64_t u;

	if (!num_dec(s, strlen(s), &u) || !u || u > 100000000)
		errx(2, "'%s' is no number from 1 to 100000000", s);
	return u;
}

/* Few are hot. */
static uint64_t skewed(uint64_t *seed, uint64_t n)
{
	return random_below(seed, random_below(seed, n) + 1);
}

int main(int argc, char **argv)
{
	static const char *const tasks[] = { "bash", "swapper/0", "kworker/0:1", "tar" };
	static const char *const types[TYPES] = { "KMEM_CACHE", "KMALLOC", "ALLOC_PAGES", "VMALLOC" };
	uint64_t edges = 1000, seed = 1, sites, instructions, per_site, caches, pids;
	int opt;

	while ((opt = getopt(argc, argv, "e:s:")) != -1)
		switch (opt) {
		case 'e':
			edges = number(optarg);
			break;
		case 's':
			seed = number(optarg);
			break;
		default:
			errx(2, "usage: mkkmap [-e EDGES] [-s SEED]");
		}
	sites = edges / 200 + 1;
	instructions = edges / 25 + 8;
	per_site = (edges + sites - 1) / sites;
	caches = sites / 20 + 3;
	pids = sites / 5 + 2;
	for (uint64_t i = 0, done = 0; i < sites; i++) {
		uint64_t cache = skewed(&seed, caches), pid = skewed(&seed, pids);
		uint64_t at = random_below(&seed, instructions), alloc = TEXT + i * 0x400;
		uint64_t clock = i * 1000, step = instructions / per_site;

		/* alloc_ip,pid,va,size,alloc_time,free_time,free_ip,type,task,cache,new_type */
		printf("%" PRIx64 ",%" PRIu64 ",%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		       ",%" PRIx64 ",%s,%s,cache_%" PRIu64 ",NONE\n",
		       alloc, pid, HEAP + i * 4096, UINT64_C(32) << cache % 7, clock,
		       clock + 1 + random_below(&seed, 100000), alloc + 0x40,
		       types[cache % TYPES], tasks[pid % ARRAY_SIZE(tasks)], cache);
		/* Each instruction once: ip,writes,reads,pid */
		for (uint64_t e = 0; e < per_site && done < edges; e++, done++, at += step) {
			uint64_t ip = TEXT + 0x2000000 + at % instructions * 0x40;
			uint64_t r = random_next(&seed);

			printf("  %" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", ip,
			       r & 0xf00 ? 0 : r % 255, r >> 16 & 0xfff, skewed(&seed, pids));
		}
	}
	if (fflush(stdout) || ferror(stdout))
		err(1, "standard output");
	return 0;
}
