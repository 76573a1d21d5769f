"""Builds the wheel: the compiler, what it links models with, the library of models, and the modules of frontend/python/mdlc.

A build backend (PEP 517) that needs nothing but Python, make and what the compiler needs; `make wheel` calls it, and so does `pip install .`. The
wheel has no binary interface of Python: one serves for all versions. It brings the linker of the computer that it was built on, so that models
are compiled where there is no C compiler. The same sources give the same bytes.

    python3 frontend/python/wheel_backend.py FOLDER    writes the wheel there
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARGEST = 25000000  # bytes of a wheel
PARTS = ("all", "lean")  # what is made for it
TAG = "py3-none-manylinux_2_36_x86_64"
NEEDED = {"make": "make", "gcc": "gcc", "g++": "g++", "flex": "flex", "bison": "bison", "llvm-config-19": "llvm-19-dev"}


def project():
    with open(os.path.join(TOP, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def metadata():
    p = project()
    lines = ["Metadata-Version: 2.1", "Name: " + p["name"], "Version: " + p["version"], "Summary: " + p["description"]]
    lines += ["Requires-Python: " + p["requires-python"]] + ["Requires-Dist: " + one for one in p["dependencies"]]
    for extra, packages in p["optional-dependencies"].items():
        lines += ["Provides-Extra: " + extra] + ["Requires-Dist: %s; extra == '%s'" % (one, extra) for one in packages]
    lines += ["License-File: LICENSE", "Description-Content-Type: text/markdown", ""]
    with open(os.path.join(TOP, p["readme"])) as file:
        return "\n".join(lines) + "\n" + file.read()


def make(*words):
    missing = [package for tool, package in NEEDED.items() if not shutil.which(tool)]
    if missing:
        sys.exit("mdlc: the compiler is built from C, and this computer lacks %s: `make packages` installs it on Debian 12" % ", ".join(missing))
    subprocess.run(["make", "-C", TOP, *words], check=True, stdout=sys.stderr)


def build_folder():
    return os.environ.get("BUILD") or os.path.join(TOP, "build")


def write_notice(path, what, *licences):
    """What a file of somebody else's is, and the licences that this computer has of it."""
    with open(path, "w") as text:
        text.write(what + "\n\n")
        for file in licences:
            if os.path.exists(file):
                text.write(open(file, encoding="utf-8", errors="replace").read() + "\n")


SECTIONS = """SECTIONS {
    .text : { *(.text .text.*) }
    .rodata : { *(.rodata .rodata.*) }
    .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) }
    .data : { *(.data .data.*) }
    .bss : { *(.bss .bss.* COMMON) }
}
"""


def symbols(file):
    said = subprocess.run(["nm", "-g", "--defined-only", file], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in said.splitlines() if len(line.split()) == 3}


def join_runtime(archive):
    """What every embedded model has of the runtime becomes one object with few sections: linking a model takes less than half of the time.
    Its members are in it as a whole or not at all, so that the others find in it what they need."""
    wanted, all_symbols = symbols(os.path.join(build_folder(), "runtime/shell/embed_program.o")), symbols(archive)
    with tempfile.TemporaryDirectory() as room:
        script, joined = os.path.join(room, "sections"), os.path.join(room, "joined.o")
        with open(script, "w") as text:
            text.write(SECTIONS)
        said = subprocess.run(["ld.bfd", "-r", "-t", "-t", "-T", script, *("--undefined=" + name for name in sorted(wanted)), "-o", joined, archive], check=True, capture_output=True, text=True)
        members = {line.rsplit(")", 1)[1] for line in said.stdout.splitlines() if line.startswith("(")} # (ARCHIVE)MEMBER
        # Libraries that have a member in common have it under one name.
        while inside := members & set(subprocess.run(["ar", "t", archive], check=True, capture_output=True, text=True).stdout.split()):
            subprocess.run(["ar", "dD", archive, *sorted(inside)], check=True)
        subprocess.run(["strip", "--strip-debug", joined], check=True)
        subprocess.run(["ar", "rcsD", archive, joined], check=True)
    if symbols(archive) != all_symbols:
        sys.exit("mdlc: the runtime of the wheel is not that of %s" % build_folder())


