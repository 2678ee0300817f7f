/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/nearest.h"
#include "base/num.h"

enum { CHOICES = 256 };          /* bytes of all words of one */

static bool options_takes_arg(const struct opt *o)
{
	return o->kind != OPT_FLAG && o->kind != OPT_MORE;
}

static const struct opt_choice *options_find_choice(const struct opt *o, const char *word)
{
	for (const struct opt_choice *c = o->choices; c && c->word; c++)
		if (!strcmp(c->word, word))
			return c;
	return NULL;
}

const char *options_word(const struct opt_choice *choices, unsigned value)
{
	for (; choices->word; choices++)
		if (choices->value == value)
			return choices->word;
	return NULL;
}

/* "plain|csv|json" */
static const char *options_all_choices(const struct opt *o, char *buf, size_t len)
{
	size_t n = 0;

	*buf = '\0';
	for (const struct opt_choice *c = o->choices; c && c->word && n < len; c++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? "|" : "", c->word);
	return buf;
}

void options_no_choice(const struct opt *o, const char *word, const char *more, char *why,
		       size_t why_len)
{
	char known[CHOICES];

	snprintf(why, why_len, _("--%s: '%.64s' is not one of %s%s"), o->name, word,
		 options_all_choices(o, known, sizeof(known)), more);
}

static const struct opt_choice *options_last_choice(const struct opt *o)
{
	const struct opt_choice *c = o->choices;

	while (c->word)
		c++;
	return c;
}

bool options_store(const struct opt *o, void *base, const char *v, char *why,
		   size_t why_len)
{
	void *at = (char *)base + o->at;
	struct opt_number *num = at;
	struct opt_list *list = at;
	struct opt_choice_or *either = at;
	const struct opt_choice *choice;
	const char **more;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)at = true;
		return true;
	case OPT_MORE:
		++*(unsigned *)at;
		return true;
	case OPT_CHOICE:
		choice = options_find_choice(o, v);
		if (!choice) {
			options_no_choice(o, v, "", why, why_len);
			return false;
		}
		*(unsigned *)at = choice->value;
		return true;
	case OPT_CHOICE_OR:
		choice = options_find_choice(o, v);
		either->other = choice ? NULL : v;
		either->value = (choice ? choice : options_last_choice(o))->value;
		return true;
	case OPT_TEXT:
		*(const char **)at = v;
		return true;
	case OPT_LIST:
		more = realloc(list->v, (list->n + 1) * sizeof(*more));
		if (!more) {
			snprintf(why, why_len, "%s", _("out of memory"));
			return false;
		}
		more[list->n++] = v;
		list->v = more;
		return true;
	case OPT_NUMBER:
	case OPT_HEX:
		num->given = o->kind == OPT_HEX ? num_hex(v, strlen(v), &num->u)
						: num_dec(v, strlen(v), &num->u);
		if (!num->given)
			snprintf(why, why_len,
				 o->kind == OPT_HEX
					 ? _("--%s: '%.64s' is not a hexadecimal number")
					 : _("--%s: '%.64s' is not a decimal number"), o->name, v);
		return num->given;
	}
	return false;
}

/* What a command line is parsed with. */
struct options_parser {
	const char *command;
	const struct opt_set *sets;
	size_t nsets;
	char **argv;
	int argc, at;
	char *why;
	size_t why_len;
};

/* By its name, or by its letter if that is not 0; of the sets that are `refused` or not. */
static const struct opt *options_find(const struct opt_set *sets, size_t nsets,
				      bool refused, const char *name, size_t len,
				      char letter, void **base)
{
	for (size_t i = 0; i < nsets; i++) {
		if (sets[i].refused != refused)
			continue;
		for (const struct opt *o = sets[i].table; o && o->name; o++) {
			if (letter ? o->letter != letter
				   : strlen(o->name) != len || memcmp(o->name, name, len))
				continue;
			*base = sets[i].base;
			return o;
		}
	}
	return NULL;
}

