#!/usr/bin/env python3
"""Check one recorded counterexample of a shallow ReLU network, in exact arithmetic.

    python3 -I -S THIS_FILE [FILE.json]

Standard library only. It derives every number under "exact" again, with fractions, and ends with 0
only if all of them agree, the claim's inequality is violated, and the assumptions that put the
problem in the claim's scope are all there and hold; otherwise it ends with 1 and names what
disagrees. FILE.json is checked in place of the record below.

What it takes as it is: the effective dimensions of the law of features that were drawn; and of
the record's other entries all that is not derived here (words, facts, severity, seed, margin):
they are covered by the digest alone, which tells of damage and not of who wrote them.

The model is f(x) = sum_k s_k max(w_k.x, 0) on examples x_i with labels y_i, trained by full-batch
gradient descent on the loss 1/2 sum_i (f(x_i) - y_i)^2 with step size eta. With the Gram matrix G,
predictions b_k of neuron k, the residual r = f - y, and D_k = diag(1 where neuron k is active):

    a_k <- a_k - eta s_k D_k r,    b_k = b_k(0) + G (a_k - a_k(0)).

An active neuron's gradient passes; at b = 0 it does if "slope_at_zero" is 1. Distances are compared
by their squares, so that no root is taken. Witnesses are verified, not searched for: the limit by
the equations that it solves, the nearest global minimum by its optimality conditions.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction

RECORD = None

LARGEST = 16 * 1024 * 1024
MOST_DIGITS = 4_000
RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")
MOST_STEPS = 1_000
MOST_BITS = 60_000
MOST_SHOWN, FEWEST_SHOWN = 8, 4
BOUNDS = [Fraction(quarters, 4) for quarters in range(4, 9)]


class Wrong(Exception):
    """What disagrees, in words."""


def require(condition, message):
    """Raise Wrong unless the condition holds."""
    if not condition:
        raise Wrong(message)


def has(entry, names):
    """Whether an entry is an object with just these names."""
    return type(entry) is dict and sorted(entry) == sorted(names)


def rational(text):
    """Read "p" or "p/q", of at most MOST_DIGITS digits each."""
    require(type(text) is str, f"{repr(text)[:60]} is no rational in a string")
    parts = RATIONAL.fullmatch(text) if len(text) <= 2 * MOST_DIGITS + 2 else None
    require(parts is not None, f"{text[:60]!r} is no rational")
    short = all(len(part or "") <= MOST_DIGITS + 1 for part in parts.groups())
    require(short, f"{text[:60]!r} has more than {MOST_DIGITS} digits")
    number = Fraction(text)
    require(str(number) == text, f"{text[:60]!r} is not in lowest terms")
    return number


def row(entries, size, what):
    """Read `size` rationals."""
    require(isinstance(entries, list) and len(entries) == size, f"{what}: expected {size} entries")
    return [rational(entry) for entry in entries]


def table(entries, rows, columns, what):
    """Read a matrix of rationals."""
    require(isinstance(entries, list) and len(entries) == rows, f"{what}: expected {rows} rows")
    return [row(line, columns, what) for line in entries]


def dot(one, other):
    """Return the inner product."""
    return sum((a * b for a, b in zip(one, other)), Fraction(0))


def times(matrix, vector):
    """Return matrix times vector."""
    return [dot(line, vector) for line in matrix]


def quadratic(matrix, vector):
    """Return v'Av."""
    return dot(vector, times(matrix, vector))


def sums(one, other, factor=1):
    """Return one + factor * other, entry by entry, of matrices."""
    return [[a + factor * b for a, b in zip(*lines)] for lines in zip(one, other)]


def shifted(bound, factor, matrix):
    """Return bound * I + factor * matrix."""
    size = range(len(matrix))
    return [[bound * (i == j) + factor * matrix[i][j] for j in size] for i in size]


def smallest_pivot(matrix):
    """Return the last pivot of the LDL' factorisation that takes the largest diagonal entry first.

    It is > 0 exactly if the matrix is positive definite, >= 0 exactly if it is positive
    semi-definite. Where no diagonal entry is positive it is 0 for zeros alone, else the least
    diagonal entry, or minus the largest entry where the diagonal is zero.
    """
    rest = [list(line) for line in matrix]
    pivot = None
    while rest:
        size = len(rest)
        place = max(range(size), key=lambda i: (rest[i][i], -i))
        pivot = rest[place][place]
        if pivot <= 0:
            least = min(rest[i][i] for i in range(size))
            return least if least < 0 else -max(abs(entry) for line in rest for entry in line)
        kept = [i for i in range(size) if i != place]
        rest = [[rest[i][j] - rest[i][place] * rest[place][j] / pivot for j in kept] for i in kept]
    return pivot


def solved(matrix, right):
    """Return one solution z of Az = b, or None where there is none."""
    size = len(right)
    lines = [[*line, entry] for line, entry in zip(matrix, right)]
    leads = []
    for column in range(len(matrix[0])):
        done = len(leads)
        place = next((i for i in range(done, size) if lines[i][column] != 0), None)
        if place is None:
            continue
        lines[done], lines[place] = lines[place], lines[done]
        lead = lines[done][column]
        lines[done] = [entry / lead for entry in lines[done]]
        for i in range(size):
            factor = lines[i][column]
            if i != done and factor != 0:
                lines[i] = [a - factor * b for a, b in zip(lines[i], lines[done])]
        leads.append(column)
    if any(line[-1] != 0 for line in lines[len(leads) :]):
        return None
    found = [Fraction(0)] * len(matrix[0])
    for line, column in zip(lines, leads):
        found[column] = line[-1]
    return found


