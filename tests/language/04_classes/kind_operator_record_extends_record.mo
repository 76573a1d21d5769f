// 4.6: An operator record extends operator records only.
// error: E0115 at 10:11
// error: E0103 at 13:8
// error: E0103 at 13:16
record R
  Real re;
  Real im;
end R;
operator record Cx
  extends R;
end Cx;
model M
  Cx m(re = 1, im = 2);
end M;
