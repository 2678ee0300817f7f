// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmm_words.c - "-m 4G -machine q35,memory-backend=ram -object
 * memory-backend-ram,id=ram": QEMU, util/qemu-option.c and util/keyval.c. Values may be
 * JSON, as libvirt writes them.
 */
#include "format/vmm_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "format/json.h"

#define VMM_DEFAULT_RAM (UINT64_C(128) << 20)
/* QEMU rounds -m up to it: softmmu/vl.c, set_memory_options(). */
#define VMM_RAM_STEP UINT64_C(8192)

/* The unparsed rest of an option's value. */
struct vmm_cursor {
	const char *s, *end;
	bool json, first;
	struct json_cursor members;      /* of JSON */
};

struct vmm_pair {
	struct atw_blob key;   /* empty: the first value may lack it */
	struct atw_blob value; /* with its escapes */
};

static struct atw_blob vmm_blob(const char *s, const char *end)
{
	return (struct atw_blob){s, (size_t)(end - s)};
}

/* ---- KEY=VALUE,KEY=VALUE, where ",," is a comma in a value ---- */

static bool vmm_next_keyval(struct vmm_cursor *c, struct vmm_pair *ret)
{
	const char *s = c->s, *e = s, *is = NULL;

	if (s >= c->end)
		return false;
	for (; e < c->end; e++) {
		if (*e == '=' && !is)
			is = e;
		if (*e != ',')
			continue;
		if (e + 1 == c->end || e[1] != ',')
			break;
		e++;
	}
	ret->key = is ? vmm_blob(s, is) : vmm_blob(s, s);
	ret->value = vmm_blob(is ? is + 1 : s, e);
	/* "on" is short for "on=on" everywhere but at the start. */
	if (!is && !c->first)
		ret->key = ret->value;
	c->first = false;
	c->s = e < c->end ? e + 1 : e;
	return true;
}

/* ---- {"KEY": VALUE, ...}: values that are lists or objects are skipped ---- */

static bool vmm_next_json(struct vmm_cursor *c, struct vmm_pair *ret)
{
	if (!json_next(&c->members, &ret->key, &ret->value))
		return false;
	/* The type of an object stands first, as it does without JSON. */
	if (blob_is(ret->key, "qom-type") || blob_is(ret->key, "driver"))
		ret->key.len = 0;
	return true;
}

static struct vmm_cursor vmm_cursor_of(struct atw_blob value)
{
	const char *s = value.data;

	return (struct vmm_cursor){
		.s = s, .end = s + value.len,
		.json = blob_begins(value, "{"),
		.first = true, .members = json_open(value),
	};
}

static bool vmm_next(struct vmm_cursor *c, struct vmm_pair *ret)
{
	return c->json ? vmm_next_json(c, ret) : vmm_next_keyval(c, ret);
}

/* ---- sizes: a number without a unit is of `unit` bytes ---- */

static int vmm_size(struct atw_blob b, uint64_t unit, uint64_t *ret, struct atw_err *err)
{
	static const char units[] = "bkmgtpe";
	const char *s = b.data, *letter = NULL;
	size_t len = b.len;
	uint64_t n;

	if (len && s[len - 1] >= 'A' && s[len - 1] <= 'z')
		letter = memchr(units, s[len - 1] | 0x20, sizeof(units) - 1);
	if (letter) {
		unit = UINT64_C(1) << 10 * (letter - units);
		len--;
	}
	if (!num_any(s, len, &n) || (n && n > UINT64_MAX / unit))
		return atw_err_set(err, ATW_E_FORMAT,
				   "'%.*s' in its command line is not a size of memory",
				   (int)(b.len > 32 ? 32 : b.len), s);
	*ret = n * unit;
	return ATW_OK;
}

/* ---- options ---- */

static int vmm_option_m(struct vmm_words *w, struct atw_blob value, struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_pair p;
	int r = ATW_OK;

	while (r == ATW_OK && vmm_next(&c, &p))
		if (!p.key.len || blob_is(p.key, "size"))
			r = vmm_size(p.value, UINT64_C(1) << 20, &w->ram, err);
	if (r == ATW_OK && w->ram <= UINT64_MAX - VMM_RAM_STEP)
		w->ram = (w->ram + VMM_RAM_STEP - 1) & ~(VMM_RAM_STEP - 1);
	return r;
}

