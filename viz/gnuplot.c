/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * gnuplot reads the script from an unnamed file. Its messages go to another one, and are printed
 * only if it failed.
 */
#include "script.h"

#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- files ---- */

/* Files are written under a temporary name in the same directory and renamed at the end. */

static int replace_refuse(const char *path)
{
	int err = errno;

	log_error("%s: cannot be written: %s", path, strerror(err));
	return -err;
}

/* `write` writes the content of an existing empty file. Returns 0, or -errno after printing why. */
static int replace_file(const char *path, int (*write)(void *ctx, const char *path), void *ctx)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC), err;
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0) {
		err = replace_refuse(path);
		free(temp);
		return err;
	}
	fchmod(fd, 0666 & ~mask);
	close(fd);
	err = write(ctx, temp);
	if (!err && rename(temp, path))
		err = replace_refuse(path);
	if (err)
		unlink(temp);
	free(temp);
	return err;
}

struct replace_put {
	void (*put)(void *ctx, FILE *out);
	void *ctx;
};

static int replace_print(void *ctx, const char *path)
{
	const struct replace_put *p = ctx;
	FILE *out = fopen(path, "we");
	bool failed = !out;

	if (out) {
		p->put(p->ctx, out);
		failed = ferror(out);
		failed = fclose(out) || failed;
	}
	if (failed)
		log_error("%s: %s", path, log_unwritten(errno));
	return failed ? -EIO : 0;
}

int replace_text(const char *path, void (*put)(void *ctx, FILE *out), void *ctx)
{
	struct replace_put p = {put, ctx};

	return replace_file(path, replace_print, &p);
}

#define MESSAGE_BYTES 600

extern char **environ;

int gnuplot_format(const char *path, enum format *out)
{
	static const char *const ends[] = {
		[FORMAT_SVG] = ".svg", [FORMAT_PNG] = ".png", [FORMAT_PDF] = ".pdf"};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (len > 4 && !strcasecmp(path + len - 4, ends[i])) {
			*out = (enum format)i;
			return 0;
		}
	}
	log_error("%s: the name must end in .svg, .png, .pdf or .html", path);
	return -EINVAL;
}

double gnuplot_font_scale(uint64_t width_px)
{
	return width_px < 600 ? 0.75 : 1;
}

void gnuplot_terminal(struct script *s, enum format format, uint64_t width_px, uint64_t height_px)
{
	double scale = gnuplot_font_scale(width_px);

	/* Font sizes are in points with Cairo, in pixels with SVG. */
	script_line(s, "set encoding utf8\nsmall = ',%.3g'",
		    scale * (format == FORMAT_SVG ? 12 : 9));
	switch (format) {
	case FORMAT_SVG:
		script_line(s,
			    "set terminal svg enhanced size %" PRIu64 ",%" PRIu64
			    " font 'DejaVu Sans,%.3g' background rgb 'white'",
			    width_px, height_px, 14 * scale);
		break;
	case FORMAT_PNG:
		/* Fall back to the simpler driver if Cairo is missing. */
		script_line(
			s,
			"if (strstrt(GPVAL_TERMINALS, 'pngcairo')) set terminal pngcairo enhanced "
			"size %" PRIu64 ",%" PRIu64 " font 'Sans,%.3g'; else set terminal png "
			"enhanced truecolor size %" PRIu64 ",%" PRIu64,
			width_px, height_px, 11 * scale, width_px, height_px);
		break;
	case FORMAT_PDF:
		script_line(s,
			    "if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) exit error 'this gnuplot "
			    "draws no PDF; try .svg'");
		script_line(s,
			    "set terminal pdfcairo enhanced size %.2fin,%.2fin font 'Sans,%.3g' "
			    "fontscale 0.72",
			    (double)width_px / 100, (double)height_px / 100, 11 * scale);
		break;
	}
}

static int write_all(int fd, const char *text, size_t bytes)
{
	ssize_t n;

	while (bytes) {
		n = write(fd, text, bytes);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

/* Creates a file without a name; dies if that fails. */
static int unnamed_file(void)
{
	char path[] = "/tmp/povplot-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		die("/tmp: %s", strerror(errno));
	unlink(path);
	return fd;
}

/* Runs gnuplot. Returns its exit status, or -errno. */
static int gnuplot_run(int script_fd, int message_fd)
{
	/* -d: ignore the user's own gnuplot settings. */
	char *argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, (char[]){"-"}, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int err, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, script_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, message_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, message_fd, STDERR_FILENO);
	/* gnuplot does not check its writes, so the signal at the file size limit must kill it. */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	err = posix_spawnp(&pid, "gnuplot", &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (err == ENOENT)
		log_error("gnuplot is not installed: install the package gnuplot-nox or gnuplot; "
			  "--script prints what it would be given");
	else if (err)
		log_error("gnuplot: %s", strerror(err));
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_message(int message_fd, int status)
{
	char message[MESSAGE_BYTES];
	ssize_t n = pread(message_fd, message, sizeof(message) - 1, 0);

	message[n > 0 ? n : 0] = '\0';
	log_error("gnuplot failed (status %d): %s", status,
		  message[0] ? message : "it printed nothing");
}

struct scripts {
	const struct script *head, *body;
};

static int draw_to(void *ctx, const char *path)
{
	const struct scripts *scripts = ctx;
	int script_fd = unnamed_file(), message_fd = unnamed_file(), err;
	struct script output;
	struct stat st;

	script_init(&output);
	fputs("set output ", output.out);
	/* In a path, which is not drawn as text, only quotes are special. */
	script_path(&output, path);
	script_finish(&output);
	err = write_all(script_fd, scripts->head->text, scripts->head->bytes);
	if (!err)
		err = write_all(script_fd, output.text, output.bytes);
	if (!err)
		err = write_all(script_fd, scripts->body->text, scripts->body->bytes);
	if (err)
		log_error("/tmp: %s", log_unwritten(-err));
	if (!err && lseek(script_fd, 0, SEEK_SET) == 0) {
		err = gnuplot_run(script_fd, message_fd);
		if (err == 128 + SIGXFSZ) {
			log_error("%s: %s", path, log_unwritten(EFBIG));
			err = -EFBIG;
		} else if (err > 0 || (!err && (stat(path, &st) || !st.st_size))) {
			print_message(message_fd, err);
			err = -EIO;
		}
	}
	script_release(&output);
	close(script_fd);
	close(message_fd);
	return err;
}

int gnuplot_draw(const struct script *head, const struct script *body, const char *path)
{
	struct scripts scripts = {head, body};

	return replace_file(path, draw_to, &scripts);
}
