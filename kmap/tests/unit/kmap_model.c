/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records add up exactly, in recordings with known numbers. */
#include "test.h"

#include "base/buf.h"
#include "base/hash.h"
#include "kmap/tests/kmap_text.h"

#define HEAD "# atwalk-kmap 1\n# atwalk-kmap mode instance\n"

static const struct kmap_cache *cache(const struct kmap_model *m, const char *name)
{
	for (size_t i = 0; i < m->cache.n; i++)
		if (kmap_cache(m, i)->name && !strcmp(kmap_cache(m, i)->name, name))
			return kmap_cache(m, i);
	return NULL;
}

static const struct kmap_time *times(const struct kmap_model *m, const struct kmap_cache *c,
				     unsigned i)
{
	return kmap_time(m, (size_t)(c - kmap_cache(m, 0)), i);
}

TEST(parts_of_an_object_are_one)
{
	MODEL(m, HEAD
		"ffffffff81001010,10,ffff888000001000,192,110,0,0,KMEM_CACHE,sh,dentry,NONE\n"
		"  ffffffff81001020,2,0,10\n"
		"ffffffff81009999,10,ffff888000002000,64,120,0,0,KMALLOC,sh,kmalloc-64,NONE\n"
		"ffffffff81001010,10,ffff888000001000,192,110,0,0,KMEM_CACHE,sh,dentry,NONE\n"
		"  ffffffff81001020,1,0,10\n"
		"ffffffff81001010,10,ffff888000001000,192,110,210,ffffffff81003000,KMEM_CACHE,sh,dentry,NONE\n"
		"  ffffffff81001024,0,5,11\n"
		/* The same place and time once more, after its end: another one. */
		"ffffffff81001010,10,ffff888000001000,192,110,111,ffffffff81003000,KMEM_CACHE,sh,dentry,NONE\n");
	const struct kmap_cache *c;

	c = cache(m, "dentry");
	CHECK_EQ(c->s.objects, 2);
	CHECK_EQ(c->s.bytes, 384);
	CHECK_EQ(c->s.freed, 2);
	CHECK_EQ(c->s.live, 0);
	CHECK_EQ(c->s.reads, 5);
	CHECK_EQ(c->s.writes, 3);
	CHECK_EQ(c->s.untouched, 1);
	CHECK_EQ(c->s.unread, 0);
	CHECK_EQ(times(m, c, 1)->life, 1);
	CHECK_EQ(times(m, c, 7)->life, 1);         /* 100: from 64 to 127 */
	CHECK_EQ(times(m, c, 7)->life_bytes, 192);
	CHECK_EQ(cache(m, "kmalloc-64")->s.live_bytes, 64);
	CHECK_EQ(m->s.objects, 3);
	CHECK_EQ(m->hots, 1);
	CHECK_EQ(m->hot[0].reads, 5);
	CHECK_EQ(m->hot[0].writes, 3);
	CHECK_EQ(m->hot[0].free_time, 210);
}

TEST(use_is_of_whole_objects)
{
	MODEL(m, HEAD
		"ffffffff81001010,1,ffff888000001000,16,1,0,0,T,sh,a,NONE\n  ffffffff81000000,1,0,1\n"
		"ffffffff81001010,1,ffff888000002000,32,2,9,ffffffff81000040,T,sh,a,NONE\n  ffffffff81000000,0,1,1\n"
		"ffffffff81001010,1,ffff888000003000,64,3,9,deadbeef,T,sh,a,NONE\n"
		"ffffffff81001010,1,ffff888000004000,8,4,9,fedbeef,T,sh,a,KMALLOC\n"
		/* Written in its first part, read in its second. */
		"ffffffff81001010,1,ffff888000001000,16,1,0,0,T,sh,a,NONE\n  ffffffff81000000,0,1,1\n");
	const struct kmap_sums *s;

	s = &cache(m, "a")->s;
	CHECK_EQ(s->objects, 4);
	CHECK_EQ(s->unread, 0);
	CHECK_EQ(s->unwritten, 1);
	CHECK_EQ(s->unwritten_bytes, 32);
	CHECK_EQ(s->untouched, 2);
	CHECK_EQ(s->untouched_bytes, 72);
	CHECK_EQ(s->missed, 1);
	CHECK_EQ(s->nested, 1);
	CHECK(m->has_frees);
	/* deadbeef is not the address of a free. */
	CHECK_EQ(kmap_code(m, (size_t)kmap_table_find(&m->code, (struct kmap_key){
			0xffffffff81000040, 0, 0 }))->frees, 1);
	CHECK_EQ(kmap_table_find(&m->code, (struct kmap_key){ 0xdeadbeef, 0, 0 }), (uint64_t)-1);
}

