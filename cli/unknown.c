/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknown.c - first words that are neither a command nor a SOURCE. */
#include "unknown.h"

#include <sys/stat.h>

#include "base/message.h"
#include "base/nearest.h"
#include "census/model.h"

/*
 * Commands of crash, drgn, page-types(8), pmap(1), smem(8) and others, and what to type
 * instead.
 */
static const struct {
	const char *words, *use;
} others[] = {
	{ "vtop v2p va2pa virt2phys translate pte pagewalk",
	  N_("atwalk SOURCE ADDRESS translates an address; with -p through which page tables") },
	{ "ptov p2v pa2va phys2virt rmap",
	  N_("atwalk find SOURCE PHYS lists the virtual addresses that map a physical one") },
	{ "vm vma vmas vmmap pmap maps smaps",
	  N_("atwalk pages SOURCE --pid N lists the memory areas of a process with their pages; --areas-only without") },
	{ "pagemap page-types pagetypes",
	  N_("atwalk pages SOURCE --pid N lists the pages of a process with their flags; atwalk report machine SOURCE what all RAM is used for") },
	{ "kmem free meminfo vmstat slab slabinfo slabtop",
	  N_("atwalk report machine SOURCE shows what RAM is used for; atwalk find SOURCE PHYS what maps a page") },
	{ "smem ps_mem procrank smaps_rollup rss pss uss swap",
	  N_("atwalk report use SOURCE shows RSS, PSS, USS and swap of each process") },
	{ "top htop",
	  N_("atwalk pages live --watch 2 shows every 2 seconds what processes have, and what changed") },
	{ "numa numastat numa_maps numamaps",
	  N_("atwalk map SOURCE --pid N --columns +node shows the NUMA node of each range") },
	{ "pt pgd pgtable pgtables pagetable pagetables ptdump tlb mem",
	  N_("atwalk map SOURCE lists what the kernel's page tables map; with --pid N those of a process") },
	{ "task tasks pslist pstree foreach set",
	  N_("atwalk ps SOURCE lists tasks; atwalk ps SOURCE N one of them") },
	{ "version", N_("atwalk --version shows the version") },
	{ "usage man list", N_("atwalk --help lists the commands, atwalk COMMAND --help the options of one") },
	{ "bt stack ustack",
	  N_("atwalk ps SOURCE lists tasks and their state; stacks are read by crash and drgn") },
	{ "log dmesg",
	  N_("atwalk info SOURCE shows the crash and the last lines of the kernel's log") },
	{ "sys mach kaslr",
	  N_("atwalk info SOURCE shows the kernel, its CPUs, KASLR and memory") },
	{ "sym nm symbol",
	  N_("atwalk SOURCE SYMBOL translates the address of a symbol, and SYMBOL+OFFSET that behind it") },
	{ "x xxd hexdump hd peek",
	  N_("atwalk rd SOURCE ADDRESS shows memory; with --as words or --as string in other forms") },
	{ "strings grep memmem",
	  N_("atwalk search SOURCE --text TEXT finds a text in memory, --bytes, --word and --pointers-to others") },
	{ "cmp compare delta",
	  N_("atwalk diff A B compares two sources; atwalk report growth captures of a machine; atwalk kmap diff two KMAPs") },
	{ "dump save snapshot makedumpfile",
	  N_("atwalk collect SOURCE -o FILE writes a capture; atwalk extract SOURCE -o FILE a dump of page tables alone") },
};

/* Is it one of the words in a list with blanks between? */
static bool unknown_is_among(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = words; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (n == len && !memcmp(s, word, len))
			return true;
		s += n;
	}
	return false;
}

static bool unknown_is_report(const char *word)
{
	for (size_t i = 0; census_report_kind(i); i++)
		if (!strcmp(census_report_kind(i)->name, word))
			return true;
	return false;
}

/* Of atwalk-kmap: "show" was typed without "kmap" before it. */
static bool unknown_is_of_kmap(const char *word)
{
	return unknown_is_among("record ctl show report diff convert", word);
}

/* Is it a number? "add" is taken for a word. */
static bool unknown_is_number(const char *word)
{
	uint64_t n;

	return strpbrk(word, "0123456789") && num_hex(word, strlen(word), &n);
}

