// 12.9.7: The constructor of external objects is not replaceable.
// error: E0131 at 6:17 'constructor' of the external object 'M.ExtObj' cannot be replaceable
model M
  class ExtObj
    extends ExternalObject;
    replaceable function constructor output ExtObj obj; external "C" obj = f1(); end constructor;
    function destructor input ExtObj obj; external "C" f2(obj); end destructor;
  end ExtObj;
  ExtObj e = ExtObj();
end M;
