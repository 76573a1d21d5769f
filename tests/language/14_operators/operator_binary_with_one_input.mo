// 14.5: A function of a binary operator has two inputs without defaults.
// error: E0131 at 5:3
operator record C
  Real re;
  encapsulated operator function '*'
    import C;
    input C a;
    output C r;
  algorithm
    r := a;
  end '*';
end C;
model M
  C a(re = 1);
end M;
