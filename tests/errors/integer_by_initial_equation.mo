// Initial equations give Integers whole numbers, as others do.
model integer_by_initial_equation
  parameter Real p = 1;
  parameter Integer unknown(fixed = false), known(fixed = false);
  Integer started, begun;
initial equation
  unknown = p/2;
  known = integer(p/2);
  started = 2.5;
  begun = 2*known;
equation
  when time > 0.5 then
    started = pre(started) + 1;
    begun = pre(begun) + 1;
  end when;
end integer_by_initial_equation;
