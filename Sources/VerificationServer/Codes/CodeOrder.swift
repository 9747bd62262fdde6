import Foundation

/// What a code of Google's contract is to be.
struct CodeOrder: Sendable {
  var finding: Finding
  /// The name the asker wants to find it by.
  var handle: UUID?
  /// The API key it is issued under.
  var issuer: ApiKeyID?
  /// Whether a long code goes into a link.
  var wantsLink = false
  /// What has to come with the code, for a user report.
  var nonce: Data?
  /// The phone that reports a test of its own.
  var reportingPhone: String?

  /// The order as one that came with `key`.
  func issued(under key: ApiKeyID?) -> CodeOrder {
    var order = self
    order.issuer = key
    return order
  }
}
