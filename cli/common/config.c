/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.c - defaults of options from configuration files, by libinih. */
#include "config.h"

#include <sys/stat.h>

#include "base/message.h"

#if HAVE_INIH
#include <ini.h>
#endif

/* ---- sections and keys ---- */

/* Options that are no default: they name what one command is about. */
static const char *const config_refused[] = {
	"output", "part",   "help", "version", "quiet", "verbose", "pid", "task",
	"cpu",    "config", "root", "cbit",    "no-config", "expect", "interval",
	"from",   "form",   "fail-on", "layout",
};

/* Sections of common options. Keys of a command's section are its long options. */
static const struct {
	const char *section, *keys;
} config_sections[] = {
	{"output", "format columns filter sort group color units progress plugin"},
	{"source", "rate kernel paging pte-ext"},
	{"logging", "level"},
	{"plugins", "folder"},
};

static const struct {
	const char *word;
	unsigned verbose;
	bool quiet;
} config_levels[] = {
	{"error", 0, true}, {"warning", 0, false}, {"info", 0, false},
	{"debug", 1, false}, {"trace", 2, false},
};

static bool config_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = words; (s = strstr(s, word)); s++)
		if ((s == words || s[-1] == ' ') && (!s[len] || s[len] == ' '))
			return true;
	return false;
}

static const char *config_keys(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(config_sections); i++)
		if (!strcmp(config_sections[i].section, section))
			return config_sections[i].keys;
	return NULL;
}

static bool config_is_refused(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(config_refused); i++)
		if (!strcmp(config_refused[i], name))
			return true;
	return false;
}

int config_wrong(const struct config_entry *e, const char *why, const char *known)
{
	struct atw_err err = {0};

	atw_err_set(&err, ATW_E_USAGE, "%s:%d: %s", e->file, e->line, message(why));
	if (known)
		atw_err_hint(&err, "known: %s", known);
	return print_error(&err);
}

static int config_unknown_key(const struct config_entry *e, const char *known)
{
	char why[200];

	snprintf(why, sizeof(why), _("unknown key '%.64s' in section [%.64s]"), e->key, e->section);
	return config_wrong(e, why, known);
}

/* ---- files ---- */

struct config_reading {
	struct config *f;
	const char *file;
	int line;
	bool nomem;
	const char *unfit;       /* why line `line` is none of text; NULL: all were */
};

#if HAVE_INIH
static bool config_add(struct config_reading *r, const char *section, const char *key,
		       const char *value)
{
	struct config *f = r->f;
	struct config_entry e = {.file = r->file, .line = r->line};

	e.section = strdup(section);
	e.key = strdup(key);
	e.value = strdup(value);
	if (!e.section || !e.key || !e.value ||
	    !array_reserve((void **)&f->v, &f->cap, f->n + 1, sizeof(*f->v))) {
		free(e.section);
		free(e.key);
		free(e.value);
		r->nomem = true;
		return false;
	}
	f->v[f->n++] = e;
	return true;
}

static int config_on_entry(void *arg, const char *section, const char *key,
			   const char *value)
{
	return config_add(arg, section, key, value ? value : "");
}

/*
 * Counts lines, which the library does not report where it is built without that. It would
 * take the rest of a long line for another one, and would not see what follows a zero
 * byte: /dev/zero would be lines without end.
 */
static char *config_on_line(char *buf, int len, void *stream)
{
	void **state = stream;
	struct config_reading *r = state[1];
	int n = 0, c = EOF;

	while (n < len - 1 && (c = getc_unlocked(state[0])) != EOF) {
		buf[n++] = (char)c;
		if (c == '\n' || !c)
			break;
	}
	if (!n)
		return NULL;
	r->line++;
	r->unfit = !c ? N_("there is a zero byte in the line") :
		   c != '\n' && n == len - 1 ? N_("the line is too long") : NULL;
	buf[n] = '\0';
	return r->unfit ? NULL : buf;
}

static int config_parse(struct config_reading *r, FILE *in)
{
	void *state[2] = {in, r};
	struct config_entry at = {.file = r->file};
	int bad = ini_parse_stream(config_on_line, state, config_on_entry, r);

	if (r->nomem)
		return print_nomem();
	at.line = r->unfit ? r->line : bad;
	if (r->unfit)
		return config_wrong(&at, r->unfit, NULL);
	return bad > 0 ? config_wrong(&at, "neither [section] nor key=value", NULL)
		       : EXIT_COMPLETE;
}
#else
static int config_parse(struct config_reading *r, FILE *in)
{
	struct atw_err err = {0};

	atw_err_set(&err, ATW_E_UNSUPPORTED, "%s: this build has no libinih", r->file);
	atw_err_hint(&err, "install libinih-dev and build again, or use --no-config");
	return print_error(&err);
}
#endif