static int vmm_option_machine(struct vmm_words *w, struct atw_blob value,
			      struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_pair p;
	int r = ATW_OK;

	while (r == ATW_OK && vmm_next(&c, &p)) {
		if (!p.key.len || blob_is(p.key, "type"))
			w->machine = p.value;
		else if (blob_is(p.key, "memory-backend"))
			w->backend = p.value;
		else if (blob_is(p.key, "max-ram-below-4g"))
			r = vmm_size(p.value, 1, &w->below_4g, err);
	}
	return r;
}

static int vmm_option_object(struct vmm_words *w, struct atw_blob value,
			     struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_backend b = {0};
	struct atw_blob type = {0};
	struct vmm_pair p;
	int r = ATW_OK;

	while (r == ATW_OK && vmm_next(&c, &p)) {
		if (!p.key.len || blob_is(p.key, "qom-type"))
			type = p.value;
		else if (blob_is(p.key, "id"))
			b.id = p.value;
		else if (blob_is(p.key, "size") && blob_begins(type, "memory-backend-"))
			r = vmm_size(p.value, 1, &b.size, err);
	}
	if (blob_begins(type, "sev-snp-"))
		w->secret = VMM_SEV_SNP;
	else if (blob_begins(type, "sev-"))
		w->secret = VMM_SEV;
	else if (blob_begins(type, "tdx-"))
		w->secret = VMM_TDX;
	if (r < 0 || !blob_begins(type, "memory-backend-"))
		return r;
	if (w->nbackends == VMM_BACKENDS)
		return atw_err_set(err, ATW_E_LIMIT, "more than %d memory backends",
				   VMM_BACKENDS);
	w->backends[w->nbackends++] = b;
	return ATW_OK;
}

static int vmm_option_numa(struct vmm_words *w, struct atw_blob value,
			   struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct atw_blob type = {0}, memdev = {0};
	uint64_t id = w->nnodes;
	struct vmm_pair p;
	size_t i;

	while (vmm_next(&c, &p)) {
		if (!p.key.len || blob_is(p.key, "type"))
			type = p.value;
		else if (blob_is(p.key, "memdev"))
			memdev = p.value;
		else if (blob_is(p.key, "nodeid") &&
			 !num_any(p.value.data, p.value.len, &id))
			return atw_err_set(err, ATW_E_FORMAT,
					   "'%.*s' is not the number of a node",
					   (int)(p.value.len > 32 ? 32 : p.value.len),
					   (const char *)p.value.data);
	}
	if (!blob_is(type, "node") || !memdev.len)
		return ATW_OK;
	if (w->nnodes == VMM_BACKENDS)
		return atw_err_set(err, ATW_E_LIMIT, "more than %d nodes", VMM_BACKENDS);
	for (i = w->nnodes++; i && w->node_ids[i - 1] > id; i--) {
		w->nodes[i] = w->nodes[i - 1];
		w->node_ids[i] = w->node_ids[i - 1];
	}
	w->nodes[i] = memdev;
	w->node_ids[i] = id;
	return ATW_OK;
}

static int vmm_option_device(struct vmm_words *w, struct atw_blob value,
			     struct atw_err *err)
{
	static const char *const adding[] = {"pc-dimm", "nvdimm", "virtio-mem",
					     "virtio-pmem"};
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_pair p;

	while (vmm_next(&c, &p))
		for (size_t i = 0; i < ARRAY_SIZE(adding); i++)
			w->extra |= (!p.key.len || blob_is(p.key, "driver")) &&
				    blob_begins(p.value, adding[i]);
	return ATW_OK;
}

static int vmm_option_name(struct vmm_words *w, struct atw_blob value,
			   struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_pair p;

	while (vmm_next(&c, &p))
		if (!p.key.len || blob_is(p.key, "guest"))
			w->name = p.value;
	return ATW_OK;
}

/* Proxmox names its guests by numbers, and -name by what is shown. */
static int vmm_option_id(struct vmm_words *w, struct atw_blob value, struct atw_err *err)
{
	if (!w->name.len)
		w->name = value;
	return ATW_OK;
}

