/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search PROGRAM - speed of `atwalk search` through a gigabyte of RAM, beside grep(1).
 *
 * The RAM is an anonymous file with known matches. The CPU time of the whole program
 * counts, its start and its output included. A run with another number of matches than
 * there are is an error.
 */
#include "live_process.h"
#include "measure.h"

enum { MATCHES = 1000, LOOKS = 5 };

#define RAM       ((uint64_t)1 << 30)
#define PATTERN   "atwalk:\xff"          /* one aligned word */
#define WORD      "0xff3a6b6c61777461"
#define LAST_WORD "0xff3a6b6c61777462"

struct search_way {
	const char *name;
	const char *const *argv;         /* the first is the program: NULL: atwalk */
	int heads;                       /* lines that are no match */
	double target;                   /* GB/s, at least; 0: none */
};

#define ARGV(...) (const char *const[]){ __VA_ARGS__, NULL }

/* "" stands for the file. */
static const struct search_way search_ways[] = {
	{ "grep -aobF: the same bytes", ARGV("grep", "-aobF", "atwalk:\xff", ""), 0, 0 },
	{ "--text", ARGV(NULL, "search", "--text", "atwalk:", ""), 1, 1 },
	{ "--text --ignore-case", ARGV(NULL, "search", "--text", "ATWALK:", "--ignore-case", ""),
	  1, 1 },
	{ "--bytes", ARGV(NULL, "search", "--bytes", "61 74 77 61 6c 6b 3a ff", ""), 1, 1 },
	{ "--bytes with ? digits", ARGV(NULL, "search", "--bytes", "61 ?? 77 61 6c 6b 3a f?", ""),
	  1, 1 },
	{ "--word", ARGV(NULL, "search", "--word", WORD, ""), 1, 1 },
	{ "--word with a mask",
	  ARGV(NULL, "search", "--word", "0xff3a6b6c61777400/0xffffffffffffff00", ""), 1, 1 },
	{ "--pointers-to a range",
	  ARGV(NULL, "search", "--pointers-to", WORD "-" LAST_WORD, ""), 1, 1 },
};
enum { SEARCH_WAYS = sizeof(search_ways) / sizeof(search_ways[0]) };

/* Seconds of CPU time. */
static double search_run(const char *program, const struct search_way *way, const char *file)
{
	const char *argv[12] = { way->argv[0] ? way->argv[0] : program };
	char source[64];
	uint64_t lines;
	struct rusage u;
	int null = child_null();

	snprintf(source, sizeof(source), way->argv[0] ? "%s" : "raw:%s@0", file);
	for (int i = 1; way->argv[i]; i++)
		argv[i] = *way->argv[i] ? way->argv[i] : source;
	lines = child_lines(argv, way->name, null, &u);
	close(null);
	/* The plain table ends with an empty line and a sum. */
	if (lines != MATCHES + (uint64_t)way->heads * 3)
		errx(1, "%s: %" PRIu64 " lines instead of %d matches", way->name, lines, MATCHES);
	return child_cpu(&u) / 1e3;
}

static void search_fill_random(uint64_t *word)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < RAM / 8; i++)
		word[i] = random_next(&seed);
}

/* As a kernel's memory: a third of zeros, a third of pointers with one beginning, text. */
static void search_fill_kernel(uint64_t *word)
{
	uint64_t seed = 2;

	for (uint64_t i = 0; i < RAM / 8; i++) {
		uint64_t r = random_next(&seed);

		switch (r % 3) {
		case 0:
			word[i] = 0;
			break;
		case 1:
			word[i] = UINT64_C(0xffff888000000000) | (r >> 28 & ~UINT64_C(7));
			break;
		default:
			word[i] = UINT64_C(0x6161746177616c6b) ^ (r >> 60) << (r & 56);
		}
	}
}

static void search_measure(const char *program, const char *kind, void (*fill)(uint64_t *word),
			   uint64_t *word, const char *file)
{
	static double s[SEARCH_WAYS][LOOKS];
	char title[64];
	uint64_t pattern;

	fill(word);
	memcpy(&pattern, PATTERN, sizeof(pattern));
	for (uint64_t i = 0; i < MATCHES; i++)
		word[RAM / 8 / MATCHES * i + i % 512] = pattern;
	for (int look = -1; look < LOOKS; look++)
		for (int w = 0; w < SEARCH_WAYS; w++) {
			double t = search_run(program, &search_ways[w], file);

			if (look >= 0)
				s[w][look] = t;
		}
	snprintf(title, sizeof(title), "search of 1 GiB, %s, GB/s of CPU time", kind);
	heading(title, NULL);
	for (int w = 0; w < SEARCH_WAYS; w++) {
		double speed = (double)RAM / 1e9 / median(s[w], LOOKS);

		if (search_ways[w].target > 0)
			least(search_ways[w].name, speed, search_ways[w].target);
		else
			figure(search_ways[w].name, speed, 0);
	}
}

int main(int argc, char **argv)
{
	int fd = memfd_create("ram", 0);
	char file[40];
	uint64_t *word;

	if (argc != 2)
		errx(2, "usage: search PROGRAM");
	if (fd < 0 || ftruncate(fd, (off_t)RAM))
		err(1, "memfd");
	word = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		err(1, "mmap");
	snprintf(file, sizeof(file), "/proc/%d/fd/%d", getpid(), fd);
	setenv("LC_ALL", "C", 1);
	search_measure(argv[1], "random words", search_fill_random, word, file);
	search_measure(argv[1], "zeros, pointers, text", search_fill_kernel, word, file);
	return 0;
}
