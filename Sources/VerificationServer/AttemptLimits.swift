/// How many attempts the server bears before it asks to wait. A redeemed code gives its attempt back
/// to the address, so that a hospital behind one address is not locked out by honest people.
public struct AttemptLimits: Sendable, Hashable {
  /// Failed attempts from one address (IPv4 whole, IPv6 to 64 bits) in a window.
  public var perAddress: Int
  /// Attempts with one and the same code in a window, good or bad.
  public var perCode: Int
  /// Failed attempts under one API key in a window: all phones of an app share it, and so do all that
  /// have read it out of the app.
  public var perApiKey: Int
  /// Codes that may be issued under one API key in a day.
  public var issuesPerApiKey: Int
  /// The window, in seconds.
  public var windowSeconds: Int
  /// The window of issues, in seconds: a day.
  public static let issueWindowSeconds = 86_400

  /// At most 30 failures an address, 10 attempts a code and 1,000 failures an API key in ten minutes, and
  /// 20,000 codes an API key in a day, unless said otherwise.
  ///
  /// With a thousand live PINs somebody with one address needs about a year for one; with a thousand live
  /// short codes somebody with many addresses and an app's API key needs 17 hours.
  public init(
    perAddress: Int = 30, perCode: Int = 10, perApiKey: Int = 1_000,
    issuesPerApiKey: Int = 20_000, windowSeconds: Int = 600
  ) {
    self.perAddress = perAddress
    self.perCode = perCode
    self.perApiKey = perApiKey
    self.issuesPerApiKey = issuesPerApiKey
    self.windowSeconds = windowSeconds
  }

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    let numbers = [
      ("perAddress", perAddress), ("perCode", perCode), ("perApiKey", perApiKey),
      ("issuesPerApiKey", issuesPerApiKey),
    ]
    for (name, number) in numbers where !VerificationLimit.attempts.contains(number) {
      throw VerificationServerError.badConfiguration(
        "attempts.\(name): must be 1 to \(VerificationLimit.attempts.upperBound).")
    }
    guard VerificationLimit.attemptWindowSeconds.contains(windowSeconds) else {
      throw VerificationServerError.badConfiguration(
        "attempts.windowSeconds: must be a second to a day.")
    }
  }
}
