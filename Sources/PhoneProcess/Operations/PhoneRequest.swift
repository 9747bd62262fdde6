// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// A request to a phone: the operation, and the PIN of an upload.
///
/// The PIN is not in the JSON of the request: decoders leave copies of what they read in memory.
package struct PhoneRequest: Sendable, Redacted {
  /// The options that the command was given.
  package var start = PhoneStart()
  /// The operation.
  package let operation: PhoneOperation
  /// The PIN as typed; empty for other operations than uploads and their previews.
  package let pin: ZeroingBytes

  /// Creates a request.
  package init(_ operation: PhoneOperation, pin: ZeroingBytes = ZeroingBytes(count: 0) { _ in }) {
    self.operation = operation
    self.pin = pin
  }
}
