// 12.2: Elements of a function are not inner.
// error: E0212 at 5:22 a variable of a function is neither inner nor outer
model M
  function f
    inner input Real x; output Real y;
  algorithm
    y := x;
  end f;
  Real x = f(time);
end M;
