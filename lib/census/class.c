/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * class.c - classification of VMAs by purpose.
 *
 * The LPMA format (Movall et al.) has names, and flags of Linux 2.4 on a PowerPC, where
 * data can be executed. Its Figures 1, 4, 7 and 9 show the rules of its analyser:
 *
 *	S  flags & 0x100 (VM_GROWSDOWN)                 0x00000177 is "S.rwx."
 *	X  flags & 0x1000 (VM_EXECUTABLE): the kernel   0x00001875 is ".Xr.x."
 *	   marked VMAs of the program itself
 *	B  no name, writable, and not S                 0x20001077 is ".XrwxB"
 *
 *	named: writable is data, else executable is text, else unclassified
 *	B and X is heap; B without X is .bss of the library before it
 *
 * These rules and the VMAs' numbers of pages reproduce all sums of Figure 4. Current
 * kernels have no VM_EXECUTABLE, so X marks the program's file and its heap.
 *
 * LPMA files that are written today (write_paper.c) may have more: files that are no
 * program, and data that became read-only, which VM_ACCOUNT marks. The figures have no
 * such flag and no such file.
 */
#include "census/class.h"
#include "linux/vm_flags.h"

/* Size limit of the guard area below a thread's stack; the default is one page. */
#define GUARD_MOST (64u << 10)

/* Input of the rules. */
struct class_area {
	const struct capture_area *v;
	uint32_t has;
	struct unit *u;
	struct census_area *a;
	bool adjacent;                   /* begins at the end of the previous one */
	bool rights;                     /* are known */
};

void classifier_begin(struct classifier *c, const struct capture_task *task, uint32_t has,
		      uint32_t process, bool paper, uint64_t page)
{
	*c = (struct classifier){
		.task = task, .has = has, .process = process, .paper = paper, .page = page,
	};
}

static bool class_flag(const struct class_area *x, uint64_t bits)
{
	return (x->has & CAPTURE_V_FLAGS) && (x->v->flags & bits);
}

static void class_set(struct class_area *x, enum census_class class, bool guess)
{
	x->a->class = class;
	x->a->guess = guess;
}

/* ---- names of anonymous VMAs ---- */

static bool class_has_word(struct atw_blob b, const char *s)
{
	return memmem(b.data, b.len, s, strlen(s));
}

/*
 * "[anon:NAME]": names set by programs. These are used by Android's libc, Go, glibc and
 * others.
 */
