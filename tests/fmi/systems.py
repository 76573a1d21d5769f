# A system of units (SSP) becomes one model: it moves as the model of which its units are made, by model exchange, and as in FMPy by co-simulation.
# What would be imported wrongly is refused at its line.
import os
import subprocess
import types
import zipfile

import fmpy.ssp.simulation as ssp
import numpy as np

import importer as i

parts = """model Plant "a mass on a spring with dry friction"
  parameter Real k = 40;
  input Real u(start = 0);
  output Real s(start = 0.4, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(s) = v;
  der(v) = u - k*s - 2*v - coulomb(v, 0.3*9.81);
end Plant;
model Control
  parameter Real kp = 2;
  parameter Boolean integrates = false;
  input Real e(start = 0), r(start = 0), unused(start = 0.25);
  output Real y;
  Real w(start = 0, fixed = true);
equation
  der(w) = if integrates then r - e else 0;
  y = kp*(r - e) + w + unused;
end Control;
"""
# A system within a system; what the outer one sets counts, of what is set twice the last value.
description = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  version="1.0" name="loop">
<ssd:System name="loop" description="a mass that is held">
  <ssd:Connectors>
    <ssd:Connector name="ref" kind="input"><ssc:Real/></ssd:Connector>
    <ssd:Connector name="s" kind="output"><ssc:Real/></ssd:Connector>
  </ssd:Connectors>
  <ssd:ParameterBindings><ssd:ParameterBinding source="resources/values.ssv"/></ssd:ParameterBindings>
  <ssd:Elements>
    <ssd:System name="inner">
      <ssd:Connectors>
        <ssd:Connector name="r" kind="input"><ssc:Real/></ssd:Connector>
        <ssd:Connector name="out" kind="output"><ssc:Real/></ssd:Connector>
      </ssd:Connectors>
      <ssd:Elements>
        <ssd:Component name="plant" source="resources/Plant.fmu" implementation="any">
          <ssd:Connectors>
            <ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector>
            <ssd:Connector name="s" kind="output"><ssc:Real unit="m"/></ssd:Connector>
          </ssd:Connectors>
          <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
            <ssv:ParameterSet version="1.0" name="own"><ssv:Parameters>
              <ssv:Parameter name="k"><ssv:Real value="30"/></ssv:Parameter>
            </ssv:Parameters></ssv:ParameterSet>
          </ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
        </ssd:Component>
        <ssd:Component name="the control" type="application/x-fmu-sharedlibrary" source="resources/Control.fmu" implementation="any">
          <ssd:Connectors>
            <ssd:Connector name="e" kind="input"><ssc:Real unit="m"/></ssd:Connector>
            <ssd:Connector name="r" kind="input"><ssc:Real/></ssd:Connector>
            <ssd:Connector name="y" kind="output"><ssc:Real/></ssd:Connector>
          </ssd:Connectors>
        </ssd:Component>
      </ssd:Elements>
      <ssd:Connections>
        <ssd:Connection startElement="plant" startConnector="s" endElement="the control" endConnector="e"/>
        <ssd:Connection startConnector="r" endElement="the control" endConnector="r"/>
        <ssd:Connection startElement="the control" startConnector="y" endElement="plant" endConnector="u"/>
        <ssd:Connection startElement="plant" startConnector="s" endConnector="out"/>
      </ssd:Connections>
    </ssd:System>
  </ssd:Elements>
  <ssd:Connections>
    <ssd:Connection startConnector="ref" endElement="inner" endConnector="r"/>
    <ssd:Connection startElement="inner" startConnector="out" endConnector="s"/>
  </ssd:Connections>
  <ssd:Annotations><ssc:Annotation type="x"><Component/></ssc:Annotation></ssd:Annotations>
</ssd:System>
<ssd:DefaultExperiment startTime="0" stopTime="2"/>
</ssd:SystemStructureDescription>
"""
values = """<?xml version="1.0"?>
<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="values"><ssv:Parameters>
  <ssv:Parameter name="inner.plant.k"><ssv:Real value="5"/></ssv:Parameter>
  <ssv:Parameter name="inner.plant.k"><ssv:Real value="55"/></ssv:Parameter>
  <ssv:Parameter name="inner.the control.kp"><ssv:Real value="20"/></ssv:Parameter>
  <ssv:Parameter name="inner.the control.integrates"><ssv:Boolean value="true"/></ssv:Parameter>
  <ssv:Parameter name="inner.plant.s"><ssv:Real value="0.3"/></ssv:Parameter>
  <ssv:Parameter name="ref"><ssv:Real value="1.5"/></ssv:Parameter>
</ssv:Parameters></ssv:ParameterSet>
"""
units = {}
for name in ("Plant", "Control"):
    source = i.write_model(name, "".join("model " + text for text in parts.split("model ") if text.startswith(name)))
    with open(i.build(source, 2), "rb") as file:
        units[name] = file.read()


def system(text=description, parameters=values):
    path = os.path.join(i.work, "loop.ssp")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("SystemStructure.ssd", text)
        file.writestr("resources/values.ssv", parameters)
        for name, unit in units.items():
            file.writestr("resources/%s.fmu" % name, unit)
    return path


# How the whole is written by hand; the transformation says what is left of a force.
transformed = description.replace('endConnector="u"/>', 'endConnector="u"><ssc:LinearTransformation factor="0.5" offset="-0.25"/></ssd:Connection>')
for text, factor, offset in ((description, 1, 0), (transformed, 0.5, -0.25)):
    whole = i.write_model("Whole", parts + """model Whole
  input Real ref(start = 1.5);
  Plant plant(k = 55, s(start = 0.3), u = %g*control.y + (%g));
  Control control(kp = 20, integrates = true, e = plant.s, r = ref, unused = 0.25);
  output Real s = plant.s;
  annotation(experiment(StopTime = 2));
