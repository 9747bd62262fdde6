// SPDX-License-Identifier: Apache-2.0
import { crossing } from "./finders.js";
import { agreement, contrastAt, gridOf, gridThrough, pointOf, timingShare } from "./grid.js";
import { versionMax } from "./version.js";

/** The number of versions that are tried above and below the estimated one. */
const versionsAround = 2;
/** The share of the timing patterns that must be seen: half of it is seen by chance. */
const timingMin = 0.65;
/** The difference between the lengths of two sides of a code, as a logarithm, that is due to rounding. */
const differenceMax = 0.25;
/** The distance of the last alignment pattern's center from the edges of a code, in modules. */
const alignmentCenter = 6.5;
/** The distance in modules up to which an alignment pattern is searched: at least this, */
const searchMin = 3;
/** and this for each module of the side. */
const searchPerModule = 0.06;
/** The step of the search in modules. */
const searchStep = 0.25;
/** The modules of an alignment pattern that must be seen, of 25. */
const alignmentMin = 21;
/** The number of alignment patterns that are tried. */
const alignmentsMax = 3;

/** The grids of the code to which three finder patterns may belong, the most likely version first. */
export function* gridsOf(contrast, triple) {
  const estimate = estimateOf(contrast, triple);
  if (!estimate) return;
  for (const version of versionsNear(estimate.version)) {
    const rough = gridOf(triple, version, estimate.depths);
    for (const grid of [...aligned(contrast, rough), refined(contrast, rough)]) {
      if (grid && timingShare(contrast, grid) >= timingMin) yield grid;
    }
  }
}

/** The versions around an estimated one, the nearest ones first. */
function versionsNear(estimate) {
  const first = Math.max(1, Math.round(estimate) - versionsAround);
  const last = Math.min(versionMax, Math.round(estimate) + versionsAround);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
    .sort((one, other) => Math.abs(one - estimate) - Math.abs(other - estimate));
}

/** The version and the depths that follow from the sizes of the modules in the three finder patterns. */
function estimateOf(contrast, { corner, right, below }) {
  const [toRight, toBelow] = [side(contrast, corner, right), side(contrast, corner, below)];
  if (!toRight || !toBelow) return null;
  const difference = Math.abs(Math.log(toRight.modules / toBelow.modules));
  if (difference > differenceMax) return null;
  return {
    version: ((toRight.modules + toBelow.modules) / 2 + 7 - 17) / 4,
    depths: { right: toRight.depth, below: toBelow.depth },
  };
}

/** The number of modules between two finder patterns, and the depth of the second one. */
function side(contrast, from, to) {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const [dx, dy] = [(to.x - from.x) / distance, (to.y - from.y) / distance];
  const sizes = [from, to].map((finder) => crossing(contrast, finder.x, finder.y, dx, dy)?.module);
  const near = sizes[0] ?? sizes[1];
  const far = sizes[1] ?? sizes[0];
  if (!near) return null;
  // Along a line that is seen at an angle, sizes are inversely proportional to the square of the depth.
  return { modules: distance / Math.sqrt(near * far), depth: Math.sqrt(near / far) };
}

/** The grids that go through what looks like the last alignment pattern, the best ones first. */
function aligned(contrast, rough) {
  if (rough.version === 1) return [];
  const center = rough.side - alignmentCenter;
  const reach = searchMin + searchPerModule * rough.side;
  const found = [];
  for (let row = center - reach; row <= center + reach; row += searchStep) {
    for (let column = center - reach; column <= center + reach; column += searchStep) {
      if (contrastAt(contrast, rough, row, column) <= 0) continue;
      const score = alignmentScore(contrast, rough, row, column);
      if (score >= alignmentMin) found.push({ row, column, score });
    }
  }
  return merged(found, center).slice(0, alignmentsMax)
    .map(({ row, column }) => gridThrough(rough, center, center, pointOf(rough, row, column)));
}

/** The number of modules of an alignment pattern that are seen around a point. */
function alignmentScore(contrast, grid, row, column) {
  let score = 0;
  for (let down = -2; down <= 2; down += 1) {
    for (let across = -2; across <= 2; across += 1) {
      const isDark = Math.max(Math.abs(down), Math.abs(across)) !== 1;
      if (contrastAt(contrast, grid, row + down, column + across) > 0 === isDark) score += 1;
    }
  }
  return score;
}

/** The means of places that are close together, the best and then the nearest ones first. */
function merged(found, center) {
  const groups = [];
  for (const spot of found) {
    const group = groups.find(([first]) =>
      Math.abs(first.row - spot.row) < 2 && Math.abs(first.column - spot.column) < 2);
    if (group) group.push(spot);
    else groups.push([spot]);
  }
  return groups.map((group) => {
    const score = Math.max(...group.map((spot) => spot.score));
    const best = group.filter((spot) => spot.score === score);
    const mean = (key) => best.reduce((sum, spot) => sum + spot[key], 0) / best.length;
    const [row, column] = [mean("row"), mean("column")];
    return { row, column, score, distance: Math.hypot(row - center, column - center) };
  }).sort((one, other) => other.score - one.score || one.distance - other.distance);
}

/** The grid with the depths near its own with which most of the patterns are seen. */
function refined(contrast, rough) {
  let best = rough;
  let bestScore = agreement(contrast, rough);
  for (let step = 0.04; step > 0.004; step /= 2) {
    for (let isBetter = true; isBetter;) {
      isBetter = false;
      for (const [right, below] of [[step, 0], [-step, 0], [0, step], [0, -step]]) {
        const depths = { right: best.depths.right + right, below: best.depths.below + below };
        const grid = gridOf(rough.triple, rough.version, depths);
        const score = agreement(contrast, grid);
        if (score > bestScore) [best, bestScore, isBetter] = [grid, score, true];
      }
    }
  }
  return best;
}
