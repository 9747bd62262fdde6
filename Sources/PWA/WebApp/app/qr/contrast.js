// SPDX-License-Identifier: Apache-2.0
/** The number of squares along the shorter side of a picture, each with a threshold of its own. */
const squaresPerSide = 40;
/** The smallest side of a square in pixels. */
const squareMin = 4;
/** The number of squares in each direction whose pixels take part in a threshold. */
const reach = 2;
/** The difference of brightness below which a neighborhood has no dark places. */
const rangeMin = 24;

/** The brightness of a picture: one number from 0 to 255 for each pixel. */
export function greyOf({ width, height, data }) {
  const values = new Uint8ClampedArray(width * height);
  for (let index = 0, at = 0; index < values.length; index += 1, at += 4) {
    const grey = 0.3 * data[at] + 0.59 * data[at + 1] + 0.11 * data[at + 2];
    // Transparent pixels lie on white paper.
    values[index] = 255 + ((grey - 255) * data[at + 3]) / 255;
  }
  return { width, height, values };
}

/** The same picture with dark and light exchanged. */
export function inverted({ width, height, values }) {
  return { width, height, values: values.map((value) => 255 - value) };
}

/** The same picture with half the width and half the height. */
export function halved({ width, height, values }) {
  const half = { width: width >> 1, height: height >> 1 };
  half.values = new Uint8ClampedArray(half.width * half.height);
  for (let y = 0; y < half.height; y += 1) {
    for (let x = 0; x < half.width; x += 1) {
      half.values[y * half.width + x] = meanOfFour(values, 2 * (y * width + x), width);
    }
  }
  return half;
}

/**
 * The darkness of each pixel compared with its neighborhood: positive if it is dark. The threshold lies
 * halfway between the darkest and the lightest place nearby, so that it follows shadows, and so that
 * edges stay where they are if they are blurred.
 */
export function contrastOf(grey) {
  const { width, height, values } = grey;
  const side = Math.max(squareMin, Math.round(Math.min(width, height) / squaresPerSide));
  const squares = thresholdsOf(extremesOf(grey, side));
  const contrast = new Int16Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / side) * squares.columns;
    for (let x = 0; x < width; x += 1) {
      contrast[y * width + x] = squares.values[row + ((x / side) | 0)] - values[y * width + x];
    }
  }
  return { width, height, values: contrast };
}

/** The darkest and the lightest place of each square. */
function extremesOf({ width, height, values }, side) {
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  const darkest = new Uint8Array(columns * rows).fill(255);
  const lightest = new Uint8Array(columns * rows);
  for (let y = 0; y < height - 1; y += 1) {
    for (let x = 0; x < width - 1; x += 1) {
      const square = ((y / side) | 0) * columns + ((x / side) | 0);
      // One pixel alone may be noise.
      const value = meanOfFour(values, y * width + x, width);
      if (value < darkest[square]) darkest[square] = value;
      if (value > lightest[square]) lightest[square] = value;
    }
  }
  return { columns, rows, darkest, lightest };
}

function thresholdsOf({ columns, rows, darkest, lightest }) {
  const values = new Int16Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      let low = 255;
      let high = 0;
      for (let y = Math.max(0, row - reach); y <= Math.min(rows - 1, row + reach); y += 1) {
        for (let x = Math.max(0, column - reach); x <= Math.min(columns - 1, column + reach); x += 1) {
          low = Math.min(low, darkest[y * columns + x]);
          high = Math.max(high, lightest[y * columns + x]);
        }
      }
      values[row * columns + column] = high - low < rangeMin ? low - rangeMin : (low + high) / 2;
    }
  }
  return { columns, values };
}

function meanOfFour(values, at, width) {
  return (values[at] + values[at + 1] + values[at + width] + values[at + width + 1]) >> 2;
}
