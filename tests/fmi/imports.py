# imports.py: archives that would write elsewhere are refused, and units of another tool's making (here: by hand, FMPy's own reader judging) give
# what they give in FMPy.
import csv
import os
import stat
import subprocess
import sys
import zipfile

import fmpy

from importer import call, check, mdlc, work, write_model, build


def archive(name, entries):
    path = os.path.join(work, name + ".fmu")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for entry, data, mode in entries:
            info = zipfile.ZipInfo(entry)
            info.create_system = 3
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, data)
            if name == "huge": # the directory says so
                info.file_size = 64 << 20
    return path


plain = stat.S_IFREG | 0o644
head = '<?xml version="1.0"?>'
empty = head + '<fmiModelDescription fmiVersion="3.0" modelName="M" instantiationToken="t">%s</fmiModelDescription>'
exchange = '<ModelExchange modelIdentifier="M"/>'
bad = {
    "up": [("../up.txt", "x", plain)],
    "inside": [("a/../../up.txt", "x", plain)],
    "root": [("/tmp/mdlc-up.txt", "x", plain)],
    "back": [("..\\up.txt", "x", plain)],
    "drive": [("C:up.txt", "x", plain)],
    "link": [("binaries", "/tmp", stat.S_IFLNK | 0o777)],
    "huge": [("zeros%d" % k, bytes(10), plain) for k in range(17)],
    "none": [("other.xml", "x", plain)],
}
wrong = {
    "version": head + '<fmiModelDescription fmiVersion="1.0" modelName="M"/>',
    "clock": empty % '<ScheduledExecution modelIdentifier="M"/>',
    "clocks": empty % (exchange + '<ModelVariables><Clock name="c" valueReference="1" causality="input" intervalVariability="triggered"/></ModelVariables>'),
    "interfaces": empty % "",
    "entities": '<!DOCTYPE a [<!ENTITY x "y">]>' + empty % exchange,
    "broken": head + "<fmiModelDescription",
    "nothing": head + "<other/>",
    "tool": empty % '<ModelExchange modelIdentifier="M" needsExecutionTool="true"/>',
    "state": empty % (exchange + '<ModelVariables><Float64 name="r" valueReference="1"/></ModelVariables><ModelStructure>'
                      '<ContinuousStateDerivative valueReference="1"/></ModelStructure>'),
    "typeless": (empty % (exchange + '<ModelVariables><ScalarVariable name="x" valueReference="1"></ScalarVariable></ModelVariables>')).replace(
        'fmiVersion="3.0"', 'fmiVersion="2.0" guid="g"'),
    "nameless": empty % (exchange + '<ModelVariables><Float64 name="" valueReference="1"/></ModelVariables>'),
    "twice": empty % (exchange + '<ModelVariables><Float64 name="x" valueReference="1"/><Float64 name="x" valueReference="2"/></ModelVariables>'),
    "structure": empty % (exchange + '<ModelStructure><Output valueReference="7"/></ModelStructure>'),
}
good = True
for name, entries in bad.items():
    if name != "none":
        entries = entries + [("modelDescription.xml", empty % exchange, plain)]
    path, target = archive(name, entries), os.path.join(work, name + ".mdl")
    done = subprocess.run([mdlc, "import", path, "-o", target], capture_output=True, text=True)
    good &= check(done.returncode == 1 and done.stderr.startswith("mdlc: error: ") and not os.path.exists(target)
                  and not os.path.exists(target[:-4] + "_fmu"), "%s: refused before anything is written (%s)" % (name, done.stderr.strip()))
good &= check(not os.path.exists(os.path.join(os.path.dirname(work), "up.txt")) and not os.path.exists("/tmp/mdlc-up.txt"), "nothing is outside")
for name, text in wrong.items():
    path, target = archive(name, [("modelDescription.xml", text, plain)]), os.path.join(work, name + ".mdl")
    done = subprocess.run([mdlc, "import", path, "-o", target], capture_output=True, text=True)
    good &= check(done.returncode == 1 and "modelDescription.xml" in done.stderr and not os.path.exists(target), "%s: %s" % (name, done.stderr.strip()))

