/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control files of a recording work, on shared memory that this test fills. */
#include "kmap/lib/control.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

enum { OBJECTS = 64, EDGES = 256, SITES = 16, NAMES = 64 };

static struct room {
	struct kshare *s;
	struct kmap_drain *d;
	struct kmap_controls *c;
	char name[64];
	int fd;
} at;

static uint64_t clock_now;

static void begin_with(int fd, enum kmap_version version)
{
	struct kshare_layout l = { .max_objects = OBJECTS, .max_edges = EDGES,
				   .max_sites = SITES, .max_names = NAMES };
	struct kmap_drain_opts o = { .fd = fd, .version = version };
	struct atw_err err;

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.objects + OBJECTS * sizeof(struct kshare_object);
	l.sites = l.edges + EDGES * sizeof(struct kshare_edge);
	l.names = l.sites + SITES * sizeof(uint64_t);
	l.size = (l.names + NAMES + 63) & ~UINT64_C(63);
	at.s = aligned_alloc(64, l.size);
	memset(at.s, 0, l.size);
	at.s->at = l;
	at.s->nobjects = 1;
	at.s->nsites = 1;
	at.s->gate = KSHARE_OBJECTS | KSHARE_ACCESSES;
	at.fd = fd;
	clock_now = 0;
	if (kmap_drain_open(at.s, &o, &at.d, &err) < 0 || kmap_drain_begin(at.d, &err) < 0 ||
	    kmap_controls_open(at.s, at.d, at.name, &at.c, &err) < 0)
		abort();
}

static void begin(void)
{
	strcpy(at.name, "/tmp/atwalk-control.XXXXXX");
	begin_with(mkstemp(at.name), KMAP_V4);
}

static void end(void)
{
	kmap_controls_close(at.c);
	kmap_drain_close(at.d);
	close(at.fd);
	if (*at.name)
		unlink(at.name);
	free(at.s);
	at = (struct room){ 0 };
}

