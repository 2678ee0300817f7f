/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy.c - policy files, and where those that are installed lie. */
#include "policy.h"

#include "host/host.h"
#include "base/message.h"

static const struct {
	const char *key;
	enum policy_rule rule;
} policy_rules[] = {
	{"forbid", POLICY_FORBID},   {"require", POLICY_REQUIRE},
	{"at most", POLICY_AT_MOST}, {"at least", POLICY_AT_LEAST},
	{"overlap", POLICY_OVERLAP}, {"track", POLICY_TRACK},
};
static const char policy_rule_keys[] =
	"forbid, require, at most, at least, overlap, track";

/* ---- one key ---- */

/* The first word of a text: its length; *rest is behind it. */
static size_t policy_word(const char *s, const char **rest)
{
	size_t len = strcspn(s, " \t");

	*rest = s + len + strspn(s + len, " \t");
	return len;
}

/* "rows|COLUMN [where EXPR]" */
static int policy_counted(struct policy *p, const struct config_entry *e, const char *s)
{
	const char *rest;
	size_t len = policy_word(s, &rest), where;

	if (!len)
		return config_wrong(e, "expected 'rows' or a column", NULL);
	if (len != 4 || memcmp(s, "rows", 4)) {
		p->column = strndup(s, len);
		if (!p->column)
			return print_nomem();
	}
	if (!*rest)
		return EXIT_COMPLETE;
	where = policy_word(rest, &s);
	if (where != 5 || memcmp(rest, "where", 5) || !*s)
		return config_wrong(e, "expected 'where EXPR' behind what is counted",
				    NULL);
	p->where = s;
	return EXIT_COMPLETE;
}

static bool policy_has_unit(const char *s, size_t len)
{
	uint64_t v;

	return !num_any(s, len, &v);
}

static int policy_limited(struct policy *p, const struct config_entry *e)
{
	const char *rest;
	size_t len = policy_word(e->value, &rest);

	p->limit_unit = policy_has_unit(e->value, len);
	if (!num_size(e->value, len, &p->limit))
		return config_wrong(e,
				    "expected LIMIT rows|COLUMN [where EXPR], as in "
				    "'16 rows where writable' or '64M size'",
				    NULL);
	return policy_counted(p, e, rest);
}

/* "EXPR with EXPR" */
static int policy_overlap(struct policy *p, const struct config_entry *e)
{
	const char *with = strstr(e->value, " with ");

	if (!with || with == e->value)
		return config_wrong(e, "expected EXPR with EXPR", NULL);
	p->left = strndup(e->value, (size_t)(with - e->value));
	if (!p->left)
		return print_nomem();
	p->where = p->left;
	p->right = with + strlen(" with ");
	return EXIT_COMPLETE;
}

static int policy_set_rule(struct policy *p, const struct config_entry *e,
			   enum policy_rule rule)
{
	if (p->rule)
		return config_wrong(e, "the policy has a rule already; a policy has one",
				    policy_rule_keys);
	p->rule = rule;
	p->rule_at = e;
	switch (rule) {
	case POLICY_AT_MOST:
	case POLICY_AT_LEAST:
		return policy_limited(p, e);
	case POLICY_OVERLAP:
		return policy_overlap(p, e);
	case POLICY_TRACK:
		return policy_counted(p, e, e->value);
	default:
		p->where = e->value;
		p->limit = rule == POLICY_REQUIRE;
		return *e->value ? EXIT_COMPLETE : config_wrong(e, "expected EXPR", NULL);
	}
}

static int policy_set_severity(struct policy *p, const struct config_entry *e)
{
	p->warning = !strcmp(e->value, "warning");
	return p->warning || !strcmp(e->value, "error")
		       ? EXIT_COMPLETE
		       : config_wrong(e, "unknown severity", "error, warning");
}