# What is cut short, has no library for this computer, or one that is none, or is not the description's.
model = write_model("Small", "model Small output Real x(start = 1, fixed = true); equation der(x) = -x; end Small;")
for version in (2, 3):
    unit = build(model, version)
    with open(unit, "rb") as file:
        text = file.read()
    with zipfile.ZipFile(unit) as file:
        entries = [(name, file.read(name), plain) for name in file.namelist()]
    target = os.path.join(work, "short.mdl")
    messages = set()
    for k in range(0, len(text), len(text) // 9 + 1):
        path = os.path.join(work, "short.fmu")
        with open(path, "wb") as file:
            file.write(text[:k])
        done = subprocess.run([mdlc, "import", path, "-o", target], capture_output=True, text=True)
        messages.add((done.returncode, done.stderr.replace(path, "")))
    good &= check(len(messages) == 1 and messages.pop()[0] == 1, "FMI %d: an archive that is cut short is refused" % version)

    def changed(name, how):
        path = archive(name, [entry for entry in map(how, entries) if entry])
        return subprocess.run([mdlc, "import", path, "-o", target], capture_output=True, text=True)

    folder = "linux64" if version == 2 else "x86_64-linux"
    done = changed("absent", lambda e: None if e[0].startswith("binaries/") else e)
    good &= check(done.returncode == 1 and "there is no binaries/%s/Small.so in it; there is none for any" % folder in done.stderr, "FMI %d: no library (%s)" % (version, done.stderr.strip()))
    done = changed("other", lambda e: (e[0].replace(folder, "win64"), e[1], e[2]))
    good &= check(done.returncode == 1 and "what there is is for win64" in done.stderr, "FMI %d: a library for another computer" % version)
    for name, how, said, status in (("junk", lambda e: (e[0], b"junk", plain) if e[0].startswith("binaries/") else e, "its library cannot be loaded", 1),
                                    ("token", lambda e: (e[0], e[1].replace(b'oken="{', b'oken="{0').replace(b'guid="{', b'guid="{0'), plain), "do not belong together", 3)):
        done = changed(name, how)
        ran = subprocess.run([mdlc, "run", target, "--allow-external"], capture_output=True, text=True)
        good &= check(done.returncode == 0 and ran.returncode == status and said in ran.stderr and "short.mdl:" in ran.stderr, "FMI %d: %s (%s)" % (version, name, ran.stderr.strip()))

# A unit in another tool and in a model of ours: events in time and state, an input.
model = write_model("Ticks", """model Ticks
  input Real u(start = 0.5);
  parameter Real rate = 2;
  output Real x(start = 0, fixed = true);
  output Integer n(start = 0, fixed = true);
  output Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = rate*(u - x) + n;
  when sample(0.1, 0.25) then
    n = pre(n) + 1;
  end when;
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -0.7*pre(v));
  end when;
end Ticks;
""")
for version in (2, 3):
    unit = build(model, version)
    target = os.path.join(work, "Ticks%d.mdl" % version)
    call(mdlc, "import", unit, "-o", target)
    result = os.path.join(work, "ticks.csv")
    call(mdlc, "run", target, "--allow-external", "--tol", "1e-9", "--stop", "1", "-o", result, "--set", "rate=3", "--check=steps")
    theirs = fmpy.simulate_fmu(unit, fmi_type="ModelExchange", stop_time=1, relative_tolerance=1e-9, start_values={"rate": 3}, output=["x", "n", "h"])
    with open(result) as file:
        last = list(csv.DictReader(file))[-1]
    for name in ("x", "n", "h"):
        good &= check(abs(float(last[name]) - float(theirs[name][-1])) < 1e-4, "FMI %d: %s is %s here, %s in FMPy" % (version, name, last[name], theirs[name][-1]))
# I2: discrete inputs that change while a unit is integrated arrive in its event mode, where `when` sees them.
gate = write_model("Gate", """model Gate
  input Boolean on(start = false);
  input Integer gear(start = 1);
  parameter Real rate = 2;
  output Real x(start = 0.5, fixed = true);
  output Integer times(start = 0, fixed = true);
equation
  der(x) = if on then gear*rate else -x;
  when {on, change(gear)} then
    times = pre(times) + 1;
  end when;
end Gate;
""")
host = """model Host
  CLASS gate(on = sin(10*time) > 0.2, gear = if time > 0.4 then 3 else 2, rate = 3START);
  annotation(experiment(StopTime = 1));
end Host;
"""
call(mdlc, "run", write_model("Native", host.replace("CLASS", "Gate").replace("START", ", x(start = 0.7)")), "--path", work, "--tol", "1e-9", "-o", os.path.join(work, "native.csv"))
for version in (2, 3):
    call(mdlc, "import", build(gate, version), "-o", os.path.join(work, "Gate%d.mdl" % version))
    text = host.replace("CLASS", "Gate%d" % version).replace("START", ", x_start = 0.7")
    result = os.path.join(work, "gate.csv")
    call(mdlc, "run", write_model("Hosted", text), "--path", work, "--allow-external", "--tol", "1e-9", "-o", result)
    done = subprocess.run([mdlc, "compare", result, os.path.join(work, "native.csv"), "--rel", "1e-6", "--abs", "1e-7", "--shift", "1e-7", "--vars", "^gate.(x|times|on|gear)$"],
                          capture_output=True, text=True)
    good &= check(done.returncode == 0, "FMI %d: discrete inputs, parameters and starts arrive (%s)" % (version, done.stdout.split("\n")[0]))
sys.exit(not good)