class State:
    """Gradient descent at one step: coefficients since the start, predictions, pattern, residual"""

    def __init__(self, problem, change):
        self.change = change
        self.beta = [
            [b + g for b, g in zip(start, times(problem.gram, a))]
            for start, a in zip(problem.start, change)
        ]
        self.pattern = [[problem.active(b) for b in line] for line in self.beta]
        self.residual = [
            sum(
                (s * line[i] for s, line, on in self.neurons(problem) if on[i]),
                -problem.labels[i],
            )
            for i in range(problem.n)
        ]
        self.covered = [i for i in range(problem.n) if any(on[i] for on in self.pattern)]

    def neurons(self, problem):
        """Sign, predictions and activity of each neuron."""
        return list(zip(problem.signs, self.beta, self.pattern))

    def interaction(self, problem):
        """M = sum_k D_k G D_k on the covered examples."""
        return [
            [problem.gram[i][j] * sum(on[i] and on[j] for on in self.pattern) for j in self.covered]
            for i in self.covered
        ]


class Problem:
    """The recorded problem, and gradient descent on it as far as it is asked for."""

    def __init__(self, entry):
        require(has(entry, PROBLEM), f"problem: other entries than {PROBLEM}")
        require(isinstance(entry["labels"], list), "problem: labels are missing")
        self.n = n = len(entry["labels"])
        self.signs = entry["signs"]
        require(self.signs in ([1], [1, -1]), "problem: signs are neither [1] nor [1, -1]")
        self.m = m = len(self.signs)
        self.labels = row(entry["labels"], n, "labels")
        self.gram = table(entry["gram"], n, n, "gram")
        self.start = table(entry["start"], m, n, "start")
        self.outside = table(entry["outside"], m, m, "outside")
        self.step_size = rational(entry["step_size"])
        self.slope_at_zero = entry["slope_at_zero"]
        known = type(self.slope_at_zero) is int and self.slope_at_zero in (0, 1)
        require(known, "problem: slope_at_zero is neither 0 nor 1")
        require(self.step_size > 0, "problem: the step size is not positive")
        for name, matrix in (("gram", self.gram), ("outside", self.outside)):
            require(
                matrix == [list(line) for line in zip(*matrix)] and smallest_pivot(matrix) >= 0,
                f"problem: {name} is not symmetric and positive semi-definite",
            )
        self.features = entry["features"]
        if self.features is not None:
            require(isinstance(self.features, list) and self.features, "features: no rows")
            self.features = table(self.features, n, len(self.features[0]), "features")
            products = [[dot(one, other) for other in self.features] for one in self.features]
            require(products == self.gram, "problem: gram is not the features' inner products")
        least = table(entry["starting_duals"], m, n, "starting_duals")
        for duals, beta in zip(least, self.start):
            fits = times(self.gram, duals) == beta and solved(self.gram, duals) is not None
            require(fits, "problem: starting_duals are not G+ of the start")
        self.duals = least
        square = sum((quadratic(self.gram, line) for line in least), Fraction(0))
        square += sum(self.outside[k][k] for k in range(m))
        known = rational(entry["starting_square"]) == square
        require(known, "problem: starting_square is another")
        self.classes = [[s * y > 0 for y in self.labels] for s in self.signs]
        self.scale = max(abs(y) for y in self.labels) or Fraction(1)
        law = entry["law"]
        require(law is None or self.features is None, "problem: features are given, and a law too")
        require(law is None or has(law, LAW), f"problem: law has other entries than {LAW}")
        law = {name: None if v is None else rational(v) for name, v in (law or {}).items()}
        width = Fraction(len(self.features[0])) if self.features is not None else None
        self.dimension = law.get("dimension", width)
        self.trace = law.get("trace", sum(self.gram[i][i] for i in range(n)) / n)
        self.law = law
        self.states = [State(self, [[Fraction(0)] * n for _ in range(m)])]
        residual = row(entry["starting_residual"], n, "starting_residual")
        known = residual == self.states[0].residual
        require(known, "problem: starting_residual is another")
        self.final = self.limit = None
        self.comparators = {}

    def active(self, beta):
        """Whether a neuron with this prediction is active."""
        return beta >= 0 if self.slope_at_zero else beta > 0

    def state(self, step):
        """The state after so many steps."""
        require(type(step) is int and 0 <= step <= MOST_STEPS, f"step {step!r} is none")
        while len(self.states) <= step:
            last = self.states[-1]
            change = [
                [
                    a - self.step_size * s * r if active else a
                    for a, r, active in zip(line, last.residual, on)
                ]
                for line, s, on in zip(last.change, self.signs, last.pattern)
            ]
            self.states.append(State(self, change))
            longest = max(abs(b.numerator) for line in self.states[-1].beta for b in line)
            require(longest.bit_length() < MOST_BITS, f"step {len(self.states)} is out of reach")
        return self.states[step]

    def departure(self, last=None):
        """The first step from 1 on whose pattern is not the label classes; None if none is, up to
        the step `last`, or the one from which the pattern is final."""
        last = max(self.final, 1) if last is None else last
        for step in range(1, last + 1):
            if self.state(step).pattern != self.classes:
                return step
        return None

    def ended(self):
        """The limit: its state."""
        require(self.limit is not None, "the limit is needed, and none is recorded")
        return self.limit

    def weights(self):
        """Coefficients of the limit, of least norm at the start."""
        return sums(self.duals, self.ended().change)

    def square(self, duals):
        """sum_k of the squared lengths of the vectors with these coefficients."""
        return sum((quadratic(self.gram, line) for line in duals), Fraction(0))

    def comparator(self, name):
        """The recorded comparator of that name: its coefficients."""
        require(name in self.comparators, f"the comparator {name} is needed, and none is recorded")
        return self.comparators[name]

    def off_the_classes(self):
        """Pairs of a neuron and an example that is not in its label class."""
        return [(k, i) for k in range(self.m) for i in range(self.n) if not self.classes[k][i]]

    def own(self, k):
        """The examples of a neuron's label class."""
        return [i for i in range(self.n) if self.classes[k][i]]

    def block(self, places):
        """The Gram matrix of some examples."""
        return [[self.gram[i][j] for j in places] for i in places]


# Steps, the final pattern and the limit


