// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TextEncodings

extension SealedFile {
  /// The content as a value; nil if there is no file, or it is damaged or cannot be read. For data that a phone can do
  /// without.
  func readableJSON<Value: Decodable>(_ type: Value.Type) -> Value? {
    // The phone begins with an empty value, and reports a failed disk when it stores the next one.
    (try? read()).flatMap { JSONDecoder().decodeIfValid(type, from: $0) }
  }
}