/* A test with a room of its own. */
#define IN_ROOM(id) \
	static void id##_in(void); \
	TEST(id) { begin(); id##_in(); end(); } \
	static void id##_in(void)

/* An object that code at `ip` wrote `n` times. */
static uint32_t live(uint64_t va, uint64_t ip, uint32_t n)
{
	uint32_t id = at.s->nobjects++, site = at.s->nsites++;
	struct kshare_object *o = kshare_object(at.s, id);

	*kshare_site(at.s, site) = ip;
	*o = (struct kshare_object){
		.va = va, .size = 8, .alloc_ip = 0x10, .alloc_time = ++clock_now, .pid = 5,
		.table = id * 4, .edges = 1, .bits = 2, .type = KSHARE_T_KMALLOC,
		.flags = KSHARE_LIVE, .comm = "sh",
	};
	kshare_edge(at.s, o->table)[0] = (struct kshare_edge){ site, 7, n, 0 };
	at.s->count.objects++;
	return id;
}

static void freed(uint32_t id)
{
	kshare_object(at.s, id)->flags = 0;
	kshare_object(at.s, id)->free_time = ++clock_now;
	kshare_object(at.s, id)->free_ip = 0x20;
	kshare_put(&at.s->done, id);
}

static bool written(const char *name, const char *text)
{
	return kmap_control_write(at.c, kmap_control_find(name), text, strlen(text), NULL) == 0;
}

static int refused(const char *name, const char *text)
{
	struct atw_err err = { 0 };

	return -kmap_control_write(at.c, kmap_control_find(name), text, strlen(text), &err);
}

/* 0: refused with another message. */
static int refused_so(const char *name, const char *text, const char *sentence)
{
	struct atw_err err = { 0 };
	int r = kmap_control_write(at.c, kmap_control_find(name), text, strlen(text), &err);

	return strcmp(err.text, sentence) ? 0 : -r;
}

static struct kmap_reading *opened(const char *name, int *status)
{
	struct kmap_reading *r = NULL;
	struct atw_err err = { 0 };

	*status = -kmap_reading_open(at.c, kmap_control_find(name), &r, &err);
	return r;
}

static bool is_enough(void *arg)
{
	(void)arg;
	return true;
}

/* The whole text, read `step` bytes at a time. */
static const char *text_of(const char *name, size_t step)
{
	static char buf[8192];
	int status;
	struct kmap_reading *r = opened(name, &status);
	size_t n = 0;
	ssize_t got;

	if (!r)
		return strerror(status);
	while ((got = kmap_reading_read(r, buf + n, step, n, is_enough, NULL)) > 0)
		n += (size_t)got;
	buf[n] = '\0';
	kmap_reading_close(r);
	return buf;
}

#define HEAD "# atwalk-kmap 1\n"
#define ONE "0000000000000010,5,0000000000001000,8,1,2,0000000000000020,KMALLOC,sh,NULL,NONE\n" \
	    "  0000000000000100,3,0,7\n"
#define TWO_LIVE "0000000000000010,5,0000000000002000,8,3,0,0000000000000000,KMALLOC,sh,NULL,NONE\n" \
		 "  0000000000000200,4,0,7\n"
#define TWO_FREED "0000000000000010,5,0000000000002000,8,3,4,0000000000000020,KMALLOC,sh,NULL,NONE\n" \
		  "  0000000000000200,4,0,7\n"
#define ONE_LIVE "0000000000000010,5,0000000000001000,8,1,0,0000000000000000,KMALLOC,sh,NULL,NONE\n" \
		 "  0000000000000100,3,0,7\n"
#define TWO_LIVE_NEXT "0000000000000010,5,0000000000002000,8,2,0,0000000000000000,KMALLOC,sh,NULL,NONE\n" \
		      "  0000000000000200,4,0,7\n"
#define LAST(o, a) "# atwalk-kmap end objects " #o " accesses " #a " lost 0\n"

IN_ROOM(freed_objects_precede_live_ones)
{
	CHECK_STR(text_of("kmap", 100), HEAD LAST(0, 0));
	freed(live(0x1000, 0x100, 3));
	live(0x2000, 0x200, 4);
	CHECK_STR(text_of("kmap", 8000), HEAD ONE TWO_LIVE LAST(2, 2));
	/* Reading changes nothing, whatever the size of each read. */
	CHECK_STR(text_of("kmap", 1), HEAD ONE TWO_LIVE LAST(2, 2));
	CHECK_EQ(at.s->hold, 0);
	CHECK(written("print_live_obj", "0\n"));
	CHECK_STR(text_of("log_live_enabled", 8), "N\n");
	CHECK_STR(text_of("kmap", 8000), HEAD ONE LAST(1, 1));
}

IN_ROOM(a_mark_is_between_objects_and_has_the_time_of_the_next_one)
{
	uint32_t one = live(0x1000, 0x100, 3);

	freed(one);
	at.s->clock = clock_now;
	CHECK(written("mark", " load\n"));
	live(0x2000, 0x200, 4);
	CHECK_STR(text_of("kmap", 8000), HEAD "# atwalk-kmap mark 3 load\n" ONE TWO_LIVE LAST(2, 2));
	CHECK_EQ(refused_so("mark", "two words", "a mark is a word"), EINVAL);
	CHECK_EQ(refused_so("mark", " \n", "a mark is a word"), EINVAL);
	CHECK_EQ(refused_so("mark", "a\033b", "a mark is a word"), EINVAL);
	kmap_controls_over(at.c);
	CHECK_EQ(refused("mark", "load"), ESHUTDOWN);
}

IN_ROOM(a_name_never_spans_two_lines)
{
	uint32_t id;

	CHECK_EQ(kmap_drain_header(at.d, NULL, "only-cache", "%s", "a\nb"), ATW_OK);
	id = live(0x2000, 0x200, 4);
	memcpy(kshare_object(at.s, id)->comm, "sh\n\n# atwalk-km\n", KSHARE_COMM);
	kshare_object(at.s, id)->name = 1;
	strcpy(kshare_name(at.s, 1), "a\n,b");
	CHECK_STR(text_of("kmap", 8000), HEAD "# atwalk-kmap only-cache a?b\n"
		  "0000000000000010,5,0000000000002000,8,1,0,0000000000000000,KMALLOC,sh??# atwalk-km?,a??b,NONE\n"
		  "  0000000000000200,4,0,7\n" LAST(1, 1));
}

#define NAMED(at, name) "# atwalk-kmap symbol " #at " " #name "\n"

/* Functions precede the first object that refers to them; others follow all objects. */
IN_ROOM(functions_are_named_before_their_first_use)
{
	struct kmap_functions_of f = { 0 };
	uint32_t two;

	CHECK(kmap_functions_of_add(&f, 0x300, "never"));
	CHECK(kmap_functions_of_add(&f, 0x1f0, "b"));
	CHECK(kmap_functions_of_add(&f, 0x18, "frees"));
	CHECK(kmap_functions_of_add(&f, 0x8, "allocates"));
	CHECK(kmap_functions_of_add(&f, 0x100, "z"));
	CHECK(kmap_functions_of_add(&f, 0x100, "a"));
	CHECK(kmap_functions_of_add(&f, 0x300, "never"));
	kmap_functions_of_sort(&f);
	CHECK_EQ(f.n, 6);
	CHECK_EQ(kmap_drain_functions(at.d, &f, NULL), ATW_OK);
#define FIRST	NAMED(8, allocates) NAMED(18, frees) NAMED(100, z) NAMED(100, a) ONE
#define SIX	"# atwalk-kmap symbols 6\n"
	freed(live(0x1000, 0x100, 3));
	two = live(0x2000, 0x200, 4);
	CHECK_STR(text_of("kmap", 8000), HEAD FIRST NAMED(8, allocates) NAMED(1f0, b) TWO_LIVE
		  NAMED(18, frees) NAMED(100, z) NAMED(100, a) NAMED(300, never) SIX LAST(2, 2));
	/* The rest of the file after a clear does not depend on what precedes it. */
	CHECK(written("clear_object_list", "1"));
	freed(two);
	CHECK_STR(text_of("kmap", 8000), HEAD NAMED(8, allocates) NAMED(18, frees) NAMED(1f0, b) TWO_FREED
		  NAMED(8, allocates) NAMED(18, frees) NAMED(100, z) NAMED(100, a) NAMED(1f0, b)
		  NAMED(300, never) SIX LAST(1, 1));
	CHECK_EQ(kmap_drain_unnamed(at.d, NULL), ATW_OK);
	kmap_functions_of_deinit(&f);
}

static void name_task(uint32_t place, int32_t task, const char *name)
{
	at.s->task[place].task_id = task;
	memset(at.s->task[place].comm, 'x', KSHARE_COMM);
	strcpy(at.s->task[place].comm, name);
	at.s->ntasks = place + 1;
}

/* Each access refers to the name that its thread had at that time. */
IN_ROOM(threads_are_named_before_their_accesses)
{
	const int32_t next = 7 + KSHARE_PID + 1;
	uint32_t id;

	name_task(0, 7, "sh");
	name_task(1, next, "t\nr");
	id = live(0x1000, 0x100, 3);
	kshare_object(at.s, id)->edges = 3;
	kshare_edge(at.s, id * 4)[0].pid = next;
	kshare_edge(at.s, id * 4)[1] = (struct kshare_edge){ 1, 7, 1, 0 };
	kshare_edge(at.s, id * 4)[2] = (struct kshare_edge){ 1, -1, 2, 0 };
	kshare_edge(at.s, id * 4)[3] = (struct kshare_edge){ 1, 8, 5, 0 };
#define THREE	"0000000000000010,5,0000000000001000,8,1,2,0000000000000020,KMALLOC,sh,NULL,NONE\n" \
		"# task 7 sh\n  0000000000000100,1,0,7\n  0000000000000100,2,0,-1\n" \
		"  0000000000000100,5,0,8\n# task 7 t?r\n  0000000000000100,3,0,7\n"
	freed(id);
	live(0x2000, 0x200, 4);
	CHECK_STR(text_of("kmap", 8000), HEAD THREE
		  "0000000000000010,5,0000000000002000,8,3,0,0000000000000000,KMALLOC,sh,NULL,NONE\n"
		  "# task 7 sh\n  0000000000000200,4,0,7\n" LAST(2, 5));
	/* The name is repeated after a clear. */
	CHECK(written("clear_object_list", "1"));
	freed(live(0x2000, 0x200, 4));
	CHECK(strstr(text_of("kmap", 8000), "KMALLOC,sh,NULL,NONE\n# task 7 sh\n  0000000000000200,4,0,7\n"));
}

/* At any size of the disk, the file is a valid KMAP that is marked as cut off. */
TEST(a_full_disk_leaves_a_valid_file)
{
	static const char cut[] = "# atwalk-kmap cut no room\n";
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	void (*old)(int) = signal(SIGXFSZ, SIG_IGN);

	for (rlim_t room = 520; room < 400000; room += room < 2000 ? 1 : 4001) {
		struct rlimit few = { room, RLIM_INFINITY };
		struct atw_err err = { 0 };
		char *text, *last;
		off_t len;

		begin();
		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
		CHECK_EQ(kmap_drain_flush(at.d, &err), ATW_OK);
		live(0x1000, 0x100, 3);
		live(0x2000, 0x200, 4);
		while (kmap_drain_rest(at.d, &err) == ATW_OK &&
		       (room > 9000 || kmap_drain_flush(at.d, &err) == ATW_OK))
			continue;
		CHECK(kmap_drain_mend(at.d, "no room"));
		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &all), 0);
		len = lseek(at.fd, 0, SEEK_END);
		text = calloc(1, (size_t)len + 1);
		CHECK_EQ(pread(at.fd, text, (size_t)len, 0), len);
		CHECK_EQ(strlen(text), len);
		CHECK(!strncmp(text, HEAD, strlen(HEAD)));
		last = text + len - strlen(cut);
		CHECK_STR(last, cut);
		/* No more is gone than it takes to say it twice, and what an object has. */
		CHECK((size_t)len + 1400 >= room);
		*last = '\0';
		for (char *p = text + strlen(HEAD); *p; p += strlen(ONE_LIVE))
			if (strncmp(p, ONE_LIVE, strlen(ONE_LIVE)) != 0) {
				CHECK(!strncmp(p, TWO_LIVE_NEXT, strlen(TWO_LIVE_NEXT)));
				if (strncmp(p, TWO_LIVE_NEXT, strlen(TWO_LIVE_NEXT)) != 0)
					break;
			}
		free(text);
		end();
	}
	signal(SIGXFSZ, old);
}