TEST(dead_from_the_last_access_on)
{
#define O(va, from, to) "ffffffff81001010,1,ffff88800000" va ",16," from "," to ",0,T,sh,a,NONE\n"
#define TOUCHED "  ffffffff81000000,1,0,1\n"
	_auto_model struct kmap_model *m = kmap_of_text(HEAD
		/* Two parts, then its last; times come in any order. */
		O("1000", "10", "0") TOUCHED "# used 30,31\n"
		O("2000", "11", "0") TOUCHED "# used 11,11\n"
		O("1000", "10", "0") TOUCHED "# used 20,90\n" "# used 15,16\n"
		O("1000", "10", "100")           /* 10: from 8 to 15 */
		/* Accessed, and then more; the first part does not say when. */
		O("3000", "12", "0") TOUCHED
		O("3000", "12", "100") TOUCHED "# used 99,99\n"
		/* An access that counts nothing is none. */
		O("4000", "13", "0") "  ffffffff81000000,0,0,1\n"
		O("4000", "13", "100") TOUCHED "# used 99,99\n"
		O("5000", "14", "100")
		O("6000", "15", "100") TOUCHED "# used 99,101\n"
		O("7000", "100", "16") TOUCHED "# used 16,16\n"
		/* The time of its allocation is unknown. */
		O("8000", "0", "100") TOUCHED "# used 1,1\n");
	const struct kmap_cache *c;

	CHECK(m && m->has_used);
	c = cache(m, "a");
	CHECK_EQ(c->s.objects, 8);
	CHECK_EQ(c->dead, 3);
	CHECK_EQ(times(m, c, 4)->dead, 1);
	CHECK_EQ(times(m, c, 1)->dead, 1);
	CHECK_EQ(times(m, c, 7)->dead, 1);
	CHECK_EQ(times(m, c, 7)->dead_bytes, 16);
	CHECK_EQ(c->undated, 1);
	CHECK_EQ(m->dead, 3);
	CHECK_EQ(m->undated, 1);
	CHECK_EQ(m->dead_late, 1);
	CHECK_EQ(m->backwards, 1);
	CHECK_EQ(m->life_total, 5);
	CHECK_EQ(times(m, c, 7)->life, 5);
	CHECK_EQ(times(m, c, 7)->life_untouched, 1);
	kmap_model_close(m);
	m = kmap_of_text(HEAD O("1000", "10", "0") TOUCHED);
	CHECK(m && !m->has_used);
	CHECK_EQ(m->time.n, 0);
}

TEST(weight_is_the_average)
{
	MODEL(m, HEAD
		"ffffffff81001010,1,ffff888000001000,100,10,20,ffffffff81000040,T,sh,a,NONE\n"
		"ffffffff81001010,1,ffff888000001000,100,25,0,0,T,sh,a,NONE\n"
		"ffffffff81001020,1,ffff888000009000,7,0,0,0,GLOBAL,sh,NULL,NONE\n"
		"ffffffff81001030,1,ffff888000002000,1,30,110,ffffffff81000040,T,sh,b,NONE\n");

	CHECK_EQ(m->first, 10);
	CHECK_EQ(m->last, 110);
	/* 100 * (10 + 85) / 100; 7 always; 80 / 100 rounded. */
	CHECK_EQ(kmap_weight(m, kmap_site(m, 0)), 95);
	CHECK_EQ(kmap_weight(m, kmap_site(m, 1)), 7);
	CHECK_EQ(kmap_weight(m, kmap_site(m, 2)), 1);
	CHECK(!kmap_cache(m, kmap_site(m, 1)->cache)->name);
}

