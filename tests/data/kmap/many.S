/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many.S - a machine without a kernel, and 60000 instructions that each write once: a
 * recording of more bytes than a socket keeps for a reader.
 */
	.code16
	.org 0
start:	cli
	xorw %ax, %ax
	movw %ax, %ss
	movw $0x7000, %sp
	.rept 60000
	pushw %ax
	.endr
	movb $0, %al
	outb %al, $0xf4
1:	hlt
	jmp 1b
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
