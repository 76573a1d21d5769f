// 14.5: The product of two vectors is not defined by that of their elements.
// error: E0204 at 25:9
operator record C
  Real re;
  Real im;
  encapsulated operator function '*'
    import C;
    input C a;
    input C b;
    output C r;
  algorithm
    r := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
  end '*';
  encapsulated operator function '+'
    import C;
    input C a;
    input C b;
    output C r;
  algorithm
    r := C(a.re + b.re, a.im + b.im);
  end '+';
end C;
model M
  parameter C a = C(1, 2), b = C(3, 4);
  C p = {a, b}*{a, b};
end M;
