// SPDX-License-Identifier: Apache-2.0
// A control that is replaced between the press and the release of a pointer would not be clicked. So pages that are
// drawn again by themselves wait for the release.

let presses = 0;
let pressed = false;
/** The functions that draw after the release, by the part of the page. */
const postponed = new Map();

addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  presses += 1;
  pressed = true;
}, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, true);
// A release that the page does not see: a menu was open, or another button was still pressed.
addEventListener("pointermove", (event) => {
  if (pressed && (event.buttons & 1) === 0) release();
}, true);

/** True from the press of the main button, or of a finger, until after the click that follows the release. */
export function isPressed() {
  return pressed;
}

/** Calls `draw` now or after the release; of several calls for a part that wait, only the last one counts. */
export function drawUnpressed(part, draw) {
  postponed.delete(part);
  if (pressed) postponed.set(part, draw);
  else draw();
}

/** Draws what was postponed, after the click that follows the release. */
function release() {
  const press = presses;
  setTimeout(() => {
    if (press !== presses) return;
    pressed = false;
    for (const [part, draw] of [...postponed]) {
      postponed.delete(part);
      // The other parts are drawn although one cannot be.
      try { draw(); } catch (error) { reportError(error); }
    }
  });
}
