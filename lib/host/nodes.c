/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodes.c - NUMA nodes of memory blocks from /sys. */
#include "host/nodes.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "host/host_file.h"

enum { BLOCKS_MAX = 1 << 24 };           /* of 128 MiB or more: above any memory size */
enum { NODES_MAX = 1024 };               /* MAX_NUMNODES */
static const uint32_t SEVERAL = UINT32_MAX;

/* "node12", "memory7": the number. */
static bool nodes_numbered(const char *name, const char *word, uint64_t *ret)
{
	size_t n = strlen(word);

	return !strncmp(name, word, n) && num_dec(name + n, strlen(name + n), ret);
}

static bool nodes_append(struct sys_nodes *n, uint64_t block, uint32_t node)
{
	if (block >= BLOCKS_MAX)
		return true;
	if (block >= n->n) {
		if (!array_reserve((void **)&n->at, &n->cap, (size_t)block + 1, sizeof(*n->at)))
			return false;
		memset(n->at + n->n, 0, ((size_t)block + 1 - n->n) * sizeof(*n->at));
		n->n = (size_t)block + 1;
	}
	n->at[block] = n->at[block] || node + 1 == SEVERAL ? SEVERAL : node + 1;
	return true;
}

/* The folder of a node has a link to each of its blocks. */
static bool nodes_one(struct sys_nodes *n, const char *path, uint32_t node)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint64_t block;
	bool good = true;

	while (d && good && (e = readdir(d)))
		if (nodes_numbered(e->d_name, "memory", &block))
			good = nodes_append(n, block, node);
	if (d)
		closedir(d);
	return good;
}

uint64_t sys_block_bytes(const char *root)
{
	char path[512], text[32];
	uint64_t bytes;

	snprintf(path, sizeof(path), "%s/sys/devices/system/memory/block_size_bytes", root);
	return host_file_text(path, text, sizeof(text)) &&
	       num_hex(text, strlen(text), &bytes) ? bytes : 0;
}

bool sys_block_is_offline(const char *root, uint64_t i)
{
	char path[512], text[32];

	snprintf(path, sizeof(path), "%s/sys/devices/system/memory/memory%" PRIu64 "/state",
		 root, i);
	return host_file_text(path, text, sizeof(text)) && !strcmp(text, "offline");
}

static void nodes_read_blocks(const char *root, struct sys_nodes *n)
{
	char path[512];
	struct dirent *e;
	uint64_t node;
	bool good = true;
	DIR *d;

	n->block = sys_block_bytes(root);
	if (!n->block)
		return;
	snprintf(path, sizeof(path), "%s/sys/devices/system/node", root);
	d = opendir(path);
	while (d && good && (e = readdir(d)))
		if (nodes_numbered(e->d_name, "node", &node) && node < SEVERAL) {
			snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%" PRIu64,
				 root, node);
			good = nodes_one(n, path, (uint32_t)node);
		}
	if (d)
		closedir(d);
	if (!good)
		n->n = 0;
}

bool sys_nodes_read(const char *root, struct sys_nodes *ret)
{
	char path[512], text[64];
	uint64_t only;

	*ret = (struct sys_nodes){ 0 };
	snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
	if (!host_file_text(path, text, sizeof(text)))
		return false;
	/* "0", else "0-1" or "0,2-3". */
	if (num_dec(text, strlen(text), &only) && only < UINT32_MAX) {
		ret->one = true;
		ret->id = (uint32_t)only;
		return true;
	}
	nodes_read_blocks(root, ret);
	return ret->n;
}

typedef int nodes_cpus_fn(void *arg, uint32_t node, uint64_t first, uint64_t last,
			  struct atw_err *err);

static int nodes_cpus_of(const char *root, uint32_t node, nodes_cpus_fn *fn, void *arg,
			 struct atw_err *err)
{
	char path[512], text[4096];
	const char *at = text;
	uint64_t first, last;
	int r = ATW_OK;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%" PRIu32 "/cpulist",
		 root, node);
	if (!host_file_text(path, text, sizeof(text)))
		return ATW_OK;
	while (r == ATW_OK && num_list_next(&at, text + strlen(text), &first, &last))
		r = fn(arg, node, first, last, err);
	return r;
}

int sys_nodes_cpus(const char *root, nodes_cpus_fn *fn, void *arg, struct atw_err *err)
{
	char path[512], text[512];
	const char *at = text;
	uint64_t first, last;
	int r = ATW_OK;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
	if (!host_file_text(path, text, sizeof(text)))
		return ATW_OK;
	while (r == ATW_OK && num_list_next(&at, text + strlen(text), &first, &last))
		for (uint64_t i = first; r == ATW_OK && i <= last && i < NODES_MAX; i++)
			r = nodes_cpus_of(root, (uint32_t)i, fn, arg, err);
	return r;
}

void sys_nodes_deinit(struct sys_nodes *n)
{
	free(n->at);
	*n = (struct sys_nodes){ 0 };
}

bool sys_nodes_find(const struct sys_nodes *n, uint64_t pa, uint32_t *ret)
{
	uint64_t block = n->block ? pa / n->block : 0;

	if (n->one) {
		*ret = n->id;
		return true;
	}
	if (block >= n->n || !n->at[block] || n->at[block] == SEVERAL)
		return false;
	*ret = n->at[block] - 1;
	return true;
}