static const char *unknown_use_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (unknown_is_among(others[i].words, word))
			return others[i].use;
	return NULL;
}

void suggest_command(struct atw_err *err, const char *word, const char *source)
{
	struct nearest near = { .word = word, .len = strlen(word) };

	for (size_t i = 0; command_at(i); i++)
		nearest_try(&near, command_at(i)->name);
	if (near.name && !near.distance)
		atw_err_hint(err, "the command goes first: atwalk %s %s", near.name,
			     source ? source : "[options] SOURCE");
	else if (near.name && !source)
		atw_err_hint(err, "did you mean the command '%s'?", near.name);
	else if (!source && unknown_use_of(word))
		atw_err_hint(err, "%s", message(unknown_use_of(word)));
}

static bool unknown_is_directory(const char *word)
{
	struct stat st;

	return !stat(word, &st) && S_ISDIR(st.st_mode);
}

bool is_unknown(const char *word)
{
	/* With one of these characters it is a path. */
	return !is_source_word(word) ||
	       (!strpbrk(word, "/:.@") && unknown_is_directory(word));
}

static bool unknown_is_command(const char *word)
{
	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->name, word))
			return true;
	return false;
}

const char *unknown_late(int argc, char **argv)
{
	int i = 0;

	while (i < argc && argv[i][0] == '-')
		i++;
	return i < argc && unknown_is_command(argv[i]) ? argv[i] : NULL;
}

/* How far a name is from the word; 0: too far. */
static unsigned unknown_distance(const char *word, const char *name)
{
	struct nearest near = { .word = word, .len = strlen(word) };

	nearest_try(&near, name);
	return near.name ? near.distance + 1 : 0;
}

/* The command i, and behind the last one what else can be a first word; NULL past it. */
static const char *unknown_first_word(size_t i)
{
	if (command_at(i))
		return command_at(i)->name;
	return i && command_at(i - 1) ? "live" : NULL;
}

/* "'map'", "'pages', 'probe', 'ps'": the nearest names, or those that begin with the word. */
static void unknown_meant(const char *word, struct buf *ret)
{
	unsigned best = 0;

	for (size_t i = 0; unknown_first_word(i); i++) {
		unsigned d = unknown_distance(word, unknown_first_word(i));

		if (d && (!best || d < best))
			best = d;
	}
	for (size_t i = 0; unknown_first_word(i); i++) {
		const char *name = unknown_first_word(i);
		bool begins = *word && !strncmp(name, word, strlen(word));

		if (best ? unknown_distance(word, name) == best : begins)
			buf_printf(ret, "%s'%s'", ret->len ? ", " : "", name);
	}
}

/* Describe the word. */
static const char *unknown_kind_of(const char *word)
{
	if (unknown_is_directory(word))
		return _("a directory, and not a command");
	return is_source_word(word) ? _("not a command") : _("neither a command nor a file");
}

int unknown_command(const char *word)
{
	struct atw_err err = { 0 };
	struct buf known = { 0 }, near = { 0 };

	for (size_t i = 0; command_at(i); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", command_at(i)->name);
	unknown_meant(word, &near);
	atw_err_set(&err, ATW_E_USAGE, "'%.64s' is %s", word, unknown_kind_of(word));
	if (unknown_is_command(word)) {
		atw_err_set(&err, ATW_E_USAGE, "the command '%s' must be the first word", word);
		atw_err_hint(&err, "type atwalk %s [options] SOURCE", word);
	} else if (unknown_use_of(word))
		atw_err_hint(&err, "%s", message(unknown_use_of(word)));
	else if (unknown_is_report(word))
		atw_err_hint(&err, "atwalk report %s SOURCE shows the report of that name", word);
	else if (unknown_is_of_kmap(word))
		atw_err_hint(&err, "atwalk kmap %s is the command of that name", word);
	else if (unknown_is_number(word))
		atw_err_hint(&err, "SOURCE goes in front of an address: atwalk live %s", word);
	else
		atw_err_hint(&err, "%s%s%scommands: %s", near.len ? _("did you mean ") : "",
			     near.len ? near.data : "", near.len ? "? " : "",
			     known.data ? known.data : "");
	buf_deinit(&known);
	buf_deinit(&near);
	return print_error(&err);
}
