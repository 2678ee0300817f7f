/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.c - entries of the images of CRIU. */
#include "image.h"

bool image_open(struct atw_blob file, enum image_magic magic, struct image_reader *ret)
{
	const uint8_t *first = blob_at(file, 0, 4), *second = blob_at(file, 4, 4);

	*ret = (struct image_reader){ .file = file, .pos = 4 };
	if (!first)
		return false;
	if (get_le32(first) != IMAGE_COMMON && get_le32(first) != IMAGE_SERVICE)
		return get_le32(first) == magic;
	ret->pos = 8;
	return second && get_le32(second) == magic;
}

enum image_result image_next(struct image_reader *m, struct proto *ret)
{
	const uint8_t *size = blob_at(m->file, m->pos, 4), *data;

	if (m->pos == m->file.len)
		return IMAGE_END;
	data = size ? blob_at(m->file, m->pos + 4, get_le32(size)) : NULL;
	if (!data)
		return IMAGE_WRONG;
	*ret = proto_of((struct atw_blob){ data, get_le32(size) });
	m->pos += 4 + get_le32(size);
	m->n++;
	return IMAGE_ENTRY;
}

/* ---- fields ---- */

/* Numbers that are required, by field; bits of `have` are those of the fields. */
struct image_number {
	uint32_t field;
	uint64_t *to;
};

/*
 * Reads a message with numbers of these fields. Of texts, `text` gets that of `text_field`.
 * false: the message is wrong, or does not have all of the first `least`.
 */
static bool image_read(struct proto p, const struct image_number *v, size_t n, size_t least,
		       uint32_t text_field, struct atw_blob *text)
{
	struct proto_field f;
	enum proto_result r;
	uint64_t have = 0;

	while ((r = proto_next(&p, &f)) == PROTO_FIELD) {
		if (f.number == text_field && f.type == PROTO_BYTES)
			*text = f.bytes;
		for (size_t i = 0; i < n; i++)
			if (v[i].field == f.number && f.type == PROTO_VARINT) {
				*v[i].to = f.value;
				have |= UINT64_C(1) << i;
			}
	}
	return r == PROTO_END && (have & ((UINT64_C(1) << least) - 1)) == (UINT64_C(1) << least) - 1;
}

/* The message in a field; false: it has none. */
static bool image_inside(struct proto p, uint32_t field, struct proto *ret)
{
	struct proto_field f;
	bool have = false;

	while (proto_next(&p, &f) == PROTO_FIELD)
		if (f.number == field && f.type == PROTO_BYTES) {
			*ret = proto_of(f.bytes);
			have = true;
		}
	return have;
}

/* ---- tasks ---- */

bool image_task(struct proto p, struct image_task *ret)
{
	uint64_t pid = 0, ppid = 0;
	const struct image_number v[] = { { 1, &pid }, { 2, &ppid } };

	*ret = (struct image_task){ .threads = p };
	if (!image_read(p, v, 2, 2, 0, NULL) || !pid || pid > UINT32_MAX || ppid > UINT32_MAX)
		return false;
	ret->pid = (uint32_t)pid;
	ret->ppid = (uint32_t)ppid;
	return true;
}

/* Numbers of an array are a field each, or packed in one. */
bool image_thread(struct image_task *t, uint32_t *ret)
{
	struct proto_field f;

	for (;;) {
		struct proto packed = proto_of(t->packed);
		uint64_t v;

		if (proto_varint(&packed, &v) == PROTO_FIELD) {
			t->packed = (struct atw_blob){ packed.at, (size_t)(packed.end - packed.at) };
			*ret = (uint32_t)v;
			return true;
		}
		t->packed = (struct atw_blob){ 0 };
		if (proto_next(&t->threads, &f) != PROTO_FIELD)
			return false;
		if (f.number == 5 && f.type == PROTO_BYTES)
			t->packed = f.bytes;
		if (f.number == 5 && f.type == PROTO_VARINT) {
			*ret = (uint32_t)f.value;
			return true;
		}
	}
}

bool image_core(struct proto p, struct image_core *ret)
{
	uint64_t machine = 0, state = 0;
	const struct image_number v[] = { { 1, &machine } }, states[] = { { 1, &state } };
	struct proto in;

	*ret = (struct image_core){ 0 };
	if (!image_read(p, v, 1, 1, 0, NULL))
		return false;
	ret->machine = machine < UINT32_MAX ? (uint32_t)machine : 0;
	/* That of a thread has its own; task_core_entry has the process's. */
	if (image_inside(p, 5, &in) && !image_read(in, NULL, 0, 0, 13, &ret->name))
		return false;
	if (!image_inside(p, 3, &in))
		return true;
	if (!image_read(in, states, 1, 1, 6, &ret->name))
		return false;
	/* TASK_DEAD and TASK_ZOMBIE of compel/include/uapi/task-state.h */
	ret->ended = state == 2 || state == 6;
	return true;
}

