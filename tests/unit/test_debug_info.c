/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Call sites of programs that print each of them: compiled in several ways, run, and looked up.
 * Files that are missing, foreign or damaged give no name and do no harm. golden/call_sites.bats
 * compares with addr2line.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "abi/config.h"
#include "target/elf/elf_file.h"
#include "model/model.h"
#include "site/debug_info.h"
#include "site/site_names.h"
#include "unit/elf_fixture.h"
#include "unit/trace_help.h"

/* Prints the call's return address as an offset in the file, the function and the line. */
#define CALLED                                                                     \
	"#include <stdio.h>\n"                                                     \
	"extern char __executable_start;\n"                                        \
	"static __attribute__((noinline)) void called(const char *in, int line)\n" \
	"{\n"                                                                      \
	"	char *site = (char *)__builtin_return_address(0);\n"                     \
	"	printf(\"%lx %s %d\\n\", site - &__executable_start, in, line);\n"       \
	"}\n"

static const char program[] = CALLED
	"static inline __attribute__((always_inline)) void inner(void)\n"
	"{\n"
	"	called(__func__, __LINE__);\n"
	"	__asm__ volatile(\"\");\n"
	"}\n"
	"static inline __attribute__((always_inline)) void outer(void) { inner(); }\n"
	"__attribute__((noinline, noreturn)) static void last(void)\n"
	"{\n"
	"	extern void exit(int) __attribute__((noreturn));\n"
	"	called(__func__, __LINE__);\n"
	"	fflush(stdout);\n"
	"	exit(0);\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	called(__func__, __LINE__); called(__func__, __LINE__);\n"
	"	inner();\n"
	"	outer();\n"
	"#line 4711 \"elsewhere/other.c\"\n"
	"	called(__func__, __LINE__);\n"
	"	last();\n"
	"}\n";

#define CALLS 6

static struct {
	uint64_t offset;
	char function[64];
	uint32_t line;
} place[CALLS];

/* Runs the program at path and reads what it prints. */
static void places_read(const char *path)
{
	FILE *out = popen(path, "re");

	assert_non_null(out);
	for (size_t i = 0; i < CALLS; i++)
		assert_int_equal(fscanf(out, "%" SCNx64 " %63s %" SCNu32, &place[i].offset,
					place[i].function, &place[i].line),
				 3);
	assert_int_equal(pclose(out), 0);
}

static char *program_build(const char *flags)
{
	char *path = fixture_build("site.c", program, flags);

	places_read(path);
	return path;
}

static char *build_id_of(const char *path)
{
	struct elf_file *f;
	char *id;

	assert_int_equal(elf_file_open(path, &f), 0);
	id = xstrdup(elf_file_headers(f)->build_id);
	elf_file_close(f);
	return id;
}

static int open_it(const char *path, const char *build_id, struct debug_info **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return debug_info_open(fd, path, build_id, out);
}

/*
 * Opens the file again and looks up one offset. Returns "FUNCTION LINE FILE" or, without debug
 * information, "FUNCTION+OFFSET"; or "none".
 */
static const char *found_at(const char *path, uint64_t offset)
{
	static char text[PATH_MAX + 128];
	struct debug_place found;
	struct debug_info *d;

	assert_int_equal(open_it(path, "", &d), 0);
	if (!debug_info_find(d, offset, &found))
		strcpy(text, "none");
	else if (found.file)
		snprintf(text, sizeof(text), "%s %u %s", found.function, found.line, found.file);
	else
		snprintf(text, sizeof(text), "%s+%" PRIu64, found.function, found.function_offset);
	debug_info_close(d);
	return text;
}

/* Runs the words with sh -c in the directory of path. $f is path there. */
static void command(const char *path, const char *words)
{
	char *cmd = xasprintf("f=%s; cd \"$(dirname $f)\" && %s", path, words);

	if (system(cmd))
		fail_msg("failed: %s", cmd);
	free(cmd);
}

/* Asserts that each line and function is the one that the program printed. */
static void assert_found(const char *path)
{
	char *id = build_id_of(path);
	struct debug_place found;
	struct debug_info *d;

	places_read(path);
	assert_int_equal(open_it(path, id, &d), 0);
	for (size_t i = 0; i < CALLS; i++) {
		assert_true(debug_info_find(d, place[i].offset, &found));
		assert_non_null(found.file);
		assert_string_equal(found.function, place[i].function);
		assert_int_equal(found.line, place[i].line);
		assert_non_null(strstr(found.file, i == 4 ? "elsewhere/other.c" : "site.c"));
	}
	debug_info_close(d);
	free(id);
}