def check_steps(problem, steps, departure):
    """The recorded steps are those from 0 to the first departure, or the first few where that is
    late or there is none; each is what gradient descent makes of the one before."""
    require(isinstance(steps, list) and steps, "steps: none is recorded")
    within = type(departure) is int and departure < MOST_SHOWN
    size = departure + 1 if within else FEWEST_SHOWN
    require(len(steps) == size, f"steps: {len(steps)} are recorded, expected {size}")
    for number, entry in enumerate(steps):
        beta = table(entry, problem.m, problem.n, f"step {number}")
        require(beta == problem.state(number).beta, f"step {number} is another")


def check_departure(problem, step, shown):
    """The first step from 1 on whose pattern is not the label classes is the recorded one."""
    if step is None and problem.final is None:
        others = [k for k in range(1, shown) if problem.state(k).pattern != problem.classes]
        require(not others, "first_departure is another")
    else:
        last = step if problem.final is None else None
        require(problem.departure(last) == step, "first_departure is another")


def check_final(problem, entry):
    """The pattern at the recorded step never changes again, and the limit is what it solves."""
    n, m = problem.n, problem.m
    require(has(entry, FINAL), f"final: other entries than {FINAL}")
    state = problem.state(entry["step"])
    pattern = [[int(on) for on in line] for line in state.pattern]
    require(entry["pattern"] == pattern, "final: the pattern is another")
    require(table(entry["duals"], m, n, "final") == state.change, "final: duals are others")
    kind = entry["name"]
    require(kind in CERTIFICATES, f"final: no certificate is called {kind!r}")
    CERTIFICATES[kind](problem, state, entry)
    change = table(entry["limit_change"], m, n, "limit_change")
    jump = [[a - b for a, b in zip(*lines)] for lines in zip(state.change, change)]
    remainder = [Fraction(0)] * n
    for s, on, line in zip(problem.signs, state.pattern, jump):
        for i in range(n):
            require(on[i] or line[i] == 0, "final: an inactive coefficient moves")
            remainder[i] = s * line[i] if on[i] else remainder[i]
    for s, on, line in zip(problem.signs, state.pattern, jump):
        shared = all(s * line[i] == remainder[i] for i in range(n) if on[i])
        require(shared, "final: neurons move differently on an example that they share")
    covered = state.covered
    matrix = state.interaction(problem)
    image = times(matrix, [remainder[i] for i in covered])
    require(image == [state.residual[i] for i in covered], "final: the limit does not fit")
    problem.final = entry["step"]
    problem.limit = State(problem, change)


def at_rest(problem, state, entry):
    """Every covered example is fitted exactly: nothing moves."""
    require(entry["row_weights"] is None and entry["kappa"] is None, "final: rest has no weights")
    require(rests(state), "final: it is not at rest")
    step = entry["step"]
    require(step == 0 or not rests(problem.state(step - 1)), "final: it is at rest before")


def rests(state):
    """Whether every covered example is fitted exactly."""
    return all(state.residual[i] == 0 for i in state.covered)


def by_rows(problem, state, entry):
    """The weighted row sums of |I - eta M| are below 1, and no prediction moves as far as zero."""
    weights = row(entry["row_weights"], problem.n, "row_weights")
    kappa = rational(entry["kappa"])
    for i, weight in enumerate(weights):
        require(weight > 0 if i in state.covered else weight == 0, "final: a weight is wrong")
    require(kappa == contraction(problem, state, weights), "final: kappa is another")
    require(kappa < 1 and safe_by_rows(problem, state, weights), "final: it certifies nothing")
    usual = usual_weights(problem, state)
    if weights != usual:
        least = contraction(problem, state, usual)
        require(least >= 1 or not safe_by_rows(problem, state, usual), "final: other weights do")
        largest = max(weights) == 1 and all((64 * weight).denominator == 1 for weight in weights)
        require(largest, "final: the weights are no multiples of 1/64, the largest 1")


def usual_weights(problem, state):
    """|y| on the covered examples; 1 where one of those is zero."""
    labels = [
        abs(problem.labels[i]) if i in state.covered else Fraction(0) for i in range(problem.n)
    ]
    if all(labels[i] for i in state.covered):
        return labels
    return [Fraction(int(i in state.covered)) for i in range(problem.n)]


def contraction(problem, state, weights):
    """max_i sum_j |I - eta M|_ij v_j / v_i over the covered examples."""
    matrix = state.interaction(problem)
    largest = Fraction(0)
    for p, i in enumerate(state.covered):
        total = sum(
            abs((p == q) - problem.step_size * matrix[p][q]) * weights[j]
            for q, j in enumerate(state.covered)
        )
        largest = max(largest, total / weights[i])
    return largest


def slacks_by_rows(problem, state, weights):
    """How far from zero each prediction is certain to stay on its side, one line a neuron."""
    kappa = contraction(problem, state, weights)
    worst = max((abs(state.residual[j]) / weights[j] for j in state.covered), default=Fraction(0))
    found = []
    for k, on in enumerate(state.pattern):
        line = []
        for i in range(problem.n):
            reach = sum(abs(problem.gram[i][j]) * weights[j] for j in state.covered if on[j])
            drift = problem.step_size / (1 - kappa) * worst * reach
            slack = abs(state.beta[k][i]) - drift
            if keeps_its_label(problem, state, k, i):
                slack = max(slack, abs(problem.labels[i]) - weights[i] * worst)
            line.append(slack)
        found.append(line)
    return found


def keeps_its_label(problem, state, k, i):
    """Active, covered by this neuron alone, and the label has its sign: then b = |y| + s r."""
    alone = sum(on[i] for on in state.pattern) == 1
    return state.pattern[k][i] and problem.classes[k][i] and alone


def stays(problem, active, here, drift):
    """Whether |b| (or its square) exceeds what it may move by (or its square)."""
    strictly = not active if problem.slope_at_zero else active
    return here > drift if strictly else here >= drift