static void class_named(const struct classifier *c, struct class_area *x)
{
	static const struct {
		const char *word;
		enum census_class class;
	} words[] = {
		{ "stack", CENSUS_STACK }, { ".bss", CENSUS_BSS }, { "jit", CENSUS_JIT },
		{ "malloc", CENSUS_HEAP }, { "heap", CENSUS_HEAP }, { "scudo", CENSUS_HEAP },
		{ "arena", CENSUS_HEAP },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (class_has_word(x->v->name, words[i].word)) {
			class_set(x, words[i].class, false);
			if (words[i].class == CENSUS_BSS)
				x->a->unit = c->last_unit ? &unit_root(c->last_unit)->u : NULL;
			return;
		}
	class_set(x, x->a->exec ? CENSUS_JIT : CENSUS_ANON, x->a->exec);
}

static void class_bracketed(const struct classifier *c, struct class_area *x)
{
	struct atw_blob name = x->v->name;

	if (blob_begins(name, "[heap]")) {
		class_set(x, CENSUS_HEAP, false);
		x->a->own = true;
	} else if (blob_begins(name, "[stack")) {
		class_set(x, CENSUS_STACK, false);
	} else if (blob_begins(name, "[anon_shmem:")) {
		class_set(x, CENSUS_SHM, false);
	} else if (blob_begins(name, "[anon:")) {
		class_named(c, x);
	} else {
		class_set(x, CENSUS_SPECIAL, false);
	}
}

/* ---- files with program headers ---- */

static const struct capture_load *class_place(struct classifier *c, struct class_area *x)
{
	const struct loads_view view = {
		x->v->start, x->v->offset, x->a->exec, x->a->write,
	};
	const struct capture_load *l = x->has & CAPTURE_V_OFFSET ?
				       loads_place(x->u, c->page, &view) : NULL;

	if (l)
		c->mapped = x->u;
	return l;
}

static void class_loaded(struct classifier *c, struct class_area *x,
			 const struct capture_load *l)
{
	struct census_area *a = x->a;

	if (!a->write && !a->exec && loads_relro(x->u, c->page, x->v->start))
		class_set(x, CENSUS_RELRO, false);
	else if (l->flags & CAPTURE_LOAD_EXEC)
		/* Text that is mapped writable is still text. */
		class_set(x, CENSUS_TEXT, false);
	else if (!(l->flags & CAPTURE_LOAD_WRITE))
		class_set(x, a->exec ? CENSUS_TEXT : CENSUS_RODATA, false);
	else
		/*
		 * Once writable and no longer so, without a program header that explains
		 * it.
		 */
		class_set(x, a->write ? CENSUS_DATA : CENSUS_RELRO, !a->write);
}

/* ---- files without program headers ---- */

/* Is it a program or a library, as far as can be detected? */
static bool class_is_program(const struct classifier *c, const struct class_area *x,
			     bool *guess)
{
	const struct unit *root = unit_root(x->u);
	const char *so;

	*guess = false;
	if (x->u->u.build.len || root->u.code || root->u.program || (c->paper && x->a->own))
		return true;
	*guess = true;
	so = strstr(x->u->shown, ".so");
	return so && (!so[3] || so[3] == '.');
}

static void class_plain_file(const struct classifier *c, struct class_area *x)
{
	struct census_area *a = x->a;
	uint64_t delta = x->v->start - x->v->offset;
	bool guess, program = class_is_program(c, x, &guess);

	if (a->write && a->exec) {
		/* On processors without a no-execute bit, data are executable. */
		class_set(x, CENSUS_DATA, !c->paper);
	} else if (a->exec) {
		class_set(x, CENSUS_TEXT, false);
		x->u->has_text = true;
		x->u->text_delta = delta;
	} else if (!program || a->shared) {
		class_set(x, CENSUS_FILE, program);
	} else if (a->write) {
		class_set(x, CENSUS_DATA, guess);
	} else if (class_flag(x, VM_ACCOUNT) ||
		   (x->u->has_text && (x->has & CAPTURE_V_OFFSET) &&
		    delta != x->u->text_delta)) {
		/* It was writable once, or the linker placed it next to writable data. */
		class_set(x, CENSUS_RELRO, true);
	} else {
		class_set(x, CENSUS_RODATA, guess);
	}
}

static void class_of_file(struct classifier *c, struct class_area *x)
{
	struct census_area *a = x->a;
	const struct capture_load *l;
	enum unit_kind kind = x->u->kind;
	bool code;

	/* Programs can be executed from memfd; they are programs, too. */
	if (kind == UNIT_MEMFD && (loads_of(x->u) || unit_root(x->u)->u.program))
		kind = UNIT_FILE;
	switch (kind) {
	case UNIT_MEMFD:
		/* One mapping to write and one to execute: code, in both. */
		code = a->exec || unit_root(x->u)->u.code || class_has_word(x->v->name, "jit");
		class_set(x, code ? CENSUS_JIT : CENSUS_SHM, false);
		break;
	case UNIT_SYSV:
	case UNIT_TMPFS:
		class_set(x, CENSUS_SHM, false);
		break;
	case UNIT_ZERO:
	case UNIT_HUGE:
		class_set(x, a->shared ? CENSUS_SHM : CENSUS_ANON, !x->rights);
		break;
	case UNIT_DEVICE:
		class_set(x, CENSUS_DEVICE, true);
		break;
	case UNIT_OTHER:
		class_set(x, CENSUS_SPECIAL, false);
		break;
	case UNIT_FILE:
		l = class_place(c, x);
		if (l)
			class_loaded(c, x, l);
		else
			class_plain_file(c, x);
		break;
	}
	if (a->exec)
		unit_root(x->u)->u.code = x->u->u.code = true;
}

/* ---- anonymous memory ---- */

static bool class_of_bss(struct classifier *c, struct class_area *x)
{
	struct unit *u = c->mapped;

	if (u && u->process == c->process && loads_bss(u, c->page, x->a->first, x->a->last)) {
		class_set(x, CENSUS_BSS, false);
	} else if (x->adjacent && c->last_unit && c->last_class == CENSUS_DATA &&
		   !loads_of(c->last_unit)) {
		u = c->last_unit;
		class_set(x, CENSUS_BSS, true);
	} else {
		return false;
	}
	x->a->unit = &unit_root(u)->u;
	x->a->own = c->exe && unit_root(u) == unit_root(c->exe);
	return true;
}

static bool class_on_heap(const struct classifier *c, const struct class_area *x)
{
	const struct capture_pair *brk = &c->task->brk;

	return (c->has & CAPTURE_T_BRK) && brk->a < brk->b && x->a->first < brk->b &&
	       x->a->last >= brk->a;
}

static void class_of_nobody(struct classifier *c, struct class_area *x)
{
	struct census_area *a = x->a;

	if (c->paper && a->own && a->write) {
		class_set(x, CENSUS_HEAP, true);
	} else if (a->grows || ((c->has & CAPTURE_T_STACK) && a->write &&
				c->task->stack >= a->first && c->task->stack <= a->last)) {
		class_set(x, CENSUS_STACK, false);
	} else if (a->shared) {
		class_set(x, CENSUS_SHM, false);
	} else if (a->write && class_on_heap(c, x)) {
		class_set(x, CENSUS_HEAP, false);
		a->own = true;
	} else if (a->exec && !c->paper) {
		class_set(x, CENSUS_JIT, true);
	} else if (a->write && class_of_bss(c, x)) {
		return;
	} else if (a->write && x->adjacent && c->last_class == CENSUS_RESERVED &&
		   !c->last_unit && c->last_last - c->last_start < GUARD_MOST &&
		   (c->has & CAPTURE_T_THREADS) && c->task->threads > 1) {
		class_set(x, CENSUS_STACK, true);
	} else {
		class_set(x, CENSUS_ANON, !x->rights);
	}
}

/* ---- a VMA ---- */

static void class_rights(struct class_area *x)
{
	struct census_area *a = x->a;
	uint64_t prot = x->v->prot;

	x->rights = true;
	if (x->has & CAPTURE_V_FLAGS) {
		a->read = x->v->flags & VM_READ;
		a->write = x->v->flags & VM_WRITE;
		a->exec = x->v->flags & VM_EXEC;
		a->shared = x->v->flags & VM_SHARED;
		a->grows = x->v->flags & VM_GROWSDOWN;
	} else if (x->has & CAPTURE_V_PROT) {
		a->read = prot & CAPTURE_USER;
		a->write = prot & CAPTURE_WRITE;
		a->exec = prot & CAPTURE_EXEC;
	} else {
		x->rights = false;
		a->read = true;
	}
	if (x->has & CAPTURE_V_SHARED)
		a->shared = x->v->shared;
}

/* Is it the program's own file? */
static void class_meet_exe(struct classifier *c, const struct class_area *x)
{
	struct atw_blob exe = c->task->exe;
	bool match = (c->has & CAPTURE_T_EXE) && exe.data;
	const struct capture_pair *code = &c->task->code;

	if (c->exe || !x->u || (x->u->kind != UNIT_FILE && x->u->kind != UNIT_MEMFD))
		return;
	if (c->paper)
		match = class_flag(x, VM_EXECUTABLE);
	else if (match || (c->has & CAPTURE_T_CODE))
		/* The same file may have different names in different mounts. */
		match = (match && exe.len == x->u->len &&
			!memcmp(exe.data, x->u->recorded, exe.len)) ||
		       ((c->has & CAPTURE_T_CODE) && code->a >= x->v->start &&
			code->a <= x->v->last);
	else
		/* Not recorded; but programs are mapped below their libraries. */
		match = c->exe_guess = !x->a->shared && x->u->kind == UNIT_FILE;
	if (match) {
		c->exe = x->u;
		unit_root(x->u)->u.program = x->u->u.program = true;
	}
}

static void class_position(const struct classifier *c, struct class_area *x)
{
	struct census_area *a = x->a;

	if (x->u) {
		a->pos = x->has & CAPTURE_V_OFFSET ? x->v->offset : a->first - x->u->base;
	} else if (a->class == CENSUS_BSS && c->any && a->unit && c->last_unit &&
		   a->unit == &unit_root(c->last_unit)->u) {
		a->pos = c->last_pos + (a->first - c->last_start);
	}
}

void classify(struct classifier *c, const struct capture_area *v, uint32_t has,
	      struct unit *u, struct census_area *ret)
{
	struct class_area x = {.v = v, .has = has, .u = u, .a = ret};

	*ret = (struct census_area){ .first = v->start, .last = v->last };
	x.adjacent = c->any && c->last_last + 1 == v->start;
	if (u && u->process != c->process) {
		u->process = c->process;
		u->base = v->start;
		u->placed = u->has_text = false;
	}
	class_rights(&x);
	class_meet_exe(c, &x);
	ret->unit = u ? &unit_root(u)->u : NULL;
	if (c->paper)
		ret->own = class_flag(&x, VM_EXECUTABLE);
	else
		ret->own = u && c->exe && unit_root(u) == unit_root(c->exe);
	if (v->name.len && *(const char *)v->name.data == '[' && !u)
		class_bracketed(c, &x);
	else if (!ret->read && !ret->write && !ret->exec)
		class_set(&x, CENSUS_RESERVED, false);
	else if (class_flag(&x, c->paper ? VM_IO : VM_IO | VM_PFNMAP))
		class_set(&x, CENSUS_DEVICE, false);
	else if (u)
		class_of_file(c, &x);
	else
		class_of_nobody(c, &x);
	if (!x.rights || (ret->own && c->exe_guess))
		ret->guess = true;
	class_position(c, &x);
	c->any = true;
	c->last_start = v->start;
	c->last_last = v->last;
	c->last_pos = ret->pos;
	c->last_unit = u;
	c->last_class = ret->class;
}

/* ---- flags of the LPMA format ---- */

unsigned census_flags(const struct census_area *a)
{
	bool stack = a->process && a->process->paper ? a->grows : a->class == CENSUS_STACK;
	bool nobodys = a->class == CENSUS_BSS || a->class == CENSUS_HEAP || a->class == CENSUS_ANON;
	bool bss = a->write && (nobodys || (a->process && a->process->paper && !*a->name)) &&
		   !(a->process && a->process->paper && a->grows);

	return stack | a->own << 1 | a->read << 2 | a->write << 3 | a->exec << 4 | bss << 5;
}

const char *census_flags_text(unsigned flags, char buf[7])
{
	for (unsigned i = 0; i < 6; i++)
		buf[i] = flags >> i & 1 ? "SXrwxB"[i] : '.';
	buf[6] = '\0';
	return buf;
}
