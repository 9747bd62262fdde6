import QuietHTTP
import VerificationAPI

/// Asks for several codes; a field that is not named is refused inside each as well.
struct BatchIssueRequest: Decodable, NamedFields, Sendable {
  var codes: [Strict<IssueRequest>]?
  var padding: String?

  static let fieldNames: Set<String> = ["codes", "padding"]
}
