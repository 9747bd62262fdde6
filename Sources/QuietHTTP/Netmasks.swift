/// The networks from which a route may be asked.
///
/// Documentation/QuietHTTP.md 4.5. The address is the one by which attempts are counted, so behind a trusted
/// proxy the client's, and here all of its bits count.
public struct Netmasks: Sendable {
  /// Nil for everybody.
  private let networks: [AddressNetwork]?

  /// No limit: whoever asks is answered.
  public static let everybody = Netmasks(networks: nil)

  private init(networks: [AddressNetwork]?) {
    self.networks = networks
  }

  /// The networks in `networks`, each an address or a network such as `10.0.0.0/8` or `2001:db8::/32`.
  ///
  /// Nil where one of them is neither, where there are none, which nobody could ask from, or more than
  /// `QuietLimit.netmasksMax`.
  public init?(_ networks: [String]) {
    guard (1...QuietLimit.netmasksMax).contains(networks.count) else { return nil }
    let parsed = networks.compactMap { AddressNetwork($0) }
    guard parsed.count == networks.count else { return nil }
    self.init(networks: parsed)
  }

  /// Whether the client behind `context` is in one of the networks. One without an address is in none.
  public func contain(_ context: QuietContext) -> Bool {
    contain(context.client)
  }

  func contain(_ client: NumericAddress?) -> Bool {
    guard let networks else { return true }
    guard let client else { return false }
    return networks.contains { $0.contains(client) }
  }
}

extension Netmasks: CustomStringConvertible, CustomReflectable {
  public var description: String { "Netmasks" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
