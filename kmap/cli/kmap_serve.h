/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_serve.h - access to the controls of a recording, through a folder or a socket. */
#ifndef KMAP_CLI_SERVE_H
#define KMAP_CLI_SERVE_H

#include <pthread.h>

#include "cli/common/command.h"
#include "kmap/lib/control.h"

/*
 * _open() takes the name, and says what is wrong with it; _start() answers from then on,
 * in threads of its own; _close() ends that, and leaves nothing behind. NULL is fine for
 * the last two.
 */
struct kmap_folder;
int kmap_folder_open(const char *dir, struct kmap_folder **ret, struct atw_err *err);
int kmap_folder_start(struct kmap_folder *f, const struct common *c,
		      struct kmap_controls *controls, struct atw_err *err);
/* false: someone is still in it, and what was handed to it must stay. */
bool kmap_folder_close(struct kmap_folder *f);

/*
 * The protocol of the socket. Requests are the lines "read NAME", "write NAME VALUE" and
 * "list"; each line of the list is "NAME rw", "NAME r" or "NAME w". A reply is any
 * number of "data N" lines, each followed by N bytes, and then "end". In place of any of
 * these there may be "error ERRNO SENTENCE".
 */
struct kmap_socket;
int kmap_socket_open(const char *path, struct kmap_socket **ret, struct atw_err *err);
int kmap_socket_start(struct kmap_socket *s, struct kmap_controls *controls,
		      struct atw_err *err);
void kmap_socket_close(struct kmap_socket *s);

/* Threads of ours take no signals, but `but` if it is not 0. */
int kmap_thread(pthread_t *ret, int but, void *(*run)(void *arg), void *arg, struct atw_err *err);

#endif