/* Above 10^11 it is no time, unless the recording has a clock of its own. */
TEST(a_time_that_cannot_be_is_none)
{
	static const char text[] =
		"ffffffff81001010,1,ffff888000001000,100,10,20,ffffffff81000040,KMALLOC,bash,a\n"
		"ffffffff81001010,1,ffff888000002000,100,12,100000000001,ffffffff81000040,KMALLOC,bash,b\n"
		"  ffffffff81000000,1,0\n"
		"ffffffff81001010,1,ffff888000003000,100,13,100000000001,deadbeef,KMALLOC,bash,b\n";
	MODEL(m, text);
	const struct kmap_cache *c;

	c = cache(m, "b");
	CHECK_EQ(m->first, 10);
	CHECK_EQ(m->last, 20);
	CHECK_EQ(m->timeless, 2);
	CHECK_EQ(c->lives, 0);
	CHECK_EQ(c->undated, 0);
	CHECK_EQ(c->s.live, 0);
	/* Their frees are known, and the code that freed them. */
	CHECK_EQ(c->s.freed, 2);
	CHECK_EQ(c->s.missed, 1);
	CHECK_EQ(kmap_code(m, (size_t)kmap_table_find(&m->code, (struct kmap_key){
			0xffffffff81000040, 0, 0 }))->frees, 2);
	CHECK_EQ(kmap_weight(m, kmap_site(m, 0)), 100);
	CHECK_EQ(kmap_weight(m, kmap_site(m, 1)), 0);
	CHECK_EQ(kmap_site(m, 1)->series, 0);
	CHECK(!m->hot[0].freed);
	kmap_model_close(m);
	m = kmap_of_text(HEAD "# atwalk-kmap clock serial\n"
		"ffffffff81001010,1,ffff888000002000,100,12,100000000001,ffffffff81000040,KMALLOC,bash,b,NONE\n");
	CHECK(m);
	CHECK_EQ(m->timeless, 0);
	CHECK_EQ(m->last, 100000000001);
	kmap_model_close(m);
	/* The last one that can be. */
	m = kmap_of_text("ffffffff81001010,1,ffff888000002000,100,12,100000000000,ffffffff81000040,KMALLOC,bash,b\n");
	CHECK(m);
	CHECK_EQ(m->timeless, 0);
	CHECK_EQ(m->last, 100000000000);
}

TEST(processes_are_who_was_there)
{
	_auto_model struct kmap_model *m = kmap_of_text(HEAD
		"ffffffff81001010,7,ffff888000001000,100,10,20,ffffffff81000040,T,old,a,NONE\n"
		"  ffffffff81000000,1,2,7\n  ffffffff81000004,4,8,-1\n"
		"ffffffff81001010,7,ffff888000001000,50,30,40,ffffffff81000040,T,new,a,NONE\n"
		"  ffffffff81000000,16,32,7\n");
	const struct kmap_process *p;

	/* Under each name what was done under it. */
	CHECK(m && m->has_pids);
	CHECK_EQ(m->process.n, 3);
	p = kmap_process(m, 0);
	CHECK_EQ(p->key.a, 7);
	CHECK_STR(p->task, "old");
	CHECK_EQ(p->objects, 1);
	CHECK_EQ(p->bytes, 100);
	CHECK_EQ(p->reads, 2);
	CHECK_EQ(p->writes, 1);
	CHECK_EQ(p->sites, 1);
	CHECK(!kmap_process(m, 1)->task);
	CHECK_EQ(kmap_process(m, 1)->reads, 8);
	p = kmap_process(m, 2);
	CHECK_EQ(p->key.a, 7);
	CHECK_STR(p->task, "new");
	CHECK_EQ(p->bytes, 50);
	CHECK_EQ(p->reads, 32);
	CHECK_EQ(p->writes, 16);
}

#define OF_7 "ffffffff81001010,7,ffff888000001000,100,10,20,ffffffff81000040,T,new,a,NONE\n"

