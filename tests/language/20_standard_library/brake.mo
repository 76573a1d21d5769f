// 20: A brake stops the shaft, and holds it against what drives it.
// expect: j.w = 0 at 1.5 within 1e-9
// expect: b.tau = 2 at 1.5 within 1e-6
// expect: j.w = 2 at 0.5 within 1e-6
// expect: j.w = 0.4 at 0.7 within 1e-5
model M
  import Modelica.Mechanics.Rotational.{Components, Sources};
  Components.Inertia j(J = 1, phi(fixed = true, start = 0), w(fixed = true, start = 1));
  Components.Brake b(fn_max = 10, mu_pos = [0, 0.2; 10, 0.2]);
  Sources.ConstantTorque t(tau_constant = 2);
  Modelica.Blocks.Sources.Step s(startTime = 0.5);
  Modelica.Blocks.Math.Gain full(k = 5);
equation
  connect(s.y, full.u);
  connect(full.y, b.f_normalized);
  connect(t.flange, j.flange_a);
  connect(j.flange_b, b.flange_a);
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-8));
end M;
