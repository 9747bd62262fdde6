// SPDX-License-Identifier: Apache-2.0
/** The number of modules across a finder pattern. */
const modulesAcross = 7;
/** The number of finder patterns that are considered together. */
const findersMax = 12;
/** The number of triples that are tried. */
const triplesMax = 20;
/** The deviation up to which three finder patterns can be the corners of a code that is seen at an angle. */
const deviationMax = 1.6;

/**
 * Triples of finder patterns that may belong to one code, the most regular ones first: `corner` is
 * between `right` and `below`, and clockwise around `corner` comes first `right`, then `below`.
 */
export function triplesIn(contrast) {
  const finders = findersIn(contrast).sort((one, other) => other.hits - one.hits).slice(0, findersMax);
  const triples = [];
  for (const corner of finders) {
    for (const right of finders) {
      for (const below of finders) {
        const deviation = deviationOf(corner, right, below);
        if (deviation < deviationMax) triples.push({ corner, right, below, deviation });
      }
    }
  }
  return triples.sort((one, other) => one.deviation - other.deviation).slice(0, triplesMax);
}

/** The difference between a triple and a right angle with equal sides between patterns of one size. */
function deviationOf(corner, right, below) {
  const [ax, ay] = [right.x - corner.x, right.y - corner.y];
  const [bx, by] = [below.x - corner.x, below.y - corner.y];
  if (ax * by - ay * bx <= 0) return Infinity;
  const [a, b] = [Math.hypot(ax, ay), Math.hypot(bx, by)];
  const sizes = [corner.module, right.module, below.module];
  const cosine = (ax * bx + ay * by) / (a * b);
  return Math.abs(cosine) + Math.abs(Math.log(a / b)) + Math.log(Math.max(...sizes) / Math.min(...sizes));
}

/** The finder patterns of a picture: places where runs of 1:1:3:1:1 modules cross. */
function findersIn(contrast) {
  const { width, height, values } = contrast;
  const finders = [];
  const lengths = [0, 0, 0, 0, 0];
  for (let y = 0; y < height; y += 1) {
    lengths.fill(0);
    let start = 0;
    for (let x = 1; x <= width; x += 1) {
      const at = y * width + x;
      if (x < width && values[at] > 0 === values[at - 1] > 0) continue;
      lengths.shift();
      lengths.push(x - start);
      start = x;
      if (values[at - 1] <= 0 || !hasProportions(lengths)) continue;
      const center = x - lengths[4] - lengths[3] - lengths[2] / 2;
      const found = centered(contrast, center, y + 0.5);
      if (found) collect(finders, found);
    }
  }
  return finders;
}

/** The center of the finder pattern around a point, if there is one. */
function centered(contrast, x, y) {
  let place = { x, y };
  for (const [dx, dy] of [[0, 1], [1, 0], [0, 1], [1, 0]]) {
    place = place && crossing(contrast, place.x, place.y, dx, dy);
  }
  if (!place) return null;
  const diagonal = Math.SQRT1_2;
  const crossings = [[diagonal, diagonal], [diagonal, -diagonal]]
    .map(([dx, dy]) => crossing(contrast, place.x, place.y, dx, dy));
  return crossings.every(Boolean) ? place : null;
}

/** Adds a place to the finder pattern of which it is part; its center is the mean of all its places. */
function collect(finders, place) {
  const same = finders.find((finder) =>
    Math.hypot(finder.x - place.x, finder.y - place.y) < 2 * finder.module);
  if (!same) {
    finders.push({ ...place, hits: 1 });
    return;
  }
  same.hits += 1;
  for (const key of ["x", "y", "module"]) same[key] += (place[key] - same[key]) / same.hits;
}

/**
 * The middle of the dark center on a line through a finder pattern, and the size of a module on this
 * line; null if the runs of dark and light do not have the proportions 1:1:3:1:1.
 */
export function crossing(contrast, x, y, dx, dy) {
  const ahead = edgesFrom(contrast, x, y, dx, dy);
  const behind = edgesFrom(contrast, x, y, -dx, -dy);
  if (!ahead || !behind) return null;
  const lengths = [behind[2] - behind[1], behind[1] - behind[0], behind[0] + ahead[0],
    ahead[1] - ahead[0], ahead[2] - ahead[1]];
  if (!hasProportions(lengths)) return null;
  const middle = (ahead[0] - behind[0]) / 2;
  return { x: x + middle * dx, y: y + middle * dy, module: (ahead[2] + behind[2]) / modulesAcross };
}

/** The distances at which a line leaves the dark center, the light ring and the dark ring. */
function edgesFrom({ width, height, values }, x, y, dx, dy) {
  const edges = [];
  let before = null;
  for (let step = 0; edges.length < 3; step += 1) {
    const column = Math.floor(x + step * dx);
    const row = Math.floor(y + step * dy);
    if (column < 0 || row < 0 || column >= width || row >= height) {
      // The dark ring may end at the edge of the picture.
      return edges.length === 2 ? [...edges, step - 0.5] : null;
    }
    const value = values[row * width + column];
    if (before === null && value <= 0) return null;
    if (before !== null && value > 0 !== before > 0) edges.push(step - 1 + before / (before - value));
    before = value;
  }
  return edges;
}

function hasProportions([a, b, c, d, e]) {
  const module = (a + b + c + d + e) / modulesAcross;
  // Half a pixel at each end is lost by rounding.
  const tolerance = 0.5 * module + 0.5;
  const isOne = (length) => Math.abs(length - module) < tolerance;
  return Math.abs(c - 3 * module) < 1.5 * tolerance && isOne(a) && isOne(b) && isOne(d) && isOne(e);
}
