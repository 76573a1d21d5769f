// 10.3.1: Components of any class have sizes.
// expect: n = 2
// expect: k = 2
// expect: m = 4
// expect: z[3] = 1
model M
  model A
    Real x = 1;
  end A;
  A a[3, 2];
  A b;
  connector C
    Real e;
    flow Real f;
  end C;
  C c[4];
equation
  for i in 1:4 loop
    c[i].e = 1;
  end for;
public
  Integer n = size(a, 2);
  Integer k = ndims(a);
  Integer q[2] = size(a);
  Integer m = size(c, 1) + ndims(b);
  Real z[size(a, 1)] = ones(3);
end M;
