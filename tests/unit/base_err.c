/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An error is values beside its sentence: status, parameter, remedy, subject and
 * command; layers on the way up change what they mean to change.
 */
#include "test.h"

#include <atwalk/base.h>

TEST(a_new_error_has_no_values_of_the_last)
{
	struct atw_err err = { 0 };

	CHECK_EQ(atw_err_set_param(&err, ATW_E_USAGE, ATW_PARAM_PAGING, "unknown mode '%s'", "x"),
		 ATW_E_USAGE);
	CHECK_STR(err.text, "unknown mode 'x'");
	CHECK_EQ(err.status, ATW_E_USAGE);
	CHECK_EQ(err.param, ATW_PARAM_PAGING);
	atw_err_hint_command(&err, "allow it", "sudo true");
	atw_err_remedy(&err, ATW_PARAM_ROOT);
	atw_err_about(&err, "dump");

	CHECK_EQ(atw_err_set(&err, ATW_E_IO, "no"), ATW_E_IO);
	CHECK_STR(err.text, "no");
	CHECK_STR(err.hint, "");
	CHECK_EQ(err.param, ATW_PARAM_NONE);
	CHECK_EQ(err.remedy, ATW_PARAM_NONE);
	CHECK_EQ(err.subject, 0);
	CHECK_EQ(err.command, 0);
}

TEST(a_parameter_stays_when_a_layer_wraps)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_FORMAT, "is empty");
	atw_err_param(&err, ATW_PARAM_KERNEL_FILE);
	CHECK_EQ(atw_err_wrap(&err, "%s", "vmlinux"), ATW_E_FORMAT);
	CHECK_STR(err.text, "vmlinux: is empty");
	CHECK_EQ(err.param, ATW_PARAM_KERNEL_FILE);
}

TEST(memory_that_ran_out_is_one_sentence)
{
	struct atw_err err = { 0 };

	CHECK_EQ(atw_err_nomem(&err), ATW_E_NOMEM);
	CHECK_EQ(err.status, ATW_E_NOMEM);
	CHECK_STR(err.text, "out of memory");
}

TEST(a_subject_is_named_once)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_FORMAT, "is empty");
	CHECK_STR(atw_err_reason(&err), "is empty");
	atw_err_about(&err, "dump");
	atw_err_about(&err, "dump");
	CHECK_STR(err.text, "dump: is empty");
	CHECK_STR(atw_err_reason(&err), "is empty");

	/* Another one, of which this one's name is the beginning. */
	atw_err_about(&err, "dum");
	CHECK_STR(err.text, "dum: dump: is empty");
	CHECK_STR(atw_err_reason(&err), "dump: is empty");

	/* Words that look like a subject are none. */
	atw_err_set(&err, ATW_E_FORMAT, "dump: is empty");
	atw_err_about(&err, "dump");
	CHECK_STR(err.text, "dump: dump: is empty");

	/* Behind a prefix the subject no longer is in front. */
	atw_err_wrap(&err, "header 3");
	CHECK_STR(atw_err_reason(&err), "header 3: dump: dump: is empty");
}

TEST(a_subject_that_does_not_fit_is_none)
{
	struct atw_err err = { 0 };
	char name[600];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	atw_err_set(&err, ATW_E_FORMAT, "is empty");
	atw_err_about(&err, name);
	CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
	CHECK_EQ(err.subject, 0);
	CHECK_STR(atw_err_reason(&err), err.text);
}

TEST(a_wrap_cuts_the_end_of_a_long_sentence)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_FORMAT, "%0500d", 7);
	CHECK_EQ(atw_err_wrap(&err, "%s", "0123456789"), ATW_E_FORMAT);
	CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
	CHECK(!strncmp(err.text, "0123456789: 000", 15));
}

TEST(the_command_of_a_hint_is_a_value)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_PERM, "no");
	atw_err_hint(&err, "run it: sudo true");
	CHECK_EQ(err.command, 0);
	atw_err_hint_command(&err, "allow it once", "sudo setcap %s+ep %s", "cap_bpf", "/bin/x");
	CHECK_STR(err.hint, "allow it once: sudo setcap cap_bpf+ep /bin/x");
	CHECK_STR(err.hint + err.command, "sudo setcap cap_bpf+ep /bin/x");
	atw_err_hint(&err, "run it as root");
	CHECK_EQ(err.command, 0);
}
