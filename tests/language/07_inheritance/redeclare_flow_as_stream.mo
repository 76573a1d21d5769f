// 7.3: A flow variable is not redeclared as a stream variable.
// error: E0129 at 5:37 'f' cannot be redeclared as stream: it is declared as flow
model M
  connector C Real e; replaceable flow Real f; end C;
  model R C c(redeclare stream Real f); equation c.e=1; end R;
  R r;
end M;
