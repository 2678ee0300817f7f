/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of the page cache are assigned to files, these to devices, inodes, nodes and paths, and to
 * the cgroups that are charged for them.
 */
#include "linux/cached.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "kernel_memory.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"
#include "test.h"

/* mem_map lies at PAGES; where members are is as in real kernels. */
enum {
	MAP = 0x100, PAGES = 0x1000, SIZE = 64, COUNT = 64,
	FLAGS = 0, HEAD = 8, MAPPING = 24, MAPCOUNT = 48, REFCOUNT = 52,
};
enum { LRU = 1 << 2, SWAPBACKED = 1 << 4, HEADBIT = 1 << 6, DIRTY = 1 << 7 };

/* Objects, and where their members are. */
enum {
	SB = 0x8000, TMPFS = 0x8100, MOUNT = 0x8200, BIND = 0x8280, TMPFS_MOUNT = 0x8300,
	ROOT = 0x8400, DIR = 0x8480, FILE_A = 0x8500, FILE_B = 0x8580, TMP_ROOT = 0x8600,
	TMP_FILE = 0x8680, MAP_A = 0x9000, MAP_B = 0x9040, MAP_C = 0x9080, MAP_STALE = 0x90c0,
	MAP_TMP = 0x9100, INODE_A = 0x9200, INODE_B = 0x9280, INODE_C = 0x9300, INODE_TMP = 0x9380,
	NAMES = 0x9400,
	/* Cgroups, each with its mem_cgroup, css in it, cgroup and kernfs_node. */
	MEMCG = 0xa000, CGROUPS = 6, CGROUP_SIZE = 0x100,
};
enum { CSS = 0x10, CSS_CGROUP = 0, CSS_PARENT = 8, CSS_FLAGS = 0x10, CGROUP = 0x40, KN = 8, KERNFS = 0x80,
       KN_PARENT = 0, KN_NAME = 8, KN_PRIV = 0x10, CHARGE = 56, LABEL = 0x40 };
enum {
	HOST = 0x10,
	INO = 0x40, I_SB = 0x28, I_MAPPING = 0x30, I_DENTRY = 0x50,
	DEV = 0x10, S_ROOT = 0x20, MOUNTS = 0x30,
	PARENT = 0x08, POINT = 0x10, MNT = 0x20, INSTANCE = 0x40, NEXT = 0x50,
	D_PPREV = 0x08, D_PARENT = 0x18, D_LEN = 0x24, D_NAME = 0x28, D_OP = 0x30, ALIAS = 0x60,
};

struct fixture {
	struct kmemory *mem;
	struct atw_kernel k;
	struct atw_memmap *m;
	struct cached_files *c;
	struct buf text;
	uint64_t lost;
};

static void flag(struct kmemory *k, enum need_const c, uint64_t bit)
{
	k->n.constant[c] = __builtin_ctzll(bit);
	k->n.have_const[c] = true;
}

