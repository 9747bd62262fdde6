import Foundation
import Secrets
import VerificationAPI

/// A request for a code.
package struct CodeRequest: Hashable, Sendable {
  /// The UUID by which the code is looked up later. The console chooses it, so that a request that is sent twice does
  /// not issue two codes.
  package let uuid: UUID
  package let testType: TestType
  /// The day on which symptoms began, `YYYY-MM-DD`.
  package let symptomDate: String?
  /// The phone number for an SMS, E.164.
  package let phone: String?

  package init(uuid: UUID, testType: TestType, symptomDate: String? = nil, phone: String? = nil) {
    self.uuid = uuid
    self.testType = testType
    self.symptomDate = symptomDate
    self.phone = phone
  }

  /// The tests for which the console issues codes. The raw values are those of the verification server.
  package enum TestType: String, CaseIterable, Sendable {
    /// A laboratory test. The code is a PIN, which the app takes.
    case confirmed
    /// A doctor's diagnosis.
    case likely
  }

  /// The body for the verification server.
  var body: IssueRequest {
    var body = IssueRequest(testType: testType.rawValue)
    body.uuid = uuid.uuidString.lowercased()
    body.symptomDate = symptomDate
    body.phone = phone
    body.codeForm = testType == .confirmed ? "pin" : "short"
    return body
  }
}

/// A code that was issued. It is shown once.
package struct IssuedCode: Redacted, Hashable, Sendable {
  package let uuid: UUID
  package let code: String
  package let expiresAt: Date

  package init(uuid: UUID, code: String, expiresAt: Date) {
    self.uuid = uuid
    self.code = code
    self.expiresAt = expiresAt
  }

  /// Nil if the UUID of the response is not valid.
  init?(_ response: IssueResponse) {
    guard let uuid = UUID(uuidString: response.uuid) else { return nil }
    self.init(
      uuid: uuid, code: response.code,
      expiresAt: Date(timeIntervalSince1970: TimeInterval(response.expiresAtTimestamp)))
  }

  /// The code in groups of three or four, as it is read aloud.
  var grouped: String {
    let size = code.count.isMultiple(of: 4) ? 4 : 3
    return stride(from: 0, to: code.count, by: size).map {
      String(code.dropFirst($0).prefix(size))
    }.joined(separator: " ")
  }
}

/// The state of a code.
package struct CodeState: Hashable, Sendable {
  package let isUsed: Bool
  package let expiresAt: Date

  package init(isUsed: Bool, expiresAt: Date) {
    self.isUsed = isUsed
    self.expiresAt = expiresAt
  }
}

/// The link that opens the app with a PIN, and the text for an SMS that an official sends from a phone.
struct CodeLink: Sendable {
  /// The address of the app's page, such as `https://app.example/`.
  let app: URL

  /// The link. The PIN is in the fragment, which browsers do not send to servers.
  func address(code: String) -> String {
    let base = app.absoluteString
    return "\(base)\(base.hasSuffix("/") ? "" : "/")#/share?pin=\(code)"
  }

  /// A link that opens the phone's own program for SMS with a text.
  static func sms(_ text: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    return "sms:?body=" + (text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
  }
}
