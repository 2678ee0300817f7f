/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.S - a machine without a kernel that never stands still: over and over one word is
 * read and written, and another pushed and popped.
 */
	.code16
	.org 0
start:	cli
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %ss
	movw $0x7000, %sp
1:
change:	incw 0x520
push:	pushw %ax
pop:	popw %ax
	jmp 1b
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