static void layout(struct kmemory *k)
{
	static const enum need_const others[] = {
		C_PG_referenced, C_PG_active, C_PG_writeback, C_PG_reclaim, C_PG_unevictable,
		C_PG_private, C_PG_hwpoison,
	};

	k->n.size[S_page] = SIZE;
	kset(k, N_page_flags, FLAGS, 8);
	kset(k, N_page_head, HEAD, 8);
	kset(k, N_page_mapping, MAPPING, 8);
	kset(k, N_page_private, 40, 8);
	kset(k, N_page_mapcount, MAPCOUNT, 4);
	kset(k, N_page_refcount, REFCOUNT, 4);
	kset(k, N_folio_flags, SIZE, 8);
	kset(k, N_folio_mapcount, SIZE + 16, 4);
	kset(k, N_folio_entire, SIZE + 20, 4);
	flag(k, C_PG_lru, LRU);
	flag(k, C_PG_swapbacked, SWAPBACKED);
	flag(k, C_PG_head, HEADBIT);
	flag(k, C_PG_dirty, DIRTY);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		flag(k, others[i], UINT64_C(1) << (16 + i));
	flag(k, C_PG_locked, 1 << 0);
	flag(k, C_PG_uptodate, 1 << 1);
	flag(k, C_PG_reserved, 1 << 3);
	flag(k, C_PG_swapcache, 1 << 5);
	k->n.constant[C_type_buddy] = 0xf0;
	k->n.have_const[C_type_buddy] = true;
	kset(k, N_mapping_host, HOST, 8);
	kset(k, N_inode_ino, INO, 8);
	kset(k, N_inode_sb, I_SB, 8);
	kset(k, N_inode_mapping, I_MAPPING, 8);
	kset(k, N_inode_dentry, I_DENTRY, 8);
	kset(k, N_sb_dev, DEV, 4);
	kset(k, N_sb_root, S_ROOT, 8);
	kset(k, N_sb_mounts, MOUNTS, 16);
	kset(k, N_mount_parent, PARENT, 8);
	kset(k, N_mount_mountpoint, POINT, 8);
	kset(k, N_mount_mnt, MNT, 32);
	kset(k, N_mount_instance, INSTANCE, 16);
	kset(k, N_vfsmount_root, 0, 8);
	kset(k, N_dentry_pprev, D_PPREV, 8);
	kset(k, N_dentry_parent, D_PARENT, 8);
	kset(k, N_dentry_len, D_LEN, 4);
	kset(k, N_dentry_name, D_NAME, 8);
	kset(k, N_dentry_op, D_OP, 8);
	kset(k, N_dentry_alias, ALIAS, 16);
}

static void dentry(struct kmemory *k, uint64_t at, uint64_t parent, uint64_t name, const char *s)
{
	kpoint(k, at + D_PPREV, 8);      /* it is in a hash table */
	kpoint(k, at + D_PARENT, parent);
	kput(k, at + D_LEN, strlen(s), 4);
	kpoint(k, at + D_NAME, NAMES + name);
	memcpy(k->bytes + NAMES + name, s, strlen(s));
}

static void inode(struct kmemory *k, uint64_t at, uint64_t mapping, uint64_t ino, uint64_t sb,
		  uint64_t dentry)
{
	kpoint(k, mapping + HOST, at);
	kput64(k, at + INO, ino);
	kpoint(k, at + I_SB, sb);
	kpoint(k, at + I_MAPPING, mapping);
	if (dentry)
		kpoint(k, at + I_DENTRY, dentry + ALIAS);
}

/* A mount at a folder of another one, or of its own. */
static void mount(struct kmemory *k, uint64_t at, uint64_t parent, uint64_t point, uint64_t root)
{
	kpoint(k, at + PARENT, parent);
	kpoint(k, at + POINT, point);
	kpoint(k, at + MNT, root);
}

/* /dir/a and /dir/b of fe:1, which is also mounted as /dir; and /dir/b/t of a tmpfs on it. */
static void files(struct kmemory *k)
{
	kput(k, SB + DEV, 0xfe << 20 | 1, 4);
	kpoint(k, SB + S_ROOT, ROOT);
	kput(k, TMPFS + DEV, 0x1c, 4);
	kpoint(k, TMPFS + S_ROOT, TMP_ROOT);
	mount(k, MOUNT, MOUNT, 0, ROOT);
	mount(k, BIND, MOUNT, DIR, DIR);
	mount(k, TMPFS_MOUNT, MOUNT, FILE_B, TMP_ROOT);
	kpoint(k, SB + MOUNTS, BIND + INSTANCE);
	kpoint(k, BIND + INSTANCE, MOUNT + INSTANCE);
	kpoint(k, MOUNT + INSTANCE, SB + MOUNTS);
	kpoint(k, TMPFS + MOUNTS, TMPFS_MOUNT + INSTANCE);
	kpoint(k, TMPFS_MOUNT + INSTANCE, TMPFS + MOUNTS);
	dentry(k, ROOT, ROOT, 0, "/");
	dentry(k, DIR, ROOT, 1, "dir");
	dentry(k, FILE_A, DIR, 4, "a");
	dentry(k, FILE_B, DIR, 5, "b");
	dentry(k, TMP_ROOT, TMP_ROOT, 0, "/");
	dentry(k, TMP_FILE, TMP_ROOT, 6, "t");
	kput64(k, TMP_FILE + D_PPREV, 0);        /* it was deleted */
	inode(k, INODE_A, MAP_A, 7, SB, FILE_A);
	inode(k, INODE_B, MAP_B, 5, SB, FILE_B);
	inode(k, INODE_C, MAP_C, 900, SB, 0);
	inode(k, INODE_TMP, MAP_TMP, 3, TMPFS, TMP_FILE);
	/* Its inode is another one's by now. */
	kpoint(k, MAP_STALE + HOST, INODE_A);
}

