import Foundation
import World

/// The time until which a server has asked for no requests. The property names are the JSON keys on disk.
struct ServerPause: Codable, Sendable, Equatable {
  /// The end of the pause.
  private(set) var end: Date?
  /// The number of refusals in a row.
  private(set) var refusals = 0

  /// Begins a pause: as long as the server asks for, otherwise longer after each refusal.
  mutating func begin(
    at now: Date, retryAfterSeconds: Int?, randomness: any Randomness
  ) {
    let growing = min(
      NetworkLimit.pauseSecondsMin * Double(1 << refusals), NetworkLimit.pauseSecondsMax)
    let asked = Double(min(retryAfterSeconds ?? 0, NetworkLimit.retryAfterSecondsMax))
    end = now.addingTimeInterval(asked > 0 ? asked : growing * Backoff.jitter(randomness))
    refusals = min(refusals + 1, NetworkLimit.refusalsMax)
  }

  /// Ends the pause, because the server answers again.
  mutating func finish() { self = ServerPause() }

  /// The end of the pause if it lasts at `now`. A later one began before the clock was set back.
  func lasting(at now: Date) -> Date? {
    let latest = now.addingTimeInterval(Double(NetworkLimit.retryAfterSecondsMax))
    return end.flatMap { $0 > now && $0 <= latest ? $0 : nil }
  }
}

/// The pauses between the attempts of one request.
enum Backoff {
  /// The pause before attempt `attempt`, counted from 1 for the first retry.
  static func seconds(before attempt: Int, _ randomness: any Randomness) -> TimeInterval {
    let doublings = min(attempt - 1, NetworkLimit.refusalsMax)
    let growing = NetworkLimit.retrySeconds * Double(1 << doublings)
    return min(growing, NetworkLimit.retrySecondsMax) * jitter(randomness)
  }

  /// A random factor from a half to one.
  static func jitter(_ randomness: any Randomness) -> Double {
    0.5 + Double(randomness.number(in: 0...1_000)) / 2_000
  }
}
