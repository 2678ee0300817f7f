/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_looks.c - looks at a program while it runs: the worst result of each policy. */
#include "check_looks.h"

#include <stdio.h>

#include "atwalk.h"
#include "host/host_file.h"

int check_looks_moments(const char *list, unsigned *ret)
{
	size_t len;

	*ret = 0;
	for (;; list += len + 1) {
		unsigned at = 0;

		len = strcspn(list, ",");
		while (at < CHECK_MOMENTS && (strlen(check_moment_words[at]) != len ||
					      memcmp(list, check_moment_words[at], len)))
			at++;
		if (at == CHECK_MOMENTS)
			return usage_error("check",
					   "--at: '%.*s' is not one of "
					   "exit|usr1|usr2|peak",
					   (int)len, list);
		*ret |= 1u << at;
		if (!list[len])
			return EXIT_COMPLETE;
	}
}

/* ---- the worst ---- */

static bool check_looks_wants_less(const struct check_result *r)
{
	return r->policy->rule != POLICY_REQUIRE && r->policy->rule != POLICY_AT_LEAST;
}

/* What is violated at one moment is violated; what is not known at one is not known. */
static bool check_looks_is_worse(const struct check_result *r,
				 const struct check_result *than)
{
	static const int rank[] = {
		[CHECK_OK] = 0,
		[CHECK_UNKNOWN] = 1,
		[CHECK_VIOLATED] = 2,
	};

	if (r->verdict != than->verdict)
		return rank[r->verdict] > rank[than->verdict];
	if (!r->counted || !than->counted)
		return false;
	return check_looks_wants_less(r) ? r->count > than->count
					 : r->count < than->count;
}

static void check_looks_keep(struct check_result *kept, struct check_result *now)
{
	const uint64_t looks = kept->looks + 1;
	const bool known = now->known && (kept->known || looks == 1);

	if (looks == 1 || check_looks_is_worse(now, kept)) {
		struct check_result was = *kept;

		*kept = *now;
		*now = was;
	}
	kept->looks = looks;
	kept->known = known;
}

/* ---- one look ---- */

static void check_looks_name(struct check_result *r, pid_t pid, enum check_moment at)
{
	char path[40];

	r->moment = check_moment_words[at];
	r->pid = (uint64_t)pid;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (!host_file_text(path, r->task, sizeof(r->task)))
		r->task[0] = '\0';
}

/* Listings that name no process are of the one that stands there. */
static int check_looks_look(void *arg, pid_t pid, enum check_moment at)
{
	struct checking *k = arg, one = *k;
	char number[16];
	int status;

	snprintf(number, sizeof(number), "%d", (int)pid);
	one.passed[CHECK_PID] = number;
	one.result = NULL;
	status = checking_run(&one);
	for (size_t i = 0; !status && i < k->policies->n; i++) {
		check_looks_name(&one.result[i], pid, at);
		check_looks_keep(&k->result[i], &one.result[i]);
	}
	checking_release(&one);
	return status;
}

int check_looks_run(struct checking *k, struct check_command *x, char **argv)
{
	int status;

	k->result = calloc(k->policies->n, sizeof(*k->result));
	if (!k->result)
		return print_nomem();
	x->look = check_looks_look;
	x->arg = k;
	status = check_command_run(x, argv);
	if (x->seen)
		return status;
	checking_release(k);
	return status;
}
