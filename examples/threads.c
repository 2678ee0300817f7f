/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads - two dumps walked in two threads: what the kernel of each has mapped. Targets
 * share nothing, so that each thread opens one of its own and needs no lock.
 *
 * usage: threads SOURCE SOURCE
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <atwalk/atwalk.h>

struct job {
	const char *source;
	uint64_t pages, tables, tasks;
	int rc;
	struct atw_err err;
};

static int walk(struct job *j, struct atw_space *space)
{
	const struct atw_walk_opts opts = {
		.size = sizeof(opts), .flags = ATW_WALK_TABLES | ATW_WALK_FOLD,
	};
	const struct atw_walk_entry *e;
	struct atw_walk *walk;
	int rc = atw_walk_open(space, &opts, &walk, &j->err);

	if (rc < 0)
		return rc;
	while ((rc = atw_walk_next(walk, &e, &j->err)) == ATW_OK) {
		j->tables += e->state == ATW_STATE_TABLE ? e->count : 0;
		j->pages += e->state == ATW_STATE_PRESENT ? e->count : 0;
	}
	atw_walk_close(walk);
	return rc;
}

/* Symbols and types are looked for in each target by itself. */
static void count_tasks(struct job *j, struct atw_target *target)
{
	const struct atw_task *task;
	struct atw_tasks *tasks;

	if (atw_tasks_open(target, NULL, &tasks, NULL) < 0)
		return;
	while (atw_tasks_next(tasks, &task, NULL) == ATW_OK)
		j->tasks++;
	atw_tasks_close(tasks);
}

static void *run(void *arg)
{
	struct job *j = arg;
	struct atw_target *target = NULL;
	struct atw_space *space = NULL;

	j->rc = atw_target_open(j->source, NULL, &target, &j->err);
	if (j->rc == ATW_OK)
		j->rc = atw_space_open(target, NULL, &space, &j->err);
	if (j->rc == ATW_OK)
		j->rc = walk(j, space);
	if (j->rc >= 0)
		count_tasks(j, target);
	atw_space_close(space);
	atw_target_close(target);
	return NULL;
}

int main(int argc, char **argv)
{
	struct job job[2] = { 0 };
	pthread_t thread[2];
	int failed = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: threads SOURCE SOURCE\n");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		job[i].source = argv[i + 1];
		if (pthread_create(&thread[i], NULL, run, &job[i])) {
			fprintf(stderr, "threads: cannot create a thread\n");
			return 3;
		}
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		if (job[i].rc < 0) {
			fprintf(stderr, "threads: %s\n", job[i].err.text);
			failed = 3;
			continue;
		}
		printf("%s: %" PRIu64 " entries map memory, %" PRIu64 " tables, %" PRIu64
		       " tasks\n",
		       job[i].source, job[i].pages, job[i].tables, job[i].tasks);
	}
	return failed;
}
