#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The list of targets at the end of `make bench`: rows of a log, of each form.
# shellcheck source=tests/cli/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

t "each target is listed, with the first figure of its block"
cat >log.txt <<'EOF'
CPU: any
cores: 2, load now: 0.10

walk scattered, ns an address                     median      best  to plain  target
  plain walk                                       26.00     25.00     1.00x
  batch                                            12.00     11.00     0.46x  0.5x met
  single                                           60.00     55.00     2.31x  1.5x MISSED
  of no target                                     60.00     55.00     2.31x

live                                              median
  not measured: it needs privileges

recording, every object, one CPU, QEMU 10
  bound: callbacks that do nothing, times as slow            1.60 x
  every object, times as slow                                1.98 x        at most 2.0 met
  without the recorder                                       4.70 s
  alone                                         55.00                      at least 50 met
EOF
run "$top/bench/targets" log.txt
out <<'EOF'

Targets
  met      walk scattered, ns an address: batch: 12.00 11.00 0.46x 0.5x (beside: plain walk 26.00)
  MISSED   walk scattered, ns an address: single: 60.00 55.00 2.31x 1.5x (beside: plain walk 26.00)
  unknown  live: not measured: it needs privileges
  met      recording, every object, one CPU, QEMU 10: every object, times as slow: 1.98 x at most 2.0 (beside: bound: callbacks that do nothing, times as slow 1.60 x)
  met      recording, every object, one CPU, QEMU 10: alone: 55.00 at least 50 (beside: bound: callbacks that do nothing, times as slow 1.60 x)
3 met, 1 missed, 1 not measured
EOF

t "a log without targets"
: >log.txt
run "$top/bench/targets" log.txt
out <<'EOF'

Targets
0 met, 0 missed, 0 not measured
EOF

finish
