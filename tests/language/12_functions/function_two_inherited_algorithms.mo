// 12.2: A function with an algorithm does not inherit another one.
// error: E0212 at 10:3
model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := u;
  end f;
  function g
    extends f;
  algorithm
    y := 2*u;
  end g;
  Real x = g(1);
end M;
