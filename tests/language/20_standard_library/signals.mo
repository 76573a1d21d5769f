// 20: Sources of time.
// expect: ramp.y = 1.5 at 0.75 within 1e-9
// expect: sine.y = 3 at 0.624 within 1e-9
// expect: pulse.y = 1 at 0.05
// expect: pulse.y = 0 at 0.75
// expect: saw.y = 0.5 at 0.75 within 1e-9
// expect: trapezoid.y = 1 at 0.3
// expect: table.y = 1.5 at 0.75 within 1e-9
// expect: ones.y = true at 0.6
model M
  import Modelica.Blocks.Sources.*;
  Ramp ramp(height = 2, duration = 1, offset = 0.5, startTime = 0.25);
  Sine sine(amplitude = 2, f = 1, offset = 1, startTime = 0.374);
  Pulse pulse(period = 0.5, width = 40);
  SawTooth saw(period = 0.5);
  Trapezoid trapezoid(rising = 0.2, width = 0.2, falling = 0.2, period = 1);
  TimeTable table(table = [0, 0; 0.5, 1; 1, 2]);
  BooleanPulse ones(period = 0.5, width = 40);
end M;
