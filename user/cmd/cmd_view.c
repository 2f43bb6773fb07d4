/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace view shows a recording in Perfetto's UI, which runs in the browser. The UI's address
 * contains where to fetch the timeline. This file makes the timeline and the addresses;
 * view_serve.c serves the file. It starts no browser, which would run as povtrace's user, maybe
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/option.h"
#include "cmd/view_serve.h"
#include "lib/log.h"
#include "lib/person.h"
#include "lib/text.h"
#include "timeline/export.h"
#include "trace/trace_limit.h"
#include "trace/trace_read.h"
#include "trace/trace_totals.h"

/* the only local port from which the UI's content security policy allows a fetch */
#define VIEW_PORT 9001

struct view_options {
	uint64_t at_ns, for_ns, port;
};

/* ---- the timeline ---- */

static bool is_timeline(const char *path)
{
	return export_wants(path) && !text_ends_in(path, strlen(path), ".svg") &&
	       !text_ends_in(path, strlen(path), ".folded");
}

/* "run.pov" → "run.pftrace". The caller frees it. */
static char *timeline_path(const char *pov)
{
	size_t len = strlen(pov);

	return xasprintf("%.*s.pftrace", (int)(len - (text_ends_in(pov, len, ".pov") ? 4 : 0)),
			 pov);
}

static bool is_newer(const char *path, const char *than)
{
	struct stat a, b;

	if (stat(path, &a) || stat(than, &b) || !S_ISREG(a.st_mode))
		return false;
	return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec :
						      a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

/* Exports the recording, unless its timeline exists and is newer. */
static int timeline_make(const char *pov, const char *path)
{
	struct person *behind;
	int err;

	if (is_newer(path, pov)) {
		log_info("%s is newer than %s and is shown as it is", path, pov);
		return 0;
	}
	behind = person_behind();
	err = export_file(pov, path, behind);
	person_free(behind);
	return err;
}

static int timeline_open(const char *path, struct view_file *f)
{
	struct stat st;
	int err;

	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0 || fstat(f->fd, &st)) {
		err = errno;
		log_error("view: cannot open %s: %s", path, strerror(err));
		return -err;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("view: %s is not a regular file", path);
		return -EINVAL;
	}
	f->bytes = (uint64_t)st.st_size;
	return 0;
}

/* ---- addresses ---- */

/* Percent-encodes all but unreserved characters, so that the name is safe in HTML, too. */
static char *url_encode(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~";
	char *out = xmalloc(3 * strlen(name) + 1), *p = out;

	for (; *name; name++)
		p += sprintf(p, strchr(plain, *name) ? "%c" : "%%%02X", (unsigned char)*name);
	*p = 0;
	return out;
}

/*
 * The part of the UI's address that selects what is visible at first, in the timeline's clock
 * (BOOTTIME). "" if no time is given. The caller frees it. NULL: an error (printed).
 */
static char *visible_range(const char *pov, const struct view_options *o)
{
	struct trace_clocks clocks;
	uint64_t start_ns, end_ns, from_ns;
	struct trace *t;

	if (!o->at_ns)
		return xstrdup("");
	if (trace_open(pov, &t))
		return NULL;
	trace_times(t, &start_ns, &end_ns);
	trace_clocks(t, &clocks);
	trace_close(t);
	if (o->at_ns > end_ns - start_ns) {
		log_error("view: --at %g is past the end of %s (%g s)", (double)o->at_ns / 1e9, pov,
			  (double)(end_ns - start_ns) / 1e9);
		return NULL;
	}
	from_ns = start_ns + o->at_ns + clocks.begin.boottime_ns - clocks.begin.monotonic_ns;
	return xasprintf("&visStart=%llu&visEnd=%llu", (unsigned long long)from_ns,
			 (unsigned long long)(from_ns + o->for_ns));
}

/*
 * A page that fetches the timeline from its own server and posts it to the UI in a new window, as
 * Perfetto documents it. A browser may forbid the UI to fetch from this machine; it does not forbid
 * this.
 */
static char *page_make(const char *name, const char *range)
{
	return xasprintf(
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>povtrace "
		"view</title>\n"
		"<p><button id=\"open\">Open %s in ui.perfetto.dev</button> <span id=\"state\" "
		"role=\"status\"></span>\n"
		"<p>The timeline goes from this machine into your browser and no further.\n"
		"<script>\n"
		"const ui = '" VIEW_ORIGIN "', state = document.getElementById('state');\n"
		"document.getElementById('open').onclick = async () => {\n"
		"  const view = window.open(ui + '/#!/?%s');\n"
		"  if (!view) { state.textContent = 'Allow this page to open a window, and press "
		"again.'; return; }\n"
		"  state.textContent = 'Loading …';\n"
		"  try {\n"
		"    const buffer = await (await fetch('%s')).arrayBuffer();\n"
		"    const ping = setInterval(() => view.postMessage('PING', ui), 50);\n"
		"    onmessage = (e) => {\n"
		"      if (e.source !== view || e.origin !== ui || e.data !== 'PONG') return;\n"
		"      clearInterval(ping);\n"
		"      onmessage = null;\n"
		"      const title = decodeURIComponent('%s');\n"
		"      view.postMessage({perfetto: {buffer, title, fileName: title}}, ui);\n"
		"      state.textContent = 'Opened.';\n"
		"    };\n"
		"  } catch (e) {\n"
		"    state.textContent = 'Cannot load it: povtrace view has ended.';\n"
		"  }\n"
		"};\n"
		"</script></html>\n",
		name, *range ? range + 1 : range, name, name);
}

