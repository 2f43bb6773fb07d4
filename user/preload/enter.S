/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * hook_enter: a hooked function was called; r11 has its struct hook. All other registers and the
 * stack are as its caller left them. The function is called from a frame of its own, with unwind
 * information, and gets copies of the arguments on the stack. Registers that carry arguments or
 * return values are preserved. A function with a variable number of arguments is not called:
 * execution continues in it after its record is complete, so that it finds its caller's stack.
 */

/* struct hook */
#define MOVED 8
#define NARGS 22
#define FLAGS 23
#define ANY_ARGS 2

/* below rbp */
#define HOOK -8
#define RAX -16
#define MARK -24 /* MARK_CALLER before the return address */
#define BEGUN -32
#define XMM0 -48
#define ARGS (-48 - 16 * 8)
#define FRAME (48 + 16 * 8)
#define SPARE_XMM 128 /* ANY_ARGS: eight registers, below the frame */

	.text
	.globl hook_enter
	.hidden hook_enter
	.type hook_enter, @function
	.balign 16
hook_enter:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub $FRAME, %rsp
	and $-16, %rsp			/* hand-written callers may leave it unaligned */
	mov %r11, HOOK(%rbp)
	mov %rax, RAX(%rbp)
	mov %rdi, ARGS(%rbp)
	mov %rsi, ARGS+8(%rbp)
	mov %rdx, ARGS+16(%rbp)
	mov %rcx, ARGS+24(%rbp)
	mov %r8, ARGS+32(%rbp)
	mov %r9, ARGS+40(%rbp)
	movzbl NARGS(%r11), %ecx
	cmp $6, %ecx
	jbe 2f
	xor %eax, %eax
1:	mov 16(%rbp,%rax,8), %rdx	/* arguments 7 and up */
	mov %rdx, ARGS+48(%rbp,%rax,8)
	inc %eax
	lea 6(%rax), %edx
	cmp %ecx, %edx
	jb 1b
2:	testb $ANY_ARGS, FLAGS(%r11)
	jnz 5f
	mov %r11, %rdi
	lea ARGS(%rbp), %rsi
	lea MARK(%rbp), %rdx
	call record_begin
	mov %al, BEGUN(%rbp)
	mov HOOK(%rbp), %r11
	movzbl NARGS(%r11), %ecx
	sub $6, %ecx
	jbe 4f
	mov %ecx, %eax			/* the stack stays aligned */
	inc %eax
	and $-2, %eax
	neg %rax
	lea (%rsp,%rax,8), %rsp
3:	dec %ecx
	mov ARGS+48(%rbp,%rcx,8), %rdx
	mov %rdx, (%rsp,%rcx,8)
	jnz 3b
4:	mov ARGS(%rbp), %rdi
	mov ARGS+8(%rbp), %rsi
	mov ARGS+16(%rbp), %rdx
	mov ARGS+24(%rbp), %rcx
	mov ARGS+32(%rbp), %r8
	mov ARGS+40(%rbp), %r9
	mov RAX(%rbp), %rax
	call *MOVED(%r11)
	cmpb $0, BEGUN(%rbp)
	je 6f
	mov %rax, RAX(%rbp)
	movups %xmm0, XMM0(%rbp)
	lea MARK(%rbp), %rdi
	mov %rax, %rsi
	mov 8(%rbp), %rdx
	call record_end
	mov RAX(%rbp), %rax
	movups XMM0(%rbp), %xmm0
6:	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state

5:	sub $SPARE_XMM, %rsp
	movaps %xmm0, (%rsp)
	movaps %xmm1, 16(%rsp)
	movaps %xmm2, 32(%rsp)
	movaps %xmm3, 48(%rsp)
	movaps %xmm4, 64(%rsp)
	movaps %xmm5, 80(%rsp)
	movaps %xmm6, 96(%rsp)
	movaps %xmm7, 112(%rsp)
	mov %r11, %rdi
	lea ARGS(%rbp), %rsi
	lea MARK(%rbp), %rdx
	call record_begin
	test %al, %al
	jz 7f
	lea MARK(%rbp), %rdi
	xor %esi, %esi
	mov 8(%rbp), %rdx
	call record_end
7:	movaps (%rsp), %xmm0
	movaps 16(%rsp), %xmm1
	movaps 32(%rsp), %xmm2
	movaps 48(%rsp), %xmm3
	movaps 64(%rsp), %xmm4
	movaps 80(%rsp), %xmm5
	movaps 96(%rsp), %xmm6
	movaps 112(%rsp), %xmm7
	mov ARGS(%rbp), %rdi
	mov ARGS+8(%rbp), %rsi
	mov ARGS+16(%rbp), %rdx
	mov ARGS+24(%rbp), %rcx
	mov ARGS+32(%rbp), %r8
	mov ARGS+40(%rbp), %r9
	mov RAX(%rbp), %rax
	mov HOOK(%rbp), %r11
	leave
	.cfi_def_cfa %rsp, 8
	jmp *MOVED(%r11)
	.cfi_endproc
	.size hook_enter, . - hook_enter

/* hook_call(hook): as if the hooked function were called. */
	.globl hook_call
	.hidden hook_call
	.type hook_call, @function
	.balign 16
hook_call:
	mov %rdi, %r11
	jmp hook_enter
	.size hook_call, . - hook_call

	.globl hook_nothing
	.hidden hook_nothing
	.type hook_nothing, @function
	.balign 16
hook_nothing:
	xor %eax, %eax
	ret
	.size hook_nothing, . - hook_nothing

/*
 * exec_enter: execve was called. Calls exec_before, which executes the program itself if it wants
 * another environment for it. Else execve's first instruction is executed here, and execve
 * continues after it.
 */
	.globl exec_enter
	.hidden exec_enter
	.type exec_enter, @function
	.balign 16
exec_enter:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rdi
	push %rsi
	push %rdx
	push %rdx
	call exec_before
	mov -8(%rbp), %rdi
	mov -16(%rbp), %rsi
	mov -24(%rbp), %rdx
	mov $59, %eax
	leave
	.cfi_def_cfa %rsp, 8
	jmp *exec_goes_on(%rip)
	.cfi_endproc
	.size exec_enter, . - exec_enter
	.section .note.GNU-stack, "", @progbits
