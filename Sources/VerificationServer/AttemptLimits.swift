/// The number of attempts before a client has to wait.
///
/// A redeemed code gives its attempt back to the address, so that correct codes do not lock out a hospital behind
/// one address.
public struct AttemptLimits: Sendable, Hashable {
  /// Failed attempts from one address (IPv4 whole, IPv6 to 64 bits) in a window.
  public var perAddress: Int
  /// Attempts with the same code in a window, successful or not.
  public var perCode: Int
  /// Failed attempts with one API key in a window. All phones of an app share the key, and so does everyone who
  /// has extracted it from the app.
  public var perApiKey: Int
  /// Codes that may be issued with one API key in a day.
  public var issuesPerApiKey: Int
  /// The window, in seconds.
  public var windowSeconds: Int
  /// The window of issues, in seconds: a day.
  public static let issueWindowSeconds = 86_400

  /// The defaults: 30 failures per address, 10 attempts per code and 1,000 failures per API key in ten minutes, and
  /// 20,000 codes per API key in a day.
  ///
  /// If a thousand PINs are valid, an attacker with one address guesses one in about a year. If a thousand short
  /// codes are valid, an attacker with many addresses and an app's API key guesses one in 17 hours.
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
