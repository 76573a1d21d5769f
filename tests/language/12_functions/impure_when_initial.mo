// 12.3: an impure function in a when-equation that initial() makes active is called once with the initialisation.
// expect: y = 0.7111771491880694 at 19 within 1e-15
package P
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
  discrete Real y "the 20th value, as in standard_random.mo";
equation
  when {initial(), sample(1, 1)} then
    y = P.next(id);
  end when;
  annotation(experiment(StopTime = 19));
end M;
