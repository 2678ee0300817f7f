/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_note.c - identity of a plugin: its ELF note, and the size of its struct. */
#include "format/plugin_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/elf.h"
#include "format/elfsec.h"
#include "format/plugin_magic.h"

enum {
	NOTE_ET_DYN = 3,
	NOTE_PHDRS = 1024,           /* limit of program headers; e_phnum is untrusted */
	NOTE_SYMBOLS = 65536,
	NOTE_SYM = 24,               /* size of a symbol of ELF64 */
	NOTE_STT_OBJECT = 1,
	/* struct atw_plugin of the first release. */
	NOTE_OLDEST = offsetof(struct atw_plugin, stop) + sizeof(atw_plugin_stop_fn *),
	NOTE_LONGEST = 4096,
	/* The note of the first release. */
	NOTE_LEAST = offsetof(struct atw_plugin_note, formats),
};

static const struct {
	uint32_t kind;
	const char *text;
} note_kinds[] = {
	{ ATW_PLUGIN_ANNOTATOR, "annotator" }, { ATW_PLUGIN_REPORT, "report" },
	{ ATW_PLUGIN_SINK, "sink" }, { ATW_PLUGIN_SOURCE, "source" },
	{ ATW_PLUGIN_TARGET, "target" },
};

bool plugin_name_is_valid(const char *name)
{
	return *name && *name != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] == '\0';
}

static uint32_t note_known_kinds(void)
{
	uint32_t all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(note_kinds); i++)
		all |= note_kinds[i].kind;
	return all;
}

void plugin_kinds_text(uint32_t kinds, char ret[64])
{
	size_t at = 0;

	*ret = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(note_kinds); i++)
		if (kinds & note_kinds[i].kind)
			at += (size_t)snprintf(ret + at, 64 - at, "%s%s", at ? "," : "",
					       note_kinds[i].text);
}

bool plugin_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; *s; s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (len == n && !memcmp(s, word, n))
			return true;
		s += len;
	}
	return false;
}

/* Names separated by commas, or none. */
static bool note_list_is_valid(const char *list)
{
	char name[32];

	for (const char *s = list; *s;) {
		size_t len = strcspn(s, ",");

		if (len >= sizeof(name))
			return false;
		memcpy(name, s, len);
		name[len] = '\0';
		s += len;
		if (!plugin_name_is_valid(name) || (*s && !s[1]))
			return false;
		s += *s == ',';
	}
	return true;
}

static bool note_find(const struct elf *e, struct elf_note *ret)
{
	for (uint32_t i = 0; i < e->phnum && i < NOTE_PHDRS; i++) {
		struct elf_phdr ph = elf_phdr(e, i);
		struct elf_notes it;

		if (ph.type != ELF_PT_NOTE)
			continue;
		it = elf_notes(e, &ph);
		while (elf_notes_next(&it, ret, NULL) == ATW_OK)
			if (elf_note_is(ret, ATW_PLUGIN_OWNER, ATW_PLUGIN_NOTE))
				return true;
	}
	return false;
}

/* A text of the note; false: it has no end, or characters that are not printed. */
static bool note_text(const uint8_t *p, size_t len, char *ret)
{
	if (!memchr(p, 0, len))
		return false;
	for (size_t i = 0; p[i]; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	memcpy(ret, p, len);
	return true;
}

/* The size of the object `atwalk_plugin` in the table of symbols; 0: it is not there. */
static uint64_t note_symbol_size(struct atw_blob file)
{
	struct elfsec e;
	struct elfsec_section s;
	struct atw_blob syms, names;

	if (elfsec_parse(file, &e, NULL) < 0 || elfsec_find(&e, ".dynsym", &s) < 0 ||
	    elfsec_bytes(&e, &s, &syms, NULL) < 0)
		return 0;
	s = elfsec_at(&e, s.link);
	if (elfsec_bytes(&e, &s, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < syms.len / NOTE_SYM && i < NOTE_SYMBOLS; i++) {
		const uint8_t *p = (const uint8_t *)syms.data + i * NOTE_SYM;
		static const char wanted[] = "atwalk_plugin";
		const char *name = blob_at(names, get_le32(p), sizeof(wanted));

		/* st_shndx 0: another object is meant to have it. */
		if (name && !memcmp(name, wanted, sizeof(wanted)) &&
		    (p[4] & 15) == NOTE_STT_OBJECT && get_le16(p + 6))
			return get_le64(p + 16);
	}
	return 0;
}

static int note_check(const struct plugin_note *n, struct atw_blob file, struct atw_err *err)
{
	uint64_t size = note_symbol_size(file);

	if (n->abi != ATW_PLUGIN_ABI)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it was built for version %" PRIu32 " of the plugin interface, and this program has version %d",
				   n->abi, ATW_PLUGIN_ABI);
	if (!(n->kinds & note_known_kinds()))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it is of no known kind (0x%" PRIx32 "): it needs a newer atwalk", n->kinds);
	if (n->size < NOTE_OLDEST || n->size > NOTE_LONGEST)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its note gives %" PRIu32 " bytes as the size of struct atw_plugin, which has %zu",
				   n->size, sizeof(struct atw_plugin));
	/* Of 32 bits, the struct is checked when it is loaded. */
	if (n->is64 && !size)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "it has no object with the name atwalk_plugin");
	if (n->is64 && size < n->size)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its note gives %" PRIu32 " bytes as the size of its atwalk_plugin, which has %" PRIu64,
				   n->size, size);
	return ATW_OK;
}