/* "server=on,wait=off", "server,nowait": clients may connect at any time. */
struct vmm_socket {
	struct atw_blob type, id, path;
	bool server, nowait;
};

static struct vmm_socket vmm_socket_of(struct atw_blob value)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct vmm_socket s = {.server = false};
	struct vmm_pair p;

	while (vmm_next(&c, &p)) {
		bool on = blob_is(p.value, "on") || blob_is(p.value, "server");

		if (!p.key.len)
			s.type = p.value;
		else if (blob_is(p.key, "id"))
			s.id = p.value;
		else if (blob_is(p.key, "path"))
			s.path = p.value;
		else if (blob_is(p.key, "server"))
			s.server = on;
		else if (blob_is(p.key, "nowait"))
			s.nowait = true;
		else if (blob_is(p.key, "wait"))
			s.nowait = blob_is(p.value, "off");
	}
	return s;
}

static bool vmm_may_connect(const struct vmm_socket *s)
{
	return s->server && s->nowait && s->path.len &&
	       !memmem(s->path.data, s->path.len, ",,", 2);
}

/* More than there is room for are ignored: one is enough. */
static void vmm_add_monitor(struct vmm_words *w, struct atw_blob path)
{
	if (w->nmonitors < VMM_CHARDEVS)
		w->monitors[w->nmonitors++] = path;
}

static int vmm_option_qmp(struct vmm_words *w, struct atw_blob value, struct atw_err *err)
{
	static const char unix_socket[] = "unix:";
	struct vmm_socket s = vmm_socket_of(value);
	size_t n = sizeof(unix_socket) - 1;

	if (!blob_begins(s.type, unix_socket))
		return ATW_OK;
	s.path = (struct atw_blob){(const char *)s.type.data + n, s.type.len - n};
	if (vmm_may_connect(&s))
		vmm_add_monitor(w, s.path);
	return ATW_OK;
}

static int vmm_option_chardev(struct vmm_words *w, struct atw_blob value, struct atw_err *err)
{
	struct vmm_socket s = vmm_socket_of(value);

	if (blob_is(s.type, "socket") && vmm_may_connect(&s) && w->nchardevs < VMM_CHARDEVS)
		w->chardevs[w->nchardevs++] = (struct vmm_chardev){s.id, s.path};
	return ATW_OK;
}

static int vmm_option_mon(struct vmm_words *w, struct atw_blob value, struct atw_err *err)
{
	struct vmm_cursor c = vmm_cursor_of(value);
	struct atw_blob chardev = {0};
	bool control = false, pretty = false;
	struct vmm_pair p;

	while (vmm_next(&c, &p)) {
		if (!p.key.len || blob_is(p.key, "chardev"))
			chardev = p.value;
		control |= blob_is(p.key, "mode") && blob_is(p.value, "control");
		/* Its replies are not lines. */
		pretty |= blob_is(p.key, "pretty") && !blob_is(p.value, "off");
	}
	if (control && !pretty && chardev.len && w->ncontrols < VMM_CHARDEVS)
		w->controls[w->ncontrols++] = chardev;
	return ATW_OK;
}