/* Files of ours say what threads were called when they did what they did. */
TEST(processes_have_the_name_of_then)
{
	_auto_model struct kmap_model *m = kmap_of_text(HEAD "# task 9 made\n" OF_7
		"  ffffffff81000000,1,2,9\n# task 9 a b,c\n  ffffffff81000000,4,0,9\n"
		"# task 7 old\n  ffffffff81000000,8,0,7\n# task 9 \n  ffffffff81000000,16,0,9\n"
		"# task 9 made\n  ffffffff81000000,32,0,9\n");
	static const struct { const char *task; uint64_t pid, writes, objects; } want[] = {
		{ "new", 7, 0, 1 }, { "made", 9, 33, 0 }, { "a b,c", 9, 4, 0 }, { "old", 7, 8, 0 },
		{ NULL, 9, 16, 0 },
	};

	CHECK(m && m->has_tasks);
	CHECK_EQ(m->process.n, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct kmap_process *p = kmap_process(m, i);

		CHECK(p->task ? !strcmp(p->task, want[i].task ? want[i].task : "") : !want[i].task);
		CHECK_EQ(p->key.a, want[i].pid);
		CHECK_EQ(p->writes, want[i].writes);
		CHECK_EQ(p->objects, want[i].objects);
		CHECK(!p->gone);
	}
}

/* Of a thread that had one name only, it is known. */
TEST(a_thread_of_one_name_has_it_from_the_beginning)
{
	_auto_model struct kmap_model *m = kmap_of_text(HEAD
		"ffffffff81001010,8,ffff888000001000,100,10,20,ffffffff81000040,T,sh,a,NONE\n"
		"  ffffffff81000000,1,2,7\n" OF_7 "  ffffffff81000000,4,8,7\n");
	const struct kmap_process *p;

	CHECK(m && !m->has_tasks);
	CHECK_EQ(m->process.n, 3);
	CHECK(kmap_process(m, 1)->gone);
	p = kmap_process(m, 2);
	CHECK_STR(p->task, "new");
	CHECK_EQ(p->writes, 5);
	CHECK_EQ(p->reads, 10);
	CHECK_EQ(p->sites, 1);
}

TEST(a_sample_may_be_of_sites)
{
	_auto_model struct kmap_model *m = kmap_of_text("# atwalk-kmap 1\n# atwalk-kmap mode site\n"
		"# atwalk-kmap mode sample\n# atwalk-kmap scale 4\n# atwalk-kmap kernel 6.1.0-44\n"
		"# atwalk-kmap machine aarch64\n# atwalk-kmap clock serial\n"
		"ffffffff81001010,7,ffff888000001000,100,10,20,ffffffff81000040,T,a,b,NONE\n");

	CHECK(m && m->compressed && kmap_sampled(m));
	CHECK_EQ(m->scale, 4);
	CHECK_STR(m->release, "6.1.0-44");
	CHECK_STR(m->machine, "aarch64");
	CHECK_STR(m->clock, "serial");
}

TEST(caches_of_cgroups_are_one)
{
	MODEL(m, HEAD
		"ffffffff81001010,7,ffff888000001000,100,10,20,ffffffff81000040,T,a,dentry(12:cg),NONE\n"
		"ffffffff81001010,7,ffff888000001000,100,30,40,ffffffff81000040,T,a,dentry,NONE\n");

	CHECK_EQ(m->cache.n, 1);
	CHECK_EQ(m->site.n, 1);
	CHECK_EQ(kmap_cache(m, 0)->s.objects, 2);
}

TEST(other_names_keep_what_is_in_parentheses)
{
	MODEL(m, HEAD
		"ffffffff81001010,7,ffff888000001000,100,10,20,ffffffff81000040,T(1),sh(1),dentry(12:cg),NONE\n"
		"ffffffff81001010,8,ffff888000001000,100,30,40,ffffffff81000040,T(2),(sd-pam),dentry,NONE\n");

	CHECK_STR(kmap_process(m, 0)->task, "sh(1)");
	CHECK_STR(kmap_process(m, 1)->task, "(sd-pam)");
	CHECK_EQ(m->cache.n, 2);
	CHECK_STR(kmap_cache(m, 0)->name, "dentry");
	CHECK_STR(kmap_cache(m, 0)->type, "T(1)");
}

/* ---- over time ---- */

static uint64_t live_at(const struct kmap_series *s, size_t i, uint64_t time)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < KMAP_STEPS && kmap_series_time(s, k) <= time; k++)
		sum += (uint64_t)s->v[i][k];
	return sum;
}

