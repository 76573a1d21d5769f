"""Microseconds of one evaluation of the articulated-body algorithm for tests/bench/models/spatial_chain.mdl with n bodies.

usage: python3 tests/bench/pinocchio_chain.py N      with Pinocchio (pip install pin)
"""

import sys
import time

import numpy
import pinocchio

n = int(sys.argv[1])
model = pinocchio.Model()
parent = 0
for i in range(1, n + 1):
    joint = pinocchio.JointModelRZ() if i % 2 else pinocchio.JointModelRX()
    place = pinocchio.SE3(numpy.eye(3), numpy.array([0, -0.2 if i > 1 else 0, 0]))
    parent = model.addJoint(parent, joint, place, f"joint{i}")
    inertia = pinocchio.Inertia(1.0, numpy.array([0, -0.1, 0]), numpy.diag([0.004, 0.001, 0.004]))
    model.appendBodyToJoint(parent, inertia, pinocchio.SE3.Identity())
model.gravity.linear = numpy.array([0, -9.81, 0])
data = model.createData()
q = numpy.array([0.4 if i % 2 else 0.1 for i in range(1, n + 1)])
v = numpy.linspace(-1, 1, n)
tau = numpy.zeros(n)
best = float("inf")
for _ in range(20):
    begin = time.process_time()
    for _ in range(500):
        pinocchio.aba(model, data, q, v, tau)
    best = min(best, (time.process_time() - begin) / 500)
print(f"{best * 1e6:.2f}")