IN_ROOM(clear_drops_freed_objects)
{
	uint32_t two;

	freed(live(0x1000, 0x100, 3));
	two = live(0x2000, 0x200, 4);
	/* The object had not been written yet. */
	CHECK(written("clear_object_list", "1\n"));
	CHECK_STR(text_of("kmap", 8000), HEAD TWO_LIVE LAST(1, 1));
	freed(two);
	CHECK_STR(text_of("kmap", 8000), HEAD TWO_FREED LAST(1, 1));
	CHECK(written("clear_dead_objs", "anything"));
	CHECK_STR(text_of("kmap", 8000), HEAD LAST(0, 0));
}

IN_ROOM(clear_printed_drops_objects_that_were_read)
{
	int status;
	struct kmap_reading *r;
	char buf[40];

	freed(live(0x1000, 0x100, 3));
	CHECK(written("clear_printed_list", "1"));
	CHECK_STR(text_of("kmap", 8000), HEAD ONE LAST(1, 1));
	freed(live(0x2000, 0x200, 4));
	CHECK(written("clear_printed_list", "1"));
	CHECK_STR(text_of("kmap", 8000), HEAD TWO_FREED LAST(1, 1));
	CHECK(written("clear_printed_objects", "1"));
	CHECK_STR(text_of("kmap", 8000), HEAD LAST(0, 0));
	/* The client closed the file before it had read the object. */
	freed(live(0x1000, 0x300, 3));
	r = opened("kmap", &status);
	CHECK_EQ(status, 0);
	CHECK_EQ(kmap_reading_read(r, buf, sizeof(buf), 0, NULL, NULL), sizeof(buf));
	kmap_reading_close(r);
	CHECK(written("clear_printed_list", "1"));
	CHECK(strstr(text_of("kmap", 8000), "  0000000000000300,3,0,7\n"));
}