static uint64_t at(uint64_t pfn) { return PAGES + pfn * SIZE; }

static void page(struct fixture *f, uint64_t pfn, uint64_t flags, uint64_t mapping)
{
	kput64(f->mem, at(pfn) + FLAGS, flags);
	kput64(f->mem, at(pfn) + MAPPING, mapping ? KBASE + mapping : 0);
}

static void start(struct fixture *f)
{
	struct atw_err err = { 0 };

	*f = (struct fixture){ .mem = kmemory_new(), .c = cached_create() };
	layout(f->mem);
	files(f->mem);
	f->mem->n.symbol[Y_mem_map] = KBASE + MAP;
	kpoint(f->mem, MAP, PAGES);
	for (uint64_t i = 0; i < COUNT; i++) {
		kput(f->mem, at(i) + MAPCOUNT, UINT32_MAX, 4);
		kput(f->mem, at(i) + REFCOUNT, 1, 4);
	}
	f->k.mem = &f->mem->s;
	f->k.own = f->k.space = f->mem->space;
	f->k.have_own = f->k.sought_kmem.done = true;
	f->k.kmem = f->mem->m;
	f->k.needs = f->mem->n;
	f->k.needs_done = f->k.symbols_done = true;
	CHECK(f->c);
	if (atw_memmap_open(&f->k, &f->m, &err) != ATW_OK)
		TEST_FAIL("%s", err.text);
}

static int skip_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	(void)arg; (void)run; (void)err;
	return ATW_OK;
}

static int on_file(void *arg, const struct cached_file *o, struct atw_err *err)
{
	struct fixture *f = arg;

	(void)err;
	buf_printf(&f->text, "%x:%x %" PRIu64 " %s %" PRIu64 " %" PRIu64, o->major, o->minor,
		   o->inode, o->name ? o->name : "-", o->pages, o->dirty);
	if (o->has_node)
		buf_printf(&f->text, " node %" PRIu32, o->node);
	if (o->cgroup)
		buf_printf(&f->text, " of %s", o->cgroup);
	buf_char(&f->text, '\n');
	return ATW_OK;
}

/* The text of all files; a status that is none of ATW_OK is its end. */
static const char *stop(struct fixture *f)
{
	static char text[1024];
	int r;

	f->k.needs = f->mem->n;
	r = walk_ram_frames(&(struct ram_frames){ .map = f->m, .page_shift = 12, .cached = f->c,
						  .tell = skip_frames },
			    0, ((uint64_t)COUNT << 12) - 1, NULL) ?:
	    cached_each(f->c, f->m, on_file, f, &f->lost, NULL);
	if (r != ATW_OK)
		buf_printf(&f->text, "%d", r);
	snprintf(text, sizeof(text), "%s", f->text.len ? f->text.data : "");
	buf_deinit(&f->text);
	cached_destroy(f->c);
	atw_memmap_close(f->m);
	kmemory_free(f->mem);
	return text;
}

