/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What still lives at the end of a recording is written by several threads: the text does
 * not depend on how many, and has all that one alone writes.
 */
#include <fcntl.h>
#include <unistd.h>

#include "kmap/lib/drain.h"
#include "kmap/lib/store.h"

#include "test.h"

enum { OBJECTS = 3000, EDGES = 1 << 17, SITES = 600, NAMES = 4096, LARGE = 2000 };

static struct kshare *share;
static struct kstore store;

static void begin(void)
{
	struct kshare_layout l = { .max_objects = OBJECTS + 8, .max_edges = EDGES,
				   .max_sites = SITES, .max_names = NAMES };

	l.objects = (sizeof(struct kshare) + 63) & ~UINT64_C(63);
	l.edges = l.objects + (l.max_objects * sizeof(struct kshare_object) + 63) / 64 * 64;
	l.sites = l.edges + EDGES * sizeof(struct kshare_edge);
	l.names = l.sites + SITES * sizeof(uint64_t);
	l.size = (l.names + NAMES + 63) & ~UINT64_C(63);
	share = aligned_alloc(64, l.size);
	memset(share, 0, l.size);
	share->at = l;
	share->nobjects = 1;
	share->nsites = 1;
	if (kstore_init(&store, share, NULL, NULL) < 0)
		abort();
	for (uint32_t i = 1; i < SITES; i++)
		CHECK_EQ(kstore_site(&store, 0x1000 + i * 16), i);
}

static void touch(uint32_t object, uint32_t site, int32_t task_id, uint32_t n)
{
	struct kshare_edge *e = kstore_edge(&store, object, site, task_id);

	e->reads += n;
	e->writes += n % 3;
}

/* Threads get other names on the way, and one object has more than a buffer of text. */
static void fill(void)
{
	char comm[KSHARE_COMM] = "";

	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct kstore_birth b = { .va = 0x100000 + i * 64, .size = 64, .ip = 0x9000 + i,
					  .type = KSHARE_T_KMALLOC, .pid = 5, .comm = "sh" };
		uint32_t id = kstore_new(&store, &b);

		for (uint32_t n = 0; n < i % 7; n++) {
			int32_t pid = (int32_t)(10 + (i + n) % 5);

			snprintf(comm, sizeof(comm), "t%u-%u", (unsigned)pid, i / 700);
			touch(id, 1 + (i * 31 + n) % (SITES - 1), kstore_task(&store, pid, comm),
			      i + n + 1);
		}
		touch(id, 1 + i % (SITES - 1), -1, 1);
		/* An object that was freed is not of the rest. */
		if (i % 11 == 0)
			kstore_finish(&store, id, 0x77);
	}
	for (uint32_t i = 0; i < LARGE; i++)
		for (int32_t pid = 10; pid < 15; pid++)
			touch(17, 1 + i % (SITES - 1), pid, i + 1);
}

static void write_rest(unsigned jobs, const struct kmap_functions_of *f, struct kmap_drained *sum,
		       char **text)
{
	struct kmap_drain_opts o = { .version = KMAP_V4, .jobs = jobs };
	struct kmap_drain *d = NULL;

	o.fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	CHECK_EQ(kmap_drain_open(share, &o, &d, NULL), ATW_OK);
	CHECK_EQ(kmap_drain_functions(d, f, NULL), ATW_OK);
	CHECK_EQ(kmap_drain_begin(d, NULL), ATW_OK);
	CHECK_EQ(kmap_drain_rest(d, NULL), ATW_OK);
	CHECK_EQ(kmap_drain_end(d, NULL, NULL), ATW_OK);
	*sum = kmap_drain_sums(d);
	kmap_drain_close(d);
	*text = calloc(1, sum->bytes + 1);
	CHECK_EQ(pread(o.fd, *text, sum->bytes, 0), (ssize_t)sum->bytes);
	CHECK_EQ(lseek(o.fd, 0, SEEK_END), (off_t)sum->bytes);
	close(o.fd);
}

/* Lines that are no names; each access with the name that its thread has there. */
static char *plain(char *text, size_t *len)
{
	char names[16][KSHARE_COMM] = { "" }, *line, *save = NULL, *to = NULL;
	FILE *f = open_memstream(&to, len);
	int pid;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *last = strrchr(line, ',');

		if (sscanf(line, "# task %d", &pid) == 1)
			snprintf(names[pid & 15], KSHARE_COMM, "%s", strrchr(line, ' ') + 1);
		else if (line[0] == ' ' && last[1] != '-')
			fprintf(f, "%s %s\n", line, names[atoi(last + 1) & 15]);
		else if (strncmp(line, "# atwalk-kmap symbol ", 21) != 0)
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	return to;
}

TEST(threads_write_what_one_writes)
{
	struct kmap_functions_of f = { 0 };
	struct kmap_drained one, three, none;
	char *a, *b, *c, *x, *y;
	size_t xlen, ylen;

	begin();
	fill();
	for (unsigned i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "code_%u", i);
		CHECK(kmap_functions_of_add(&f, 0x1000 + i * 96, name));
	}
	kmap_functions_of_sort(&f);
	write_rest(1, &f, &one, &a);
	write_rest(3, &f, &three, &b);
	write_rest(0, &f, &none, &c);
	CHECK_EQ(one.bytes, three.bytes);
	CHECK(!strcmp(a, b));
	CHECK_EQ(memcmp(&one, &three, sizeof(one)), 0);
	CHECK_EQ(one.objects, OBJECTS - (OBJECTS + 10) / 11);
	CHECK_EQ(one.objects, none.objects);
	CHECK_EQ(one.accesses, none.accesses);
	CHECK_EQ(memcmp(one.touched, none.touched, sizeof(one.touched)), 0);
	/* Each name of a function once, and before it is needed. */
	CHECK(strstr(a, "# atwalk-kmap symbol 1000 code_0\n") != NULL);
	CHECK(strstr(strstr(a, "symbol 1000 code_0\n") + 1, "symbol 1000 ") == NULL);
	x = plain(a, &xlen);
	y = plain(c, &ylen);
	CHECK_EQ(xlen, ylen);
	CHECK(!strcmp(x, y));
	CHECK(strstr(x, ",14 t14-4\n") != NULL);
	free(a);
	free(b);
	free(c);
	free(x);
	free(y);
	kmap_functions_of_deinit(&f);
	kstore_free(&store);
	free(share);
}