static int policy_set_process(struct policy *p, const struct config_entry *e)
{
	p->everything = true;
	return !strcmp(e->value, "any") ? EXIT_COMPLETE
					: config_wrong(e, "unknown process", "any");
}

/* "64K", "5%" or "64K 5%" */
static int policy_set_tolerance(struct policy *p, const struct config_entry *e)
{
	bool good = *e->value && !p->tolerance;

	for (const char *s = e->value, *rest; *s && good; s = rest) {
		size_t len = policy_word(s, &rest);

		good = s[len - 1] == '%' ? num_dec(s, len - 1, &p->percent) &&
						   p->percent <= 1000
					 : num_size(s, len, &p->tolerated);
		p->tolerated_unit |= s[len - 1] != '%' && policy_has_unit(s, len);
	}
	p->tolerance = e;
	return good ? EXIT_COMPLETE
		    : config_wrong(e,
				   "expected a number, a percentage up to 1000%, or both",
				   NULL);
}

bool policy_in_bytes(const struct policy *p)
{
	return p->rule == POLICY_TRACK ? p->tolerated_unit : p->limit_unit;
}

uint64_t policy_tolerated(const struct policy *p, uint64_t value)
{
	uint64_t part = (uint64_t)((unsigned __int128)value * p->percent / 100);

	return part > p->tolerated ? part : p->tolerated;
}

/* What is tolerated beyond a limit is part of it. */
static void policy_widen(struct policy *p)
{
	uint64_t more = policy_tolerated(p, p->limit);

	if (p->rule == POLICY_AT_LEAST)
		p->limit = more < p->limit ? p->limit - more : 0;
	else if (p->rule == POLICY_AT_MOST &&
		 __builtin_add_overflow(p->limit, more, &p->limit))
		p->limit = UINT64_MAX;
}

static int policy_set(struct policy *p, const struct config_entry *e)
{
	const struct {
		const char *key;
		const struct config_entry **at;
	} texts[] = {{"over", &p->over},
		     {"needs", &p->needs},
		     {"unknown", &p->unknown},
		     {"because", &p->because}};
	char why[120];

	for (size_t i = 0; i < ARRAY_SIZE(policy_rules); i++)
		if (!strcmp(e->key, policy_rules[i].key))
			return policy_set_rule(p, e, policy_rules[i].rule);
	if (!strcmp(e->key, "severity"))
		return policy_set_severity(p, e);
	if (!strcmp(e->key, "process"))
		return policy_set_process(p, e);
	if (!strcmp(e->key, "tolerance"))
		return policy_set_tolerance(p, e);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(e->key, texts[i].key))
			continue;
		if (!*texts[i].at && *e->value) {
			*texts[i].at = e;
			return EXIT_COMPLETE;
		}
		snprintf(why, sizeof(why), "'%s' %s", e->key,
			 *e->value ? _("is given twice") : _("has no value"));
		return config_wrong(e, why, NULL);
	}
	snprintf(why, sizeof(why), _("unknown key '%.64s'"), e->key);
	return config_wrong(
		e, why,
		"over, forbid, require, at most, at least, overlap, track, needs, "
		"unknown, process, because, severity, tolerance");
}

/* ---- one file ---- */

/* The policy of that name in this file; a name of two files would be two policies. */
static int policy_of(struct policies *ps, const struct config_entry *e, size_t first,
		     struct policy **ret)
{
	char why[200];

	for (size_t i = 0; i < ps->n; i++) {
		if (strcmp(ps->v[i].name, e->section))
			continue;
		if (i < first) {
			snprintf(why, sizeof(why), _("another file has a policy [%.64s]"),
				 e->section);
			return config_wrong(e, why, NULL);
		}
		*ret = &ps->v[i];
		return EXIT_COMPLETE;
	}
	if (!*e->section)
		return config_wrong(e, "the key is in no section", NULL);
	if (!array_reserve((void **)&ps->v, &ps->cap, ps->n + 1, sizeof(*ps->v)))
		return print_nomem();
	*ret = &ps->v[ps->n++];
	**ret = (struct policy){.name = e->section};
	return EXIT_COMPLETE;
}

