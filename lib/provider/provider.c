/* SPDX-License-Identifier: GPL-2.0-or-later */
/* provider.c - what all providers share. */
#include "provider/provider.h"

#include <stdlib.h>

#include "base/buf.h"

struct page_task *provider_add_task(struct provider *p)
{
	struct page_task *t;

	if (!array_reserve((void **)&p->task, &p->tasks_cap, p->ntasks + 1, sizeof(*p->task)))
		return NULL;
	t = &p->task[p->ntasks++];
	*t = (struct page_task){ 0 };
	return t;
}

void provider_cannot(struct provider *p, const char *what, const struct atw_err *err)
{
	if (p->cannot)
		p->cannot(p->arg, what, err);
}

void provider_close(struct provider *p)
{
	if (!p)
		return;
	counts_deinit(&p->counts);
	free(p->task);
	p->ops->close(p);
}
