// 20: Sampled signals.
// expect: s.y = 0.5 at 0.7 within 1e-9
// expect: d.y = 0.25 at 0.7 within 1e-9
model M
  import Modelica.Blocks.*;
  Sources.ContinuousClock c;
  Discrete.Sampler s(samplePeriod = 0.25);
  Discrete.UnitDelay d(samplePeriod = 0.25);
equation
  connect(c.y, s.u);
  connect(c.y, d.u);
end M;