TEST(steps_grow_and_nothing_is_lost)
{
	/* Whatever order times come in, what lives at the end of a step is exact. */
	static const uint64_t times[][8] = {
		{ 1000, 1001, 1, 5000, 2, 70000, 1000000, 3 },
		{ 4294967000, 4294967296, 4294966000, 1, 0, 4294967295, 7, 4294960000 },
		{ UINT64_MAX, 1, UINT64_MAX - 1, 2, UINT64_MAX / 2, 3, 4, 5 },
	};

	for (size_t c = 0; c < 3; c++) {
		struct kmap_series s = { 0 };

		CHECK_EQ(kmap_series_new(&s), 0);
		CHECK_EQ(kmap_series_new(&s), 1);
		for (unsigned i = 0; i < 8; i++)
			kmap_series_add(&s, i & 1, times[c][i], 1 << i);
		for (unsigned k = 0; k < KMAP_STEPS; k++) {
			uint64_t last = kmap_series_time(&s, k + 1) - 1, want[2] = { 0 };

			if (last < kmap_series_time(&s, k))
				break;
			for (unsigned i = 0; i < 8; i++)
				want[i & 1] += times[c][i] <= last ? 1u << i : 0;
			CHECK_EQ(live_at(&s, 0, last), want[0]);
			CHECK_EQ(live_at(&s, 1, last), want[1]);
		}
		kmap_series_deinit(&s);
	}
}

/* ---- tables ---- */

struct element {
	struct kmap_key key;
	uint64_t value;
};

TEST(tables_find_what_is_in_them)
{
	struct kmap_table t;
	bool fresh;

	kmap_table_init(&t, sizeof(struct element));
	CHECK_EQ(kmap_table_find(&t, (struct kmap_key){ 1, 2, 3 }), (uint64_t)-1);
	for (uint64_t i = 0; i < 5000; i++) {
		int64_t at = kmap_table_get(&t, (struct kmap_key){ i, i * 7, i & 3 }, &fresh);

		CHECK(at >= 0 && fresh);
		((struct element *)t.v)[at].value = i;
	}
	/* Every third goes; the others stay where they can be found. */
	for (uint64_t i = 0; i < 5000; i += 3)
		kmap_table_remove(&t, (size_t)kmap_table_find(&t, (struct kmap_key){ i, i * 7, i & 3 }));
	CHECK_EQ(t.n, 5000 - 1667);
	for (uint64_t i = 0; i < 5000; i++) {
		int64_t at = kmap_table_find(&t, (struct kmap_key){ i, i * 7, i & 3 });

		CHECK_EQ(at >= 0, i % 3 != 0);
		if (at >= 0)
			CHECK_EQ(((struct element *)t.v)[at].value, i);
	}
	kmap_table_deinit(&t);
}

/* More bytes for longer than any number has: the most there is, and not what is left over. */
TEST(bytes_that_stay_do_not_overflow)
{
	enum { OBJECTS = 65538 };
	struct buf b = { 0 };
	struct kmap_model *m;

	buf_str(&b, HEAD "# atwalk-kmap clock serial\n");
	for (unsigned i = 0; i < OBJECTS; i++)
		buf_printf(&b, "ffffffff81001010,1,%x,281474976710655,1,18446744073709551615,ffffffff81003000,KMALLOC,sh,NULL,NONE\n",
			   i * 8);
	buf_char(&b, '\0');
	m = kmap_of_text(b.data);
	CHECK(m);
	CHECK_EQ(kmap_weight(m, kmap_site(m, 0)), UINT64_MAX);
	kmap_model_close(m);
	buf_deinit(&b);
}

TEST(the_same_wherever_things_go_in_tables)
{
	static char text[65536];
	size_t n = 0;
	uint64_t hot[2][4];

	n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", HEAD);
	for (unsigned i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"ffffffff8100%04x,1,ffff8880000%05x,16,%u,0,0,T,sh,c%u,NONE\n"
			"  ffffffff81000%03x,%u,1,1\n", 0x1000 + 16 * (i % 7), i * 16, i + 1, i % 5,
			i % 13 * 4, i * 37 % 11);
	for (unsigned k = 0; k < 2; k++) {
		struct kmap_model *m;

		hash_seed(1000 + k);
		m = kmap_of_text(text);
		CHECK(m);
		CHECK_EQ(m->site.n, 35);
		CHECK_EQ(m->hots, KMAP_TOP);
		for (unsigned i = 0; i < 4; i++)
			hot[k][i] = m->hot[i * 33].va;
		kmap_model_close(m);
	}
	CHECK(!memcmp(hot[0], hot[1], sizeof(hot[0])));
}