/* The number of copies is limited, however often a client opens; others stay readable. */
IN_ROOM(copies_are_few)
{
	struct kmap_reading *r[33];
	int status;

	for (unsigned i = 0; i < 32; i++) {
		r[i] = opened(i & 1 ? "kmap" : "allocations", &status);
		CHECK_EQ(status, 0);
	}
	CHECK(!opened("accesses", &status));
	CHECK_EQ(status, EMFILE);
	CHECK_STR(text_of("memorizer_log_access", 8), "Y\n");
	CHECK(written("memorizer_log_access", "0"));
	kmap_reading_close(r[31]);
	r[31] = opened("kmap", &status);
	CHECK_EQ(status, 0);
	for (unsigned i = 0; i < 32; i++)
		kmap_reading_close(r[i]);
	CHECK_STR(text_of("kmap", 8000), HEAD LAST(0, 0));
}

IN_ROOM(parts_that_were_written_before_a_clear_are_reported)
{
	live(0x1000, 0x100, 3);
	at.s->count.parts = 2;
	freed(live(0x2000, 0x200, 4));
	CHECK(written("clear_object_list", "1"));
	CHECK(strstr(text_of("kmap", 8000), HEAD "# atwalk-kmap cleared-parts 2\n"));
}

#define ALLOCATIONS "alloc_ip,pid,ptr,size,alloc_serial,free_serial,free_ip,type,slab,new_type\n"
#define ACCESSES "alloc_index,access_ip,pid,writes,reads\n"

