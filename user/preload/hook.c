/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A jump has a 32-bit distance, so its target must be near the library. For each function there is
 * a stub near the library: code that loads the function's struct hook and goes to hook_enter,
 * followed by the instructions that the jump displaced. Jumps are written through /proc/self/mem,
 * which leaves the mappings as they are. If that is forbidden, the code is made writable for a
 * moment. If that is forbidden, too, nothing has been changed yet, and no function is hooked.
 */

#include <linux/fcntl.h>
#include <linux/mman.h>

#include "preload/library.h"

#define COPIES_MAX 32

bool hook_by_protection;
#define REACH (1900ull << 20) /* reach of a jump, with a margin */
#define NEAR_STEP (16ull << 20)
#define PAGE PAGE_ZERO_BYTES

/* The target of a jump. */
struct stub {
	u8 load[7]; /* lea hook(%rip), %r11 */
	u8 go[6];   /* jmp *hook.enter(%rip) */
	u8 pad[3];
	struct hook hook;
	u8 moved[88];
};
_Static_assert(sizeof(struct stub) == 128, "two cache lines");
_Static_assert(offsetof(struct hook, moved) == 8 && offsetof(struct hook, nargs) == 22 &&
		       offsetof(struct hook, flags) == 23,
	       "enter.S uses these offsets");

/* A mapped copy of a library. */
static struct copy {
	u64 bias;
	const void *dynamic; /* NULL: free */
	struct stub *stubs;
	u64 bytes;
} copies[COPIES_MAX];

static void put_32(u8 *at, u64 value)
{
	u32 low = (u32)value;

	memcpy(at, &low, sizeof(low));
}

/* Sets the target of an instruction that ends at `end`, in its last bytes. */
static void put_target(u8 *end, u64 target)
{
	put_32(end - 4, target - (u64)end);
}

static u8 *jump_put(u8 *at, u64 target)
{
	*at = 0xe9;
	put_target(at + POV_HOOK_JUMP, target);
	return at + POV_HOOK_JUMP;
}

static bool is_near(u64 a, u64 b)
{
	return a - b < REACH || b - a < REACH;
}

/* Allocates memory near an address; NULL if there is none. */
static void *near_make(u64 about, u64 bytes)
{
	u64 hint = 0;
	long p;

	for (u64 away = 0; away < REACH; away += NEAR_STEP, hint = about - away) {
		p = sys6(__NR_mmap, (long)hint, (long)bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_failed(p))
			return NULL;
		if (is_near((u64)p, about))
			return (void *)p;
		sys3(__NR_munmap, p, (long)bytes, 0);
	}
	return NULL;
}

static bool code_protect(u64 from, u64 to, int how)
{
	from &= ~(PAGE - 1ull);
	to = (to + PAGE - 1) & ~(PAGE - 1ull);
	return !sys3(__NR_mprotect, (long)from, (long)(to - from), how);
}

/* ---- the hooked function's code ---- */

struct code {
	long memory;  /* /proc/self/mem, or -errno */
	u64 from, to; /* range made writable if memory is an error */
};

