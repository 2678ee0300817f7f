/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_page.c - frame, style and script of HTML pages. */
#include "output/html_page.h"

/* Neither contains "]]>", which ends CDATA, or the end tag of its element. */
static const char style[] =
	"body{font:15px/1.45 sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;padding:16px 24px;max-width:1200px}\n"
	"h1{font-size:24px;margin:8px 0 4px}\n"
	"h2{font-size:19px;margin:36px 0 4px;padding-top:12px;border-top:1px solid #dcdcdc}\n"
	"p{margin:4px 0 12px;color:#5f5f5f}\n"
	"nav a{margin-right:16px}\n"
	"a{color:#0072b2}\n"
	"pre{font:13px/1.4 monospace;overflow-x:auto}\n"
	"pre.notes{background:#f7f3e6;padding:8px 12px;white-space:pre-wrap}\n"
	/*
	 * Rows are replaced during scrolling: the browser must not adjust the position.
	 */
	".scroll{overflow:auto;max-height:80vh;border:1px solid #dcdcdc;overflow-anchor:none}\n"
	".scroll:focus-visible{outline:2px solid #0072b2}\n"
	"table{border-collapse:separate;border-spacing:0;font-size:13px;width:100%}\n"
	/* Every row is ROW pixels high, which the script relies on. */
	"th,td{padding:3px 10px;line-height:19px;text-align:left;vertical-align:top;white-space:nowrap;box-sizing:border-box}\n"
	"th{position:sticky;top:0;background:#f2f2f2;border-bottom:1px solid #b4b4b4}\n"
	"th button{all:unset;cursor:pointer;font-weight:bold}\n"
	"th button:focus-visible{outline:2px solid #0072b2;outline-offset:3px}\n"
	"th[aria-sort=ascending] button:after{content:' \\25b2'}\n"
	"th[aria-sort=descending] button:after{content:' \\25bc'}\n"
	"tbody tr.even{background:#fafafa}\n"
	"tbody tr:hover{background:#eaf3fa}\n"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"td.x{font-family:monospace}\n"
	"td.na{color:#6f6f6f}\n"
	"p.cut{color:#1a1a1a;font-weight:bold}\n"
	".find{margin:8px 0}\n"
	".find input{font:inherit;padding:2px 6px;width:18em;max-width:60%}\n"
	".find button{font:inherit;margin-left:12px}\n"
	".find span{margin-left:12px;color:#5f5f5f}\n"
	".hint{font-size:12px;margin:2px 0 12px}\n"
	"svg.picture{display:block;max-width:100%;height:auto;touch-action:pan-y}\n"
	"svg.picture:focus-visible{outline:2px solid #0072b2}\n"
	"svg.picture .zoom{cursor:zoom-in}\n"
	/* The picture is shown first, but can only be written after all rows. */
	"section{display:flex;flex-direction:column}\n"
	"section svg.picture{order:1}section .hint{order:2}section .cut{order:3}section noscript{order:3}section .find{order:3}\n"
	"section .scroll{order:4}section pre{order:5}\n"
	/* Elements out of sight are laid out and painted when they are scrolled to. */
	"section{content-visibility:auto;contain-intrinsic-size:auto 900px}\n"
	"@media print{.find,.hint,nav{display:none}.scroll{max-height:none;overflow:visible;border:0}section{content-visibility:visible}th{position:static}}\n";

/*
 * Pictures: a click on a part zooms in, wheel and drag move. Tables are in html_table.c.
 */
static const char script_begin[] =
	"(function () {\n"
	"'use strict';\n"
	"function make(name, to, text) {\n"
	"	var e = document.createElement(name);\n"
	"	if (text) e.textContent = text;\n"
	"	if (to) to.appendChild(e);\n"
	"	return e;\n"
	"}\n"
	"function list(from, what) {\n"
	"	return Array.prototype.slice.call(from.querySelectorAll(what));\n"
	"}\n";

