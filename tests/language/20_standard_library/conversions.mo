// 20: Conversions from other units and back.
// expect: T = 298.15
// expect: w = 6.2831853071795862
// expect: v = 10
// expect: n = 60
// expect: day = 86400
// expect: p = 150000
model M
  import Modelica.Units.Conversions.*;
  parameter Real T = from_degC(25), w = from_rpm(60), v = from_kmh(36), n = to_rpm(w), day = from_day(1);
  parameter Real p = from_bar(1.5);
end M;