static bool vmm_same(struct atw_blob a, struct atw_blob b)
{
	return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

/* -mon and its -chardev stand in any order. */
static void vmm_find_monitors(struct vmm_words *w)
{
	for (size_t i = 0; i < w->ncontrols; i++)
		for (size_t k = 0; k < w->nchardevs; k++)
			if (vmm_same(w->chardevs[k].id, w->controls[i]))
				vmm_add_monitor(w, w->chardevs[k].path);
}

static const struct vmm_option {
	const char *name;
	int (*take)(struct vmm_words *w, struct atw_blob value, struct atw_err *err);
} vmm_options[] = {
	{"m", vmm_option_m},       {"machine", vmm_option_machine},
	{"M", vmm_option_machine}, {"object", vmm_option_object},
	{"numa", vmm_option_numa}, {"device", vmm_option_device},
	{"name", vmm_option_name}, {"id", vmm_option_id},
	{"qmp", vmm_option_qmp},   {"chardev", vmm_option_chardev},
	{"mon", vmm_option_mon},
};

static const struct vmm_option *vmm_find_option(struct atw_blob word)
{
	const char *s = word.data;
	size_t dashes = word.len > 2 && s[1] == '-' ? 2 : 1;

	if (word.len < 2 || *s != '-')
		return NULL;
	word = (struct atw_blob){s + dashes, word.len - dashes};
	for (size_t i = 0; i < ARRAY_SIZE(vmm_options); i++)
		if (blob_is(word, vmm_options[i].name))
			return &vmm_options[i];
	return NULL;
}

static bool vmm_next_word(struct atw_blob text, size_t *pos, struct atw_blob *ret)
{
	const char *s = (const char *)text.data + *pos, *e;

	if (*pos >= text.len)
		return false;
	e = memchr(s, '\0', text.len - *pos);
	ret->data = s;
	ret->len = e ? (size_t)(e - s) : text.len - *pos;
	*pos += ret->len + (e != NULL);
	return true;
}

int vmm_words_parse(struct atw_blob cmdline, struct vmm_words *ret, struct atw_err *err)
{
	struct vmm_words w = {.ram = VMM_DEFAULT_RAM};
	const struct vmm_option *option;
	struct atw_blob word, value;
	bool sized = false;
	size_t pos = 0;
	int r = ATW_OK;

	if (!vmm_next_word(cmdline, &pos, &word))
		return atw_err_set(err, ATW_E_FORMAT, "its command line is empty");
	while (r == ATW_OK && vmm_next_word(cmdline, &pos, &word)) {
		option = vmm_find_option(word);
		if (!option || !vmm_next_word(cmdline, &pos, &value))
			continue;
		sized |= option->take == vmm_option_m;
		r = option->take(&w, value, err);
	}
	vmm_find_monitors(&w);
	/* Without -m, the size is that of the backend. */
	if (!sized && w.backend.len && vmm_words_backend(&w, w.backend) &&
	    vmm_words_backend(&w, w.backend)->size)
		w.ram = vmm_words_backend(&w, w.backend)->size;
	if (r == ATW_OK)
		*ret = w;
	return r;
}

const struct vmm_backend *vmm_words_backend(const struct vmm_words *w, struct atw_blob id)
{
	for (size_t i = 0; i < w->nbackends; i++)
		if (id.len && vmm_same(w->backends[i].id, id))
			return &w->backends[i];
	return NULL;
}

bool vmm_words_is_monitor(const struct vmm_words *w, struct atw_blob cmdline, const char *path)
{
	for (size_t i = 0; i < w->nmonitors; i++)
		if (blob_is(w->monitors[i], path))
			return true;
	return !memmem(cmdline.data, cmdline.len, path, strlen(path));
}

bool vmm_words_are_ambiguous(const struct vmm_words *w)
{
	for (size_t i = 0; i < w->nnodes; i++) {
		const struct vmm_backend *b = vmm_words_backend(w, w->nodes[i]);

		for (size_t k = 0; b && k < w->nbackends; k++)
			if (&w->backends[k] != b && w->backends[k].size == b->size)
				return true;
	}
	return false;
}

enum vmm_arch vmm_arch_of(const char *path)
{
	static const char system[] = "qemu-system-", deleted[] = " (deleted)";
	static const struct {
		const char *name;
		enum vmm_arch arch;
	} known[] = {
		{"x86_64", VMM_ARCH_X86_64},
		{"aarch64", VMM_ARCH_ARM64},
		{"riscv64", VMM_ARCH_RISCV64},
	};
	const char *s = strrchr(path, '/');
	struct atw_blob name;

	s = s ? s + 1 : path;
	name = (struct atw_blob){s, strlen(s)};
	if (name.len > sizeof(deleted) - 1 &&
	    !strcmp(s + name.len - (sizeof(deleted) - 1), deleted))
		name.len -= sizeof(deleted) - 1;
	if (blob_is(name, "kvm") || blob_is(name, "qemu-kvm"))
		return VMM_ARCH_HOST;
	if (!blob_begins(name, system))
		return VMM_ARCH_UNKNOWN;
	name = (struct atw_blob){s + sizeof(system) - 1, name.len - (sizeof(system) - 1)};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (blob_is(name, known[i].name))
			return known[i].arch;
	return VMM_ARCH_OTHER;
}
