model M
  discrete Real x;
equation
  when sample(0.1) then
    x = time;
  end when;
end M;