def safe_by_rows(problem, state, weights):
    """Whether no prediction leaves its side of zero."""
    if contraction(problem, state, weights) >= 1:
        return False
    return all(
        stays(problem, active, slack, 0)
        for line, on in zip(slacks_by_rows(problem, state, weights), state.pattern)
        for slack, active in zip(line, on)
    )


def by_energy(problem, state, entry):
    """The norm of the inverse of M shrinks, and no prediction moves as far as zero in it."""
    require(entry["row_weights"] is None, "final: the energy norm has no weights")
    matrix, covered = state.interaction(problem), state.covered
    kappa = rational(entry["kappa"])

    def pivot(bound):
        return smallest_pivot(shifted(bound, -problem.step_size, matrix))

    require(smallest_pivot(matrix) > 0, "final: M is singular")
    require(pivot(2) > 0, "final: the step is not stable")
    least = next(bound for bound in BOUNDS if pivot(bound) >= 0)
    require(kappa == least, "final: kappa is another")
    residual = [state.residual[i] for i in covered]
    energy, size = dot(residual, solved(matrix, residual)), dot(residual, residual)
    for k, on in enumerate(state.pattern):
        for i in range(problem.n):
            if keeps_its_label(problem, state, k, i) and size < problem.labels[i] ** 2:
                continue
            reach = [problem.gram[i][j] if on[j] else Fraction(0) for j in covered]
            drift = kappa**2 * dot(reach, solved(matrix, reach)) * energy
            safe = stays(problem, on[i], state.beta[k][i] ** 2, drift)
            require(safe, "final: it certifies nothing")


CERTIFICATES = {"rest": at_rest, "rows": by_rows, "energy": by_energy}


def check_comparator(problem, entry):
    """The recorded coefficients satisfy the optimality conditions of a nearest global minimum."""
    require(has(entry, ("name", "duals")), "comparator: other entries than its name and duals")
    name = entry["name"]
    require(name in ("minimum_norm", "nearest_minimum"), f"comparator {name!r} is unknown")
    require(smallest_pivot(problem.gram) > 0, "comparator: the Gram matrix is singular")
    duals = table(entry["duals"], problem.m, problem.n, "comparator")
    for k, alpha in enumerate(duals):
        anchor = problem.start[k] if name == "nearest_minimum" else [Fraction(0)] * problem.n
        beta = [a + g for a, g in zip(anchor, times(problem.gram, alpha))]
        for i in range(problem.n):
            if problem.classes[k][i]:
                optimal = beta[i] == abs(problem.labels[i])
            else:
                optimal = beta[i] <= 0 and alpha[i] <= 0 and beta[i] * alpha[i] == 0
            require(optimal, f"comparator: it is not optimal at example {i + 1}, neuron {k + 1}")
    problem.comparators[name] = duals


# Statements: left, right and whether the inequality is strict


def patterns_are_the_classes(p):
    """Every neuron is active exactly on its label class from step one on: the side of zero."""
    recorded = p.first
    if recorded is None:
        require(p.final is not None, "nothing says that the pattern is final")
        steps = range(1, max(p.final, 1) + 1)
    else:
        steps = [recorded]
    sides = []
    for step in steps:
        for k, line in enumerate(p.state(step).beta):
            for i, beta in enumerate(line):
                own = p.classes[k][i]
                side, strict = beta if own else -beta, own != bool(p.slope_at_zero)
                holds = side > 0 if strict else side >= 0
                if recorded is None or not holds:
                    sides.append((side, strict))
    side, strict = min(sides, key=lambda entry: entry[0])
    return Fraction(0), side, strict


def positives_interpolated(p):
    """max |b - y| over the positive labels <= 1e-10 max|y|, at the limit."""
    beta = p.ended().beta[0]
    misfits = [abs(b - y) for b, y in zip(beta, p.labels) if y > 0]
    return max(misfits, default=Fraction(0)), EQUAL * p.scale, False


def negatives_predicted_zero(p):
    """max b over the other labels <= 0, at the limit."""
    others = [b for b, y in zip(p.ended().beta[0], p.labels) if y <= 0]
    require(others, "there is no label that is not positive")
    return max(others), Fraction(0), False


def interpolates_all(p):
    """max |f - y| <= 1e-10 max|y|, at the limit."""
    lines = list(zip(p.signs, p.ended().beta))
    outputs = [sum(s * max(line[i], 0) for s, line in lines) for i in range(p.n)]
    return max(abs(f - y) for f, y in zip(outputs, p.labels)), EQUAL * p.scale, False


def duals_off_the_classes_frozen(p):
    """max |a - a(1)| off the label classes <= 1e-10 max|a|, at the limit."""
    change, after = p.ended().change, p.state(1).change
    moved = [abs(change[k][i] - after[k][i]) for k, i in p.off_the_classes()]
    size = max(abs(a) for line in p.weights() for a in line)
    return max(moved, default=Fraction(0)), EQUAL * size, False


def limit_is_nearest(p):
    """The limit is the interpolant of the label class that is nearest to the weights at step 1."""
    after = p.state(1)
    nearest = sums(p.duals, after.change)
    for k in range(p.m):
        places = p.own(k)
        missing = [abs(p.labels[i]) - after.beta[k][i] for i in places]
        for i, gain in zip(places, regular_solution(p, places, missing)):
            nearest[k][i] += gain
    apart = p.square(sums(p.weights(), nearest, -1))
    return apart, EQUAL**2 * p.square(nearest), False


def regular_solution(p, places, right):
    """Solve with the Gram matrix of some examples, which must be regular."""
    if not places:
        return []
    block = p.block(places)
    require(smallest_pivot(block) > 0, "the Gram matrix of a label class is singular")
    return solved(block, right)


def least_norm(p):
    """Coefficients of the minimum-norm global minimum."""
    duals = p.comparator("minimum_norm")
    if p.m > 1:
        agree = all(sum(entries) >= 0 for entries in zip(*duals))
        require(agree, "the neurons alone are not the global minimum of least norm")
    return duals


