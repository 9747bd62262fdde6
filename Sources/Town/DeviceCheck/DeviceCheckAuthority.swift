import Foundation
import World

/// A stand-in for Apple's DeviceCheck: it gives tokens to the phones of a town and tells a server that
/// asks whether a phone of the right team sent it. A token is good for one transaction: asked again
/// about the same one, after an answer was lost, it says the same; in another it is a replay.
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
    /// The token was used before, for another transaction.
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
  private var transactions: [Data: String] = [:]

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
  public var genuineCount: Int { transactions.count }

  func verdict(on question: DeviceCheckQuestion, introducedBy introduction: String) -> Verdict {
    guard team.introduced(by: introduction, at: clock.now) else { return .unknownTeam }
    let asked = Date(timeIntervalSince1970: Double(question.timestamp) / 1000)
    guard abs(asked.timeIntervalSince(clock.now)) <= Self.freshnessSeconds else { return .stale }
    guard let token = Data(base64Encoded: question.device_token) else { return .unknownDevice }
    if let earlier = transactions[token] {
      return earlier == question.transaction_id ? .genuine : .replayed
    }
    guard unused.remove(token) != nil else { return .unknownDevice }
    transactions[token] = question.transaction_id
    return .genuine
  }
}
