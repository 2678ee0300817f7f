/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * two.S - a machine without a kernel whose two CPUs never stand still: each reads and
 * writes a word of its own, and both push and pop another in code that they share.
 *
 * A CPU that waits is woken at 0xf0000, which is where the first one begins, too.
 */
	.code16
	.org 0
start:	cli
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %ss
	movl $0x1b, %ecx
	rdmsr
	testl $0x100, %eax              /* the first one? */
	jz second
	orl $0x400, %eax                /* its APIC by MSRs: it lies above what is reached here */
	wrmsr
	movl $0x830, %ecx
	xorl %edx, %edx
	movl $0xc46f0, %eax             /* to all others: begin at 0xf0000 */
	wrmsr
	movw $0x7000, %sp
	jmp first

	.org 0x100
first:	incw 0x520
	call both
	jmp first

	.org 0x200
second:	movw $0x6000, %sp
1:	incw 0x540
	call both
	jmp 1b

	.org 0x300
both:	pushw %ax
	popw %ax
	ret
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
