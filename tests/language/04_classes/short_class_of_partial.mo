// 4.5.1: A short class of a partial class is partial.
// error: E0106 at 8:8
partial model TwoPin
  Real x = 1;
end TwoPin;
model M
  replaceable model Load = TwoPin;
  Load R;
end M;
