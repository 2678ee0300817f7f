/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * full.S - a machine without a kernel: 129000 instructions that each write once, more
 * than a recorder has room for in the least memory. A BIOS of two segments.
 */
	.code16
	.org 0
	.rept 65000
	pushw %ax
	.endr
	ljmp $0xf000, $0
	.org 0x10000
start:	cli
	.rept 64000
	pushw %ax
	.endr
	movb $0, %al
	outb %al, $0xf4
1:	hlt
	jmp 1b
	.org 0x1fff0
	cli
	xorw %ax, %ax
	movw %ax, %ss
	movw $0x7000, %sp
	ljmp $0xe000, $0
	.org 0x1ffff
	.byte 0
