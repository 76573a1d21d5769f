// 4.7: A connector has public elements only, inherited ones as well.
// error: E0131 at 7:5 'M.C' is a connector and has public elements only
model M
  connector C0 Real e; flow Real f; end C0;
  connector C
  protected
    extends C0;
  end C;
  C c;
equation
  c.e = 1;
end M;
