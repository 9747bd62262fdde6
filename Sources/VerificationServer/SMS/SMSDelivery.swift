// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import ServerStorage
import VerificationAPI

/// Writes the SMS of a code and sends it; errors become errors of Google's contract.
struct SMSDelivery: Sendable {
  let configuration: SMSConfiguration

  /// Returns the SMS with `code`.
  func message(
    of code: NewCode, label: String?, phone: PhoneNumber, purpose: SMSSigner.Purpose, now: Date
  ) throws(VerificationFailure) -> SMSMessage {
    do throws(SMSText.Invalid) {
      return SMSMessage(
        phone: phone,
        text: try SMSText(configuration: configuration).text(
          of: code, label: label, phone: phone, purpose: purpose, now: now))
    } catch {
      configuration.service?.failed("the text is too long, or could not be signed")
      throw VerificationFailure(.smsFailure, "The SMS could not be written; no code was issued.")
    }
  }

  func send(_ message: SMSMessage) async throws(VerificationFailure) {
    do throws(SMSFailure) {
      try await configuration.sender.send(message)
      configuration.service?.succeeded()
    } catch {
      configuration.attempts?.count(error)
      // A bad number is no fault of the gateway.
      if error.code != .badNumber {
        configuration.service?.failed(error.answer ?? "\(error.code)")
      }
      switch error.code {
      case .queueFull:
        throw VerificationFailure(
          .smsQueueFull, "The queue of the SMS gateway is full; no code was issued: retry later.")
      case .badNumber:
        throw VerificationFailure(
          .phoneNumberInvalid, "The SMS gateway rejected the number; no code was issued.")
      case .failed:
        throw VerificationFailure(
          .smsFailure,
          "The SMS could not be sent; no code was issued: retry, or retry without phone.")
      }
    }
  }
}

/// The sending of codes by SMS.
public struct SMSConfiguration: Sendable {
  /// The transport of the texts.
  public var sender: any SMSSending
  /// The texts by label, with the variables `[region]`, `[code]`, `[expires]`, `[longcode]`,
  /// `[longexpires]` and `[enslink]`; each must contain a code.
  public var templates: [String: String]
  /// The label of the template for requests that name none, and for user reports.
  public var defaultTemplate: String
  /// The region of `[region]` and of links, such as `PL` or `US-WA`.
  public var region: String
  /// The domain of links `https://<region>.<domain>/v?c=…`; `nil` for links `ens://v?…`.
  public var linkDomain: String?
  /// The apps that open the links; `nil` if another server answers at the domain of the links.
  public var links: SMSLinkTargets?
  /// Signs texts, so that phones can detect forged ones; `nil` for unsigned texts.
  public var signer: SMSSigner?
  /// Logs the failures of the sender.
  var service: ServiceFailureLog?
  /// Counts the failures of the sender.
  var attempts: AttemptCounter?

  /// A configuration with one template.
  public init(
    sender: any SMSSending, region: String, template: String = Self.standardTemplate,
    linkDomain: String? = nil, signer: SMSSigner? = nil
  ) {
    self.sender = sender
    self.region = region
    templates = [Self.standardLabel: template]
    defaultTemplate = Self.standardLabel
    self.linkDomain = linkDomain
    self.signer = signer
  }

  /// The label of the first template.
  public static let standardLabel = "Default SMS template"
  /// The default template.
  public static let standardTemplate =
    "Your exposure notification code. Open the link, it is good for [longexpires] hours: [enslink]"

  /// The domain of links in lower case.
  var linkHost: String? { linkDomain.map { "\(region.lowercased()).\($0)" } }

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    guard region.wholeMatch(of: #/[A-Z]{2}(-[A-Z0-9]{1,3})?/#) != nil else {
      throw VerificationServerError.badConfiguration(
        "sms.region: must be a country or a subdivision, such as PL or US-WA.")
    }
    guard linkDomain.map(Self.isDomain) ?? true else {
      throw VerificationServerError.badConfiguration(
        "sms.linkDomain: must be a domain name, such as en.example.")
    }
    try links?.validate()
    try validateTemplates()
  }

  /// True for two or more labels of letters, digits and hyphens with dots between them (RFC 1035).
  private static func isDomain(_ text: String) -> Bool {
    let label = #/[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?/#.ignoresCase()
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= VerificationLimit.smsDomainBytesMax && labels.count >= 2
      && labels.allSatisfy { $0.wholeMatch(of: label) != nil }
  }

  private func validateTemplates() throws {
    guard templates.count <= VerificationLimit.smsTemplatesMax,
      templates.keys.allSatisfy({ VerificationLimit.smsLabelCharacters.contains($0.count) })
    else {
      throw VerificationServerError.badConfiguration(
        "sms.templates: must be at most \(VerificationLimit.smsTemplatesMax), each with a label of at"
          + " most \(VerificationLimit.smsLabelCharacters.upperBound) characters.")
    }
    guard templates[defaultTemplate] != nil else {
      throw VerificationServerError.badConfiguration(
        "sms.defaultTemplate: must be the label of one of the templates.")
    }
    for (label, text) in templates {
      guard text.count <= VerificationLimit.smsTemplateCharactersMax,
        ["[code]", "[longcode]", "[enslink]"].contains(where: text.contains)
      else {
        throw VerificationServerError.badConfiguration(
          "sms.templates[\(label)]: must contain [code], [longcode] or [enslink], and have at most"
            + " \(VerificationLimit.smsTemplateCharactersMax) characters.")
      }
    }
  }
}

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
    do {
      return try signer.signed(filled, to: phone, purpose: purpose, at: now)
    } catch {
      throw .tooLongOrUnsigned
    }
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