IN_ROOM(rows_have_as_many_fields_as_their_head)
{
	static const char *const names[] = { "allocations", "accesses" };
	uint32_t id;

	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS);
	CHECK_STR(text_of("accesses", 3), ACCESSES);
	freed(live(0x1000, 0x100, 3));
	id = live(0x2000, 0x200, 4);
	kshare_object(at.s, id)->type = KSHARE_T_CACHE;
	kshare_object(at.s, id)->name = 1;
	strcpy(kshare_name(at.s, 1), "filp");
	/* A comma in a task's name is not a separator. */
	strcpy(kshare_object(at.s, id)->comm, "a,b,\"c");
	kshare_edge(at.s, id * 4)->pid = -1;
	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS
		  "0000000000000010,5,0000000000001000,8,1,2,0000000000000020,KMALLOC,NULL,NONE\n"
		  "0000000000000010,5,0000000000002000,8,3,0,0000000000000000,KMEM_CACHE,filp,NONE\n");
	CHECK_STR(text_of("accesses", 8000), ACCESSES "1,0000000000000100,7,3,0\n"
		  "3,0000000000000200,-1,4,0\n");
	for (size_t i = 0; i < 2; i++) {
		char *fields[100], *line, *rest, *whole = strdup(text_of(names[i], 1));
		size_t n[3] = { 0 }, rows = 0;

		for (rest = whole; (line = strsep(&rest, "\n")) && *line && rows < 3; rows++)
			for (char *f = line; f; n[rows]++)
				fields[n[rows] % 100] = strsep(&f, ",");
		CHECK_EQ(rows, 3);
		CHECK_EQ(n[0], i ? 5 : 10);
		CHECK_EQ(n[1], n[0]);
		CHECK_EQ(n[2], n[0]);
		CHECK(fields[0]);
		free(whole);
	}
	CHECK(written("print_live_obj", "0"));
	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS
		  "0000000000000010,5,0000000000001000,8,1,2,0000000000000020,KMALLOC,NULL,NONE\n");
	CHECK_STR(text_of("accesses", 8000), ACCESSES "1,0000000000000100,7,3,0\n");
	/* Rows count as printed once a client has read all of them. */
	CHECK(written("clear_printed_list", "1"));
	CHECK_STR(text_of("accesses", 8000), ACCESSES);
}

IN_ROOM(a_name_with_a_comma_is_in_quotes)
{
	uint32_t id;

	id = live(0x1000, 0x100, 3);
	kshare_object(at.s, id)->name = 1;
	strcpy(kshare_name(at.s, 1), "a \"b");
	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS
		  "0000000000000010,5,0000000000001000,8,1,0,0000000000000000,KMALLOC,\"a \"\"b\",NONE\n");
}

IN_ROOM(an_object_in_parts_is_one_row)
{
	uint32_t id, part;

	id = live(0x1000, 0x100, 3);
	part = live(0x1000, 0x200, 4);
	kshare_object(at.s, part)->alloc_time = kshare_object(at.s, id)->alloc_time;
	kshare_object(at.s, part)->flags = KSHARE_PART;
	kshare_put(&at.s->done, part);
	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS
		  "0000000000000010,5,0000000000001000,8,1,0,0000000000000000,KMALLOC,NULL,NONE\n");
	CHECK_STR(text_of("accesses", 8000), ACCESSES "1,0000000000000200,7,4,0\n"
		  "1,0000000000000100,7,3,0\n");
	freed(id);
	CHECK_STR(text_of("allocations", 8000), ALLOCATIONS
		  "0000000000000010,5,0000000000001000,8,1,3,0000000000000020,KMALLOC,NULL,NONE\n");
}

/* Rows are formatted during the read, from more data than one read buffer holds. */
IN_ROOM(rows_can_be_read_from_anywhere)
{
	static char all[1 << 18], some[1 << 18];
	struct kmap_reading *r;
	int status;
	size_t n = 0, lines = 0;
	ssize_t got;

	live(0x1000, 0x100, 3);
	/* The same object is written 3000 times. */
	for (unsigned i = 0; i < 3000; i++) {
		kshare_object(at.s, 1)->flags = 0;
		kshare_object(at.s, 1)->free_time = ++clock_now;
		kshare_put(&at.s->done, 1);
		CHECK_EQ(kmap_drain_some(at.d, 10, &(unsigned){ 0 }, NULL), ATW_OK);
		kshare_take(&at.s->back);
	}
	r = opened("allocations", &status);
	CHECK_EQ(status, 0);
	while ((got = kmap_reading_read(r, all + n, 5000, n, NULL, NULL)) > 0)
		n += (size_t)got;
	CHECK_EQ(got, 0);
	for (size_t i = 0; i < n; i++)
		lines += all[i] == '\n';
	CHECK_EQ(lines, 3001);
	CHECK_EQ(kmap_reading_read(r, some, sizeof(some), 0, NULL, NULL), n);
	CHECK(!memcmp(some, all, n));
	for (size_t from = n; from > 4096; from -= 4096) {
		size_t want = n - from < 100 ? n - from : 100;

		CHECK_EQ(kmap_reading_read(r, some, 100, from, NULL, NULL), want);
		CHECK(!memcmp(some, all + from, want));
	}
	CHECK_EQ(kmap_reading_read(r, some, 100, n + 7, NULL, NULL), 0);
	CHECK_EQ(kmap_reading_read(r, some, 100, UINT64_MAX, NULL, NULL), 0);
	kmap_reading_close(r);
	/* A file that was truncated meanwhile is an error, not an end of file. */
	r = opened("accesses", &status);
	CHECK_EQ(ftruncate(at.fd, 1000), 0);
	CHECK_EQ(kmap_reading_read(r, all, sizeof(all), 0, NULL, NULL), -EIO);
	kmap_reading_close(r);
}

