// SPDX-License-Identifier: Apache-2.0
import Bluetooth

/// The radio of a phone: a controller, or none.
package enum PhoneRadio: Equatable, Sendable {
  /// No Bluetooth: the phone only checks and uploads.
  case none
  /// A Bluetooth controller.
  case controller(RadioAddress)

  /// The forms of the text, for messages.
  package static let form = "`none`, `hci:HOST:PORT`, `hci:/dev/ttyX[,SPEED]` or `hci:user:N`"

  /// - Throws: `RadioAddressError` with a sentence that says what to change.
  package init(_ text: String) throws(RadioAddressError) {
    self = text == "none" ? .none : .controller(try RadioAddress(text))
  }
}
