// 3.7.1: A format cannot be combined with other options.
// error: E0210 at 4:56
model M
  String s = String(3.0, format = "g", minimumLength = 3);
end M;
