/// How many attempts the server bears before it asks to wait. A redeemed code gives its attempt back
/// to the address, so that a hospital behind one address is not locked out by honest people.
public struct AttemptLimits: Sendable, Hashable {
  /// Failed attempts from one address (IPv4 whole, IPv6 to 64 bits) in a window.
  public var perAddress: Int
  /// Attempts with one and the same code in a window, good or bad.
  public var perCode: Int
  /// The window, in seconds.
  public var windowSeconds: Int

  /// At most 30 failures an address and 10 attempts a code in ten minutes, unless said otherwise.
  ///
  /// With a thousand live codes somebody with one address needs about a year for one.
  public init(perAddress: Int = 30, perCode: Int = 10, windowSeconds: Int = 600) {
    self.perAddress = perAddress
    self.perCode = perCode
    self.windowSeconds = windowSeconds
  }
}
