// 9.1.3: connections say which variables of an expandable connector are inputs and outputs; a block may have one that declares some without.
// expect: y = 6
expandable connector Bus
  parameter Integer n = 1;
  Real speed[n];
end Bus;
connector RealInput = input Real;
connector RealOutput = output Real;
block Source
  RealOutput y = 3;
end Source;
block Twice
  RealInput u;
  RealOutput y = 2*u;
end Twice;
block Through
  Bus from(n = 1), to(n = 1);
protected
  Twice twice[1];
equation
  connect(from.speed, twice.u);
  connect(twice.y, to.speed);
end Through;
block Sink
  RealInput u;
end Sink;
model M
  Source source[1];
  Through through;
  Sink sink[1];
  Bus left(n = 1), right(n = 1);
  Real y = sink[1].u;
equation
  connect(source.y, left.speed);
  connect(left, through.from);
  connect(through.to, right);
  connect(right.speed, sink.u);
end M;
