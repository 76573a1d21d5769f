// 12.2: A function has an algorithm or is external.
// error: E0212 at 8:3 a function has an algorithm or is external
model M
  function f
    input Real x; output Real y;
  algorithm
    y := x;
  external "C";
  end f;
  Real x = f(time);
end M;
