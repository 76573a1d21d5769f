# Three units in one model: an oscillator that Van der Pol's drives, in an algebraic loop through two of them. All are mdlc's own; then two are other
# people's, VanDerPol and Feedthrough of the Reference-FMUs of the Modelica Association. REFERENCE_FMUS names the folder with their archives, 2.0/ and 3.0/.
import os

import fmpy
import numpy as np

import importer as i

folder = os.environ.get("REFERENCE_FMUS") or os.path.join(i.top, "build/importer/reference")
public = os.path.exists(os.path.join(folder, "3.0/VanDerPol.fmu"))
if not public:
    print("SKIP fmi/coupled, units of others: there are no Reference-FMUs (make importer)")

own = i.write_model("Osc", """model Osc
  input Real u(start = 0);
  output Real s(start = 0.5, fixed = true);
  Real v(start = 0, fixed = true);
  output Real p;
equation
  der(s) = v;
  der(v) = -4*s + u - 0.1*v^3;
  p = s^2 + u;
end Osc;
""")
# The same variables as the public units of these names have.
van_der_pol = i.write_model("VanDerPol", """model VanDerPol
  parameter Real mu = 1;
  output Real x0(start = 2, fixed = true), x1(start = 0, fixed = true);
equation
  der(x0) = x1;
  der(x1) = mu*(1 - x0^2)*x1 - x0;
end VanDerPol;
""")
feedthrough = i.write_model("Feedthrough", """model Feedthrough
  input Real Float64_continuous_input(start = 0);
  output Real Float64_continuous_output;
equation
  Float64_continuous_output = Float64_continuous_input;
end Feedthrough;
""")


def rates(x):
    a, b, s, v = x
    u = a - 0.5 * (s * s + a) / 1.5
    return np.array([b, (1 - a * a) * b - a, v, -4 * s + u - 0.1 * v**3])


def reference(stop, n):
    x, h = np.array([2, 0, 0.5, 0]), stop / n
    for k in range(n):
        k1 = rates(x)
        k2 = rates(x + h / 2 * k1)
        k3 = rates(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + h * k3))
    a, b, s, v = x
    p = (s * s + a) / 1.5
    return {"vdp.x0": a, "vdp.x1": b, "osc.s": s, "osc.v": v, "osc.p": p}


expected = reference(6, 6000)


def couple(version, theirs):
    here = os.path.join(i.work, "units%d%s" % (version, "_public" if theirs else ""))
    os.makedirs(here, exist_ok=True)
    for name, model in (("VanDerPol", van_der_pol), ("Feedthrough", feedthrough)):
        unit = os.path.join(folder, "%d.0" % version, name + ".fmu") if theirs else i.build(model, version)
        i.call(i.mdlc, "import", unit, "-o", os.path.join(here, name + ".mdl"))
        if name == "Feedthrough":
            inputs = [v for v in fmpy.read_model_description(unit).modelVariables
                      if v.causality == "input" and v.name != "Float64_continuous_input" and v.type not in ("String", "Binary")]
    i.call(i.mdlc, "import", i.build(own, version), "-o", os.path.join(here, "Driven.mdl"))
    # Other inputs stand still.
    rest = "".join(", %s = %s" % (v.name, "false" if v.type == "Boolean" else "1" if v.type == "Enumeration" else "0") for v in inputs)
    model = os.path.join(here, "Coupled.mdl")
    with open(model, "w") as file:
        file.write("""model Coupled "an oscillator that another one drives, against a part of its own output"
  VanDerPol vdp;
  Feedthrough wire(Float64_continuous_input = osc.p""" + rest + """);
  Driven osc(u = vdp.x0 - 0.5*wire.Float64_continuous_output);
  annotation(experiment(StopTime = 6));
end Coupled;
""")
    rows = i.columns(i.native(model, "1e-9", "--path", here, "--allow-external"))
    apart = {name: abs(rows[name][-1] - value) / (1 + abs(value)) for name, value in expected.items() if name in rows}
    i.check(len(apart) == len(expected) and max(apart.values()) < 1e-7, "FMI %d: three units%s, a loop through two of them (%s)"
            % (version, ", two of them others'" if theirs else "", ", ".join("%s %.1g" % pair for pair in apart.items())))


for version in (2, 3):
    for theirs in (False, True) if public else (False,):
        try:
            couple(version, theirs)
        except Exception as error:
            i.check(False, "FMI %d%s: %s" % (version, ", units of others" if theirs else "", error))
