import Crypto
import Foundation

/// Signs texts, so that a phone can tell an authority's from a swindler's ("Authenticated SMS").
///
/// Documentation/VerificationServer.md 7.3.
public struct SMSSigner: Sendable {
  /// What the text is for; a signature for one does not hold for the other.
  public enum Purpose: String, Sendable {
    /// A code that an official issued.
    case report = "EN Report"
    /// A code for somebody who reports a test of their own.
    case userReport = "User Report"
  }

  private let keyID: String
  private let key: P256.Signing.PrivateKey

  /// Signs with `privateKeyPEM` (P-256, SEC1 or PKCS#8), which phones know as `keyID`.
  ///
  /// - Throws: where the text is no such key.
  public init(keyID: String, privateKeyPEM: String) throws {
    self.keyID = keyID
    key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
  }

  /// `text` with its signature: over purpose, number, day and the text up to the word
  /// `Authentication:`, joined with dots; ECDSA with SHA-256 in DER, base64 without padding.
  func signed(
    _ text: String, to phone: PhoneNumber, purpose: Purpose, at now: Date
  ) throws -> String {
    let body = text + " \nAuthentication:"
    let day = CalendarDay(now)
    let said = [purpose.rawValue, phone.text, day.text, body].joined(separator: ".")
    let signature = try key.signature(for: Data(said.utf8)).derRepresentation.base64EncodedString()
    let monthDay = day.text.dropFirst(5).replacing("-", with: "")
    return body + "\(monthDay):\(keyID):\(signature.replacing("=", with: ""))"
  }
}

extension SMSSigner: CustomStringConvertible, CustomReflectable {
  public var description: String { "SMSSigner(\(keyID))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
