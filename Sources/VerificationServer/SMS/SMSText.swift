import Crypto
import Foundation
import Secrets
import VerificationAPI

/// The text of the SMS with a code: a template with its variables replaced, and a signature.
struct SMSText: Sendable {
  let configuration: SMSConfiguration

  /// The reasons why there is no text.
  enum Invalid: Error {
    /// No template has the label.
    case unknownTemplate
    /// The text is too long after the variables are replaced, or could not be signed.
    case tooLongOrUnsigned
  }

  /// Returns the text of `code` for `phone`, signed if a signer is configured.
  func text(
    of code: NewCode, label: String?, phone: PhoneNumber, purpose: SMSSigner.Purpose, now: Date
  ) throws(Invalid) -> String {
    let label = label.flatMap { $0.isEmpty ? nil : $0 } ?? configuration.defaultTemplate
    guard let template = configuration.templates[label] else { throw .unknownTemplate }
    let filled = filled(template, code, now: now)
    guard filled.count <= VerificationLimit.smsCharactersMax else { throw .tooLongOrUnsigned }
    guard let signer = configuration.signer else { return filled }
    guard let signed = try? signer.signed(filled, to: phone, purpose: purpose, at: now) else {
      throw .tooLongOrUnsigned
    }
    return signed
  }

  private func filled(_ template: String, _ code: NewCode, now: Date) -> String {
    let long = code.long?.characters ?? code.typed.characters
    let values = [
      ("[region]", configuration.region), ("[code]", code.typed.characters),
      ("[expires]", minutes(from: now, to: code.issued.expiresAt)), ("[longcode]", long),
      ("[longexpires]", hours(from: now, to: code.issued.longExpiresAt)), ("[enslink]", link(long)),
    ]
    return values.reduce(template) { $0.replacing($1.0, with: $1.1) }
  }

  /// The link that opens the app with the code.
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

/// Signs SMS, so that a phone can verify that they come from the health authority ("Authenticated SMS").
public struct SMSSigner: Sendable {
  /// The purpose of an SMS, which is part of the signed text.
  public enum Purpose: String, Sendable {
    /// A code that the health authority issued.
    case report = "EN Report"
    /// A code for a user report.
    case userReport = "User Report"
  }

  private let keyID: String
  private let key: P256.Signing.PrivateKey

  /// Creates a signer with `privateKeyPEM` (P-256, SEC1 or PKCS#8), which phones know as `keyID`.
  ///
  /// - Throws: If the text is not such a key.
  public init(keyID: String, privateKeyPEM: String) throws {
    self.keyID = keyID
    key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
  }

  /// Returns `text` with its signature.
  ///
  /// The signature covers purpose, number, day and the text up to `Authentication:`, joined with dots. It is
  /// ECDSA with SHA-256 in DER, base64 without padding.
  func signed(
    _ text: String, to phone: PhoneNumber, purpose: Purpose, at now: Date
  ) throws -> String {
    let body = text + " \nAuthentication:"
    let day = CalendarDay(now)
    let signed = [purpose.rawValue, phone.text, day.text, body].joined(separator: ".")
    let signature = try key.signature(for: Data(signed.utf8)).derRepresentation
      .base64EncodedString()
    let monthDay = day.text.dropFirst(5).replacing("-", with: "")
    return body + "\(monthDay):\(keyID):\(signature.replacing("=", with: ""))"
  }
}

extension SMSSigner: Redacted {
  public var description: String { "SMSSigner(\(keyID))" }
}
