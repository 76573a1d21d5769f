// 7.3: Attributes are not redeclared.
// error: E0129 at 4:25 'start' is an attribute of 'x': it has a value and is not redeclared
model M
  Real x(redeclare Real start = 1.0) = time;
end M;
