// 4.6: A record has no protected sections, also for classes.
// error: E0131 at 6:3
operator record C
  Real re;
protected
  encapsulated operator function '+'
    import C;
    input C a;
    input C b;
    output C r;
  algorithm
    r := a;
  end '+';
end C;
model M
  C a(re = 1);
  C b = a + a;
end M;
