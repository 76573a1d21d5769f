// 12.3: pure() says something of a call.
// error: E0210 at 4:17 'pure' says something of the call of a function, and this is none
model M
  Real x = pure(1.0);
end M;
