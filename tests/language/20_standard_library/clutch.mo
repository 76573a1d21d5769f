// 20: A clutch takes two inertias to a common speed: 10 rad/s to 5, slowed by mu*fn = 10 N.m for 0.5 s.
// expect: J1.w = 5 at 1.5 within 1e-9
// expect: J2.w = 5 at 1.5 within 1e-9
// expect: J1.w = 7.5 at 0.75 within 1e-6
model M
  import Modelica.Mechanics.Rotational.{Components, Sources};
  Components.Inertia J1(J = 1, phi(fixed = true), w(fixed = true, start = 10));
  Components.Inertia J2(J = 1, phi(fixed = true), w(fixed = true));
  Modelica.Mechanics.Rotational.Components.Clutch clutch(fn_max = 20, peak = 1);
  Modelica.Blocks.Sources.Step step(startTime = 0.5);
equation
  connect(J1.flange_b, clutch.flange_a);
  connect(clutch.flange_b, J2.flange_a);
  connect(step.y, clutch.f_normalized);
  annotation(experiment(StopTime = 1.5));
end M;
