import Hummingbird

extension HTTPFields.Element.Name {
  /// Marks a decoy. The value does not matter.
  public static let chaff = Self.own("x-chaff")
  /// The credential of a caller that may issue codes.
  static let apiToken = Self.own("api-token")

  /// The credential of an app or of a health authority's own systems, in Google's contract.
  public static let apiKey = Self.own("x-api-key")
  /// The addresses that proxies write down.
  static let forwardedFor = Self.own("x-forwarded-for")

  /// A name that is written here and therefore valid; `x-chaff` would stand in where it were not.
  private static func own(_ name: String) -> Self {
    Self(name) ?? .cacheControl
  }
}
