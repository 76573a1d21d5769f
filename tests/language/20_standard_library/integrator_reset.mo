// 20: An integrator with reset, and a value set by the reset.
// expect: i.y = 0.75 at 0.75 within 1e-6
// expect: i.y = 7.5 at 1.5 within 1e-6
model M
  Modelica.Blocks.Sources.Constant one(k = 1), seven(k = 7);
  Modelica.Blocks.Continuous.Integrator i(use_reset = true, use_set = true);
  Modelica.Blocks.Sources.BooleanStep b(startTime = 1);
equation
  connect(one.y, i.u);
  connect(b.y, i.reset);
  connect(seven.y, i.set);
  annotation(experiment(StopTime = 1.5));
end M;
