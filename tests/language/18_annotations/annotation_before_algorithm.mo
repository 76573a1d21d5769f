// 18.1: An annotation of a class stands last; where it stands in front of the algorithm, as in older texts, it counts nevertheless.
// warning: W1104 at 8:5
// expect: v = 3 at 1 within 1e-6
model M
  function cube
    input Real u;
    output Real x;
    annotation(derivative = slope);
  algorithm
    x := u^3;
  end cube;
  function slope
    input Real u;
    input Real du;
    output Real dx;
  algorithm
    dx := 3*u^2*du;
  end slope;
  Real y = cube(time);
  Real v = der(y);
end M;
