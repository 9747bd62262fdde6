// SPDX-License-Identifier: Apache-2.0
import { contrastOf, greyOf, halved, inverted } from "./contrast.js";
import { triplesIn } from "./finders.js";
import { modulesOf } from "./grid.js";
import { gridsOf } from "./locate.js";
import { textOf, transposed } from "./symbol.js";

/** The shorter side of the smallest copy of a picture that is looked at, in pixels. */
const sideMin = 150;

/**
 * The text of the QR code in a picture, or null. The picture is an `ImageData`, or has its `width`,
 * `height` and `data`. The code may be light on dark, as in dark mode. If it is not legible in its own size, smaller
 * copies are tried, which have less noise.
 */
export function readCode(picture) {
  let grey = greyOf(picture);
  let text = textInEither(grey);
  while (text === null && Math.min(grey.width, grey.height) >= 2 * sideMin) {
    grey = halved(grey);
    text = textInEither(grey);
  }
  return text;
}

/** The text of a code that is dark on light or light on dark. */
function textInEither(grey) {
  return textIn(grey) ?? textIn(inverted(grey));
}

/** Each step finds several candidates: only the error correction can tell which of them is right. */
function textIn(grey) {
  const contrast = contrastOf(grey);
  for (const triple of triplesIn(contrast)) {
    for (const grid of gridsOf(contrast, triple)) {
      const modules = modulesOf(contrast, grid);
      // In a mirror, the rows and columns of a code are exchanged.
      const text = textOf(modules, grid.version) ?? textOf(transposed(modules), grid.version);
      if (text !== null) return text;
    }
  }
  return null;
}
