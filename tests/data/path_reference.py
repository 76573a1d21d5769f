"""Two-sided fractional paths on fine meshes, independent of mdlc: numbers in tests/cli/path.check.

The action of polygons on N graded intervals, D^a of a polygon in closed form, Newton's method on dense matrices.
    python3 path_reference.py        needs numpy
"""
import math
import numpy as np


def path(a, N, slope, curvature, m, k, c, q1, grade):
    """S = integral of T(D^a q) + m*q'^2/2 - k*q^2/2 and the force -c*q', q(0) = 0, q(1) = q1; T' = slope, T'' = curvature."""
    i = np.linspace(0, 1, N + 1)
    t = np.where(i < .5, .5*(2*i)**grade, 1 - .5*(2*(1 - i))**grade)
    h = np.diff(t)
    g, w = np.polynomial.legendre.leggauss(8)
    y = (1 + g)/2
    x, w = y**3, w/2*3*y**2
    tg = (t[:-1, None] + h[:, None]*x).ravel()
    wg = (h[:, None]*w).ravel()
    P = np.maximum(tg[:, None] - t[None, :], 0)**(1 - a)/math.gamma(2 - a)
    D = np.zeros((N, N + 1))
    D[np.arange(N), np.arange(N)] = -1/h
    D[np.arange(N), np.arange(1, N + 1)] = 1/h
    B = (P[:, :-1] - P[:, 1:])@D
    el, loc = np.repeat(np.arange(N), 8), np.tile(x, N)
    V = np.zeros((len(tg), N + 1))
    V[np.arange(len(tg)), el] = 1 - loc
    V[np.arange(len(tg)), el + 1] = loc
    U = D[el]
    q = q1*t
    for _ in range(30):
        z = B@q
        F = B.T@(wg*slope(z)) + m*U.T@(wg*(U@q)) - k*V.T@(wg*(V@q)) - c*V.T@(wg*(U@q))
        J = B.T@((wg*curvature(z))[:, None]*B) + m*U.T@(wg[:, None]*U) - k*V.T@(wg[:, None]*V) - c*V.T@(wg[:, None]*U)
        d = np.zeros(N + 1)
        d[1:N] = np.linalg.solve(J[1:N, 1:N], -F[1:N])
        q = q + d
        if abs(d).max() < 1e-12:
            break
    return np.interp([.25, .5, .75], t, q)


def rate_path(a, N, k, grade):
    """S = integral of (D^a v)^2/2 + k*x^2/2, x' = v, x(0) = 0, x(1) = 1, v free at both ends; v a polygon, x its integral."""
    i = np.linspace(0, 1, N + 1)
    t = np.where(i < .5, .5*(2*i)**grade, 1 - .5*(2*(1 - i))**grade)
    h = np.diff(t)
    g, w = np.polynomial.legendre.leggauss(8)
    y = (1 + g)/2
    x, w = y**3, w/2*3*y**2
    tg = (t[:-1, None] + h[:, None]*x).ravel()
    wg = (h[:, None]*w).ravel()
    P = np.maximum(tg[:, None] - t[None, :], 0)**(1 - a)/math.gamma(2 - a)
    D = np.zeros((N, N + 1))
    D[np.arange(N), np.arange(N)] = -1/h
    D[np.arange(N), np.arange(1, N + 1)] = 1/h
    B = (P[:, :-1] - P[:, 1:])@D
    whole = np.zeros((N + 1, N + 1))                      # integrals up to nodes
    for j in range(N):
        whole[j + 1] = whole[j]
        whole[j + 1, j] += h[j]/2
        whole[j + 1, j + 1] += h[j]/2
    el, loc = np.repeat(np.arange(N), 8), np.tile(x, N)
    X = whole[el].copy()
    X[np.arange(len(tg)), el] += h[el]*(loc - loc**2/2)
    X[np.arange(len(tg)), el + 1] += h[el]*loc**2/2
    A = B.T@(wg[:, None]*B) + k*X.T@(wg[:, None]*X)
    K = np.block([[A, whole[-1:].T], [whole[-1:], np.zeros((1, 1))]])
    v = np.linalg.solve(K, np.append(np.zeros(N + 1), 1))[:-1]
    out = []
    for at in (.25, .5, .75):
        j = min(np.searchsorted(t, at, side="right") - 1, N - 1)
        s = at - t[j]
        out.append(whole[j]@v + s*v[j] + s**2/(2*h[j])*(v[j + 1] - v[j]))
    return out


if __name__ == "__main__":
    for N in (200, 400, 800):
        print("Fractional, a = 0.75", N, path(.75, N, lambda z: z, lambda z: 0*z + 1, 0, 0, 0, 1, 5))
        print("FractionalMemory", N, path(.8, N, lambda z: z + z**3/3, lambda z: 1 + z**2, .1, 1, .1, .5, 3))
        print("FractionalSpring", N, path(.7, N, lambda z: z, lambda z: 0*z + 1, 0, -4, 0, 1, 5))
        print("Free, a = 1.2", N, rate_path(.2, N, 8, 5))
