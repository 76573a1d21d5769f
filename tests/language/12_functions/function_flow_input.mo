// 12.2: An input of a function is no flow.
// error: E0212 at 5:21
model M
  function f
    flow input Real u;
    output Real y;
  algorithm
    y := u;
  end f;
  Real x = f(1);
end M;
