# SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
"""MPI from Python by ctypes alone, with the library opened in a local scope. Usage: python_pointers.py LIBRARY BARRIERS"""
import ctypes
import json
import os
import sys

mpi = ctypes.CDLL(sys.argv[1])
try:
	world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
except ValueError:
	world = ctypes.c_int(0x44000000)
calls = {}


def call(name, *args):
	calls[name] = calls.get(name, 0) + 1
	return getattr(mpi, name)(*args)


try:
	text = "in the program: %s" % ctypes.CDLL(None).MPI_Init
except AttributeError:
	text = "no MPI in the program"
flag, rank = ctypes.c_int(), ctypes.c_int()
call("MPI_Initialized", ctypes.byref(flag))
call("MPI_Init", None, None)
call("MPI_Comm_rank", world, ctypes.byref(rank))
for i in range(int(sys.argv[2])):
	call("MPI_Barrier", world)
call("MPI_Finalize")
sys.stdout.write("%s, begun before: %d, rank %d\n" % (text, flag.value, rank.value))
with open("%s/python.%d.%d.jsonl" % (os.environ["POV_EXPECT"], rank.value, os.getpid()), "w") as books:
	for name, cnt in calls.items():
		books.write(json.dumps({"rank": rank.value, "pid": os.getpid(), "fn": name, "calls": cnt, "empty": 0, "cut": 0}) + "\n")