TEST(pages_of_files)
{
	struct fixture f;

	start(&f);
	for (uint64_t i = 10; i < 13; i++)
		page(&f, i, LRU, MAP_A);
	page(&f, 12, LRU | DIRTY, MAP_A);
	/* A folio of four of the same file. */
	page(&f, 16, LRU | DIRTY | HEADBIT, MAP_A);
	kput64(f.mem, at(17) + FLAGS, 2);
	kput(f.mem, at(17) + 16, UINT32_MAX, 4);
	kput(f.mem, at(17) + 20, UINT32_MAX, 4);
	for (uint64_t i = 17; i < 20; i++)
		kput64(f.mem, at(i) + HEAD, (KBASE + at(16)) | 1);
	page(&f, 13, LRU, MAP_B);
	page(&f, 20, LRU, MAP_C);
	page(&f, 21, LRU | SWAPBACKED | DIRTY, MAP_TMP);
	page(&f, 22, LRU | SWAPBACKED, MAP_A + 1);       /* anonymous */
	page(&f, 23, LRU, 0);                            /* truncated */
	page(&f, 24, 0, MAP_A);                          /* a driver's */
	page(&f, 30, LRU, MAP_STALE);
	page(&f, 31, LRU, MAP_STALE);
	CHECK_STR(stop(&f), "0:1c 3 /dir/b/t (deleted) 1 0\n"
			    "fe:1 5 /dir/b 1 0\n"
			    "fe:1 7 /dir/a 7 5\n"
			    "fe:1 900 - 1 0\n");
	CHECK_EQ(f.lost, 2);
}

TEST(pages_by_node)
{
	struct fixture f;

	start(&f);
	f.m->nodes.v = calloc(2, sizeof(*f.m->nodes.v));
	f.m->nodes.v[0] = (struct node_span){ 0, 12, 0, 0 };
	f.m->nodes.v[1] = (struct node_span){ 12, COUNT, 1, 0 };
	f.m->nodes.n = 2;
	for (uint64_t i = 9; i < 14; i++)
		page(&f, i, LRU, MAP_B);
	page(&f, 14, LRU, MAP_A);
	page(&f, 15, LRU, MAP_B);
	CHECK_STR(stop(&f), "fe:1 5 /dir/b 3 0 node 0\n"
			    "fe:1 5 /dir/b 3 0 node 1\n"
			    "fe:1 7 /dir/a 1 0 node 1\n");
	CHECK_EQ(f.lost, 0);
}

/* Number `i`, below number `parent`; the root is its own. */
static void cgroup(struct kmemory *k, uint64_t i, uint64_t parent, const char *name, bool online)
{
	uint64_t at = MEMCG + i * CGROUP_SIZE, up = MEMCG + parent * CGROUP_SIZE;

	kpoint(k, at + CSS + CSS_CGROUP, at + CGROUP);
	if (i != parent)
		kpoint(k, at + CSS + CSS_PARENT, up + CSS);
	kput(k, at + CSS + CSS_FLAGS, online ? 2 : 0, 4);
	kpoint(k, at + CGROUP + KN, at + KERNFS);
	if (i != parent)
		kpoint(k, at + KERNFS + KN_PARENT, up + KERNFS);
	kpoint(k, at + KERNFS + KN_NAME, at + KERNFS + LABEL);
	memcpy(k->bytes + at + KERNFS + LABEL, name, strlen(name) + 1);
	kpoint(k, at + KERNFS + KN_PRIV, at + CGROUP);
}

/* /, /a, /a/b, /a/c, which was removed, /d, which lies, and /a/e */
static void cgroups(struct fixture *f)
{
	kset(f->mem, N_page_memcg_data, CHARGE, 8);
	kset(f->mem, N_memcg_css, CSS, 32);
	kset(f->mem, N_css_cgroup, CSS_CGROUP, 8);
	kset(f->mem, N_css_parent, CSS_PARENT, 8);
	kset(f->mem, N_css_flags, CSS_FLAGS, 4);
	kset(f->mem, N_cgroup_kn, KN, 8);
	kset(f->mem, N_kernfs_parent, KN_PARENT, 8);
	kset(f->mem, N_kernfs_name, KN_NAME, 8);
	kset(f->mem, N_kernfs_priv, KN_PRIV, 8);
	cgroup(f->mem, 0, 0, "", true);
	cgroup(f->mem, 1, 0, "a", true);
	cgroup(f->mem, 2, 1, "b", true);
	cgroup(f->mem, 3, 1, "c", false);
	cgroup(f->mem, 4, 0, "d", true);
	kpoint(f->mem, MEMCG + 4 * CGROUP_SIZE + KERNFS + KN_PRIV, MEMCG);
	cgroup(f->mem, 5, 1, "e", true);
	f->k.needs = f->mem->n;
}

