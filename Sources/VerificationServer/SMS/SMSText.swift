import Crypto
import Foundation
import VerificationAPI

/// The text that brings a code to a phone.
///
/// Documentation/VerificationServer.md 7.
struct SMSText: Sendable {
  let configuration: SMSConfiguration

  /// Why there is no text.
  enum Fault: Error {
    /// No template has that label.
    case unknownTemplate
    /// With its variables filled in the text is too long, or it cannot be signed.
    case notWritten
  }

  /// The text of `code` for `phone`, signed where texts are signed here.
  func text(
    of code: NewCode, label: String?, phone: PhoneNumber, purpose: SMSSigner.Purpose, now: Date
  ) throws(Fault) -> String {
    let wanted = label.flatMap { $0.isEmpty ? nil : $0 } ?? configuration.defaultTemplate
    guard let template = configuration.templates[wanted] else { throw .unknownTemplate }
    let filled = filled(template, code, now: now)
    guard filled.count <= VerificationLimit.smsCharactersMax else { throw .notWritten }
    guard let signer = configuration.signer else { return filled }
    guard let signed = try? signer.signed(filled, to: phone, purpose: purpose, at: now) else {
      throw .notWritten
    }
    return signed
  }

  private func filled(_ template: String, _ code: NewCode, now: Date) -> String {
    let long = code.long?.characters ?? code.short.characters
    let values = [
      ("[region]", configuration.region), ("[code]", code.short.characters),
      ("[expires]", minutes(from: now, to: code.kept.expiresAt)), ("[longcode]", long),
      ("[longexpires]", hours(from: now, to: code.kept.longExpiresAt)), ("[enslink]", link(long)),
    ]
    return values.reduce(template) { $0.replacing($1.0, with: $1.1) }
  }

  /// The link that opens the app on the phone with the code in it.
  private func link(_ code: String) -> String {
    guard let host = configuration.linkHost else {
      return "ens://v?r=\(configuration.region)&c=\(code)"
    }
    return "https://\(host)/v?c=\(code)"
  }

  private func minutes(from now: Date, to end: Date) -> String {
    "\(Int((end.timeIntervalSince(now) / 60).rounded()))"
  }

  private func hours(from now: Date, to end: Date) -> String {
    "\(Int((end.timeIntervalSince(now) / 3_600).rounded()))"
  }
}

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
