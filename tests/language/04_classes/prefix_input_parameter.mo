// 4.4.2.2: An input is no parameter.
// error: E0131 at 4:24
model M
  parameter input Real x;
end M;
