// SPDX-License-Identifier: Apache-2.0
import { place, placesOf, sideOf } from "./version.js";

/** The distance of the center of a finder pattern from the edges of a code, in modules. */
const finderCenter = 3.5;
/** The distance of a module's further samples from its center, in modules. */
const sampleReach = 0.2;
/** The contrast that counts at most, so that one place does not outweigh all others. */
const contrastMax = 48;

/**
 * A code in a picture, on a plane that is seen at an angle. The centers of three finder patterns hold
 * it; `depths` are the distances of `right` and `below` from the eye, as multiples of that of `corner`.
 */
export function gridOf(triple, version, depths) {
  const side = sideOf(version);
  const span = side - 2 * finderCenter;
  // A point of the picture is the mean of the three centers, with weights that are linear in the
  // point of the code: each number below is a term of the weights or of the weighted sum.
  const linear = (corner, right, below) => {
    const byColumn = (right - corner) / span;
    const byRow = (below - corner) / span;
    return { byColumn, byRow, constant: corner - (byColumn + byRow) * finderCenter };
  };
  return {
    triple, version, depths, side, weight: linear(1, depths.right, depths.below),
    x: linear(triple.corner.x, depths.right * triple.right.x, depths.below * triple.below.x),
    y: linear(triple.corner.y, depths.right * triple.right.y, depths.below * triple.below.y),
  };
}

/** The point of the picture at a distance from the corner of a code, in modules. */
export function pointOf(grid, row, column) {
  const weight = valueAt(grid.weight, row, column);
  return { x: valueAt(grid.x, row, column) / weight, y: valueAt(grid.y, row, column) / weight };
}

function valueAt({ byColumn, byRow, constant }, row, column) {
  return byColumn * column + byRow * row + constant;
}

/** The grid in which a point of the code is at a point of the picture; null if there is none. */
export function gridThrough({ triple, version, side }, row, column, point) {
  const { corner, right, below } = triple;
  const span = side - 2 * finderCenter;
  const [u, v] = [(column - finderCenter) / span, (row - finderCenter) / span];
  // Two linear equations for the depths, one for each axis of the picture.
  const [a, b, c] = [u * (point.x - right.x), v * (point.x - below.x), (1 - u - v) * (corner.x - point.x)];
  const [d, e, f] = [u * (point.y - right.y), v * (point.y - below.y), (1 - u - v) * (corner.y - point.y)];
  const determinant = a * e - b * d;
  const depths = { right: (c * e - b * f) / determinant, below: (a * f - c * d) / determinant };
  return depths.right > 0 && depths.below > 0 ? gridOf(triple, version, depths) : null;
}

/** The contrast of the picture at a point of the code; zero outside the picture. */
export function contrastAt({ width, height, values }, grid, row, column) {
  const weight = valueAt(grid.weight, row, column);
  const x = Math.floor(valueAt(grid.x, row, column) / weight);
  const y = Math.floor(valueAt(grid.y, row, column) / weight);
  if (!(x >= 0 && y >= 0 && x < width && y < height)) return 0;
  return Math.max(-contrastMax, Math.min(contrastMax, values[y * width + x]));
}

/** The modules of a code, row by row: 1 for every dark one. */
export function modulesOf(contrast, grid) {
  const { side } = grid;
  const modules = new Uint8Array(side * side);
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      let sum = 0;
      for (const [down, across] of [[0, 0], [-1, -1], [-1, 1], [1, -1], [1, 1]]) {
        const [y, x] = [row + 0.5 + down * sampleReach, column + 0.5 + across * sampleReach];
        sum += contrastAt(contrast, grid, y, x);
      }
      modules[row * side + column] = sum > 0 ? 1 : 0;
    }
  }
  return modules;
}

/** The agreement of a picture with the patterns of a code: 1 if all of them are seen, 0 for any picture. */
export function agreement(contrast, grid) {
  const { side } = grid;
  const places = placesOf(grid.version);
  let sum = 0;
  let count = 0;
  places.forEach((meaning, index) => {
    if (meaning !== place.dark && meaning !== place.light) return;
    count += 1;
    sum += meaning * contrastAt(contrast, grid, Math.floor(index / side) + 0.5, (index % side) + 0.5);
  });
  return sum / (count * contrastMax);
}

/** The share of the timing patterns that is seen. */
export function timingShare(contrast, grid) {
  const first = 8;
  const last = grid.side - 9;
  let right = 0;
  for (let index = first; index <= last; index += 1) {
    const sign = index % 2 === 0 ? 1 : -1;
    if (sign * contrastAt(contrast, grid, 6.5, index + 0.5) > 0) right += 1;
    if (sign * contrastAt(contrast, grid, index + 0.5, 6.5) > 0) right += 1;
  }
  return right / (2 * (last - first + 1));
}
