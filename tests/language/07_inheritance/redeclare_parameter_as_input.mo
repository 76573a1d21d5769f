// 7.3: What is no input is not redeclared as one.
// error: E0129 at 8:28
model A
  replaceable parameter Real p = 1;
  Real y = p;
end A;
model M
  A a(redeclare input Real p = 2);
end M;
