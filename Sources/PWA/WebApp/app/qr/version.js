// SPDX-License-Identifier: Apache-2.0
/** The largest version. A version is a size: the first has 21 modules on each side, each next one 4 more. */
export const versionMax = 40;

/** The meaning of a module's place: data, always dark, always light, or a description of the code. */
export const place = { data: 0, dark: 1, light: -1, description: 2 };

/** The number of modules on each side of a version. */
export function sideOf(version) {
  return 17 + 4 * version;
}

/** The meaning of every place of a version, row by row. */
export function placesOf(version) {
  const side = sideOf(version);
  const places = new Int8Array(side * side);
  const fill = (top, left, bottom, right, meaning) => {
    for (let row = Math.max(0, top); row <= Math.min(side - 1, bottom); row += 1) {
      for (let column = Math.max(0, left); column <= Math.min(side - 1, right); column += 1) {
        places[row * side + column] = meaning(row, column);
      }
    }
  };
  const rings = (row, column, reach, isDark) => {
    fill(row - reach, column - reach, row + reach, column + reach, (y, x) => (
      isDark(Math.max(Math.abs(y - row), Math.abs(x - column))) ? place.dark : place.light));
  };
  const last = side - 1;
  for (const [top, left, bottom, right] of descriptions(version, last)) {
    fill(top, left, bottom, right, () => place.description);
  }
  const timing = (row, column) => ((row + column) % 2 === 0 ? place.dark : place.light);
  fill(6, 0, 6, last, timing);
  fill(0, 6, last, 6, timing);
  for (const [row, column] of alignmentCenters(version)) rings(row, column, 2, (ring) => ring !== 1);
  for (const [row, column] of [[3, 3], [3, last - 3], [last - 3, 3]]) {
    rings(row, column, 4, (ring) => ring < 2 || ring === 3);
  }
  places[(side - 8) * side + 8] = place.dark;
  return places;
}

/** The top, left, bottom and right of the places that hold the format and the version. */
function descriptions(version, last) {
  const format = [[0, 8, 8, 8], [8, 0, 8, 8], [8, last - 7, 8, last], [last - 7, 8, last, 8]];
  if (version < 7) return format;
  return [...format, [0, last - 10, 5, last - 8], [last - 10, 0, last - 8, 5]];
}

/** The rows and columns of the centers of the alignment patterns. */
function alignmentCenters(version) {
  if (version === 1) return [];
  const last = sideOf(version) - 7;
  const gaps = Math.floor(version / 7) + 1;
  // The gaps are equal and even, except the first one.
  const gap = version === 32 ? 26 : 2 * Math.ceil((last - 6) / gaps / 2);
  const lines = [6, ...Array.from({ length: gaps }, (_, index) => last - (gaps - 1 - index) * gap)];
  return lines.flatMap((row) => lines.map((column) => [row, column]))
    // The other three corners are finder patterns.
    .filter(([row, column]) => Math.min(row, column) > 6 || (Math.max(row, column) < last && row !== column));
}