def squared_gap(p):
    """The squared distance of the limit from the minimum-norm global minimum."""
    outside = sum(p.outside[k][k] for k in range(p.m))
    return p.square(sums(p.weights(), least_norm(p), -1)) + outside


def limit_is_the_minimum_norm(p):
    """gap^2 <= 1e-12 |w*|^2."""
    return squared_gap(p), Fraction(1, 10**12) * p.square(least_norm(p)), False


def gap_schur_identity(p):
    """(1 - 1e-10)^2 G2 <= gap^2 <= (1 + 1e-10)^2 G2, G2 by the Schur complements."""
    difference = sums(sums(p.duals, p.state(1).change), least_norm(p), -1)
    expected = sum(p.outside[k][k] for k in range(p.m))
    for k in range(p.m):
        off = [Fraction(0) if own else a for own, a in zip(p.classes[k], difference[k])]
        inside = [times(p.gram, off)[i] for i in p.own(k)]
        expected += quadratic(p.gram, off)
        expected -= dot(inside, regular_solution(p, p.own(k), inside))
    gap = squared_gap(p)
    low, high = (1 - EQUAL) ** 2 * expected, (1 + EQUAL) ** 2 * expected
    return (gap, high, False) if low <= gap else (low, gap, False)


def gap_lower_band_without_step(p):
    """y_min^2 n_off / (16 tau) <= gap^2."""
    off = sum(p.labels[i] != 0 for _, i in p.off_the_classes())
    return least_label(p) ** 2 * off / (16 * p.trace), squared_gap(p), False


def distance_at_most_doubles(p):
    """The squared distance from the start is at most 4 times that of the nearest minimum."""
    nearest = p.square(p.comparator("nearest_minimum"))
    return p.square(p.ended().change), 4 * nearest, False


def distance_never_increases(p):
    """The squared distance from the nearest minimum at the first step that it grows, and before."""
    duals = p.comparator("nearest_minimum")
    before = p.square(duals)
    for step in range(1, 1 + (MOST_STEPS if p.final is None else p.final)):
        after = p.square(sums(p.state(step).change, duals, -1))
        if after > before:
            return after, before, False
        before = after
    raise Wrong("the distance from the nearest minimum never increases")


def limit_is_the_nearest_minimum(p):
    """The squared distance of the limit from the nearest minimum is 1e-12 of the start's at most"""
    duals = p.comparator("nearest_minimum")
    apart = p.square(sums(p.ended().change, duals, -1))
    return apart, Fraction(1, 10**12) * p.square(duals), False


def loss_vanishes(p):
    """The sum of the squared residuals of one neuron's limit is 0 at most."""
    beta, zero = p.ended().beta[0], Fraction(0)
    return sum(((max(b, zero) - y) ** 2 for b, y in zip(beta, p.labels)), zero), zero, False


def least_label(p):
    """min|y|."""
    return min(abs(y) for y in p.labels)


def entries_of_start(p):
    """All starting predictions."""
    return [b for line in p.start for b in line]


def both_signs_occur(p):
    """1 <= the number of labels of the rarer sign."""
    fewer = min(sum(y > 0 for y in p.labels), sum(y < 0 for y in p.labels))
    return Fraction(1), Fraction(fewer), False


def start_is_in_the_span(p):
    """The squared length outside the span, times tau, <= 1e-16."""
    outside = sum(p.outside[k][k] for k in range(p.m))
    return outside * p.trace, Fraction(1, 10**16), False


def step_is_stable(p):
    """0 < the last pivot of 2I - eta G, on every label class."""
    least = Fraction(2)
    for k in range(p.m):
        if p.own(k):
            block = shifted(2, -p.step_size, p.block(p.own(k)))
            least = min(least, smallest_pivot(block))
    return Fraction(0), least, True


def known_dimension(p):
    """d."""
    require(p.dimension is not None, "the dimension is needed, and is not known")
    return p.dimension


def spectrum_is_spread(p):
    """d/4 <= d_inf of the law; without one, (4 tr(G)/d) I - G is positive semi-definite."""
    dimension = known_dimension(p)
    if p.law:
        require(p.law.get("d_inf") is not None, "d_inf is needed, and is not known")
        return dimension / 4, p.law["d_inf"], False
    most = 4 * sum(p.gram[i][i] for i in range(p.n)) / dimension
    return Fraction(0), smallest_pivot(shifted(most, -1, p.gram)), False


def gram_is_near_identity(p):
    """0 < the last pivots of G and of 2 tau I - G."""
    above = smallest_pivot(shifted(2 * p.trace, -1, p.gram))
    return Fraction(0), min(smallest_pivot(p.gram), above), True


def certified_from_step_one(p):
    """0 <= the slack of the row-sum certificate at step one with weights |y|, over max|y|."""
    state, weights = p.state(1), [abs(y) for y in p.labels]
    applies = state.pattern == p.classes and all(weights[i] for i in state.covered)
    if not applies or contraction(p, state, weights) >= 1:
        return Fraction(0), Fraction(-1), False
    least = min(min(line) for line in slacks_by_rows(p, state, weights))
    return Fraction(0), max(least / p.scale, Fraction(-1)), False


def comparator_duals_agree(p):
    """0 <= min_i of the sum of the neurons' coefficients."""
    return Fraction(0), min(map(sum, zip(*p.comparator("minimum_norm")))), False


def never_strict(left, right):
    """A statement left <= right."""
    return lambda p: (Fraction(left(p)), Fraction(right(p)), False)


def above_zero(value):
    """A statement 0 < value."""
    return lambda p: (Fraction(0), value(p), True)


EQUAL = Fraction(1, 10**10)

