/// What the holder of an API key may do.
package enum ApiKeyKind: String, Sendable, CaseIterable {
  /// An app: verifies codes and gets certificates.
  case device
  /// The health authority's own systems: issue codes, and end them.
  case admin
  /// Reads `/api/stats` of Google's verification server, which this one does not have: it opens nothing. It is
  /// here so that databases that hold such a key can be read.
  case stats

  /// Those that open a route, of which new keys are made.
  package static let offered: [ApiKeyKind] = [.device, .admin]
}
