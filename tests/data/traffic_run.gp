set encoding utf8
small = ',12'
set terminal svg enhanced size 860,640 font 'DejaVu Sans,14' background rgb 'white'
set title '{/:Bold traffic from rank to rank}'."\n".'{/*0.8 run.pov}'."\n".'{/*0.8 traffic: bytes as they were posted, with the headers of the layers above}'
set xlabel 'to rank'
set ylabel 'from rank'
set tics out nomirror
set bmargin 5
set rmargin at screen 0.79651
set colorbox user origin screen 0.81395,graph 0 size screen 0.02907,graph 1
set label 'bytes' at screen 0.97674,0.5 center rotate by 90
set palette rgbformulae 7,5,15
set logscale cb 2
set cbrange [64:524288]
set cbtics ('64 B' 64, '256 B' 256, '1 KiB' 1024, '4 KiB' 4096, '16 KiB' 16384, '64 KiB' 65536, '256 KiB' 262144)
set xrange [-0.5:1.5]
set yrange [1.5:-0.5]
set xtics ('0' 0, '1' 1)
set ytics ('0' 0, '1' 1)
set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#e8e8e8' fillstyle solid noborder
$d1 << EOD
0	0	0	1	409064	1	0	409064
0	1	0	0	64	0	1	64
EOD
plot $d1 using 6:7:(0.5):(0.5):8 with boxxyerror linecolor palette fillstyle solid noborder notitle
