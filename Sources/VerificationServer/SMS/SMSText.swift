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