static void charge(struct fixture *f, uint64_t pfn, uint64_t i)
{
	kput64(f->mem, at(pfn) + CHARGE, KBASE + MEMCG + i * CGROUP_SIZE);
}

TEST(pages_by_cgroup)
{
	struct fixture f;

	start(&f);
	cgroups(&f);
	/* a: / has 2 pages, /a 3 of which one is of a removed cgroup, none 1, an invalid one 1. */
	for (uint64_t i = 9; i < 16; i++)
		page(&f, i, i == 12 ? LRU | DIRTY : LRU, MAP_A);
	charge(&f, 9, 0);
	charge(&f, 10, 1);
	charge(&f, 11, 1);
	charge(&f, 12, 3);
	charge(&f, 13, 0);
	charge(&f, 15, 4);
	/* A folio of four: its first page has the charge, and others something else there. */
	page(&f, 16, LRU | HEADBIT, MAP_B);
	kput64(f.mem, at(17) + FLAGS, 2);
	kput(f.mem, at(17) + 16, UINT32_MAX, 4);
	kput(f.mem, at(17) + 20, UINT32_MAX, 4);
	for (uint64_t i = 17; i < 20; i++) {
		kput64(f.mem, at(i) + HEAD, (KBASE + at(16)) | 1);
		charge(&f, i, 5);
	}
	charge(&f, 16, 2);
	page(&f, 20, LRU, MAP_B);
	charge(&f, 20, 2);
	page(&f, 21, LRU, MAP_B);
	charge(&f, 21, 5);
	CHECK_STR(stop(&f), "fe:1 5 /dir/b 5 0 of /a/b\n"
			    "fe:1 5 /dir/b 1 0 of /a/e\n"
			    "fe:1 7 /dir/a 2 0\n"
			    "fe:1 7 /dir/a 2 0 of /\n"
			    "fe:1 7 /dir/a 3 1 of /a\n");
	CHECK_EQ(f.lost, 0);
}

/* The mounts of a file system are no list, and the newest comes first. */
TEST(mounts_of_newer_kernels)
{
	struct fixture f;

	start(&f);
	f.mem->n.member[N_mount_instance] = NEED_NONE;
	kset(f.mem, N_mount_next, NEXT, 8);
	kpoint(f.mem, SB + MOUNTS, BIND);
	kpoint(f.mem, BIND + NEXT, MOUNT);
	page(&f, 9, LRU, MAP_A);
	CHECK_STR(stop(&f), "fe:1 7 /dir/a 1 0\n");
}

/* Nothing leads in circles, and what is missing is no name. */
TEST(structs_that_lie)
{
	struct fixture f;

	start(&f);
	kpoint(f.mem, SB + MOUNTS, BIND + INSTANCE);
	kpoint(f.mem, BIND + INSTANCE, BIND + INSTANCE);
	kpoint(f.mem, DIR + D_PARENT, FILE_A);
	kput(f.mem, FILE_B + D_LEN, UINT32_MAX, 4);
	page(&f, 9, LRU, MAP_A);
	page(&f, 10, LRU, MAP_B);
	page(&f, 11, LRU, 0x100000);                     /* not in memory */
	kput64(f.mem, MAP_C + HOST, 0);
	page(&f, 12, LRU, MAP_C);
	CHECK_STR(stop(&f), "fe:1 5 - 1 0\nfe:1 7 - 1 0\n");
	CHECK_EQ(f.lost, 2);
}

TEST(a_kernel_without_types)
{
	struct atw_err err = { 0 };
	struct fixture f;

	start(&f);
	f.k.needs.member[N_mapping_host] = NEED_NONE;
	CHECK_EQ(cached_each(f.c, f.m, on_file, &f, &f.lost, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, "no types of this kernel lead from struct page to inode"));
	CHECK_STR(stop(&f), "");
}
