// 7.1.3: An expandable connector does not extend another one.
// error: E0115 at 7:11
connector C
  input Real x;
end C;
expandable connector E
  extends C;
end E;
model M
  E c;
end M;