bool options_have(const struct opt_set *sets, size_t nsets, const char *name)
{
	void *base;

	return options_find(sets, nsets, false, name, strlen(name), 0, &base);
}

static const struct opt *options_find_long(const struct options_parser *p,
					   const char *name, size_t len, void **base)
{
	return options_find(p->sets, p->nsets, false, name, len, 0, base);
}

/* An option that exists, and means nothing for the command. */
static bool options_refuses(const struct options_parser *p, const char *name, size_t len,
			    char letter)
{
	void *base;
	const struct opt *o =
		options_find(p->sets, p->nsets, true, name, len, letter, &base);

	if (o)
		snprintf(p->why, p->why_len, _("--%s cannot be used with '%s'"), o->name, p->command);
	return o;
}

/* ---- what was meant ---- */

/* Options of other programs, and what they are here, if the command has it. */
static const struct { const char *name, *here; } others[] = {
	{ "top", "limit" }, { "head", "limit" }, { "max", "limit" }, { "lines", "limit" },
	{ "process", "pid" }, { "name", "task" }, { "comm", "task" }, { "where", "filter" },
	{ "grep", "filter" }, { "select", "columns" }, { "fields", "columns" },
	{ "order", "sort" }, { "order-by", "sort" }, { "interval", "watch" },
	{ "vmlinux", "kernel" }, { "symbols", "kernel" }, { "file", "output" },
};

/* "; did you mean --pid, --pti?", of all that begin with the letter, if they are few. */
static void options_meant_letter(const struct options_parser *p, char letter, char *ret,
				 size_t len)
{
	const struct opt_set *end = p->sets + p->nsets;
	size_t at = 0, n = 0;

	*ret = '\0';
	for (const struct opt_set *s = p->sets; s < end; s++)
		for (const struct opt *o = s->refused ? NULL : s->table; o && o->name && at < len; o++)
			if (o->name[0] == letter)
				at += (size_t)snprintf(ret + at, len - at, "%s--%s",
						       n++ ? ", " : _("; did you mean "), o->name);
	if (n && n < 8 && at + 1 < len)
		snprintf(ret + at, len - at, "?");
	else
		*ret = '\0';
}

/* The same of a name: "--format json" for json, a unique beginning, or the nearest. */
static void options_meant(const struct options_parser *p, const char *name, size_t len,
			  char *ret, size_t ret_len)
{
	const struct opt_set *end = p->sets + p->nsets;
	struct nearest near = { .word = name, .len = len };
	const struct opt *begins = NULL, *o;
	size_t nbegin = 0;
	char word[32];
	void *base;

	*ret = '\0';
	if (!len || len >= sizeof(word))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (const struct opt_set *s = p->sets; s < end; s++)
		for (o = s->refused ? NULL : s->table; o && o->name; o++) {
			nearest_try(&near, o->name);
			if (!strncmp(o->name, name, len) && !nbegin++)
				begins = o;
			if (options_find_choice(o, word)) {
				snprintf(ret, ret_len, _("; did you mean --%s %s?"), o->name, word);
				return;
			}
		}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i].name, word) &&
		    options_find_long(p, others[i].here, strlen(others[i].here), &base))
			near.name = others[i].here;
	if (nbegin == 1)
		near.name = begins->name;
	if (near.name)
		snprintf(ret, ret_len, _("; did you mean --%s?"), near.name);
}

static bool options_parse_long(struct options_parser *p)
{
	const char *name = p->argv[p->at] + 2, *eq = strchr(name, '='), *v = NULL;
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	void *base = NULL;
	const struct opt *o = options_find_long(p, name, len, &base);

	if (!o && options_refuses(p, name, len, 0))
		return false;
	if (!o) {
		char near[80];

		options_meant(p, name, len, near, sizeof(near));
		snprintf(p->why, p->why_len, _("unknown option --%.*s%s"), (int)(len < 64 ? len : 64),
			 name, near);
		return false;
	}
	if (options_takes_arg(o)) {
		v = eq ? eq + 1 : p->at + 1 < p->argc ? p->argv[++p->at] : NULL;
		if (!v) {
			snprintf(p->why, p->why_len, _("--%s needs %s"), o->name, o->arg);
			return false;
		}
	} else if (eq) {
		snprintf(p->why, p->why_len, _("--%s takes no value"), o->name);
		return false;
	}
	if (options_store(o, base, v, p->why, p->why_len))
		return true;
	if (!strcmp(o->name, "pid") && options_find_long(p, "task", 4, &base)) {
		size_t at = strlen(p->why);

		snprintf(p->why + at, p->why_len - at, "%s", _("; --task takes a name"));
	}
	return false;
}

