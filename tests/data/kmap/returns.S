/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * returns.S - a machine without a kernel: one call of each of 60000 places, more than a
 * recorder has room for in the least memory.
 */
	.code16
	.org 0
start:	cli
	xorw %ax, %ax
	movw %ax, %ss
	movw $0x7000, %sp
	movw $1f, %bx
	movw $60000, %cx
	.balign 16, 0x90
call:	callw *%bx
	incw %bx
	loop call
	movb $0, %al
	outb %al, $0xf4
2:	hlt
	jmp 2b
1:	.rept 60000
	retw
	.endr
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