TEST(lines)
{
	static const char *const flags[] = {
		"-g -O0",	  "-g -O2",	"-gdwarf-4 -O2",  "-gdwarf-5 -O2",
		"-g -O2 -no-pie", "-g -O2 -gz", "-g -O1 -static", "-g -O2 -Wl,-z,noseparate-code",
	};

	for (size_t i = 0; i < COUNT(flags); i++) {
		char *path = fixture_build("site.c", program, flags[i]);

		assert_found(path);
		free(path);
	}
}

/* Functions of MPI's C++ bindings, which compilers inline into the program's own functions. */
static const char cxx_program[] = CALLED
	"#define INLINE inline __attribute__((always_inline))\n"
	"namespace MPI {\n"
	"struct Comm {\n"
	"	INLINE void Send(const char *in, int line) const { called(in, line); }\n"
	"	INLINE void Bsend(const char *in, int line) const { Send(in, line); }\n"
	"};\n"
	"INLINE void Init(const char *in, int line) { called(in, line); }\n"
	"}\n"
	"namespace boost { namespace mpi {\n"
	"INLINE void broadcast(const char *in, int line) { MPI::Comm().Send(in, line); }\n"
	"} }\n"
	"namespace heat {\n"
	"INLINE void solve() { MPI::Comm().Bsend(__func__, __LINE__); }\n"
	"}\n"
	"int main()\n"
	"{\n"
	"	MPI::Init(__func__, __LINE__);\n"
	"	MPI::Comm().Send(__func__, __LINE__); MPI::Comm().Bsend(__func__, __LINE__);\n"
	"	boost::mpi::broadcast(__func__, __LINE__);\n"
	"	heat::solve();\n"
	"	called(__func__, __LINE__);\n"
	"}\n";

TEST(bindings)
{
	static const char *const flags[] = {"-w -g -O2", "-w -gdwarf-4 -O2", "-w -g -O0"};

	fixture_need("g++");
	for (size_t i = 0; i < COUNT(flags); i++) {
		char *path = fixture_build("bindings.cc", cxx_program, flags[i]), want[96];

		places_read(path);
		for (size_t k = 0; k < CALLS; k++) {
			snprintf(want, sizeof(want), "%s %u ", place[k].function, place[k].line);
			assert_non_null(strstr(found_at(path, place[k].offset), want));
		}
		free(path);
	}
}

/* clang writes no table of addresses. */
TEST(clang)
{
	char *path;

	fixture_need("clang");
	path = fixture_build("site.c", program, "-g");
	command(path, "clang -w -O2 -gdwarf-4 site.c -o $f");
	assert_found(path);
	command(path, "clang -w -O2 -gdwarf-5 site.c -o $f");
	assert_found(path);
	free(path);
}

/* A stripped file with separate debug information next to it; then with another program's. */
TEST(separate)
{
	char *path;

	fixture_need("objcopy");
	path = program_build("-g -O2");
	command(path, "objcopy --only-keep-debug $f $f.debug && strip $f && "
		      "objcopy --add-gnu-debuglink=$f.debug $f");
	assert_found(path);
	command(path, "sed 's/^int main/\\n\\n&/' site.c >new.c && gcc -w -g -O2 new.c -o new && "
		      "objcopy --only-keep-debug new $f.debug");
	for (size_t i = 0; i < CALLS; i++)
		assert_string_equal(found_at(path, place[i].offset), "none");
	free(path);
}

static void assert_function(const char *path, int call, const char *function)
{
	assert_memory_equal(found_at(path, place[call].offset), function, strlen(function));
}

/* Symbols in the C++ mangling, and one that only resembles it. */
TEST(mangled)
{
	static const struct {
		const char *of_last, *of_main, *last, *main;
	} names[] = {
		{"_ZN4heat5solveILi3EEEvPKdi", "_Zmain", "heat::solve<3>+", "_Zmain+"},
		{"_ZNK4heat4CellclESt6vectorIdE", "_ZN12_GLOBAL__N_14stepEPFivE",
		 "heat::Cell::operator()+", "(anonymous namespace)::step+"},
	};
	void *cxx = dlopen("libstdc++.so.6", RTLD_NOW);
	char *path, *words;

	fixture_need("objcopy");
	for (size_t i = 0; i < 2; i++) {
		path = program_build("-O0 -Wl,-z,noseparate-code");
		words = xasprintf("objcopy --redefine-sym last=%s --redefine-sym main=%s $f",
				  names[i].of_last, names[i].of_main);
		command(path, words);
		assert_function(path, 5, cxx ? names[i].last : names[i].of_last);
		assert_function(path, 0, cxx ? names[i].main : names[i].of_main);
		free(words);
		free(path);
	}
	if (cxx)
		dlclose(cxx);
}

