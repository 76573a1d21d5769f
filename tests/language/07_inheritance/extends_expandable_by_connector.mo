// 7.1.3: A connector does not extend an expandable one.
// error: E0115 at 7:11
expandable connector E
  Real x;
end E;
connector C
  extends E;
end C;
model M
  C c;
end M;
