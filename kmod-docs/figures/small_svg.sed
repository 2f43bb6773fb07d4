# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
#
# Makes gnuplot's SVG a third smaller: tenths of pixels, rectangles as paths, no indentation, no attributes that are SVG's defaults.
#
#   sed -E -f kmod-docs/figures/small_svg.sed povbench-paper/paper.svg >kmod-docs/figures/paper.svg
s/^\t+//
# The first line has XML's version, and texts have those of libraries.
1b
/<text/b
s/ = /=/g
s/([0-9]\.[0-9])[0-9]\b/\1/g
s/([0-9])\.0\b/\1/g
s/ stroke-linecap="butt" stroke-linejoin="miter"//
s/<polygon (.*) points='([0-9.]+),([0-9.]+) ([0-9.]+),\3 \4,([0-9.]+) \2,\5 '/<path \1 d='M\2,\3H\4V\5H\2z'/