static const char script_end[] =
	"function picture(svg) {\n"
	"	var b = svg.viewBox.baseVal, all = [b.x, b.y, b.width, b.height];\n"
	"	var now = all.slice(), drag = null, moved = false, hint;\n"
	"	function show(x, y, w) {\n"
	"		var h;\n"
	"		w = Math.min(Math.max(w, all[2] / 400), all[2]);\n"
	"		h = w * all[3] / all[2];\n"
	"		now = [Math.min(Math.max(x, 0), all[2] - w), Math.min(Math.max(y, 0), all[3] - h), w, h];\n"
	"		svg.setAttribute('viewBox', now.join(' '));\n"
	"	}\n"
	"	function closer(factor, px, py) {\n"
	"		var w = Math.min(Math.max(now[2] * factor, all[2] / 400), all[2]);\n"
	"		var f = w / now[2];\n"
	"		show(px - (px - now[0]) * f, py - (py - now[1]) * f, w);\n"
	"	}\n"
	"	function at(e) {\n"
	"		var r = svg.getBoundingClientRect();\n"
	"		return [now[0] + (e.clientX - r.left) / r.width * now[2],\n"
	"			now[1] + (e.clientY - r.top) / r.height * now[3]];\n"
	"	}\n"
	"	function part(e) {\n"
	"		var g = e.target.closest('.zoom'), box, w, up;\n"
	"		if (!g || !svg.contains(g)) return;\n"
	/* From outside in: the outermost part that is not zoomed to already. */
	"		for (up = g.parentNode.closest('.zoom'); up; up = up.parentNode.closest('.zoom')) {\n"
	"			box = up.getBBox();\n"
	"			if (box.width < now[2] * 0.9 && box.height < now[3] * 0.9) g = up;\n"
	"		}\n"
	"		box = g.getBBox();\n"
	"		w = Math.max(box.width, box.height * all[2] / all[3]) * 1.04;\n"
	"		if (w > now[2] * 0.98) w = all[2];\n"
	"		show(box.x + box.width / 2 - w / 2,\n"
	"			box.y + box.height / 2 - w * all[3] / all[2] / 2, w);\n"
	"	}\n"
	"	svg.setAttribute('tabindex', '0');\n"
	"	hint = make('p', null, (svg.querySelector('.zoom') ? 'A click on a part looks closer; ' : '') +\n"
	"		'the wheel with Ctrl, a drag, and the keys + - and arrows move; ' +\n"
	"		'0 or Escape shows all.');\n"
	"	hint.className = 'hint';\n"
	"	svg.parentNode.insertBefore(hint, svg.nextSibling);\n"
	"	svg.addEventListener('wheel', function (e) {\n"
	"		var p = at(e);\n"
	"		if (!e.ctrlKey && now[2] === all[2]) return;\n"
	"		e.preventDefault();\n"
	"		closer(e.deltaY > 0 ? 1.2 : 1 / 1.2, p[0], p[1]);\n"
	"	}, { passive: false });\n"
	"	svg.addEventListener('pointerdown', function (e) {\n"
	"		moved = false;\n"
	"		drag = e.button === 0 ? [e.clientX, e.clientY, now[0], now[1]] : null;\n"
	"	});\n"
	"	svg.addEventListener('pointermove', function (e) {\n"
	"		var r;\n"
	"		if (!drag || now[2] === all[2]) return;\n"
	"		if (Math.abs(e.clientX - drag[0]) + Math.abs(e.clientY - drag[1]) > 4) moved = true;\n"
	"		if (!moved) return;\n"
	"		r = svg.getBoundingClientRect();\n"
	"		show(drag[2] - (e.clientX - drag[0]) / r.width * now[2],\n"
	"			drag[3] - (e.clientY - drag[1]) / r.height * now[3], now[2]);\n"
	"	});\n"
	"	['pointerup', 'pointercancel', 'pointerleave'].forEach(function (end) {\n"
	"		svg.addEventListener(end, function () { drag = null; });\n"
	"	});\n"
	"	svg.addEventListener('click', function (e) { if (!moved) part(e); });\n"
	"	svg.addEventListener('keydown', function (e) {\n"
	"		var x = now[0] + now[2] / 2, y = now[1] + now[3] / 2, step = now[2] / 8;\n"
	"		var move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0],\n"
	"			ArrowUp: [0, -step], ArrowDown: [0, step] }[e.key];\n"
	"		if (e.key === '+' || e.key === '=') closer(1 / 1.4, x, y);\n"
	"		else if (e.key === '-') closer(1.4, x, y);\n"
	"		else if (e.key === '0' || e.key === 'Escape') show(0, 0, all[2]);\n"
	"		else if (move && now[2] < all[2]) show(now[0] + move[0], now[1] + move[1], now[2]);\n"
	"		else return;\n"
	"		e.preventDefault();\n"
	"	});\n"
	"}\n"
	"function contents() {\n"
	"	var heads = list(document, 'h2'), nav;\n"
	"	if (heads.length < 2) return;\n"
	"	nav = document.createElement('nav');\n"
	"	heads.forEach(function (h) {\n"
	"		make('a', nav, h.textContent).href = '#' + h.parentNode.id;\n"
	"	});\n"
	"	(document.querySelector('p.about') || document.querySelector('h1'))\n"
	"		.insertAdjacentElement('afterend', nav);\n"
	"}\n"
	"list(document, 'table').forEach(table);\n"
	"list(document, 'svg.picture').forEach(picture);\n"
	"contents();\n"
	"})();\n";

void html_element(struct writer *w, const char *element, const char *class,
		  const char *text)
{
	struct buf b = { 0 };

	text_xml(&b, text);
	writer_char(w, '<');
	writer_str(w, element);
	if (class) {
		writer_str(w, " class=\"");
		writer_str(w, class);
		writer_char(w, '"');
	}
	writer_char(w, '>');
	writer_buf(w, &b);
	buf_deinit(&b);
	writer_str(w, "</");
	writer_str(w, element);
	writer_str(w, ">\n");
}

void html_page_begin(struct writer *w, const char *title)
{
	writer_str(
		w,
		"<!DOCTYPE html>\n"
		"<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\"/>\n"
		/*
		 * Even if a text were not escaped correctly, it could not send anything.
		 */
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		"'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
		"form-action 'none'\"/>\n"
		"<meta name=\"viewport\" content=\"width=device-width\"/>\n");
	html_element(w, "title", NULL, title);
	writer_str(w, "<style>/*<![CDATA[*/\n");
	writer_str(w, style);
	writer_str(w, "/*]]>*/</style>\n</head>\n<body>\n");
	html_element(w, "h1", NULL, title);
	writer_row_end(w);
}

void html_page_end(struct writer *w)
{
	writer_str(w, "<script>//<![CDATA[\n");
	writer_str(w, script_begin);
	writer_str(w, html_script_table);
	writer_str(w, script_end);
	writer_str(w, "//]]></script>\n</body>\n</html>\n");
	writer_row_end(w);
}
