// 7.1.3: A model does not extend a connector.
// error: E0115 at 7:11
connector C
  Real e;
end C;
model M
  extends C(e = 1);
end M;
