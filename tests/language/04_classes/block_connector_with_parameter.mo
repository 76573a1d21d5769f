// 4.7: The connectors of a block have inputs and outputs; parameters of theirs are neither.
// expect: y = 2 at 1
model M
  connector Port
    parameter Integer n = 1;
    output Real signal[n];
  end Port;
  block Ramps
    parameter Integer n = 2;
    Port port(n = n);
  equation
    for i in 1:n loop
      port.signal[i] = i*time;
    end for;
  end Ramps;
  Ramps ramps;
  Real y = ramps.port.signal[2];
end M;