STATEMENTS = {
    "labels_are_nonzero": above_zero(least_label),
    "both_signs_occur": both_signs_occur,
    "gram_is_regular": above_zero(lambda p: smallest_pivot(p.gram)),
    "start_is_positive": above_zero(lambda p: min(entries_of_start(p))),
    "start_is_in_the_span": start_is_in_the_span,
    "step_is_stable": step_is_stable,
    "labels_are_bounded": never_strict(lambda p: p.scale / 2, least_label),
    "start_is_small": never_strict(
        lambda p: max(map(abs, entries_of_start(p))), lambda p: least_label(p) / 20
    ),
    "step_is_bounded_below": never_strict(
        lambda p: Fraction(1, 4), lambda p: p.step_size * p.trace
    ),
    "step_is_bounded_above": never_strict(
        lambda p: p.step_size * p.trace, lambda p: Fraction(6, 5)
    ),
    "dimension_is_high": never_strict(lambda p: 5000 * p.n, known_dimension),
    "spectrum_is_spread": spectrum_is_spread,
    "gram_is_near_identity": gram_is_near_identity,
    "certified_from_step_one": certified_from_step_one,
    "comparator_duals_agree": comparator_duals_agree,
    "positives_interpolated": positives_interpolated,
    "negatives_predicted_zero": negatives_predicted_zero,
    "interpolates_all": interpolates_all,
    "inactive_duals_frozen": duals_off_the_classes_frozen,
    "trains_on_disjoint_subsets": duals_off_the_classes_frozen,
    "limit_is_nearest_interpolant": limit_is_nearest,
    "limits_are_nearest_interpolants": limit_is_nearest,
    "limit_is_the_minimum_norm": limit_is_the_minimum_norm,
    "gap_schur_identity": gap_schur_identity,
    "gap_lower_band_without_step": gap_lower_band_without_step,
    "loss_vanishes": loss_vanishes,
    "distance_at_most_doubles": distance_at_most_doubles,
    "at_most_doubles_with_negative_labels": distance_at_most_doubles,
    "distance_never_increases": distance_never_increases,
    "never_increases_at_a_longer_step": distance_never_increases,
    "limit_is_the_nearest_minimum": limit_is_the_nearest_minimum,
    "labels_are_nonnegative": never_strict(lambda p: 0, lambda p: min(p.labels)),
    "step_is_at_most_two_over_lambda_max": never_strict(
        lambda p: 0, lambda p: smallest_pivot(shifted(2, -p.step_size, p.gram))
    ),
    **dict.fromkeys(
        (
            "pattern_freezes_after_step_one",
            "freezes_with_high_probability",
            "frozen_at_a_small_step",
            "frozen_from_random_signs",
            "frozen_with_harmonic_spectrum",
            "pattern_is_the_positives_from_step_one",
            "active_sets_are_label_classes",
            "decouples_with_high_probability",
            "decouples_from_random_signs",
            "decouples_in_low_dimension",
            "patterns_are_the_label_classes_from_step_one",
        ),
        patterns_are_the_classes,
    ),
}


# The theorems that this checker is for: what puts a problem in a claim's scope


HYPOTHESES = (
    "start_is_positive",
    "start_is_small",
    "step_is_bounded_below",
    "step_is_bounded_above",
    "labels_are_bounded",
    "spectrum_is_spread",
    "tails_are_light",
    "start_is_in_the_span",
    "dimension_is_high",
    "gram_is_regular",
)
POSITIVE_START = ("labels_are_nonzero", "start_is_positive")
CERTIFIED = (*POSITIVE_START, "gram_is_regular", "certified_from_step_one")
IN_THE_SPAN = ("gram_is_regular", "start_is_positive", "start_is_in_the_span")
SINGLE_GAP = (
    "labels_are_nonzero",
    "both_signs_occur",
    *IN_THE_SPAN,
    "pattern_is_the_positives_from_step_one",
)
PAIR_GAP = (
    "labels_are_nonzero",
    *IN_THE_SPAN,
    "patterns_are_the_label_classes_from_step_one",
    "comparator_duals_agree",
)
DOUBLING = ("gram_is_regular", "step_is_at_most_two_over_lambda_max", "descent_comes_to_rest")
NONNEGATIVE = "labels_are_nonnegative"

# Assumptions that have no exact form, and those that imply the claim: these are no part of a scope
# from which something is dropped.
NOT_EXACT = ("tails_are_light", "descent_comes_to_rest")
IMPLYING = ("certified_from_step_one",)

# By theorem: the signs of the neurons, the comparator that is recorded, the hypotheses, and what
# each claim is given.
THEOREMS = {
    "lai2026.theorem1": (
        [1],
        None,
        HYPOTHESES,
        {
            "pattern_freezes_after_step_one": CERTIFIED,
            "freezes_with_high_probability": POSITIVE_START,
            "positives_interpolated": CERTIFIED,
            "negatives_predicted_zero": CERTIFIED,
            "inactive_duals_frozen": CERTIFIED,
            "limit_is_nearest_interpolant": CERTIFIED,
            "frozen_at_a_small_step": POSITIVE_START,
            "frozen_from_random_signs": ("labels_are_nonzero",),
            "frozen_with_harmonic_spectrum": POSITIVE_START,
        },
    ),
    "lai2026.theorem2": (
        [1],
        "minimum_norm",
        (*HYPOTHESES, "both_signs_occur"),
        {
            "gap_schur_identity": SINGLE_GAP,
            "limit_is_the_minimum_norm": SINGLE_GAP,
            "gap_lower_band_without_step": (
                "labels_are_nonzero",
                "both_signs_occur",
                "gram_is_regular",
            ),
        },
    ),
    "lai2026.theorem3": (
        [1, -1],
        None,
        HYPOTHESES,
        {
            "active_sets_are_label_classes": CERTIFIED,
            "decouples_with_high_probability": POSITIVE_START,
            "trains_on_disjoint_subsets": CERTIFIED,
            "interpolates_all": CERTIFIED,
            "limits_are_nearest_interpolants": CERTIFIED,
            "decouples_from_random_signs": ("labels_are_nonzero",),
            "decouples_in_low_dimension": POSITIVE_START,
        },
    ),
    "lai2026.theorem4": (
        [1, -1],
        "minimum_norm",
        (*HYPOTHESES, "both_signs_occur"),
        {"gap_schur_identity": PAIR_GAP, "limit_is_the_minimum_norm": PAIR_GAP},
    ),
    "vardi_shamir2021.theorem8": (
        [1],
        "nearest_minimum",
        (NONNEGATIVE, *DOUBLING),
        {
            "distance_at_most_doubles": (NONNEGATIVE, *DOUBLING),
            "distance_never_increases": (NONNEGATIVE, *DOUBLING[:2]),
            "at_most_doubles_with_negative_labels": DOUBLING,
            "never_increases_at_a_longer_step": (NONNEGATIVE, DOUBLING[0]),
            "limit_is_the_nearest_minimum": (NONNEGATIVE, *DOUBLING, "loss_vanishes"),
        },
    ),
}

