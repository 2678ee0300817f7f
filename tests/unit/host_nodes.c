/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NUMA nodes of memory are read from /sys. */
#include "host/nodes.h"

#include <unistd.h>

#include "test.h"

static char root[] = "/tmp/atwalk-nodes.XXXXXX";

static void put(const char *path, const char *text)
{
	char all[256];
	FILE *f;

	snprintf(all, sizeof(all), "%s/sys/devices/system/%s", root, path);
	f = fopen(all, "w");
	if (!f)
		abort();
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void folder(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p '%s/sys/devices/system/%s'", root, path);
	if (system(command))
		abort();
}

static int add_cpus(void *arg, uint32_t node, uint64_t first, uint64_t last,
		    struct atw_err *err)
{
	char *text = arg;

	(void)err;
	sprintf(text + strlen(text), "%u:%u-%u ", node, (unsigned)first, (unsigned)last);
	return node == 7 ? ATW_E_NOMEM : ATW_OK;
}

TEST(cpus_of_nodes)
{
	char text[200] = "", command[64];
	struct atw_err err = { 0 };

	CHECK(mkdtemp(root));
	CHECK_EQ(sys_nodes_cpus(root, add_cpus, text, &err), ATW_OK);
	CHECK_STR(text, "");
	folder("node/node0");
	folder("node/node2");
	folder("node/node7");
	put("node/online", "0,2-3,7-9");
	put("node/node0/cpulist", "0-3,8,10-11");
	put("node/node2/cpulist", "");   /* memory without CPUs */
	CHECK_EQ(sys_nodes_cpus(root, add_cpus, text, &err), ATW_OK);
	CHECK_STR(text, "0:0-3 0:8-8 0:10-11 ");
	*text = '\0';
	put("node/node0/cpulist", "4,x,5");
	put("node/node7/cpulist", "9,12");
	CHECK_EQ(sys_nodes_cpus(root, add_cpus, text, &err), ATW_E_NOMEM);
	CHECK_STR(text, "0:4-4 7:9-9 ");
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	CHECK(system(command) == 0);
	strcpy(root, "/tmp/atwalk-nodes.XXXXXX");
}

TEST(blocks_of_memory)
{
	struct sys_nodes n = { 0 };
	char command[64];
	uint32_t id;

	CHECK(mkdtemp(root));
	CHECK(!sys_nodes_read(root, &n));
	CHECK_EQ(sys_block_bytes(root), 0);
	CHECK(!sys_nodes_find(&n, 0, &id));
	sys_nodes_deinit(&n);
	folder("node/node0/memory0");
	folder("node/node0/memory1");
	folder("node/node3/memory1");    /* a block of two nodes */
	folder("node/node3/memory5");
	folder("node/node3/memory_x");
	folder("node/nodes");
	folder("node/node4/memory18446744073709551615");
	CHECK(!sys_nodes_read(root, &n));
	sys_nodes_deinit(&n);
	put("node/online", "0,3-4");
	folder("memory");
	put("memory/block_size_bytes", "8000000");
	CHECK(sys_nodes_read(root, &n));
	CHECK(sys_nodes_find(&n, 0x7ffffff, &id));
	CHECK_EQ(id, 0);
	CHECK(!sys_nodes_find(&n, 0x8000000, &id));
	CHECK(!sys_nodes_find(&n, 0x10000000, &id));
	CHECK(sys_nodes_find(&n, (uint64_t)5 << 27, &id));
	CHECK_EQ(id, 3);
	CHECK(!sys_nodes_find(&n, (uint64_t)6 << 27, &id));
	CHECK(!sys_nodes_find(&n, UINT64_MAX, &id));
	CHECK(!n.one);
	sys_nodes_deinit(&n);
	CHECK_EQ(sys_block_bytes(root), 0x8000000);
	folder("memory/memory5");
	folder("memory/memory6");
	put("memory/memory5/state", "online");
	put("memory/memory6/state", "offline");
	CHECK(!sys_block_is_offline(root, 5));
	CHECK(sys_block_is_offline(root, 6));
	CHECK(!sys_block_is_offline(root, 7));
	/* Where there is but one, no block need say so. */
	put("node/online", "3");
	put("memory/block_size_bytes", "0");
	CHECK(sys_nodes_read(root, &n));
	CHECK(n.one);
	CHECK(sys_nodes_find(&n, 0x8000000, &id));
	CHECK_EQ(id, 3);
	sys_nodes_deinit(&n);
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	CHECK(system(command) == 0);
}