static bool config_is_folder(FILE *f)
{
	struct stat st;

	return !fstat(fileno(f), &st) && S_ISDIR(st.st_mode);
}

/* `must`: the user named it. Takes `path`. */
static int config_read_file(struct config *f, char *path, bool must)
{
	struct config_reading r = {.f = f, .file = path};
	struct atw_err err = {0};
	int status;
	FILE *in;

	if (!path)
		return print_nomem();
	f->file[f->file[0] ? 1 : 0] = path;
	in = fopen(path, "re");
	if (!in && (must || (errno != ENOENT && errno != ENOTDIR))) {
		atw_err_set(&err, ATW_E_USAGE, "cannot read %s: %s", path, strerror(errno));
		return print_error(&err);
	}
	if (!in)
		return EXIT_COMPLETE;
	status = config_parse(&r, in);
	if (!status && ferror(in)) {
		/* libinih does not return errno. */
		atw_err_set(&err, ATW_E_USAGE, "cannot read %s: %s", path,
			    strerror(config_is_folder(in) ? EISDIR : EIO));
		status = print_error(&err);
	}
	fclose(in);
	return status;
}

int config_load(struct config *ret, const char *path)
{
	*ret = (struct config){0};
	return config_read_file(ret, strdup(path), true);
}

static int config_read_home(struct config *f)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct buf path = {0};

	if (xdg && *xdg == '/')
		buf_printf(&path, "%s/atwalk/config.ini", xdg);
	else if (home && *home == '/')
		buf_printf(&path, "%s/.config/atwalk/config.ini", home);
	else
		return EXIT_COMPLETE;
	if (path.failed) {
		buf_deinit(&path);
		return print_nomem();
	}
	return config_read_file(f, path.data, false);
}

/* ---- which files ---- */

static void config_take(int *argc, char **argv, int at, int n)
{
	memmove(argv + at, argv + at + n, (size_t)(*argc - at - n + 1) * sizeof(*argv));
	*argc -= n;
}

int config_read(struct config *ret, const struct command *cmd, int *argc, char **argv)
{
	const char *named = NULL, *env = getenv("ATWALK_CONFIG");
	bool none = false;
	int status = EXIT_COMPLETE;

	*ret = (struct config){0};
	for (int i = 0; i < *argc && strcmp(argv[i], "--"); i++) {
		bool last = i + 1 == *argc;

		if (!strcmp(argv[i], "--no-config")) {
			none = true;
			config_take(argc, argv, i--, 1);
		} else if (!strncmp(argv[i], "--config=", 9)) {
			named = argv[i] + 9;
			config_take(argc, argv, i--, 1);
		} else if (!strcmp(argv[i], "--config") && !strcmp(cmd->name, "info") &&
			   (last || *argv[i + 1] == '-')) {
			ret->show = true;
			config_take(argc, argv, i--, 1);
		} else if (!strcmp(argv[i], "--config") && !last) {
			named = argv[i + 1];
			config_take(argc, argv, i--, 2);
		} else if (!strcmp(argv[i], "--config")) {
			return usage_error(cmd->name, "--config needs FILE");
		}
	}
	if (named)
		return config_read_file(ret, strdup(named), true);
	if (none)
		return EXIT_COMPLETE;
	status = config_read_home(ret);
	if (!status && env && *env)
		status = config_read_file(ret, strdup(env), true);
	return status;
}

/* ---- values ---- */

static int config_flag(const struct config_entry *e, bool *ret)
{
	static const char *const yes[] = {"true", "yes", "on", "1"};
	static const char *const no[] = {"false", "no", "off", "0"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (!strcmp(e->value, yes[i]) || !strcmp(e->value, no[i])) {
			*ret = !strcmp(e->value, yes[i]);
			return EXIT_COMPLETE;
		}
	}
	return config_wrong(e, "expected true or false", NULL);
}

/* One of the options that the command takes; NULL: it has none of that name. */
static const struct opt *config_option(const char *name, const struct opt_set *sets,
				       size_t nsets, void **base)
{
	for (size_t i = 0; i < nsets; i++)
		for (const struct opt *o = sets[i].refused ? NULL : sets[i].table;
		     o && o->name; o++)
			if (!strcmp(o->name, name)) {
				*base = sets[i].base;
				return o;
			}
	return NULL;
}

static int config_set(struct config_entry *e, const struct opt *o, void *base)
{
	char why[256];
	bool flag = false;
	int status;

	e->used = true;
	if (o->kind == OPT_FLAG) {
		status = config_flag(e, &flag);
		if (!status)
			*(bool *)((char *)base + o->at) = flag;
		return status;
	}
	/* A text of the second file replaces that of the first; lists grow. */
	if (options_store(o, base, e->value, why, sizeof(why)))
		return EXIT_COMPLETE;
	return config_wrong(e, why, NULL);
}

