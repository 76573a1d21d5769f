// 12.9: random generators that the standard library declares as external; the values are those of Vigna's papers computed elsewhere.
// expect: r64 = 0.23556187723369576 at 0.5 within 1e-15
// expect: r64 = 0.5786611221843154 at 1.5 within 1e-15
// expect: r64 = 0.8144948916953558 at 2.5 within 1e-15
// expect: r128 = 0.5156251248568117 within 1e-15
// expect: r1024 = 0.7111771491880694 within 1e-15
// expect: hidden = 0.7111771491880694 at 20 within 1e-15
package P
  function x64
    input Integer stateIn[2];
    output Real result;
    output Integer stateOut[2];
    external "C" ModelicaRandom_xorshift64star(stateIn, stateOut, result) annotation(Library = "ModelicaExternalC");
  end x64;
  function x128
    input Integer stateIn[4];
    output Real result;
    output Integer stateOut[4];
    external "C" ModelicaRandom_xorshift128plus(stateIn, stateOut, result) annotation(Library = "ModelicaExternalC");
  end x128;
  function x1024
    input Integer stateIn[33];
    output Real result;
    output Integer stateOut[33];
    external "C" ModelicaRandom_xorshift1024star(stateIn, stateOut, result) annotation(Library = "ModelicaExternalC");
  end x1024;
  function many
    input Integer state[33];
    input Integer n;
    output Real r;
  protected
    Integer s[33] = state;
  algorithm
    for i in 1:n loop
      (r, s) := x1024(s);
    end for;
  end many;
  function two
    input Integer state[4];
    output Real r;
  protected
    Integer s[4];
  algorithm
    (r, s) := x128(state);
    (r, s) := x128(s);
  end two;
  impure function set
    input Integer state[33];
    input Integer id;
    external "C" ModelicaRandom_setInternalState_xorshift1024star(state, size(state, 1), id) annotation(Library = "ModelicaExternalC");
  end set;
  impure function start
    input Integer state[33];
    output Integer id;
  algorithm
    id := 17;
    set(state, id);
  end start;
  impure function next
    input Integer id;
    output Real y;
    external "C" y = ModelicaRandom_impureRandom_xorshift1024star(id) annotation(Library = "ModelicaExternalC");
  end next;
end P;
model M
  constant Integer words[33] = {-1985229329, 19088743, 324508638, 38177487, -1660720691, 57266230, 649017276, 76354974, -1336212053, 95443717,
    973525914, 114532461, -1011703415, 133621204, 1298034552, 152709948, -687194777, 171798691, 1622543190, 190887435, -362686139, 209976178,
    1947051828, 229064922, -38177501, 248153665, -2023406830, 267242409, 286331137, 286331153, -1698898192, 305419896, 0};
  parameter Integer id = P.start(words);
  discrete Real r64(start = 0, fixed = true), hidden(start = 0, fixed = true);
  discrete Integer state[2](start = {5, 7}, each fixed = true);
  Real r128 = P.two({1, 2, 3, 4});
  Real r1024 = P.many(words, 20);
equation
  when sample(0.25, 1) then
    (r64, state) = P.x64(pre(state));
    hidden = P.next(id);
  end when;
  annotation(experiment(StopTime = 20));
end M;
