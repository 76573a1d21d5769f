// 12.9.7: A class of external objects has a constructor and a destructor only.
// error: E0131 at 8:5 'M.ExtObj' is a class of external objects: it has the functions constructor and destructor only
model M
  class ExtObj
    extends ExternalObject;
    function constructor output ExtObj obj; external "C" obj = f1(); end constructor;
    function destructor input ExtObj obj; external "C" f2(obj); end destructor;
    function f end f;
  end ExtObj;
  ExtObj e = ExtObj();
end M;