static bool options_parse_letters(struct options_parser *p)
{
	const char *word = p->argv[p->at] + 1;

	for (const char *s = word; *s; s++) {
		void *base = NULL;
		const struct opt *o =
			options_find(p->sets, p->nsets, false, NULL, 0, *s, &base);
		const char *v = NULL;

		if (!o) {
			/* -pid is -p -i -d, and hardly what was meant. */
			size_t len = strcspn(word, "=");
			bool is_name = options_find_long(p, word, len, &base);
			char near[120];

			if (!is_name && options_refuses(p, NULL, 0, *s))
				return false;
			if (is_name)
				snprintf(near, sizeof(near), _("; did you mean --%.*s?"), (int)len,
					 word);
			else
				options_meant_letter(p, word[1] ? '\0' : *s, near,
						     sizeof(near));
			snprintf(p->why, p->why_len, _("unknown option -%c%s"), *s, near);
			return false;
		}
		if (options_takes_arg(o)) {
			v = s[1] ? s + 1 : p->at + 1 < p->argc ? p->argv[++p->at] : NULL;
			if (!v) {
				snprintf(p->why, p->why_len, _("-%c needs %s"), *s, o->arg);
				return false;
			}
		}
		if (!options_store(o, base, v, p->why, p->why_len))
			return false;
		if (v)
			break;
	}
	return true;
}

bool options_parse(const char *command, const struct opt_set *sets, size_t nsets, int argc,
		   char **argv, int *ret_n, char *why, size_t why_len)
{
	struct options_parser p = {
		.command = command, .sets = sets, .nsets = nsets, .argv = argv,
		.argc = argc, .why = why, .why_len = why_len,
	};
	bool ended = false;
	int kept = 0;

	for (; p.at < argc; p.at++) {
		char *s = argv[p.at];

		if (ended || s[0] != '-' || !s[1]) {
			argv[kept++] = s;
		} else if (!strcmp(s, "--")) {
			ended = true;
		} else if (s[1] == '-') {
			if (!options_parse_long(&p))
				return false;
		} else if (!options_parse_letters(&p)) {
			return false;
		}
	}
	/* What is left may be a command line for execve(2). */
	if (kept < argc)
		argv[kept] = NULL;
	*ret_n = kept;
	return true;
}

static void options_help_one(const struct opt *o, FILE *out)
{
	char left[64], letter[8] = "    ", known[CHOICES];

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name,
		 options_takes_arg(o) ? " " : "", options_takes_arg(o) ? o->arg : "");
	fprintf(out, "  %-26s %s%s%s%s%s\n", left, strlen(left) > 26 ? " " : "", message(o->help),
		o->choices ? " (" : "", options_all_choices(o, known, sizeof(known)),
		o->choices ? ")" : "");
}

void options_help(const struct opt_set *sets, size_t nsets, FILE *out)
{
	for (size_t i = 0; i < nsets; i++)
		for (const struct opt *o = sets[i].refused ? NULL : sets[i].table; o && o->name; o++)
			options_help_one(o, out);
}

void options_free(const struct opt_set *sets, size_t nsets)
{
	for (size_t i = 0; i < nsets; i++)
		for (const struct opt *o = sets[i].table; o && o->name; o++)
			if (o->kind == OPT_LIST)
				free(((struct opt_list *)((char *)sets[i].base +
							  o->at))->v);
}