static bool code_open(struct code *c, u64 from, u64 to)
{
	*c = (struct code){.memory = -EPERM, .from = from, .to = to};
	if (!hook_by_protection)
		c->memory = sys4(__NR_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC,
				 0);
	return !sys_failed(c->memory) || code_protect(from, to, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static bool code_jump(const struct code *c, u64 at, u64 target)
{
	u8 jump[POV_HOOK_JUMP] = {0xe9};

	put_32(jump + 1, target - (at + POV_HOOK_JUMP));
	if (!sys_failed(c->memory))
		return sys4(__NR_pwrite64, c->memory, (long)jump, sizeof(jump), (long)at) ==
		       sizeof(jump);
	memcpy((void *)at, jump, sizeof(jump));
	return true;
}

static void code_close(const struct code *c)
{
	if (!sys_failed(c->memory))
		sys3(__NR_close, c->memory, 0, 0);
	else
		code_protect(c->from, c->to, PROT_READ | PROT_EXEC);
}

/* ---- a stub ---- */

static void moved_make(u8 *to, const struct pov_hook *h, u64 bias)
{
	u64 next = bias + h->address + h->bytes;
	u8 *end = to + h->moved_bytes;
	u32 refs = h->targets - !!(h->flags & POV_HOOK_CALLS);

	memcpy(to, h->moved, h->moved_bytes);
	for (u32 i = 0; i < refs; i++)
		put_32(to + h->ref[i].at, bias + h->target[i] - (u64)(to + h->ref[i].end));
	if (h->flags & POV_HOOK_GOES_ON)
		jump_put(end, next);
	if (!(h->flags & POV_HOOK_CALLS))
		return;
	end[0] = 0xff; /* push 5(%rip): the word after the jump that follows */
	end[1] = 0x35;
	put_32(end + 2, POV_HOOK_JUMP);
	end = jump_put(end + 6, bias + h->target[refs]);
	memcpy(end, &next, sizeof(next));
}

static void stub_make(struct stub *s, const struct pov_hook *h,
		      const struct pov_preload_library *library)
{
	static const u8 load[] = {0x4c, 0x8d, 0x1d}, go[] = {0xff, 0x25};

	memcpy(s->load, load, sizeof(load));
	put_target(s->load + sizeof(s->load), (u64)&s->hook);
	memcpy(s->go, go, sizeof(go));
	put_target(s->go + sizeof(s->go), (u64)&s->hook.enter);
	s->hook = (struct hook){
		.enter = (u64)hook_enter,
		.moved = (u64)s->moved,
		.row = h->row,
		.lib = library->lib,
		.nargs = h->nargs,
		.flags = h->flags,
	};
	moved_make(s->moved, h, library->bias);
}

/*
 * Checks sizes. The collector's data is in memory that the process cannot change, but it is checked
 * all the same.
 */
static bool hook_fits(const struct pov_hook *h)
{
	return h->bytes >= POV_HOOK_JUMP && h->bytes <= POV_HOOK_CODE &&
	       h->moved_bytes <= POV_HOOK_MOVED && h->targets <= POV_HOOK_TARGETS;
}

static bool code_is(const struct pov_hook *h, u64 bias)
{
	return hook_fits(h) && !memcmp((const void *)(bias + h->address), h->code, h->bytes);
}

/* ---- a library ---- */

struct place {
	u64 bias;
	const void *dynamic;
};

static bool at_bias(void *ctx, const struct link_map *map)
{
	struct place *p = ctx;

	if (map->l_addr == p->bias)
		p->dynamic = map->l_ld;
	return !p->dynamic;
}

static struct copy *copy_find(const struct place *p)
{
	for (struct copy *c = copies; c < copies + COPIES_MAX; c++)
		if (c->bias == p->bias && c->dynamic == p->dynamic)
			return c;
	return NULL;
}

/* Computes the range from the first function's code to the last one's. */
static void code_range(const struct pov_hook *hooks, u32 cnt, u64 bias, u64 *from, u64 *to)
{
	*from = ~0ull;
	*to = 0;
	for (u32 i = 0; i < cnt; i++) {
		u64 at = bias + hooks[i].address;

		if (at < *from)
			*from = at;
		if (at + hooks[i].bytes > *to)
			*to = at + hooks[i].bytes;
	}
}

/*
 * Returns true if all functions have the expected code. Otherwise none of them is hooked: if one
 * call is recorded by jumps and the call inside it by probes, nobody can tell which is the inner
 * one. If another tool has set breakpoints, it has mostly done so in many functions.
 */
static bool code_is_all(const struct pov_hook *hooks, u32 cnt, u64 bias)
{
	for (u32 i = 0; i < cnt; i++)
		if (!code_is(&hooks[i], bias))
			return false;
	return true;
}

static u32 jumps_write(const struct copy *c, const struct code *code, const struct pov_hook *hooks,
		       u32 cnt)
{
	u32 written = 0;

	for (u32 i = 0; i < cnt; i++)
		written += code_jump(code, c->bias + hooks[i].address, (u64)&c->stubs[i]);
	return written;
}

static u32 copy_hook(struct copy *c, const struct pov_preload_library *library,
		     const struct pov_hook *hooks)
{
	struct code code;
	u64 from, to;
	u32 cnt;

	code_range(hooks, library->cnt, c->bias, &from, &to);
	c->bytes = (library->cnt * sizeof(struct stub) + PAGE - 1) & ~(PAGE - 1ull);
	c->stubs = code_is_all(hooks, library->cnt, c->bias) ? near_make(from, c->bytes) : NULL;
	if (!c->stubs)
		goto none;
	for (u32 i = 0; i < library->cnt; i++)
		stub_make(&c->stubs[i], &hooks[i], library);
	if (!is_near((u64)c->stubs, to) ||
	    !code_protect((u64)c->stubs, (u64)c->stubs + c->bytes, PROT_READ | PROT_EXEC) ||
	    !code_open(&code, from, to))
		goto none;
	cnt = jumps_write(c, &code, hooks, library->cnt);
	code_close(&code);
	/*
	 * Otherwise the kernel would write all of the mapping into core dumps, because it was
	 * changed.
	 */
	sys3(__NR_madvise, (long)library->code, (long)library->code_bytes, MADV_DONTDUMP);
	return cnt;
none:
	if (c->stubs)
		sys3(__NR_munmap, (long)c->stubs, (long)c->bytes, 0);
	c->stubs = NULL;
	return 0;
}

u32 hook_library(const struct pov_preload_library *library, const struct pov_hook *hooks)
{
	struct place p = {.bias = library->bias};
	struct copy *c;

	loaded_each(at_bias, &p);
	if (!p.dynamic || !library->cnt || copy_find(&p))
		return 0;
	c = copy_find(&(struct place){0});
	if (!c)
		return library->cnt;
	*c = (struct copy){.bias = p.bias, .dynamic = p.dynamic};
	return library->cnt - copy_hook(c, library, hooks);
}

struct still {
	const struct copy *copy;
	bool there;
};

static bool is_there(void *ctx, const struct link_map *map)
{
	struct still *s = ctx;

	s->there = map->l_addr == s->copy->bias && map->l_ld == s->copy->dynamic;
	return !s->there;
}

void hook_forget(void)
{
	for (struct copy *c = copies; c < copies + COPIES_MAX; c++) {
		struct still s = {.copy = c};

		if (!c->dynamic)
			continue;
		loaded_each(is_there, &s);
		if (s.there)
			continue;
		if (c->stubs)
			sys3(__NR_munmap, (long)c->stubs, (long)c->bytes, 0);
		*c = (struct copy){0};
	}
}

/* ---- a function that does nothing ---- */

/*
 * Checks for a return with only known bytes before it, and padding after it up to the next
 * function.
 */
static bool is_return(const u8 *code)
{
	static const u8 endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	u32 i = !memcmp(code, endbr, sizeof(endbr)) ? sizeof(endbr) : 0;

	if (code[i] == 0xf3) /* rep ret */
		i++;
	if (code[i++] != 0xc3)
		return false;
	for (; i < POV_HOOK_JUMP; i++)
		if (code[i] != 0x90 && code[i] != 0xcc && code[i] != 0x66 && code[i] != 0x2e &&
		    code[i] != 0x0f && code[i] != 0x1f)
			return false;
	return true;
}

bool hook_jump(void *at, void (*function)(void))
{
	u64 from = (u64)at;
	struct code code;
	bool put;

	if (!is_near(from, (u64)function) || !code_open(&code, from, from + POV_HOOK_JUMP))
		return false;
	put = code_jump(&code, from, (u64)function);
	code_close(&code);
	return put;
}

bool hook_return(void *at, void (*function)(void))
{
	return is_return(at) && hook_jump(at, function);
}