end Whole;
""" % (factor, offset))
    expected = i.columns(i.native(whole, "1e-9"))
    target = os.path.join(i.work, "Loop.mdl")
    i.call(i.mdlc, "import", system(text), "-o", target)
    rows = i.columns(i.native(target, "1e-9", "--allow-external"))
    apart = abs(rows["s"][-1] - expected["s"][-1])
    middle = np.max(np.abs(np.interp([0.2, 0.5, 1.1], rows["time"], rows["s"]) - np.interp([0.2, 0.5, 1.1], expected["time"], expected["s"])))
    i.check(max(apart, middle) < 1e-6, "a system of two units moves as the model of its parts (%.1g)" % max(apart, middle))

# Co-simulation: both take the inputs of the instant before.
stepping = description.replace('implementation="any"', 'implementation="CoSimulation"')
i.call(i.mdlc, "import", system(stepping), "-o", target)
rows = i.columns(i.native(target, "1e-6", "--allow-external", *[w for n in ("plant", "'the control'") for w in ("--set", "'inner'.%s.fmu_step=0.0005" % n)]))
given = {"inner.plant.k": 55, "inner.the control.kp": 20, "inner.the control.integrates": 1, "inner.plant.s": 0.3}
given = types.SimpleNamespace(parameters=[types.SimpleNamespace(name=name, value=value) for name, value in given.items()])
theirs = ssp.simulate_ssp(system(stepping), stop_time=2, step_size=0.0005, parameter_set=given, input={"ref": lambda time: 1.5})
# A row of theirs has what is behind the step that begins at its time; their first step knows no inputs.
apart = np.max(np.abs(np.interp(theirs["time"] + 0.0005, rows["time"], rows["s"]) - theirs["s"]))
i.check(apart < 2e-3, "in co-simulation as in FMPy (%.1g)" % apart)

# (what stands there, what stands there instead, what is said)
refused = [
    ('version="1.0" name="loop"', 'version="3.0" name="loop"', "SystemStructure.ssd:2: version 3.0 of SSP is not known"),
    ('source="resources/Plant.fmu"', 'source="../Plant.fmu"', "is a functional mock-up unit in the archive"),
    ('source="resources/Plant.fmu"', 'source="resources/None.fmu"', "None.fmu: No such file"),
    ('source="resources/Plant.fmu" implementation="any"', 'source="resources/Plant.fmu" implementation="ScheduledExecution"', "scheduled execution is not imported"),
    ('startConnector="y"', 'startConnector="z"', "'the control.z' is nothing that a connection can begin at"),
    ('startConnector="y"', 'startConnector="e"', "'the control.e' is nothing that a connection can begin at"),
    ('endConnector="u"', 'endConnector="s"', "'plant.s' is nothing that a connection can lead to"),
    ('endConnector="r"/>\n        <ssd', 'endConnector="e"/>\n        <ssd', "a second connection leads to 'e'"),
    ('startElement="the control" startConnector="y"', 'startElement="nobody" startConnector="y"', "'nobody.y' is nothing"),
    ('<ssc:Real unit="m"/></ssd:Connector>\n            <ssd:Connector name="r"', '<ssc:Real unit="mm"/></ssd:Connector>\n            <ssd:Connector name="r"',
     "'s' is in m, 'e' in mm; connections that convert units are not imported"),
    ('endConnector="u"/>', 'endConnector="u"><ssc:IntegerMappingTransformation/></ssd:Connection>', "IntegerMappingTransformation is not imported"),
    ('<ssd:Connection startElement="plant" startConnector="s" endConnector="out"/>', "", "no connection leads to the output 'out'"),
    ('name="the control"', 'name="plant"', "two parts of the system are called 'plant'"),
    ('<ssv:Parameter name="k">', '<ssv:Parameter name="kk">', "there is no parameter, start value or input 'kk' in plant"),
    ('<ssd:ParameterBinding source="resources/values.ssv"/>', '<ssd:ParameterBinding source="resources/values.ssv"><ssd:ParameterMapping/></ssd:ParameterBinding>',
     "ParameterMapping is not imported"),
    ('<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE a [<!ENTITY x "y">]>', "SystemStructure.ssd:1: a document type definition"),
    ('<ssd:Connector name="ref" kind="input"><ssc:Real/>', '<ssd:Connector name="ref" kind="input"><ssc:String/>', "'ref' is nothing that a connection can begin at"),
]
bad = [(description.replace(*change[:2]), values, change[2]) for change in refused]
bad += [(description, values.replace("55", "much"), "values.ssv:4: 'much' is no value of 'inner.plant.k', which is a number"),
        (description, values.replace("55", "5 5"), "'inner.plant.k' has 1 element, and not 2"),
        (description, values.replace('value="true"', 'value="2"'), "which is a Boolean"),
        (description, values.replace("/ssv:ParameterSet", "/ssv:Other"), "values.ssv:9: mismatched tag")]
deep = '<ssd:System name="deep"><ssd:Elements>'
bad += [(description.replace('<ssd:System name="inner">', 200 * deep + '<ssd:System name="inner">'), values, "systems within systems are too deep")]
for text, parameters, said in bad:
    other = os.path.join(i.work, "Bad.mdl")
    done = subprocess.run([i.mdlc, "import", system(text, parameters), "-o", other], capture_output=True, text=True, env=i.quiet)
    i.check(done.returncode in (1, 5) and said in done.stderr and not os.path.exists(other), "refused: " + (said if said in done.stderr else said + ", not " + done.stderr))
