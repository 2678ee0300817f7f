/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls.S - a machine without a kernel, as bare.S is: known calls, of both kinds. */
	.code16
	.org 0
start:	cli
	xorw %ax, %ax
	movw %ax, %ss
	movw $0x7000, %sp
	movw $10, %cx
	.balign 16, 0x90
direct:	calll f
	loop direct
	movw $7, %cx
	movw $g, %bx
	.balign 16, 0x90
indirect: callw *%bx
	loop indirect
	movw $3, %cx
	movw $h, %bx
	.balign 16, 0x90
again:	callw *%bx
	loop again
	movb $0, %al
	outb %al, $0xf4
1:	hlt
	jmp 1b
	.balign 16, 0x90
f:	nop
	retl
	.balign 16, 0x90
g:	retw
	.balign 16, 0x90
h:	calll f
	retw
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