IN_ROOM(variables_of_the_kernel)
{
	CHECK_STR(text_of("global_table", 80), strerror(ENODATA));
	live(0x1000, 0x100, 3);
	at.s->kernel.globals = live(0xffffffff81000010, 0x200, 4);
	at.s->kernel.nglobals = 2;
	at.s->kernel.image_first = 0xffffffff80000000;
	at.s->kernel.image_last = UINT64_MAX;
	kmap_drain_slide(at.d, 0x1000000);
	live(0xffffffff81000018, 0x300, 4);
	kshare_object(at.s, 2)->name = 1;
	strcpy(kshare_name(at.s, 1), "jiffies");
	CHECK_STR(text_of("global_table", 80), "ffffffff80000010 8 jiffies (null)\n"
		  "ffffffff80000018 8 (null) (null)\n");
}

IN_ROOM(stream_removes_what_was_read)
{
	int status;
	struct kmap_reading *r, *other;
	char buf[512];
	ssize_t n;

	freed(live(0x1000, 0x100, 3));
	CHECK_EQ(kmap_drain_some(at.d, 10, &(unsigned){ 0 }, NULL), ATW_OK);
	r = opened("kmap_stream", &status);
	CHECK_EQ(status, 0);
	other = opened("kmap_stream", &status);
	CHECK(!other);
	CHECK_EQ(status, EBUSY);
	n = kmap_reading_read(r, buf, sizeof(buf), 0, is_enough, NULL);
	CHECK_EQ(n, strlen(HEAD));
	n = kmap_reading_read(r, buf, sizeof(buf), 0, is_enough, NULL);
	CHECK_EQ(n, strlen(ONE));
	CHECK(!memcmp(buf, ONE, strlen(ONE)));
	CHECK_EQ(kmap_reading_read(r, buf, sizeof(buf), 0, is_enough, NULL), -EINTR);
	/* Only a part of the next object was read. */
	freed(live(0x2000, 0x200, 4));
	CHECK_EQ(kmap_drain_some(at.d, 10, &(unsigned){ 0 }, NULL), ATW_OK);
	CHECK_EQ(kmap_reading_read(r, buf, 90, 0, is_enough, NULL), 90);
	kmap_reading_close(r);
	CHECK_STR(text_of("kmap", 8000), HEAD TWO_FREED LAST(1, 1));
}

IN_ROOM(stream_ends_with_the_recording_and_counts_its_objects)
{
	int status;
	struct kmap_reading *r;
	char buf[1024] = "";
	size_t n = 0;
	ssize_t got;

	freed(live(0x1000, 0x100, 3));
	CHECK(written("clear_object_list", "1"));
	live(0x2000, 0x200, 4);
	r = opened("kmap_stream", &status);
	CHECK_EQ(status, 0);
	kmap_controls_over(at.c);
	CHECK_EQ(kmap_drain_rest(at.d, NULL), ATW_OK);
	CHECK_EQ(kmap_drain_end(at.d, NULL, NULL), ATW_OK);
	kmap_controls_ended(at.c, false);
	while ((got = kmap_reading_read(r, buf + n, 33, 0, NULL, NULL)) > 0)
		n += (size_t)got;
	CHECK_EQ(got, 0);
	CHECK_STR(buf, HEAD TWO_LIVE LAST(1, 1));
	kmap_reading_close(r);
	CHECK_STR(text_of("kmap", 10), strerror(ESHUTDOWN));
	CHECK_EQ(refused("memorizer_log_access", "1"), ESHUTDOWN);
}