const char *image_machine(uint32_t machine)
{
	static const char *const names[] = {
		NULL, "x86_64", "arm", "aarch64", "ppc64le", "s390x", "mips",
	};

	return machine < sizeof(names) / sizeof(names[0]) ? names[machine] : NULL;
}

/* ---- memory ---- */

/* Pairs of a key and a value: AT_PAGESZ is 6, and AT_NULL ends them. */
struct image_auxv {
	uint64_t key, page;
	bool odd;                /* a key was read, and its value follows */
};

static void image_auxv_add(struct image_auxv *a, uint64_t v)
{
	if (a->odd && a->key == 6)
		a->page = v;
	if (!a->odd)
		a->key = v;
	a->odd = !a->odd;
}

bool image_mm(struct proto p, struct image_mm *ret)
{
	uint64_t stack = 0, exe = UINT64_MAX, v;
	const struct image_number numbers[] = { { 5, &stack }, { 12, &exe } };
	struct image_auxv auxv = { 0 };
	struct proto all = p, packed;
	struct proto_field f;

	*ret = (struct image_mm){ .areas = p };
	if (!image_read(p, numbers, 2, 1, 0, NULL))
		return false;
	while (proto_next(&all, &f) == PROTO_FIELD) {
		if (f.number != 13)
			continue;
		if (f.type == PROTO_VARINT)
			image_auxv_add(&auxv, f.value);
		packed = proto_of(f.bytes);
		while (f.type == PROTO_BYTES && proto_varint(&packed, &v) == PROTO_FIELD)
			image_auxv_add(&auxv, v);
	}
	ret->stack = stack;
	ret->page = auxv.page;
	ret->has_exe = exe <= UINT32_MAX;
	ret->exe = (uint32_t)exe;
	return true;
}

static bool image_area(struct proto p, struct image_area *ret)
{
	uint64_t prot = 0, flags = 0, status = 0;
	const struct image_number v[] = {
		{ 1, &ret->start }, { 2, &ret->end }, { 3, &ret->offset }, { 4, &ret->id },
		{ 5, &prot }, { 6, &flags }, { 7, &status },
	};

	*ret = (struct image_area){ 0 };
	if (!image_read(p, v, 7, 7, 0, NULL))
		return false;
	ret->prot = (uint32_t)prot;
	ret->flags = (uint32_t)flags;
	ret->status = (uint32_t)status;
	return true;
}

enum image_result image_area_next(struct image_mm *mm, struct image_area *ret)
{
	struct proto_field f;
	enum proto_result r;

	while ((r = proto_next(&mm->areas, &f)) == PROTO_FIELD)
		if (f.number == 14 && f.type == PROTO_BYTES)
			return image_area(proto_of(f.bytes), ret) ? IMAGE_ENTRY : IMAGE_WRONG;
	return r == PROTO_END ? IMAGE_END : IMAGE_WRONG;
}

bool image_pages(struct proto p, struct image_pages *ret)
{
	const struct image_number v[] = { { 1, &ret->address }, { 2, &ret->n } };

	*ret = (struct image_pages){ 0 };
	return image_read(p, v, 2, 2, 0, NULL);
}

/* ---- files ---- */

bool image_reg_file(struct proto p, struct image_file *ret)
{
	uint64_t id = 0;
	const struct image_number v[] = { { 1, &id } };

	*ret = (struct image_file){ 0 };
	if (!image_read(p, v, 1, 1, 6, &ret->name) || id > UINT32_MAX)
		return false;
	ret->id = (uint32_t)id;
	return true;
}

bool image_file(struct proto p, struct image_file *ret)
{
	uint64_t id = 0, inode = 0;
	const struct image_number v[] = { { 2, &id } }, memfd[] = { { 5, &inode } };
	struct proto in;

	*ret = (struct image_file){ 0 };
	if (!image_read(p, v, 1, 1, 0, NULL) || id > UINT32_MAX)
		return false;
	ret->id = (uint32_t)id;
	if (image_inside(p, 3, &in))
		return image_read(in, NULL, 0, 0, 6, &ret->name);
	if (!image_inside(p, 20, &in))
		return true;
	ret->inode = image_read(in, memfd, 1, 1, 0, NULL) && inode <= UINT32_MAX ? (uint32_t)inode : 0;
	return ret->inode;
}

bool image_memfd(struct proto p, struct image_memfd *ret)
{
	uint64_t shm = 0;
	const struct image_number v[] = { { 7, &ret->inode }, { 5, &shm } };

	*ret = (struct image_memfd){ 0 };
	if (!image_read(p, v, 2, 2, 1, &ret->name) || shm > UINT32_MAX)
		return false;
	ret->shm = (uint32_t)shm;
	return true;
}
