// 14.5: Constructors with defaults, operators on scalars and arrays, comparison and text of an operator record.
// expect: x = 4
// expect: y = 3
// expect: z = 4
// expect: w = 4
// expect: q = true
// expect: t = true
operator record C
  Real re;
  Real im;
  encapsulated operator 'constructor'
    import C;
    function fr
      input Real re;
      input Real im = 0;
      output C r(re = re, im = im);
    algorithm
    end fr;
  end 'constructor';
  encapsulated operator '+'
    import C;
    function add
      input C a;
      input C b;
      output C r;
    algorithm
      r := C(a.re + b.re, a.im + b.im);
    end add;
  end '+';
  encapsulated operator '-'
    import C;
    function neg
      input C a;
      output C r;
    algorithm
      r := C(-a.re, -a.im);
    end neg;
    function sub
      input C a;
      input C b;
      output C r;
    algorithm
      r := C(a.re - b.re, a.im - b.im);
    end sub;
  end '-';
  encapsulated operator function '*'
    import C;
    input C a;
    input C b;
    output C r;
  algorithm
    r := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
  end '*';
  encapsulated operator function '=='
    import C;
    input C a;
    input C b;
    output Boolean r;
  algorithm
    r := a.re == b.re and a.im == b.im;
  end '==';
  encapsulated operator function '0'
    import C;
    output C r;
  algorithm
    r := C(0, 0);
  end '0';
  encapsulated operator function 'String'
    import C;
    input C a;
    output String s;
  algorithm
    s := String(a.re) + "+j" + String(a.im);
  end 'String';
end C;
model M
  parameter C a = C(1, 2), b = C(3);
  C c = a + b, d = a*b - c, e = -a, f = a + 2, g = 2*a;
  C h = sum({a, b});
  Boolean q = a == C(1, 2);
  String s = String(a);
  Boolean t = s == "1+j2";
  Real x = d.im, y = f.re, z = g.im, w = h.re;
end M;