TEST(other_versions_have_no_own_lines)
{
	strcpy(at.name, "/tmp/atwalk-control.XXXXXX");
	begin_with(mkstemp(at.name), KMAP_V1);
	freed(live(0x1000, 0x100, 3));
	CHECK_STR(text_of("kmap", 8000), "0000000000000010,5,0000000000001000,8,1,2,0000000000000020,sh\n"
		  "  0000000000000100,7,3,0\n");
	/* V1 has no types, and V3 no processes. */
	CHECK_STR(text_of("allocations", 8000), strerror(EOPNOTSUPP));
	CHECK_STR(text_of("accesses", 8000), strerror(EOPNOTSUPP));
	end();
}

TEST(output_that_cannot_be_read_again_gives_no_partial_copy)
{
	int fd[2];

	CHECK_EQ(pipe(fd), 0);
	begin_with(fd[1], KMAP_V4);
	CHECK_STR(text_of("kmap", 10), strerror(EOPNOTSUPP));
	CHECK_STR(text_of("kmap_stream", 10), strerror(EOPNOTSUPP));
	CHECK_EQ(refused("clear_object_list", "1"), EOPNOTSUPP);
	CHECK(strstr(text_of("stats", 8000), "Memory Accesses"));
	close(fd[0]);
	end();
}

IN_ROOM(switches)
{
	CHECK_STR(text_of("memorizer_enabled", 80), "1 - memorizer enabled, all processes\n");
	CHECK(written("memorizer_enabled", "0\n"));
	CHECK_EQ(at.s->gate, KSHARE_ACCESSES);
	CHECK_STR(text_of("memorizer_enabled", 80), "0 - memorizer disabled\n");
	CHECK(written("log_accesses_enabled", "N"));
	CHECK_EQ(at.s->gate, 0);
	CHECK_STR(text_of("memorizer_log_access", 80), "N\n");
	CHECK(written("memorizer_enabled", " 4711 \n"));
	CHECK_EQ(at.s->gate, KSHARE_OBJECTS | KSHARE_ONE);
	CHECK_EQ(at.s->only_pid, 4711);
	CHECK_STR(text_of("memorizer_enabled", 80),
		  "4711 - memorizer enabled, accesses of this process\n");
	CHECK(written("memorizer_enabled", "Y"));
	CHECK_EQ(at.s->gate, KSHARE_OBJECTS);
	CHECK(written("memorizer_log_access", "on"));
	CHECK_EQ(at.s->gate, KSHARE_OBJECTS | KSHARE_ACCESSES);
	CHECK(written("cfg_log_on", "0"));
	CHECK_EQ(refused_so("cfg_log_on", "1",
			    "calls of functions are not recorded"), EOPNOTSUPP);
	CHECK_STR(text_of("log_calls_enabled", 80), "N\n");
	CHECK_STR(text_of("cfgmap", 80), strerror(EOPNOTSUPP));
	CHECK_EQ(refused("clear_function_calls", "1"), EOPNOTSUPP);
}

/* A recording that was started with calls has them, and counting can be switched off. */
IN_ROOM(calls)
{
	static struct kshare_pair pairs[4] = {
		{ 0x1000, 0x2000, 3 }, { 0x1010, 0x2000, 0 }, { 0 }, { 0x1020, 0x3000, 12 },
	};

	at.s->at.calls = (uint64_t)((char *)pairs - (char *)at.s);
	at.s->at.max_calls = 4;
	CHECK(written("cfg_log_on", "1"));
	CHECK(at.s->gate & KSHARE_GRAPH);
	CHECK_STR(text_of("log_calls_enabled", 80), "Y\n");
	CHECK_EQ(refused_so("stack_trace_on", "1",
			    "it is off, and cannot be switched on: stacks are not recorded"), EOPNOTSUPP);
	CHECK_EQ(refused_so("log_frames_enabled", "on",
			    "it is off, and cannot be switched on: stacks are not recorded"), EOPNOTSUPP);
	CHECK(written("log_frames_enabled", "0"));
	CHECK_STR(text_of("stack_trace_on", 80), "N\n");
	CHECK_STR(text_of("cfgmap", 80), "1000 2000 3\n1020 3000 12\n");
	CHECK(written("cfgmap", "whatever"));
	CHECK_STR(text_of("function_calls", 80), "");
	CHECK_EQ(pairs[3].to, 0x3000);
	CHECK(written("log_calls_enabled", "0"));
	CHECK(!(at.s->gate & KSHARE_GRAPH));
}