static int config_level(struct config_entry *e, struct common *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(config_levels); i++)
		if (!strcmp(config_levels[i].word, e->value)) {
			c->verbose = config_levels[i].verbose;
			c->quiet = config_levels[i].quiet;
			e->used = true;
			return EXIT_COMPLETE;
		}
	return config_wrong(e, "unknown level", "error, warning, info, debug, trace");
}

/* Is it the name of a command, of this program or another? */
static bool config_is_command(const char *section)
{
	static const char all[] = "walk map info ps find rd search extract pages collect report "
				  "check audit probe kmap record show diff convert ctl";
	char copy[64], *save = NULL;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", section);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save), n++)
		if (!config_has_word(all, w))
			return false;
	return n;
}

static bool config_is_row_key(const struct config_entry *e)
{
	return !strcmp(e->section, "output") &&
	       config_has_word("columns filter sort group", e->key);
}

/* A key of a section that every command shares. */
static int config_apply_shared(struct config_entry *e, const char *keys,
			       const struct opt_set *sets, size_t nsets, struct common *c)
{
	const struct opt *o;
	void *base;

	if (!config_has_word(keys, e->key))
		return config_unknown_key(e, keys);
	if (!strcmp(e->section, "logging"))
		return config_level(e, c);
	if (config_is_row_key(e))
		return EXIT_COMPLETE;
	/* Not an option: plugins.c reads it. */
	if (!strcmp(e->section, "plugins")) {
		e->used = true;
		return EXIT_COMPLETE;
	}
	/* What this command does not take is for others. */
	o = config_option(e->key, sets, nsets, &base);
	return o ? config_set(e, o, base) : EXIT_COMPLETE;
}

static int config_apply_own(struct config_entry *e, const struct opt_set *sets, size_t nsets)
{
	const struct opt *o;
	void *base;

	o = config_is_refused(e->key) ? NULL : config_option(e->key, sets, nsets, &base);
	return o ? config_set(e, o, base) : config_unknown_key(e, NULL);
}

int config_apply(struct config *f, const struct command *cmd, const struct opt_set *sets,
		 size_t nsets, struct common *c)
{
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < f->n && !status; i++) {
		struct config_entry *e = &f->v[i];
		const char *keys = config_keys(e->section);

		if (keys)
			status = config_apply_shared(e, keys, sets, nsets, c);
		else if (!strcmp(e->section, cmd->name))
			status = config_apply_own(e, sets, nsets);
		else if (!config_is_command(e->section))
			status = config_wrong(e, *e->section ? "unknown section"
							     : "the key is in no section",
					      "output, source, logging, plugins, and names of commands");
	}
	return status;
}

void config_apply_rows(struct config *f, struct common *c)
{
	static const struct {
		const char *key;
		size_t at;
		int param;
	} keys[] = {
		{"columns", offsetof(struct common, columns), ATW_PARAM_COLUMNS},
		{"filter", offsetof(struct common, filter), ATW_PARAM_FILTER},
		{"sort", offsetof(struct common, sort), ATW_PARAM_SORT},
		{"group", offsetof(struct common, group), ATW_PARAM_GROUP},
	};
	const char **text;
	char origin[160];

	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		text = (const char **)((char *)c + keys[k].at);
		if (*text)
			continue;
		for (size_t i = 0; i < f->n; i++) {
			struct config_entry *e = &f->v[i];

			if (!config_is_row_key(e) || strcmp(e->key, keys[k].key))
				continue;
			*text = e->value;
			e->used = true;
			snprintf(origin, sizeof(origin), "%.100s:%d: [output] %s", e->file,
				 e->line, e->key);
			diagnostics_name(keys[k].param, origin);
		}
	}
}

bool config_is_shared(const char *section)
{
	return config_keys(section);
}

bool config_key(size_t i, const char **section, char key[32])
{
	for (size_t s = 0; s < ARRAY_SIZE(config_sections); s++) {
		const char *keys = config_sections[s].keys;

		for (size_t len; *keys; keys += len + (keys[len] == ' ')) {
			len = strcspn(keys, " ");
			if (i--)
				continue;
			*section = config_sections[s].section;
			snprintf(key, 32, "%.*s", (int)len, keys);
			return true;
		}
	}
	return false;
}

const struct config_entry *config_find(const struct config *f, const char *section,
				       const char *key)
{
	for (size_t i = f->n; i-- > 0;)
		if (!strcmp(f->v[i].section, section) && !strcmp(f->v[i].key, key))
			return &f->v[i];
	return NULL;
}

void config_release(struct config *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].section);
		free(f->v[i].key);
		free(f->v[i].value);
	}
	free(f->v);
	free(f->file[0]);
	free(f->file[1]);
	*f = (struct config){0};
}
