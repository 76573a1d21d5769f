model M
  Modelica.Electrical.Analog.Sources.ConstantVoltage v(V = 10);
  Modelica.Electrical.Analog.Basic.Resistor r(R = 1);
  Modelica.Electrical.Analog.Basic.Capacitor c(C = 1);
equation
  connect(v.p, r.p);
  connect(r.n, c.p);
  connect(c.n, v.n);
end M;