def bring_linker(target):
    """GNU ld with the libraries of its own that are not part of every system; they look for each other in their folder."""
    linker = os.path.realpath(shutil.which("ld.bfd") or shutil.which("ld") or sys.exit("mdlc: there is no linker: the package binutils has it"))
    patch = shutil.which("patchelf") or sys.exit("mdlc: patchelf is needed for a wheel: the package of that name has it")
    said = subprocess.run(["ldd", linker], check=True, capture_output=True, text=True).stdout
    everywhere = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "ld-linux", "linux-vdso")
    files = [linker] + [w[2] for w in (line.split() for line in said.splitlines()) if len(w) > 2 and not w[0].startswith(everywhere)]
    for file in files:
        name = "ld" if file == linker else os.path.basename(file)
        place = shutil.copy(file, os.path.join(target, name))
        os.chmod(place, 0o755)
        subprocess.run([patch, "--set-rpath", "$ORIGIN", place], check=True)
    write_notice(os.path.join(target, "LINKER.txt"), "ld and the libraries beside it are programs of their own, which mdlc calls: GNU Binutils and what it needs, as the distribution\n"
                 "has them that this package was built on, which has their sources, too. Their licences (GPL 3 and others) are:",
                 "/usr/share/doc/binutils/copyright", "/usr/share/common-licenses/GPL-3")


def bring_optimiser(target):
    """NLopt, which `mdlc optimise` loads when it is needed: a library of its own, that needs nothing but that of C."""
    cache = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    places = [line.split("=>")[1].strip() for line in cache.splitlines() if line.strip().startswith("libnlopt.so.0 ") and "x86-64" in line]
    if not places:
        sys.exit("mdlc: there is no libnlopt.so.0: the package libnlopt0 has it (`make packages`)")
    shutil.copy(os.path.realpath(places[0]), os.path.join(target, "libnlopt.so.0"))
    write_notice(os.path.join(target, "NLOPT.txt"), "libnlopt.so.0 is NLopt as the distribution has it that this package was built on, which has its sources, too; mdlc loads it for\n"
                 "`mdlc optimise`, and takes another one that is put in its place. Its licences are:",
                 "/usr/share/doc/libnlopt0/copyright", "/usr/share/common-licenses/LGPL-2.1")


# What the compiler and the runtime archive are linked with statically: the name, its licence, and packages whose notice this computer may have.
STATIC = (("LLVM", "Apache 2.0 with LLVM exceptions", "llvm-19-dev libllvm19"),
          ("SUNDIALS (also in libsimulator.a, and so in compiled models)", "BSD, 3 clauses", "libsundials-dev"),
          ("KLU, BTF, AMD, COLAMD of SuiteSparse (likewise)", "LGPL 2.1 or later; AMD and COLAMD: BSD, 3 clauses", "libsuitesparse-dev"),
          ("zlib", "zlib", "zlib1g-dev zlib1g"), ("Zstandard", "BSD, 3 clauses", "libzstd-dev"), ("liblzma", "public domain", "liblzma-dev"), ("Expat", "MIT", "libexpat1-dev"),
          ("libstdc++ and libgcc", "GPL 3 with the runtime library exception", "libstdc++-12-dev gcc-12-base"))


def notice_libraries(target):
    what = "bin/mdlc is linked with these libraries, as the distribution has them that this package was built on, which has their sources, too. mdlc is free\n"\
           "software, so that it can be linked with others (`make`). LAPACK is not among them: models that ask for it load the one that is installed.\n\n"
    what += "\n".join("%s: %s" % (name, licence) for name, licence, _ in STATIC) + "\n\nTheir notices:"
    places = [["/usr/share/doc/%s/copyright" % package for package in packages.split()] for _, _, packages in STATIC]
    write_notice(os.path.join(target, "LIBRARIES.txt"), what, *(next((p for p in place if os.path.exists(p)), place[0]) for place in places),
                 "/usr/share/common-licenses/LGPL-2.1")


