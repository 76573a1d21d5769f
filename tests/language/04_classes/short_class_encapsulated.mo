// 4.5.1: The modifications of an encapsulated short class do not see what stands around it.
// error: E0101 at 9:39
model Res
  parameter Real R = 1;
  Real z = R;
end Res;
model M
  parameter Real R = 3;
  encapsulated model LoadR = .Res(R = R);
  LoadR a;
end M;
