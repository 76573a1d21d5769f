// 14.3: The zero of an operator record has no inputs.
// error: E0131 at 5:3
operator record C
  Real re;
  encapsulated operator function '0'
    import C;
    input Real q;
    output C r;
  algorithm
    r := C(0);
  end '0';
  encapsulated operator function '+'
    import C;
    input C a;
    input C b;
    output C r;
  algorithm
    r := C(a.re + b.re);
  end '+';
end C;
model M
  C a[0];
  C b = sum(a);
end M;