/* What was appended since the first release; an older note lacks it. */
static int note_read_lists(struct atw_blob desc, struct plugin_note *ret, struct atw_err *err)
{
	enum { FORMATS = offsetof(struct atw_plugin_note, formats),
	       SOURCES = offsetof(struct atw_plugin_note, sources),
	       MAGIC = offsetof(struct atw_plugin_note, magic) };
	const uint8_t *p = blob_at(desc, FORMATS, sizeof(ret->formats));

	if (p && (!note_text(p, sizeof(ret->formats), ret->formats) ||
		  !note_list_is_valid(ret->formats))) {
		ret->formats[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED, "its note has no valid list of formats");
	}
	p = blob_at(desc, SOURCES, sizeof(ret->sources));
	if (p && (!note_text(p, sizeof(ret->sources), ret->sources) ||
		  !note_list_is_valid(ret->sources))) {
		ret->sources[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED, "its note has no valid list of sources");
	}
	p = blob_at(desc, MAGIC, sizeof(ret->magic));
	if (p && (!note_text(p, sizeof(ret->magic), ret->magic) ||
		  !plugin_magic_is_valid(ret->magic, ret->sources))) {
		ret->magic[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its note does not say in a valid way how files are recognized");
	}
	return ATW_OK;
}

int plugin_note_read(struct atw_blob file, struct plugin_note *ret, struct atw_err *err)
{
	enum { NAME = offsetof(struct atw_plugin_note, name),
	       VERSION = offsetof(struct atw_plugin_note, version),
	       HELP = offsetof(struct atw_plugin_note, help) };
	struct elf_note note;
	const uint8_t *p;
	struct elf e;
	int r;

	*ret = (struct plugin_note){ 0 };
	r = elf_parse(file, &e, err);
	if (r < 0)
		return r;
	ret->is64 = e.is64;
	ret->machine = e.machine;
	if (e.type != NOTE_ET_DYN)
		return atw_err_set(err, ATW_E_FORMAT, "it is not a shared object");
	if (!note_find(&e, &note))
		return atw_err_set(err, ATW_E_MISSING,
				   "it is not a plugin: it has no ELF note of atwalk");
	p = blob_at(note.desc, 0, NOTE_LEAST);
	if (!p)
		return atw_err_set(err, ATW_E_DAMAGED, "its note has %zu bytes, and needs %zu",
				   note.desc.len, (size_t)NOTE_LEAST);
	ret->abi = get_le32(p);
	ret->size = get_le32(p + 4);
	ret->kinds = get_le32(p + 8);
	if (!note_text(p + NAME, sizeof(ret->name), ret->name) ||
	    !plugin_name_is_valid(ret->name)) {
		ret->name[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED, "its note has no valid name");
	}
	if (!note_text(p + VERSION, sizeof(ret->version), ret->version)) {
		ret->version[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED, "its note has no valid version");
	}
	if (!note_text(p + HELP, sizeof(ret->help), ret->help)) {
		ret->help[0] = '\0';
		return atw_err_set(err, ATW_E_DAMAGED, "its note does not say what it is for");
	}
	r = note_read_lists(note.desc, ret, err);
	return r < 0 ? r : note_check(ret, file, err);
}
