// 5.4: An inner parameter is taken where an outer variable is declared.
// expect: a.x = 4
model A
  outer Real T;
  Real x = T;
end A;
model M
  inner parameter Real T = 4;
  A a;
end M;
