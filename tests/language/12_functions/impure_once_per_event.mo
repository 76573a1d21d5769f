// 12.3: A function that is not pure is called once where a when-equation becomes active, however often the event is looked at.
// external: allowed
// expect: n = 4 at 0.38
// expect: difference = 1 at 0.38
model M
  impure function next
    output Real n;
    external "C" n = m_next() annotation(Include = "static double m_next(void) { static double n; return ++n; }");
  end next;
  impure function other
    output Real n;
    external "C" n = m_other() annotation(Include = "static double m_other(void) { static double n; return ++n; }");
  end other;
  model Part
    Real x(start = 0, fixed = true);
  equation
    when sample(0.05, 0.15) then
      x = other();
    end when;
  end Part;
  Part a, b;
  Real n(start = 0, fixed = true), difference = abs(b.x - a.x);
equation
  when sample(0.05, 0.1) then
    n = next();
  end when;
end M;
