// 10.1: The size of an array of records that is left open is that of its value.
// expect: x = {1, 3}
model M
  record R
    Real x;
    Real y;
  end R;
  function f
    input R r[:];
    output Real x[size(r, 1)];
  algorithm
    for i in 1:size(r, 1) loop
      x[i] := r[i].x;
    end for;
  end f;
  parameter R r[:] = {R(1, 2), R(3, 4)};
  Real x[:] = f(r);
end M;
