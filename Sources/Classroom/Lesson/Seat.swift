import ExposureApp
import Foundation
import Secrets

/// A place in the class: a person with a phone, and the parts of the lesson that concern them.
struct Seat: Sendable {
  /// The number on the phone, from 1.
  let number: Int
  var isOn = true
  /// True if the browser has given the phone back. The next browser that joins gets it.
  var isFree = false
  var test: TestMessage?
  /// The result of the last PIN entry.
  var upload: UploadOutcome?
  var diagnosis = DiagnosisFacts()

  /// The name of the phone in the simulation.
  var name: String { Self.name(number) }

  static func name(_ number: Int) -> String { "phone-\(number)" }

  static func number(_ name: String) -> Int? { Int(name.dropFirst("phone-".count)) }
}

/// The message of the health authority after a test.
enum TestMessage: Equatable, Sendable {
  case negative
  /// A positive test with the PIN for the upload, valid until a time of the simulated clock.
  case positive(IssuedPIN, until: Date)
}

/// A PIN that the person may read. It must not appear in logs.
struct IssuedPIN: Redacted, Equatable, Sendable {
  let text: String
}

/// The secret of a browser that holds a phone. The lesson stores only its hash.
struct SessionToken: Redacted, Sendable {
  static let byteCount = 32

  /// 64 hexadecimal digits.
  let text: String
}
