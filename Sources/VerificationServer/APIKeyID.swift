// SPDX-License-Identifier: Apache-2.0
/// The public part of an API key.
struct APIKeyID: Hashable, Sendable {
  /// Sixteen lower-case hex digits.
  let text: String
}
