model QuietKinks "Kinks of abs, min and max are no events of a Modelica model; a relation is one"
  Real x(start = 1, fixed = true), y = abs(x), z = min(x, 0.5), w(start = 0, fixed = true);
  Real kick = if x < -0.5 then 1 else 0;
equation
  der(x) = -1;
  der(w) = y + max(x, z) + kick;
  annotation(experiment(StopTime = 2));
end QuietKinks;