/* True if the browser is probably on another machine. */
static bool is_remote(void)
{
	return getenv("SSH_CONNECTION") || (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"));
}

static void addresses_print(const struct view_file *f, const char *range)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1))
		strcpy(host, "HOST");
	if (is_remote())
		log_info("if your browser is on another machine, type there first: "
			 "ssh -L %u:127.0.0.1:%u %s",
			 f->port, f->port, host);
	if (f->port == VIEW_PORT)
		printf(VIEW_ORIGIN "/#!/?url=http://127.0.0.1:%u/%s/%s%s\n", f->port, f->token,
		       f->name, range);
	printf("http://127.0.0.1:%u/%s/\n", f->port, f->token);
	fflush(stdout);
	log_info("%s; povtrace ends when the timeline has been fetched (Ctrl-C ends it before)",
		 f->port == VIEW_PORT ?
			 "open the first address in a browser, or the second one if the browser "
			 "does not let the first read from this machine" :
			 "open this address in a browser");
}

/* ---- the command ---- */

static int timeline_view(const char *path, const char *range, uint16_t port)
{
	struct view_file f = {.port = port, .fd = -1};
	const char *slash = strrchr(path, '/');
	char *name = url_encode(slash ? slash + 1 : path), *html = page_make(name, range);
	int err = timeline_open(path, &f), listener;

	f.name = name;
	f.html = html;
	listener = err ? err : view_listen(&f.port);
	if (listener >= 0) {
		view_token(f.token);
		addresses_print(&f, range);
		err = view_serve(listener, &f);
		close(listener);
		if (!err)
			log_info("%s has been fetched", path);
	} else {
		err = listener;
	}
	if (f.fd >= 0)
		close(f.fd);
	free(name);
	free(html);
	return err;
}

static int recording_view(const char *pov, const struct view_options *o)
{
	char *path = timeline_path(pov), *range = visible_range(pov, o);
	int err = range ? timeline_make(pov, path) : -EINVAL;

	if (!err)
		err = timeline_view(path, range, (uint16_t)o->port);
	free(path);
	free(range);
	return err;
}

static int view_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct view_options *o = opts;

	if (argc != 1) {
		log_error("view: give one recording; see `povtrace help view`");
		return 2;
	}
	if (is_timeline(argv[0]) && o->at_ns) {
		log_error("view: --at needs the recording (.pov), which has the clocks");
		return 2;
	}
	trace_limit_memory(argv, 1);
	if (is_timeline(argv[0]))
		return timeline_view(argv[0], "", (uint16_t)o->port) ? 1 : 0;
	return recording_view(argv[0], o) ? 1 : 0;
}

#define FIELD(name) offsetof(struct view_options, name)
static const struct option_def options[] = {
	{"at", 0, OPTION_SECONDS, FIELD(at_ns), "TIME",
	 .help = "Begin to show at TIME (seconds since the recording's start) instead of showing "
		 "all."},
	{"for", 0, OPTION_SECONDS, FIELD(for_ns), "TIME", .dflt = "0.1", .min = 1,
	 .help = "With --at, show that much at first."},
	{"port", 0, OPTION_U64, FIELD(port), "PORT", .dflt = "9001", .max = 65535,
	 .help = "Serve at this port of 127.0.0.1; 0 is any free one. Perfetto's UI fetches "
		 "from port 9001 only. With another port, open povtrace's page, which hands the "
		 "recording to it."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povtrace view run.pov",
	"print an address, under which a browser shows the recording",
	"povtrace view --at 1.64 --for 20ms run.pov",
	"the same, with 20 ms from 1.64 s on filling the window",
	"povtrace view job.pftrace",
	"a timeline of several recordings, made by povtrace export",
	NULL,
};

const struct command cmd_view = {
	.name = "view",
	.brief = "Show a recording in Perfetto's UI in a browser.",
	.usage = "[options] FILE.pov",
	.details =
		"Use it to look at a timeline without copying files. It writes FILE.pftrace as "
		"`povtrace export` does, unless that exists and is newer than the recording, and "
		"prints two addresses. The first is that of Perfetto's UI, which then fetches the "
		"timeline from this machine. The second is a page of this machine that hands the "
		"timeline to the UI, for browsers that ask or refuse when a web site wants to "
		"fetch from the local machine (Chrome since 142). Either way, the timeline stays "
		"in the browser: Perfetto's UI sends it to no server.\n\n"
		"The command ends when the timeline has been fetched. It serves this one file at "
		"127.0.0.1 under a random name, so other users of the machine cannot read it, and "
		"lets only ui.perfetto.dev read it from a web page. It starts no browser. If the "
		"browser runs on another machine, forward the port: ssh -L 9001:127.0.0.1:9001 "
		"HOST.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct view_options),
	.run = view_run,
};
