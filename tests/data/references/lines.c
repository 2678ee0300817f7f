/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.c - a program with a known number of references to each of four lines:
 *
 *	lines[0]  hot: one thread, 1000 reads and 500 writes of one word
 *	lines[1]  falsely shared: one thread reads and writes word 0 300 times, another one
 *	          writes word 1 200 times
 *	lines[2]  cold: one write
 *	lines[3]  both threads add to a word 40 times each, atomically
 *
 * lines N does the first N times. It prints nothing, and returns 0.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { WORDS = 8 };

volatile uint64_t lines[4][WORDS] __attribute__((aligned(64)));

static void *add(void *arg)
{
	for (int i = 0; i < 40; i++)
		__atomic_fetch_add(&lines[3][0], 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void *first(void *arg)
{
	for (int i = 0; i < 300; i++)
		lines[1][0] = lines[1][0] + 1;
	return add(arg);
}

static void *second(void *arg)
{
	for (uint64_t i = 0; i < 200; i++)
		lines[1][1] = i;
	return add(arg);
}

int main(int argc, char **argv)
{
	unsigned long times = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	pthread_t thread[2];

	for (unsigned long n = 0; n < times; n++) {
		for (int i = 0; i < 1000; i++)
			(void)lines[0][3];
		for (uint64_t i = 0; i < 500; i++)
			lines[0][3] = i;
	}
	lines[2][7] = 1;
	if (pthread_create(&thread[0], NULL, first, NULL) ||
	    pthread_create(&thread[1], NULL, second, NULL))
		return 1;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return lines[1][0] != 300 || lines[3][0] != 80;
}
