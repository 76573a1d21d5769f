model M
  import Modelica.Math.Sin;
  import Modelica.Unit.SI;
  SI.Mass m = 1;
  Real x = Sin(time);
end M;
