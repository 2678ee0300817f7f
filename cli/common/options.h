/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - option tables. A command's table is the only place that knows
 * its options: --help, the completions and the man page's list come from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_FLAG,                /* bool */
	OPT_MORE,                /* unsigned: counts how often it is given */
	OPT_TEXT,                /* const char * */
	OPT_LIST,                /* struct opt_list: may be given several times */
	OPT_NUMBER,              /* struct opt_number, decimal */
	OPT_HEX,                 /* struct opt_number, hexadecimal */
	OPT_CHOICE,              /* an enum: the value of one of `choices` */
	OPT_CHOICE_OR,           /* struct opt_choice_or: other words are checked later */
};

/*
 * A word that an OPT_CHOICE takes. The list ends with NULL; the value there is that of an
 * OPT_CHOICE_OR for other words.
 */
struct opt_choice {
	const char *word;
	unsigned value;
};

struct opt_choice_or {
	unsigned value;          /* an enum */
	const char *other;       /* a word that is none of `choices`; else NULL */
};

struct opt_number {
	bool given;
	uint64_t u;
};

struct opt_list {
	const char **v;          /* freed by options_free() */
	size_t n;
};

struct opt {
	char letter;             /* 0: none */
	const char *name;        /* NULL ends the table */
	enum opt_kind kind;
	size_t at;               /* offsetof in the command's own struct */
	const char *arg;         /* "FILE", for those that take one */
	const char *help;
	const struct opt_choice *choices;        /* OPT_CHOICE and OPT_CHOICE_OR */
};

/* One table and the struct its offsets are in. */
struct opt_set {
	const struct opt *table;
	void *base;
	bool refused;            /* options that mean nothing for the command */
};

/* Is --NAME one of them, and not refused? */
bool options_have(const struct opt_set *sets, size_t nsets, const char *name);
/*
 * Takes options out of argv, wherever they stand, up to "--"; what is left is
 * moved to the front, counted in *ret_n and followed by NULL. false: *why holds a
 * sentence.
 */
bool options_parse(const char *command, const struct opt_set *sets, size_t nsets, int argc,
		   char **argv, int *ret_n, char *why, size_t why_len);
/* Sets one option, whose struct is at `base`. false: `why` holds a sentence. */
bool options_store(const struct opt *o, void *base, const char *v, char *why, size_t why_len);
/* Why a word is none of the choices of an option, which has those of `more` as well. */
void options_no_choice(const struct opt *o, const char *word, const char *more, char *why,
		       size_t why_len);
/* Those that are not refused. */
void options_help(const struct opt_set *sets, size_t nsets, FILE *out);
/* The first word that stands for a value; NULL: none does. */
const char *options_word(const struct opt_choice *choices, unsigned value);
void options_free(const struct opt_set *sets, size_t nsets);