# The derivative of the activation at zero, and over what the integers of a recipe stand.
SLOPES = {"lai2026": 0, "vardi_shamir2021": 1}
DENOMINATORS = {
    ("lai2026", "small"): {"features": 1, "labels": 1, "start": 16, "c": 16},
    ("lai2026", "explicit"): {"diagonal": 1, "block": 1, "labels": 4, "start": 1024, "c": 16},
    ("vardi_shamir2021", "small"): {"features": 1, "labels": 1, "start": 16, "c": 16},
    ("vardi_shamir2021", "explicit"): {"diagonal": 1, "block": 1, "labels": 1, "start": 4, "c": 16},
}
RECIPES = {
    "small": ("values",),
    "explicit": ("values",),
    "seeded": ("point", "seed"),
    "drawn": ("point", "root_seed", "block", "trial"),
}

EXACT = (
    "problem",
    "steps",
    "first_departure",
    "final",
    "comparator",
    "claim",
    "assumptions",
    "not_exact",
)
PROBLEM = (
    "features",
    "gram",
    "labels",
    "start",
    "starting_duals",
    "starting_square",
    "starting_residual",
    "signs",
    "step_size",
    "slope_at_zero",
    "outside",
    "law",
)
LAW = ("dimension", "trace", "d_2", "d_inf")
FINAL = ("name", "step", "pattern", "row_weights", "kappa", "duals", "limit_change")
STATEMENT = ("id", "left", "right", "strict", "reads")


def scope_of(theorem, claim, without):
    """The assumptions that put a problem in a claim's scope once those in `without` are dropped:
    of the theorem's hypotheses where one of those is dropped, else of what the claim is given."""
    hypotheses, given = THEOREMS[theorem][2], THEOREMS[theorem][3][claim]
    unknown = [name for name in without if name not in (*hypotheses, *given)]
    require(not unknown, f"without: {unknown} are no assumptions of the claim")
    require(len(set(without)) == len(without), "without: an assumption occurs twice")
    if not without:
        return list(given)
    base = hypotheses if any(name in hypotheses for name in without) else given
    return [name for name in base if name not in (*without, *IMPLYING)]


def check_scope(problem, record):
    """The recorded assumptions are those of the scope, all of them, and those that were dropped."""
    exact, without = record["exact"], record["without"]
    scope = scope_of(record["theorem"], record["claim"], without)
    ids = [entry["id"] for entry in exact["assumptions"]]
    kept = [entry["id"] for entry in exact["assumptions"] if entry["dropped"] is False]
    require(len(set(ids)) == len(ids), "assumptions: one occurs twice")
    expected = [name for name in scope if name not in NOT_EXACT]
    require(sorted(kept) == sorted(expected), f"assumptions: expected {', '.join(expected)}")
    without_form = sorted(name for name in scope if name in NOT_EXACT)
    require(sorted(exact["not_exact"]) == without_form, f"not_exact: expected {without_form}")
    for name in without:
        if name not in ids and name not in NOT_EXACT:
            require(not can_be_derived(problem, name), f"{name}: it was dropped and is left out")


def can_be_derived(problem, name):
    """Whether both sides of a statement follow from what is recorded."""
    try:
        STATEMENTS[name](problem)
    except Wrong:
        return False
    return True


def over(entries, denominator):
    """Nested lists of integers, or one integer, over a denominator."""
    if isinstance(entries, list):
        return [over(entry, denominator) for entry in entries]
    require(type(entries) is int, "recipe: an entry is no integer")
    return Fraction(entries, denominator)


def check_recipe(problem, record):
    """The problem is that of the recipe: all its numbers where the recipe has integers; its sizes,
    and eta tau, where it was drawn at a point."""
    kind, source = record["kind"], record["theorem"].split(".")[0]
    require(kind in RECIPES, f"kind: expected one of {', '.join(RECIPES)}")
    require(has(record["recipe"], RECIPES[kind]), f"recipe: other entries than {RECIPES[kind]}")
    if "point" in record["recipe"]:
        check_point(problem, record["recipe"]["point"], source)
        return
    values, denominators = record["recipe"]["values"], DENOMINATORS[source, kind]
    sizes = {"n": problem.n, "m": problem.m} if problem.m > 1 else {"n": problem.n}
    require(problem.features is not None, "recipe: the problem has no features")
    width = len(problem.features[0])
    sizes["d" if kind == "small" else "k"] = width - problem.n * (kind == "explicit")
    require(has(values, (*sizes, *denominators)), "recipe: values has other entries")
    for name, size in sizes.items():
        require(type(values[name]) is int and values[name] == size, f"recipe: {name} is another")
    numbers = {name: over(values[name], below) for name, below in denominators.items()}
    square = sum(dot(line, line) for line in problem.features)
    if kind == "explicit":
        diagonal = numbers["diagonal"]
        edge = [[diagonal * (i == j) for j in range(problem.n)] for i in range(problem.n)]
        numbers["features"] = [one + other for one, other in zip(edge, numbers["block"])]
        step = numbers["c"] / (diagonal**2 if source == "lai2026" else max(square, Fraction(1)))
    else:
        step = numbers["c"] * problem.n / max(square, Fraction(1))
    start = numbers["start"] if problem.m > 1 else [numbers["start"]]
    require(numbers["features"] == problem.features, "recipe: features is another")
    require(numbers["labels"] == problem.labels, "recipe: labels is another")
    require(start == problem.start, "recipe: start is another")
    require(step == problem.step_size, "recipe: the step size is another")
    require(not any(map(any, problem.outside)), "recipe: no part of the start lies outside")


