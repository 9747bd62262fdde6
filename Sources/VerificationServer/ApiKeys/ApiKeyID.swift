/// Names an API key; not a secret.
struct ApiKeyID: Hashable, Sendable {
  /// Sixteen lower-case hex digits.
  let text: String
}
