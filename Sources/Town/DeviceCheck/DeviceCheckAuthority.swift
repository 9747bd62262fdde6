import Foundation
import World

/// A stand-in for Apple's DeviceCheck: it gives tokens to the phones of a town and tells a server that
/// asks, once for each token, whether a phone of the right team sent it.
///
/// The contract is Apple's documented one ("Accessing and modifying per-device data"): an ES256 token
/// of introduction names the team and its key; a question carries the device's token, a transaction
/// and a time in milliseconds.
public actor DeviceCheckAuthority {
  /// What the authority answers.
  enum Verdict: Equatable {
    /// A genuine phone of this team.
    case genuine
    /// The asker is not who may ask for this team.
    case unknownTeam
    /// No phone of the team has this token.
    case unknownDevice
    /// The token was used before.
    case replayed
    /// The question is too old or from the future.
    case stale
  }

  /// The size of a device token here, in bytes.
  static let tokenBytes = 32
  /// How far a question's time may lie from the authority's clock, in seconds.
  static let freshnessSeconds: TimeInterval = 600

  private let team: DeviceCheckTeam
  private let clock: any WallClock
  private let randomness: any Randomness
  private var unused: Set<Data> = []
  private var used: Set<Data> = []

  /// An authority that knows one team.
  public init(team: DeviceCheckTeam, clock: any WallClock, randomness: any Randomness) {
    self.team = team
    self.clock = clock
    self.randomness = randomness
  }

  /// A token for one use, as a genuine phone gets it from its system.
  public func issueToken() -> Data {
    let token = Data(randomness.bytes(Self.tokenBytes))
    unused.insert(token)
    return token
  }

  /// How many tokens were found genuine, each counted once.
  public var genuineCount: Int { used.count }

  func verdict(on question: DeviceCheckQuestion, introducedBy introduction: String) -> Verdict {
    guard team.introduced(by: introduction, at: clock.now) else { return .unknownTeam }
    let asked = Date(timeIntervalSince1970: Double(question.timestamp) / 1000)
    guard abs(asked.timeIntervalSince(clock.now)) <= Self.freshnessSeconds else { return .stale }
    guard let token = Data(base64Encoded: question.device_token) else { return .unknownDevice }
    guard !used.contains(token) else { return .replayed }
    guard unused.remove(token) != nil else { return .unknownDevice }
    used.insert(token)
    return .genuine
  }
}
