// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import Synchronization
import World

/// The functions of the developer menu; the raw values are those of the bridge's message 1012.
package enum DeveloperAction: String, Codable, Hashable, Sendable, CaseIterable {
  /// Checks now.
  case detectNow
  /// Adds an exposure that no beacon has caused.
  case simulateExposure
  /// Records a failed check.
  case simulateFailure
  /// Removes all exposures.
  case resetExposures
  /// Withdraws the permission and starts the onboarding again.
  case resetOnboarding
  /// Forgets which key files were analysed.
  case resetCursor
  /// Lists the keys that an upload would share, without the keys themselves.
  case showKeys
  /// Lists servers, rules and times.
  case showConfiguration
}

extension Phone {
  /// Performs a function of the developer menu; returns the text of its result in English.
  ///
  /// - Throws: `ENError`, or an error of the storage.
  func develop(_ action: DeveloperAction) async throws -> String {
    switch action {
    case .detectNow: return await perform(PhoneRequest(.check)).text
    case .simulateExposure: return try await app.simulateExposure().line
    case .simulateFailure:
      try await app.simulateFailedCheck()
      return "Recorded: \(CheckFailure.noConnection.explanation)"
    case .resetExposures:
      try await app.removeExposures()
      return "All exposures were removed."
    case .resetOnboarding:
      try await device.forgetAuthorization()
      try preferences.update { $0.hasDeclined = false }
      try await app.resetOnboarding()
      return "The permission was withdrawn, and the onboarding starts again."
    case .resetCursor:
      try await app.resetDownloads()
      return "The next check analyses the key files of the last fourteen days again."
    case .showKeys: return try await keyLines()
    case .showConfiguration: return await configurationLines()
    }
  }

  private func keyLines() async throws -> String {
    let keys = try await uploadPreview(.notStated, pin: nil).keys
    guard !keys.isEmpty else { return "The phone has no finished key yet." }
    return keys.map {
      "\($0.day)  period \($0.rollingPeriod)  transmission risk \($0.transmissionRisk)"
    }.joined(separator: "\n")
  }

  private func configurationLines() async -> String {
    let cursor = await app.cursor.map { Date(unixSecond: $0).text } ?? "none"
    let rules = await app.riskRules.map { rule in
      "risk \(rule.level.rawValue)               score \(rule.scores.lowerBound) to \(rule.scores.upperBound)"
    }
    let lines = [
      "verification server  \(settings.app.verificationServer.absoluteString)",
      "key server           \(settings.app.keyServer.absoluteString)",
      "app                  \(settings.app.appPackageName), "
        + "region \(([settings.app.region] + settings.app.otherRegions).joined(separator: " "))",
      "framework interface  version \(settings.apiVersion)",
      "analysed up to       \(cursor)",
      "next check           \(await app.currentState.nextCheck?.text ?? "none")",
    ]
    return (lines + (settings.apiVersion == 1 ? rules : [])).joined(separator: "\n")
  }
}

extension Exposure {
  fileprivate var line: String {
    let score =
      judgement.map { "\(Int($0.normalizedMinutes)) weighted minutes" } ?? "score \(riskScore)"
    return "Added: \(day) UTC, \(Int(durationSeconds / 60)) minutes, \(score)."
  }
}

/// A radio for developers: it records the beacons that the phone sends and receives those that a command reports.
///
/// Beacons are also sent and received by the phone's radio, if it has one.
package final class DeveloperRadio: Radio {
  /// A beacon that the phone has sent.
  package struct Sent: Hashable, Sendable {
    package let beacon: Advertisement
    /// The start of sending.
    package let time: Date
  }

  private struct State {
    var sent: [Sent] = []
    var receive: (@Sendable (Scan) async -> Void)?
  }

  private let radio: (any Radio)?
  private let clock: any WallClock
  private let state = Mutex(State())

  /// Wraps `radio`; `nil` for a phone without Bluetooth.
  package init(_ radio: (any Radio)?, clock: any WallClock) {
    self.radio = radio
    self.clock = clock
  }

  /// False for a phone without Bluetooth.
  var hasBluetooth: Bool { radio != nil }

  /// The beacons sent since the start, oldest first.
  package var sent: [Sent] { state.withLock { $0.sent } }

  /// Forgets the beacons sent so far.
  package func forgetSent() { state.withLock { $0.sent = [] } }

  /// Passes on a scan as if the radio had received it. On return it is stored.
  ///
  /// - Returns: `false` if the phone is not listening.
  package func hear(_ scan: Scan) async -> Bool {
    guard let receive = state.withLock({ $0.receive }) else { return false }
    await receive(scan)
    return true
  }

  package var isPoweredOn: Bool {
    get async { await radio?.isPoweredOn ?? true }
  }

  package func advertise(_ advertisement: Advertisement) async {
    let sent = Sent(beacon: advertisement, time: clock.now)
    state.withLock { state in
      if state.sent.count >= DeveloperRadioLimit.sentMax { state.sent.removeFirst() }
      state.sent.append(sent)
    }
    await radio?.advertise(advertisement)
  }

  package func stopAdvertising() async {
    await radio?.stopAdvertising()
  }

  package func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    state.withLock { $0.receive = receive }
    await radio?.listen(receive)
  }

  package func stopListening() async {
    state.withLock { $0.receive = nil }
    await radio?.stopListening()
  }
}

/// Limits of the radio for developers.
package enum DeveloperRadioLimit {
  /// The recorded beacons: those of two weeks.
  package static let sentMax = 2_100
}

/// The result of `hear`.
package struct HeardReport: Codable {
  package var scans = 0
  /// The beacons with a signal strength.
  package var beacons = 0
  /// The beacons that were ignored, because their signal strength was not measured.
  package var beaconsWithoutStrength = 0

  package init() {}

  /// The result as text.
  package var text: String {
    "Heard \(beacons) beacons in \(scans) scans."
      + (beaconsWithoutStrength > 0
        ? " Ignored \(beaconsWithoutStrength) beacons without a signal strength (127)." : "")
  }

  /// Adds the result of another part of the same recording.
  package static func += (left: inout HeardReport, right: HeardReport) {
    left.scans += right.scans
    left.beacons += right.beacons
    left.beaconsWithoutStrength += right.beaconsWithoutStrength
  }
}

/// The identifiers that a phone has sent: `sent`.
struct SentReport: Encodable {
  let sent: [Beacon]

  /// A sent beacon, in the names of the CSV of `match`.
  struct Beacon: Encodable {
    let rpi: String
    let aem: String
    let unix_time: Int64
  }
}
