// 12.4.1: A field of an input whose size is open, or that of another field, has the size that it has in the argument.
// expect: a = 6
// expect: b = 10
// expect: c = 11
// expect: d = 16
// expect: e = 9
// expect: f = 11
model M
  record Open
    parameter Real v[:] = {0};
  end Open;
  record Counted
    parameter Integer n = 2;
    parameter Real v[n] = ones(n);
    Real x = 7;
  end Counted;
  function total
    input Open r;
    output Real y = sum(r.v);
  algorithm
  end total;
  function last
    input Counted r;
    output Real y;
  algorithm
    y := r.v[end]*size(r.v, 1) + r.x;
  end last;
  parameter Open three = Open(v = {1, 2, 3}), four(v = {1, 2, 3, 4});
  parameter Counted given(n = 3, v = {1, 2, 3}), default;
  Real a = total(three), b = total(four), c = total(Open(v = {5, 6}));
  Real d = last(given), e = last(default), f = last(Counted(n = 4, v = fill(time, 4)));
end M;
