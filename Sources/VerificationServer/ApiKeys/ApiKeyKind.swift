/// What the holder of an API key may do.
package enum ApiKeyKind: String, Sendable, CaseIterable {
  /// An app: verifies codes and gets certificates.
  case device
  /// The health authority's own systems: issue codes, and end them.
  case admin
  /// Reads statistics.
  case stats
}
