/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.S - a machine without a kernel: known loads and stores in place of a BIOS, and
 * then it switches the machine off or stands still. How often each instruction touches
 * memory is counted in kmap/tests/cli/kmap-record.sh.
 */
	.code16
	.org 0
start:	cli
	cld
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	movw $0x7000, %sp
	movw $1000, %cx
1:
load:	movw 0x500, %ax
	loop 1b
	movw $500, %cx
1:
store:	movw %ax, 0x510
	loop 1b
	movw $77, %cx
1:
change:	incw 0x520
	loop 1b
	movw $3, %dx
1:	movw $0x600, %di
	movw $256, %cx
fill:	rep stosb
	decw %dx
	jnz 1b
	movw $10, %dx
1:	movw $0x600, %si
	movw $0x800, %di
	movw $64, %cx
copy:	rep movsw
	decw %dx
	jnz 1b
	movw $9, %dx
1:
push:	pushw %ax
pop:	popw %ax
	decw %dx
	jnz 1b
	movb $0, %al
	outb %al, $0xf4
1:	hlt
	jmp 1b
	.org 0xfff0
	ljmp $0xf000, $0
	.org 0xffff
	.byte 0