def stage(root):
    """Everything of the package, as it will lie in site-packages."""
    lean = build_folder() + "/lean/mdlc"
    make("BUILD=" + build_folder(), "-j%d" % len(os.sched_getaffinity(0)), *PARTS)
    with tempfile.TemporaryDirectory() as installed:
        make("-s", "BUILD=" + build_folder(), "DESTDIR=" + installed, "PREFIX=/usr", "PROGRAM=" + lean, "install-files")
        usr = os.path.join(installed, "usr")
        files = os.path.join(root, "mdlc/_files")
        shutil.copytree(os.path.join(TOP, "frontend/python/mdlc"), os.path.join(root, "mdlc"), ignore=shutil.ignore_patterns("__pycache__", "_files"))
        for folder in ("bin", "include", "lib"):
            shutil.copytree(os.path.join(usr, folder), os.path.join(files, folder))
        for folder in ("stdlib", "examples"):
            shutil.copytree(os.path.join(usr, "share/mdlc", folder), os.path.join(files, "share/mdlc", folder), ignore=shutil.ignore_patterns("*.svg", "*.png"))
        join_runtime(os.path.join(files, "lib/mdlc/libsimulator.a"))
        bring_linker(os.path.join(files, "lib/mdlc"))
        bring_optimiser(os.path.join(files, "lib/mdlc"))
        notice_libraries(os.path.join(files, "lib/mdlc"))
    shutil.copy(os.path.join(TOP, "LICENSE"), os.path.join(root, "mdlc"))
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".pyc"):
                os.unlink(os.path.join(folder, name))


def info_files(info):
    wheel = "Wheel-Version: 1.0\nGenerator: mdlc\nRoot-Is-Purelib: false\nTag: %s\n" % TAG
    files = {"METADATA": metadata(), "WHEEL": wheel, "top_level.txt": "mdlc\n"}
    return {"%s/%s" % (info, name): text.encode() for name, text in files.items()}


def write_wheel(target, files):
    """files: name in the archive to (bytes, mode)."""
    info = "%s-%s.dist-info" % (project()["name"], project()["version"])
    files = {**files, **{name: (text, 0o644) for name, text in info_files(info).items()}}
    record = ""
    path = os.path.join(target, "%s-%s-%s.whl" % (project()["name"], project()["version"], TAG))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            content, mode = files[name]
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (name, digest, len(content))
        record += "%s/RECORD,,\n" % info
        entry = zipfile.ZipInfo(info + "/RECORD", (2020, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100644 << 16
        archive.writestr(entry, record)
    return os.path.basename(path)


# --- PEP 517 and 660


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {}
    with tempfile.TemporaryDirectory() as root:
        stage(root)
        for folder, _, names in os.walk(root):
            for name in names:
                place = os.path.join(folder, name)
                with open(place, "rb") as file:
                    files[os.path.relpath(place, root)] = (file.read(), os.stat(place).st_mode & 0o777)
    name = write_wheel(wheel_directory, files)
    size = os.path.getsize(os.path.join(wheel_directory, name))
    if size > LARGEST:
        sys.exit("mdlc: the wheel has %d bytes, and is not to have more than %d" % (size, LARGEST))
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The modules stay where they are, and take the compiler from build/."""
    make("-j%d" % len(os.sched_getaffinity(0)), "all")
    path = os.path.join(TOP, "frontend/python") + "\n"
    return write_wheel(wheel_directory, {"mdlc.pth": (path.encode(), 0o644)})


def build_sdist(sdist_directory, config_settings=None):
    name = "%s-%s" % (project()["name"], project()["version"])
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode:
        sys.exit("mdlc: a source distribution is made from a repository of git")
    path = os.path.join(sdist_directory, name + ".tar.gz")
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in filter(None, listed.stdout.split("\0")):
            archive.add(os.path.join(TOP, file), "%s/%s" % (name, file), recursive=False)
        with tempfile.NamedTemporaryFile("w", suffix="PKG-INFO") as info:
            info.write(metadata())
            info.flush()
            archive.add(info.name, name + "/PKG-INFO")
    return os.path.basename(path)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
