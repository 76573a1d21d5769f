// A constant has its value before the start: fixed = false would leave it to initial equations, which may find parameters.
model constant_not_fixed
  model Part
    constant Real k(fixed = false) = 1;
    Real z = k;
  end Part;
  constant Real c(fixed = false) = 2;
  constant Real several[2](each fixed = false) = {2, 3};
  constant Real kept(fixed = true) = 2;
  parameter Real found(fixed = false);
  Part part;
  Real y = c + several[1] + kept + found;
initial equation
  found = 2;
end constant_not_fixed;
