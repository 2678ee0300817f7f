/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd N NAME: N processes of that name, their parent counted, that share a page
 * and have one each. Prints the address of both and the parent's number, and ends with its
 * standard input.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned n = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ready[2];
	char c;

	if (!n || shared == MAP_FAILED || own == MAP_FAILED || pipe(ready))
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, argv[2]);
	signal(SIGCHLD, SIG_IGN);
	*shared = *own = 1;
	for (unsigned i = 1; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*shared = *own = 2;
		if (write(ready[1], "", 1) != 1)
			return 1;
		close(ready[0]);
		for (;;)
			pause();
	}
	for (unsigned i = 1; i < n; i++)
		if (read(ready[0], &c, 1) != 1)
			return 1;
	printf("%p %p %d\n", (void *)shared, (void *)own, (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