TEST(refused)
{
	static const char *const no_elf[] = {"\177ELF, it says", "#!"};
	char *path = fixture_build("site.c", program, "-g"), *id = build_id_of(path), *text;
	struct debug_info *d;

	assert_true(strlen(id) > 16);
	id[strlen(id) - 1] ^= 1;
	assert_int_equal(open_it(path, id, &d), -ESTALE);
	id[strlen(id) - 2] = '\0';
	assert_int_equal(open_it(path, id, &d), -ESTALE);
	free(path);
	path = fixture_build("site.c", program, "-g -Wl,--build-id=none");
	assert_int_equal(open_it(path, id, &d), -ESTALE);
	for (size_t i = 0; i < 2; i++) {
		text = fixture_write("text", no_elf[i], strlen(no_elf[i]));
		assert_int_equal(open_it(text, "", &d), -ENOEXEC);
		free(text);
	}
	free(path);
	free(id);
}

/* ---- in a separate process ---- */

/* Returns the povtrace-lines that was built with this test. */
static const char *lines_program(void)
{
	static char path[PATH_MAX + 32];

	memset(path, 0, sizeof(path));
	assert_true(readlink("/proc/self/exe", path, PATH_MAX) > 0);
	for (int i = 0; i < 2; i++)
		*strrchr(path, '/') = '\0';
	return strcat(path, "/povtrace-lines");
}

/* Asks a program for a call site of a file: "FUNCTION LINE", or "none". */
static const char *found_by(const char *with, const char *path, const char *build_id,
			    uint64_t stamp, uint64_t offset)
{
	static char text[SITE_NAME_BYTES + 16];
	char function[SITE_NAME_BYTES + 1], source[SITE_NAME_BYTES + 1];
	const struct model_module file = {path, build_id, stamp};
	struct module_names n;
	struct site_answer a;
	bool found;

	module_names_start(&n, with, &file);
	found = module_names_find(&n, offset, &a, function, source);
	strcpy(text, "none");
	if (found)
		snprintf(text, sizeof(text), "%s %u", function, a.line);
	/* It can be asked again, whatever the answer. */
	assert_int_equal(module_names_find(&n, offset, &a, function, source), found);
	module_names_stop(&n);
	return text;
}

static uint64_t stamp_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return POV_FILE_STAMP(st.st_ctim.tv_sec, st.st_ctim.tv_nsec, st.st_size);
}

TEST(process)
{
	const char *lines = lines_program();
	char *path = program_build("-g -O2"), *id = build_id_of(path), wanted[64];
	uint64_t at = place[0].offset, stamp = stamp_of(path);

	snprintf(wanted, sizeof(wanted), "main %u", place[0].line);
	assert_string_equal(found_by(lines, path, id, 0, at), wanted);
	assert_string_equal(found_by(lines, path, id, 0, 1ull << 40), "none");
	assert_string_equal(found_by("/nowhere/povtrace-lines", path, id, 0, at), "none");
	assert_string_equal(found_by("/bin/true", path, id, 0, at), "none");
	assert_string_equal(found_by("/usr/bin/yes", path, id, 0, at), "none");
	assert_string_equal(found_by(lines, path, "00", 0, at), "none");
	/* Without a build ID, the stamp identifies the file. */
	assert_string_equal(found_by(lines, path, "", 0, at), "none");
	assert_string_equal(found_by(lines, path, "", stamp, at), wanted);
	assert_string_equal(found_by(lines, path, "", stamp + 1, at), "none");
	assert_string_equal(found_by(lines, "/", "", stamp_of("/"), at), "none");
	command(path, "rm $f && mkfifo $f");
	assert_string_equal(found_by(lines, path, "", stamp_of(path), at), "none");
	command(path, "rm $f");
	assert_string_equal(found_by(lines, path, "", stamp, at), "none");
	free(path);
	free(id);
}

#define DAMAGED 60

/* Some bytes are changed and the file may end early. Any answer, or none, is accepted. */
TEST(damaged)
{
	char *path = program_build("-g -O2"), *bad;
	unsigned int seed = 1, found = 0;
	uint8_t *whole, *copy;
	size_t cnt;

	file_load(path, &whole, &cnt);
	copy = xmalloc(cnt);
	for (unsigned int i = 0; i < DAMAGED; i++) {
		memcpy(copy, whole, cnt);
		for (unsigned int k = 0; k < 1u << i % 12; k++)
			copy[(unsigned int)rand_r(&seed) % cnt] = (uint8_t)rand_r(&seed);
		memcpy(copy, whole, i % 3 ? 0x40 : 0);
		bad = fixture_write("bad", copy, i % 5 ? cnt : cnt * (i % 11) / 11);
		found += strcmp(found_by(lines_program(), bad, "", stamp_of(bad),
					 place[i % CALLS].offset),
				"none") != 0;
		free(bad);
	}
	assert_true(found > 0 && found < DAMAGED);
	free(copy);
	free(whole);
	free(path);
}
