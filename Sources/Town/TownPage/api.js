// SPDX-License-Identifier: Apache-2.0
/** The last state of the town, and the functions that draw each new state. */
let state = null;
const followers = [];

/** Calls `draw` with each new state. */
export function follow(draw) {
  followers.push(draw);
}

/** Draws the last state again, in another language for example. */
export function redraw() {
  if (state) for (const draw of followers) draw(state);
}

/** Sends a command and shows its effect at once, or the sentence of a refusal. */
export async function send(command) {
  await receive(fetch("/town/commands", {
    method: "POST",
    headers: { "content-type": "application/json", "x-firebreak-town": "1" },
    body: JSON.stringify(command),
  }));
}

/** Asks for the state now and then every second. */
export async function start() {
  for (;;) {
    await receive(fetch("/town/state", { cache: "no-store" }));
    await new Promise((wake) => setTimeout(wake, 1000));
  }
}

async function receive(answer) {
  try {
    const response = await answer;
    if (!response.ok) return problem(await response.text());
    state = await response.json();
    problem(null);
    redraw();
  } catch {
    problem("gone");
  }
}

let problem = () => {};

/** Sets the function that shows a sentence, `gone` for a town that does not answer, or null. */
export function onProblem(show) {
  problem = show;
}
