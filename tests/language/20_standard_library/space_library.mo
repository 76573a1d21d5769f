// 20: A library of mechanics in space, written as that of the standard is: an orientation object with equalityConstraint, frames, an inner world with functions of its parameters as defaults, conditional visualizers.
// expect: body.r_0[3] = -4.905 within 1e-6
// expect: vertical = true
// expect: still.r_0[3] = 0
// expect: body.shape.volume = 8
package Space
  package Types
    type GravityKind = enumeration(None "no gravity", Uniform "parallel", Point "to a point");
    type Axis = Real[3](each final unit = "1") "axis";
  end Types;
  package Frames
    record Orientation "orientation object"
      Real T[3, 3] "rotation from world to frame";
      Real w[3] "angular velocity in the frame";
      encapsulated function equalityConstraint
        import Space.Frames;
        input Frames.Orientation R1, R2;
        output Real residue[3];
      algorithm
        residue := {atan2(cross(R1.T[1, :], R1.T[2, :])*R2.T[2, :], R1.T[1, :]*R2.T[1, :]),
                    atan2(-cross(R1.T[1, :], R1.T[2, :])*R2.T[1, :], R1.T[2, :]*R2.T[2, :]),
                    atan2(R1.T[2, :]*R2.T[1, :], R1.T[3, :]*R2.T[3, :])};
      end equalityConstraint;
    end Orientation;
    function nullRotation
      output Orientation R;
    algorithm
      R := Orientation(T = identity(3), w = zeros(3));
    end nullRotation;
    function resolve2
      input Orientation R;
      input Real v1[3];
      output Real v2[3];
    algorithm
      v2 := R.T*v1;
    end resolve2;
  end Frames;
  connector Frame
    Real r_0[3](each unit = "m");
    Frames.Orientation R;
    flow Real f[3](each unit = "N");
    flow Real t[3](each unit = "N.m");
  end Frame;
  connector Frame_a = Frame;
  connector Frame_b = Frame;
  partial function partialGravity
    input Real r[3];
    output Real gravity[3];
  end partialGravity;
  function standardGravity
    extends partialGravity;
    input Types.GravityKind kind = Types.GravityKind.Uniform;
    input Real g[3] = {0, 0, -9.81};
    input Real mu = 3.986e14;
  algorithm
    gravity := if kind == Types.GravityKind.Uniform then g
               else if kind == Types.GravityKind.Point then -(mu/(r*r))*(r/sqrt(r*r)) else zeros(3);
  end standardGravity;
  model World
    Frame_b frame_b;
    parameter Boolean animate = true;
    parameter Types.GravityKind kind = Types.GravityKind.Uniform annotation(Evaluate = true);
    parameter Real g = 9.81 annotation(Dialog(enable = kind == Types.GravityKind.Uniform));
    parameter Types.Axis n = {0, 0, -1};
    replaceable function gravityAcceleration = standardGravity(kind = kind, g = g*n)
      constrainedby partialGravity annotation(choicesAllMatching = true);
  equation
    Connections.root(frame_b.R);
    frame_b.r_0 = zeros(3);
    frame_b.R = Frames.nullRotation();
  end World;
  model Shape
    parameter Real size = 1;
    input Real r[3];
    Real volume = size^3;
  end Shape;
  partial model PartialOneFrame
    Frame_a frame_a annotation(Placement(transformation(extent = {{-116, -16}, {-84, 16}})));
  protected
    outer World world;
  equation
    assert(cardinality(frame_a) > 0, "frame_a must be connected");
  end PartialOneFrame;
  model Body
    extends PartialOneFrame;
    parameter Real m(min = 0) = 1;
    parameter Boolean animation = true;
    parameter Boolean enforceStates = false annotation(Evaluate = true, Dialog(tab = "Advanced"));
    Real r_0[3](start = {0, 0, 0}, each stateSelect = if enforceStates then StateSelect.always else StateSelect.avoid);
    Real v_0[3](each fixed = false);
    Real a_0[3], g_0[3];
    Shape shape(size = 2, r = frame_a.r_0) if world.animate and animation;
  initial equation
    r_0 = zeros(3);
    v_0 = zeros(3);
  equation
    Connections.potentialRoot(frame_a.R);
    if Connections.isRoot(frame_a.R) then
      frame_a.R = Frames.nullRotation();
    else
      frame_a.t = zeros(3);
    end if;
    r_0 = frame_a.r_0;
    v_0 = der(r_0);
    a_0 = der(v_0);
    g_0 = world.gravityAcceleration(frame_a.r_0);
    frame_a.f = Frames.resolve2(frame_a.R, m*(a_0 - g_0));
  end Body;
  model Force
    extends PartialOneFrame;
    parameter Real f[3] = zeros(3);
  equation
    frame_a.f = -f;
    frame_a.t = zeros(3);
  end Force;
end Space;
model M
  import Space.*;
  inner World world(animate = true);
  Body body(m = 2), still(m = 3, animation = false);
  Force push(f = {0, 0, 29.43}), nothing;
  Boolean vertical = abs(body.r_0[1]) < 1e-9;
equation
  connect(still.frame_a, push.frame_a);
  connect(body.frame_a, nothing.frame_a);
end M;