static bool policy_counts(const struct policy *p)
{
	return p->rule == POLICY_TRACK || p->rule == POLICY_AT_MOST ||
	       p->rule == POLICY_AT_LEAST;
}

static int policy_check(struct policy *p, const struct config_entry *first)
{
	char why[160];

	if (p->over && p->rule && (!p->tolerance || policy_counts(p))) {
		policy_widen(p);
		return EXIT_COMPLETE;
	}
	snprintf(why, sizeof(why), _("policy [%.64s] %s"), p->name,
		 !p->over   ? _("has no key 'over'")
		 : !p->rule ? _("has no rule")
			    : _("has a tolerance, but no rule 'track', 'at most' or 'at least'"));
	return config_wrong(first, why, p->over && !p->rule ? policy_rule_keys : NULL);
}

static const struct config_entry *policy_first(const struct config *f, const char *name)
{
	size_t i = 0;

	while (strcmp(f->v[i].section, name))
		i++;
	return &f->v[i];
}

static int policy_add_file(struct policies *ps, const struct config *f)
{
	size_t first = ps->n;
	int status = EXIT_COMPLETE;
	struct policy *p = NULL;

	for (size_t i = 0; i < f->n && !status; i++) {
		status = policy_of(ps, &f->v[i], first, &p);
		if (!status && p)
			status = policy_set(p, &f->v[i]);
	}
	for (size_t i = first; i < ps->n && !status; i++)
		status = policy_check(&ps->v[i], policy_first(f, ps->v[i].name));
	if (!status && ps->n == first) {
		const struct config_entry e = {.file = f->file[0], .line = 1};

		status = config_wrong(&e, "there is no policy in the file", NULL);
	}
	return status;
}

/* ---- where they are ---- */

/* Installed below the same prefix as the program, or beside it. */
static bool policy_installed(const char *name, char path[8192])
{
	static const char *const folders[] = { "/../share/atwalk/policies", "/policies" };
	char own[4096];

	if (strchr(name, '/') || !host_program_folder(own, sizeof(own)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, 8192, "%s%s/%.255s.ini", own, folders[i], name);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* `name`: what it is called in results. */
static int policy_read(struct policies *ret, const char *path, const char *name)
{
	struct config *f = &ret->file[ret->nfiles++];
	int status = config_load(f, path);

	for (size_t i = 0; i < f->n; i++)
		f->v[i].file = name;
	return status ? status : policy_add_file(ret, f);
}

int policies_read(struct policies *ret, char *const *file, size_t n)
{
	int status = EXIT_COMPLETE;
	char path[8192];

	*ret = (struct policies){.file = calloc(n, sizeof(*ret->file))};
	if (!ret->file)
		return print_nomem();
	for (size_t i = 0; i < n && !status; i++) {
		bool installed = access(file[i], F_OK) && policy_installed(file[i], path);

		status = policy_read(ret, installed ? path : file[i], file[i]);
	}
	return status;
}

int policies_read_installed(struct policies *ret, const char *name)
{
	struct atw_err err = {0};
	char path[8192];

	*ret = (struct policies){.file = calloc(1, sizeof(*ret->file))};
	if (!ret->file)
		return print_nomem();
	if (policy_installed(name, path))
		return policy_read(ret, path, name);
	atw_err_set(&err, ATW_E_IO, "cannot find the policies '%s'", name);
	atw_err_hint(&err, "they are installed in share/atwalk/policies beside bin");
	return print_error(&err);
}

void policies_release(struct policies *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].column);
		free(p->v[i].left);
	}
	for (size_t i = 0; i < p->nfiles; i++)
		config_release(&p->file[i]);
	free(p->v);
	free(p->file);
	*p = (struct policies){0};
}
