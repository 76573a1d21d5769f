"""The same controller in Python, through ctypes."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.mdl_create_program.restype = ctypes.c_void_p
library.mdl_create_program.argtypes = [ctypes.c_double]
for name in ("mdl_get", "mdl_time", "mdl_value"):
    getattr(library, name).restype = ctypes.c_double
library.mdl_message.restype = ctypes.c_char_p
library.mdl_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double]
library.mdl_start.argtypes = library.mdl_advance.argtypes = [ctypes.c_void_p, ctypes.c_double]
library.mdl_get.argtypes = library.mdl_find.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.mdl_value.argtypes = [ctypes.c_void_p, ctypes.c_int]
library.mdl_time.argtypes = library.mdl_message.argtypes = library.mdl_destroy.argtypes = [ctypes.c_void_p]

plant = library.mdl_create_program(1e-9)


def check(status):
    if status:
        sys.exit(library.mdl_message(plant).decode())


check(library.mdl_set(plant, b"m", 2.5))
check(library.mdl_start(plant, 0))
s = library.mdl_find(plant, b"s")
before = library.mdl_value(plant, s)
for k in range(1, 201):
    position = library.mdl_value(plant, s)
    check(library.mdl_set(plant, b"u", -8 * (position - before) / 0.01))
    before = position
    check(library.mdl_advance(plant, 0.01 * k))
print("%.9g %.9g %.9g" % (library.mdl_time(plant), library.mdl_get(plant, b"s"), library.mdl_get(plant, b"v")))
library.mdl_destroy(plant)