def check_point(problem, point, source):
    """The sizes are those of the point, and so is eta tau up to rounding, where it states them."""
    require(type(point) is dict and all(type(name) is str for name in point), "recipe: no point")
    require(point.get("n") == problem.n, "recipe: n is another")
    if "d" in point and problem.dimension is not None:
        require(Fraction(point["d"]) == problem.dimension, "recipe: d is another")
    if "c" in point and source == "lai2026":
        apart = abs(problem.step_size * problem.trace - Fraction(point["c"]))
        require(apart <= EQUAL * abs(Fraction(point["c"])), "recipe: c is another")


def check_statement(problem, entry, names):
    """Both sides of a recorded statement are what they are derived to be; return if it holds."""
    require(has(entry, (*STATEMENT, *names)), "a statement has other entries")
    name = entry["id"]
    require(name in STATEMENTS, f"{name}: this checker does not know the statement")
    require(type(entry["reads"]) is str, f"{name}: reads is no text")
    left, right, strict = STATEMENTS[name](problem)
    require(rational(entry["left"]) == left, f"{name}: left is {left}, not {entry['left']}")
    require(rational(entry["right"]) == right, f"{name}: right is {right}, not {entry['right']}")
    require(entry["strict"] is strict, f"{name}: strict is {strict}")
    return left < right if strict else left <= right


def check(record):
    """Derive all of a record again. Raises Wrong."""
    require(record["format"] == "relu-verify counterexample", "it is no counterexample file")
    require(record["version"] == 2, "it is of another version")
    rest = {name: value for name, value in record.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    require(hashlib.sha256(text.encode()).hexdigest() == record["digest"], "the digest is another")
    exact = record["exact"]
    require(record["evidence"] == "exact" and exact is not None, "it has no exact numbers")
    require(has(exact, EXACT), f"exact: other entries than {EXACT}")
    theorem = record["theorem"]
    require(theorem in THEOREMS, f"this checker does not know the theorem {theorem!r}")
    signs, comparator, _, claims = THEOREMS[theorem]
    require(record["claim"] in claims, f"{theorem} has no such claim, {record['claim']!r}")
    require(record["control"] == "", "it is about a broken simulator")
    margin = record["margin"]
    negative = margin is None or (type(margin) is float and margin < 0)
    require(negative, "the margin is not negative")
    problem = Problem(exact["problem"])
    require(problem.signs == signs, "problem: signs are not the theorem's")
    fits = problem.slope_at_zero == SLOPES[theorem.split(".")[0]]
    require(fits, "problem: slope_at_zero is not the theorem's")
    check_recipe(problem, record)
    check_steps(problem, exact["steps"], exact["first_departure"])
    if exact["final"] is not None:
        check_final(problem, exact["final"])
    check_departure(problem, exact["first_departure"], len(exact["steps"]))
    problem.first = exact["first_departure"]
    if exact["comparator"] is not None:
        check_comparator(problem, exact["comparator"])
        require(exact["comparator"]["name"] == comparator, "comparator: not the theorem's")
    claim = exact["claim"]
    require(claim["id"] == record["claim"], "the claim is another")
    violated = not check_statement(problem, claim, ["violated"])
    require(violated and claim["violated"] is True, f"{claim['id']}: it is not violated")
    for entry in exact["assumptions"]:
        holds = check_statement(problem, entry, ["holds", "dropped"])
        dropped = entry["id"] in record["without"]
        require(entry["holds"] is holds, f"{entry['id']}: holds is {holds}")
        require(entry["dropped"] is dropped, f"{entry['id']}: dropped is {dropped}")
        require(holds or dropped, f"{entry['id']}: the assumption fails")
    check_scope(problem, record)
    return exact


def once(pairs):
    """A JSON object whose entries occur once each."""
    require(len(dict(pairs)) == len(pairs), "an entry occurs twice")
    return dict(pairs)


def shown(text):
    """A text on one line: characters that a terminal obeys as JSON writes them."""
    return json.dumps(text)[1:-1]


def main(arguments):
    """Check the record, or the file that is named; return the exit code."""
    try:
        text = RECORD
        if arguments:
            with open(arguments[0], encoding="utf-8") as file:
                text = file.read(LARGEST + 1)
            require(len(text) <= LARGEST, "the file is too large")
        record = json.loads(text, object_pairs_hook=once)
        if hasattr(sys, "set_int_max_str_digits"):
            sys.set_int_max_str_digits(0)  # what is derived may be longer than what is recorded
        exact = check(record)
    except Wrong as reason:
        print(f"WRONG: {shown(str(reason))}")
        return 1
    except Exception as reason:  # a record that lacks an entry, or is none at all
        told = shown(f"{type(reason).__name__}: {reason}")
        print(f"WRONG: it is no record of a counterexample ({told})")
        return 1
    claim = exact["claim"]
    sign = "<" if claim["strict"] else "<="
    print(f"{record['claim']} is violated: {claim['left']} {sign} {claim['right']} is false.")
    for entry in exact["assumptions"]:
        how = "was dropped and " * entry["dropped"] + ("holds" if entry["holds"] else "fails")
        print(f"  {entry['id']} {how}")
    if exact["not_exact"]:
        print(f"  not checked here, without exact form: {', '.join(exact['not_exact'])}")
    if exact["problem"]["law"] is not None:
        print("  taken as recorded: the effective dimensions of the law of the features")
    print('Every number under "exact" was derived again; the digest alone covers the rest.')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
