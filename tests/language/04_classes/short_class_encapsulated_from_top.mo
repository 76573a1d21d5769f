// 4.5.1: An encapsulated short class names its base from the top.
// expect: a.z = 2
model Res
  parameter Real R = 1;
  Real z = R;
end Res;
model M
  encapsulated model Load2 = .Res(R = 2);
  Load2 a;
end M;
