/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace/trace_dump.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "trace/trace_create.h"
#include "trace/trace_keep.h"

struct dump {
	struct trace_file created;
	char *path;
	struct append_file file;
	struct kept_list list;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running, over; /* by the lock */
};

int dump_new(const char *path, const struct trace_writer_options *opt, struct dump **out)
{
	struct dump *d = xcalloc(1, sizeof(*d));
	int fd = -1, err;

	err = trace_file_create(path, opt, &d->created, &fd);
	if (err) {
		free(d);
		return err;
	}
	d->path = xstrdup(path);
	d->file = (struct append_file){
		.fd = fd, .path = d->path, .fate = "it is removed", .max_bytes = UINT64_MAX};
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	*out = d;
	return 0;
}

static void over(struct dump *d)
{
	pthread_mutex_lock(&d->lock);
	d->over = true;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static void *dump_thread(void *arg)
{
	struct dump *d = arg;

	d->file.err = append_begin(&d->file);
	kept_write(&d->list, &d->file);
	over(d);
	return NULL;
}

/* It takes no signals: they are the main thread's, and a file size limit shall be an error code. */
int dump_start(struct dump *d, struct keep *k, uint64_t until)
{
	sigset_t all, old;
	int err;

	keep_take(k, until, &d->list);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(
		&d->lock); /* whoever waits must not see that it is over before this is done */
	err = pthread_create(&d->thread, NULL, dump_thread, d);
	d->running = !err;
	pthread_mutex_unlock(&d->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	log_error("trace: cannot start a thread that writes %s: %s", d->path, strerror(err));
	d->file.err = -err;
	kept_write(&d->list, &d->file);
	over(d);
	return -err;
}

int dump_wait(struct dump *d, uint64_t *file_bytes)
{
	int err;

	pthread_mutex_lock(&d->lock);
	while (!d->over)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	if (d->running)
		pthread_join(d->thread, NULL);
	err = append_close(&d->file);
	if (err)
		trace_file_undo(&d->created);
	else
		*file_bytes = d->file.bytes;
	trace_file_release(&d->created);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
	free(d->path);
	free(d);
	return err;
}

int dump_poll(struct dump *d, uint64_t *file_bytes)
{
	bool is_over;

	pthread_mutex_lock(&d->lock);
	is_over = d->over;
	pthread_mutex_unlock(&d->lock);
	return is_over ? dump_wait(d, file_bytes) : -EAGAIN;
}
