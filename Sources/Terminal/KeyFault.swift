// SPDX-License-Identifier: Apache-2.0
/// The reason why a file cannot be used as a key, and what to do.
struct KeyFault: Error, Equatable {
  let cause: String
  let remedy: String

  init(_ cause: String, _ remedy: String) {
    (self.cause, self.remedy) = (cause, remedy)
  }

  /// A key of another kind: `cause` says of which.
  static func anotherKey(_ kind: String) -> KeyFault {
    KeyFault("it is \(kind)", "give a P-256 key")
  }
}