IN_ROOM(invalid_values_are_refused_and_change_nothing)
{
	static const char *const bad[] = {
		"", "\n", "2", "3", "-1", "2147483648", "99999999999999999999999", "1 y", "yy", "0x1",
		"11111111111111111111111111111111111111111111111111111111111111111111111", "%s", "\xff",
	};
	static const char *const clears[] = {
		"clear_object_list", "clear_dead_objs", "clear_dead_objects", "clear_printed_list",
		"clear_printed_objects", NULL,
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_EQ(refused("memorizer_enabled", bad[i]), EINVAL);
		CHECK_EQ(at.s->gate, KSHARE_OBJECTS | KSHARE_ACCESSES);
	}
	CHECK_EQ(refused("memorizer_log_access", "5"), EINVAL);
	CHECK_EQ(-kmap_control_write(at.c, kmap_control_find("memorizer_log_access"), "0\0", 2, NULL),
		 EINVAL);
	/* A clear ignores its value. */
	for (const char *const *f = clears; *f; f++) {
		CHECK_EQ(kmap_control_write(at.c, kmap_control_find(*f), "\0", 1, NULL), 0);
		CHECK_EQ(kmap_control_write(at.c, kmap_control_find(*f), "", 0, NULL), 0);
		CHECK(written(*f, bad[10]));
	}
	CHECK_EQ(refused("kmap", "1"), EACCES);
	CHECK_STR(text_of("clear_object_list", 1), strerror(EACCES));
	CHECK(!kmap_control_find("nosuch"));
	CHECK(!kmap_control_find(""));
	/* The writer has failed, so recording cannot be enabled. */
	at.s->failed = 1;
	CHECK_EQ(refused("memorizer_log_access", "1"), ESHUTDOWN);
	CHECK_STR(text_of("kmap", 1), strerror(EIO));
}

IN_ROOM(stats_add_up)
{
	const char *text;
	uint32_t none;

	freed(live(0x1000, 0x100, 3));
	live(0x2000, 0x200, 4);
	none = live(0, 0x300, 5);
	kshare_object(at.s, none)->flags = KSHARE_GENERAL;
	kshare_object(at.s, none)->type = KSHARE_UFO_HEAP;
	at.s->count.objects = 2;
	at.s->count.allocs[KSHARE_T_KMALLOC] = 2;
	at.s->count.induced = 1;
	at.s->count.disabled = 2;
	text = text_of("show_stats", 17);
	CHECK(strstr(text, "  Tracked:                     7\n  Missing:                     5\n"
			   "  Induced:                     1\n  Disabled:                    2\n"));
	CHECK(strstr(text, "  Total Obs:                  15\n"));
	CHECK(strstr(text, "   KMALLOC        :                7,                0\n"));
	CHECK(strstr(text, "   Total          :                7,                5 --- 58% hit rate\n"));
	CHECK(strstr(text, "  Total:                       2\n  Frees:                       1\n"
			   "  Live Now:                    1\n"));
}

/* A recorder that counts its work, and must not work while it is quiesced. */
struct machine {
	_Atomic bool stop;
	_Atomic uint64_t work;
};

static void *run_machine(void *arg)
{
	struct machine *m = arg;

	while (!m->stop) {
		atomic_store_explicit(&at.s->busy, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		while (atomic_load_explicit(&at.s->hold, memory_order_relaxed) && !m->stop) {
			atomic_store(&at.s->busy, 0);
			while (atomic_load(&at.s->hold))
				;
			atomic_store(&at.s->busy, 1);
		}
		/* A copy must have both halves or neither. */
		kshare_edge(at.s, 4)->writes++;
		kshare_edge(at.s, 4)->reads++;
		atomic_store_explicit(&at.s->busy, 0, memory_order_release);
		m->work++;
	}
	return NULL;
}

IN_ROOM(a_copy_is_consistent)
{
	struct machine m = { 0 };
	pthread_t thread;

	live(0x1000, 0x100, 0);
	CHECK_EQ(pthread_create(&thread, NULL, run_machine, &m), 0);
	for (unsigned i = 0; i < 50; i++) {
		unsigned w, r;
		const char *line = strstr(text_of("kmap", 8000), "\n  ");

		CHECK(line && sscanf(line, "\n  0000000000000100,%u,%u,7", &w, &r) == 2);
		CHECK_EQ(w, r);
	}
	m.stop = true;
	pthread_join(thread, NULL);
	CHECK(m.work > 0);
}

IN_ROOM(a_dead_recorder_is_not_waited_for)
{
	live(0x1000, 0x100, 3);
	at.s->busy = 1;
	kmap_controls_over(at.c);
	CHECK(strstr(text_of("kmap", 8000), "  0000000000000100,3,0,7\n"));
}
