// SPDX-License-Identifier: GPL-2.0-or-later
/* qcow2.c - source of guests in snapshots of disk images: savevm. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/message.h"
#include "format/qcow2.h"
#include "source/qemu_saved.h"

/* As many names are listed. */
enum { QCOW2_LISTED = 200 };

static int qcow2_probe_image(struct atw_blob head, const char *path)
{
	return qcow2_probe(head) ? 100 : 0;
}

struct qcow2_choice {
	struct qcow2_snapshot one;
	size_t fit, states;      /* snapshots that were asked for, those with a state */
	char names[QCOW2_LISTED];
};

static void qcow2_list(struct qcow2_choice *c, const struct qcow2_snapshot *s)
{
	size_t len = strlen(c->names);
	char name[64];

	blob_text(s->name, name, sizeof(name));
	for (char *p = name; *p; p++)
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
	snprintf(c->names + len, sizeof(c->names) - len, "%s%s", len ? ", " : "", name);
}

/* The one that is asked for by its name or number; else the only one with a state. */
static int qcow2_choose(const struct qcow2 *q, const char *want, struct qcow2_choice *c,
			struct atw_err *err)
{
	struct qcow2_snapshot s = {.next = q->snapshots};

	for (uint32_t i = 0; i < q->nsnapshots; i++) {
		int r = qcow2_snapshot_at(q, s.next, &s, err);

		if (r < 0)
			return r;
		if (!s.state)
			continue;
		c->states++;
		qcow2_list(c, &s);
		if (want && !blob_is(s.name, want) && !blob_is(s.id, want))
			continue;
		c->one = s;
		c->fit++;
	}
	if (c->fit == 1)
		return ATW_OK;
	if (!c->states)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "is a disk image without the state of a guest (%" PRIu32 " snapshot%s)",
				   q->nsnapshots, q->nsnapshots == 1 ? "" : "s");
	if (c->fit)
		atw_err_set(err, ATW_E_USAGE, "has %zu snapshots of a guest%s%s", c->fit,
			    want ? _(" of the name ") : "", want ? want : "");
	else
		atw_err_set(err, ATW_E_USAGE, "has no snapshot '%.64s' of a guest", want);
	atw_err_hint(err, "choose one with qcow2:PATH@SNAPSHOT: %s", c->names);
	return ATW_E_USAGE;
}

static int qcow2_open(struct atw_source *s, const struct atw_source_spec *spec,
		      struct atw_err *err)
{
	struct qcow2_choice c = {.fit = 0};
	struct qemu_saved *q;
	struct qcow2 image;
	char what[64], name[40];
	int r = mapped_open(s, spec, sizeof(*q), err);

	if (r < 0)
		return r;
	q = s->impl;
	r = qcow2_parse(q->m.file.map, &image, err) ?:
	    qcow2_choose(&image, spec->snapshot, &c, err) ?:
	    qcow2_state(&image, &c.one, &q->m.view, err);
	if (r < 0)
		return r;
	blob_text(c.one.name, name, sizeof(name));
	snprintf(what, sizeof(what), "snapshot %s, ", name);
	return qemu_saved_index(s, 0, what, err);
}

const struct atw_source_ops source_qcow2 = {
	.name = "qcow2",
	.help = "guest in a snapshot of a disk image (savevm); qcow2:PATH@SNAPSHOT names it",
	.probe = qcow2_probe_image,
	.open = qcow2_open,
	QEMU_SAVED_OPS,
};
