// SPDX-License-Identifier: Apache-2.0
// Pictures of QR codes for the tests, as a camera sees them. A test adds statements that use them.

const pictureWidth = 640;
const pictureHeight = 480;
/** The width of the white border of a code in modules. */
const border = 4;
/** The distance of the eye from the code, as a multiple of the code's side. */
const eyeDistance = 3;

/**
 * The picture of a code on a grey ground. `rows` are strings in which # is dark; `module` is the size of
 * a module in pixels; angles are in degrees; `blur` is in pixels and `noise` in steps of brightness.
 */
function draw(rows, options) {
  const side = rows.length;
  const { blur = 0, noise = 0, shade = 0, dark = 30, light = 230 } = options;
  const matrix = projection(side, options);
  const [[a, b, c], [d, e, f], [g, h, i]] = inverse(matrix);
  const bounds = boundsOfCode(matrix, side);
  const color = (x, y) => {
    const depth = g * x + h * y + i;
    const across = (a * x + b * y + c) / depth + side / 2;
    const down = (d * x + e * y + f) / depth + side / 2;
    if (Math.min(across, down) < -border || Math.max(across, down) >= side + border) return (dark + light) / 2;
    const isInside = across >= 0 && down >= 0 && across < side && down < side;
    return isInside && rows[Math.floor(down)][Math.floor(across)] === "#" ? dark : light;
  };
  let brightness = new Float32Array(pictureWidth * pictureHeight);
  for (let index = 0; index < brightness.length; index += 1) {
    const x = index % pictureWidth;
    const y = Math.floor(index / pictureWidth);
    const isGround = x < bounds.left || x > bounds.right || y < bounds.top || y > bounds.bottom;
    const mean = isGround ? (dark + light) / 2 : (color(x + 0.25, y + 0.25) + color(x + 0.75, y + 0.25)
      + color(x + 0.25, y + 0.75) + color(x + 0.75, y + 0.75)) / 4;
    brightness[index] = mean * (1 - (shade * x) / pictureWidth);
  }
  // Two means over a square are close to the blur of a lens.
  if (blur > 0) {
    for (const step of [1, 1, pictureWidth, pictureWidth]) brightness = means(brightness, step, blur);
  }
  if (noise === 0) return toImage(brightness);
  const random = randomNumbers(7);
  return toImage(brightness.map((value) => value + noise * (random() + random() + random() - 1.5) * 2));
}

/** A picture that has no code: each pixel has a random brightness between two limits. */
function drawNoise(low, high) {
  const random = randomNumbers(3);
  return toImage(Float32Array.from({ length: pictureWidth * pictureHeight }, () => low + (high - low) * random()));
}

function toImage(brightness) {
  const data = new Uint8ClampedArray(4 * brightness.length);
  for (let index = 0; index < brightness.length; index += 1) {
    const place = 4 * index;
    data[place] = brightness[index];
    data[place + 1] = brightness[index];
    data[place + 2] = brightness[index];
    data[place + 3] = 255;
  }
  return { width: pictureWidth, height: pictureHeight, data };
}

/** The matrix that takes a point of the code, measured from its center in modules, to the picture. */
function projection(side, { module, roll = 0, tilt = 0, turn = 0, isMirrored = false }) {
  const [a, b, c] = [roll, tilt, turn].map((angle) => (angle * Math.PI) / 180);
  const axis = (x, y) => {
    const [right, down] = [x * Math.cos(a) - y * Math.sin(a), x * Math.sin(a) + y * Math.cos(a)];
    const away = down * Math.sin(b);
    return [right * Math.cos(c) + away * Math.sin(c), down * Math.cos(b), away * Math.cos(c) - right * Math.sin(c)];
  };
  const [column, row] = [axis(isMirrored ? -1 : 1, 0), axis(0, 1)];
  const eye = eyeDistance * side;
  const [x, y] = [pictureWidth / 2, pictureHeight / 2];
  return [
    [eye * module * column[0] + x * column[2], eye * module * row[0] + x * row[2], x * eye],
    [eye * module * column[1] + y * column[2], eye * module * row[1] + y * row[2], y * eye],
    [column[2], row[2], eye],
  ];
}

/** The pixels between which a code and its border are, with one more on each side. All of it is before the eye. */
function boundsOfCode([[a, b, c], [d, e, f], [g, h, i]], side) {
  const far = side / 2 + border;
  const corners = [[-far, -far], [far, -far], [far, far], [-far, far]].map(([x, y]) => {
    const depth = g * x + h * y + i;
    return [(a * x + b * y + c) / depth, (d * x + e * y + f) / depth];
  });
  const [across, down] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return {
    left: Math.min(...across) - 2, right: Math.max(...across) + 1,
    top: Math.min(...down) - 2, bottom: Math.max(...down) + 1,
  };
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]) {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  return [
    [e * i - f * h, c * h - b * i, b * f - c * e],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ].map((row) => row.map((value) => value / determinant));
}

/** The mean of each value and its neighbors at multiples of `step`, up to `reach` of them on each side. */
function means(values, step, reach) {
  const whole = Math.floor(reach);
  const result = new Float32Array(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    let sum = value;
    for (let distance = 1; distance <= whole + 1; distance += 1) {
      const weight = distance <= whole ? 1 : reach - whole;
      sum += weight * ((values[index - distance * step] ?? value) + (values[index + distance * step] ?? value));
    }
    result[index] = sum / (1 + 2 * reach);
  }
  return result;
}

/** The code with some codewords of its right half inverted: there, a codeword has two columns and four rows. */
function damaged(rows, count) {
  const side = rows.length;
  const groups = Math.floor((side - 9) / 4);
  const isHit = (row, column) => {
    const pair = Math.floor((side - 1 - column) / 2);
    const fromEdge = Math.floor((side - 1 - row) / 4);
    // The first codeword is below, the next column goes down.
    const index = pair * groups + (pair % 2 === 0 ? fromEdge : groups - 1 - fromEdge);
    return pair < 4 && row >= side - 4 * groups && index < count;
  };
  return rows.map((line, row) => [...line].map((module, column) => {
    if (!isHit(row, column)) return module;
    return module === "#" ? "." : "#";
  }).join(""));
}

/** The code with its format damaged: two bits of one copy are inverted, and the other one is gone. */
function withDamagedFormat(rows) {
  return rows.map((line, row) => [...line].map((module, column) => {
    if (row === 8 && column < 3) return module === "#" ? "." : "#";
    return (row === 8 && column >= rows.length - 8) || (column === 8 && row > rows.length - 8) ? "." : module;
  }).join(""));
}

/** The code with a white disc in its middle, whose width is a part of the code's side. */
function covered(rows, part) {
  const middle = rows.length / 2;
  return withoutParts(rows, (row, column) =>
    Math.hypot(row + 0.5 - middle, column + 0.5 - middle) < part * middle);
}

/** The code without the modules for which `isGone(row, column)` is true. */
function withoutParts(rows, isGone) {
  return rows.map((line, row) =>
    [...line].map((module, column) => (isGone(row, column) ? "." : module)).join(""));
}

/** Numbers from 0 to 1 that are the same in every run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}
