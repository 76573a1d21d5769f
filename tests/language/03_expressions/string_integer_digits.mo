// 3.7.1: The number of significant digits is for Reals alone.
// error: E0210 at 4:44
model M
  String s = String(3, significantDigits = 3);
end M;
