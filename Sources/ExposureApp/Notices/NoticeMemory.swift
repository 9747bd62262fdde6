import Foundation

/// What the person has been told. Documentation/App.md 5.
struct NoticeMemory: Codable, Sendable, Equatable {
  /// The level that the person knows of.
  private(set) var toldLevel = RiskLevel.none
  /// The level that the person has still to be told of: kept until it has been shown, so that a
  /// phone that goes off in between tells later.
  private(set) var dueLevel: RiskLevel?
  /// When the last notice about Bluetooth was shown.
  var lastBluetoothNotice: Date?

  /// How long the notice about Bluetooth is not repeated, in seconds: a day. People who turn
  /// Bluetooth off know that they do.
  static let bluetoothNoticeSeconds: TimeInterval = 86_400

  /// Takes the level now: a rise is due to be told, once; a fall is not, but a later rise is again.
  mutating func levelIs(_ level: RiskLevel) {
    if level > toldLevel { dueLevel = level }
    if level < toldLevel { toldLevel = level }
    if let due = dueLevel, level < due { dueLevel = level > toldLevel ? level : nil }
  }

  /// The person has been shown what was due.
  mutating func shown() {
    toldLevel = dueLevel ?? toldLevel
    dueLevel = nil
  }

  /// Whether the notice about Bluetooth may be shown at `now`.
  func mayTellBluetoothOff(at now: Date) -> Bool {
    guard let lastBluetoothNotice else { return true }
    return abs(now.timeIntervalSince(lastBluetoothNotice)) >= Self.bluetoothNoticeSeconds
  }
}
