// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmapliar ... share=FD,...    in QEMU's place: whatever it shares with `kmap record` is
 *                              written full of what makes no sense
 *
 * LIAR says what: "ones"; "layout"; "objects SEED"; "names SEED"; "queue SEED"; "short".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmap/lib/share.h"
#include "random.h"

static void fill(uint64_t *rng, void *at, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v = random_next(rng);

		memcpy((char *)at + i, &v, len - i < 8 ? len - i : 8);
	}
}

/* Random objects, with edges anywhere in the shared memory or beyond it. */
static void objects(uint64_t *rng, struct kshare *s)
{
	for (uint32_t id = 1; id < 500; id++) {
		struct kshare_object *o = kshare_object(s, id);

		fill(rng, o, sizeof(*o));
		o->flags = KSHARE_LIVE;
		o->bits %= 33;
		if (random_next(rng) & 1)
			o->table = s->at.max_edges - (uint32_t)(random_next(rng) & 15);
		if (random_next(rng) & 1)
			o->name = s->at.max_names - (uint32_t)(random_next(rng) & 15);
	}
	fill(rng, kshare_edge(s, s->at.max_edges / 2), 1 << 20);
	s->nobjects = 0xffffffff;
	s->nsites = 0xffffffff;
}

static void queue(uint64_t *rng, struct kshare *s)
{
	fill(rng, s->done.id, sizeof(s->done.id));
	for (uint32_t i = 0; i < KSHARE_QUEUE / 2; i++)
		s->done.id[i] %= s->at.max_objects;
	s->done.tail = 0;
	s->done.head = random_next(rng) & 1 ? KSHARE_QUEUE / 2 : KSHARE_QUEUE + 1;
}

static void lie(const char *how, struct kshare *s, int fd)
{
	struct kshare_layout was = s->at;
	uint64_t rng = strtoull(how + strcspn(how, " "), NULL, 10) + 1;

	s->attached = 1;
	if (!strcmp(how, "ones"))
		memset(s, 0xff, sizeof(*s));
	else if (!strcmp(how, "layout"))
		memset(&s->at, 0xf0, sizeof(s->at));
	else if (!strncmp(how, "objects", 7))
		objects(&rng, s);
	else if (!strncmp(how, "queue", 5))
		queue(&rng, s);
	else if (!strcmp(how, "short") && ftruncate(fd, (off_t)was.objects) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *how = getenv("LIAR"), *share = NULL;
	struct stat st;
	void *s;
	int fd;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--version"))
			puts("QEMU emulator version 7.2.0");
		share = strstr(argv[i], "share=") && strstr(argv[i], "ram=") ? strstr(argv[i], "share=") : share;
	}
	if (!share || !how)
		return 0;
	fd = atoi(share + 6);
	s = fstat(fd, &st) < 0 ? MAP_FAILED
		: mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return 1;
	lie(how, s, fd);
	return 0;
}
