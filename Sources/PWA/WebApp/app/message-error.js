// SPDX-License-Identifier: Apache-2.0
/** The failure of a message to the phone process. `code` is `offline`, `timeout` or a code of the bridge. */
export class MessageError extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }

  /** True if the phone process did not answer. */
  get isOffline() {
    return this.code === "offline" || this.code === "timeout";
  }
}
