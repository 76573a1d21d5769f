// A peak of friction at rest is refused, with the class that has one.
model M
  import Modelica.Mechanics.Rotational.{Components, Sources};
  Components.Inertia J1(J = 1, phi(fixed = true), w(fixed = true, start = 10));
  Components.Inertia J2(J = 1, phi(fixed = true), w(fixed = true));
  Modelica.Mechanics.Rotational.Components.Clutch clutch(fn_max = 20, peak = 1.2);
  Modelica.Blocks.Sources.Step step(startTime = 0.5);
equation
  connect(J1.flange_b, clutch.flange_a);
  connect(clutch.flange_b, J2.flange_a);
  connect(step.y, clutch.f_normalized);
end M;
