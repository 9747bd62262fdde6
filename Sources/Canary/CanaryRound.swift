// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import Simulation
import World

/// One round of the canary: two synthetic phones that were together two days ago, one of which gets a code and uploads,
/// so that the other must be told. A third phone was near for a moment only and must have a lower risk.
///
/// The phones have the real framework and app, and use the servers and the risk configuration of real phones. Only the
/// meeting is simulated. Their keys are in an export of their own, which no other phone reads.
package struct CanaryRound {
  /// The steps, in order. The raw values are labels of metrics.
  package enum Step: String, CaseIterable, Sendable {
    /// The phones allow exposure notifications and meet.
    case meeting
    /// The verification server issues a code.
    case code
    /// The code is exchanged for a token, and the key server accepts the keys.
    case upload
    /// The key is published, and the phone that was near is told.
    case notice
    /// The phone that was near for a moment has a lower risk than the other.
    case silence
    /// The index and the newest key file of real phones, which the canary's phones do not use, are delivered: the
    /// file is signed, and not too old.
    case files
  }

  /// The result of a round.
  package struct Result: Hashable, Sendable {
    /// The step that failed; nil if the round was complete.
    package let failed: Step?
    /// The reason, for the operator.
    package let reason: String
    /// The time from the upload to the notice, or to the end of the round, in seconds.
    package let seconds: TimeInterval

    package init(failed: Step?, reason: String, seconds: TimeInterval) {
      self.failed = failed
      self.reason = reason
      self.seconds = seconds
    }
  }

  private struct Failure: Error {
    let step: Step
    let reason: String
  }

  private let site: CanarySite
  private let folder: URL
  private let clock: any WallClock
  private let limits: CanaryLimits
  private let network: any Network
  private let publicFiles: PublicFiles
  private let notices: @Sendable () -> SimulatedNotices
  private let pause: @Sendable (TimeInterval) async throws -> Void
  private let world: SimulatedWorld

  /// - Parameters:
  ///   - site: The servers, and the rights of the canary there.
  ///   - folder: An empty folder for the data of the phones.
  ///   - clock: The clock of the servers.
  ///   - seed: The seed of keys and radio, a new one for each round.
  ///   - limits: The times of the round.
  ///   - network: The network of the phones.
  ///   - logger: The log of the phones.
  ///   - notices: The notices of a new phone: of the ill one, the near one and the passer-by, in this order.
  ///   - pause: Waits for this many seconds of `clock`.
  package init(
    _ site: CanarySite, folder: URL, clock: any WallClock, seed: UInt64,
    limits: CanaryLimits = CanaryLimits(), network: any Network, logger: Logger,
    notices: @escaping @Sendable () -> SimulatedNotices = { SimulatedNotices() },
    pause: @escaping @Sendable (TimeInterval) async throws -> Void
  ) {
    self.site = site
    self.folder = folder
    self.clock = clock
    self.limits = limits
    self.network = CanaryNetwork(network, keyServer: site.keyServer)
    publicFiles = PublicFiles(
      network: network, keyServer: site.keyServer, rootKey: site.rootKey, clock: clock,
      ageSecondsMax: limits.fileAgeSecondsMax)
    self.notices = notices
    self.pause = pause
    let start = clock.now.addingTimeInterval(-CanaryLimits.meetingAgeSeconds)
    world = SimulatedWorld(start: start, seed: seed, recordsBeacons: false, logger: logger)
  }

  /// Runs the round.
  ///
  /// - Throws: `CancellationError`.
  package func run() async throws -> Result {
    var start = clock.now
    do {
      let (ill, near, passer) = (phone("ill"), phone("near"), phone("passer"))
      try await meet(ill, near, passer)
      let code = try await code()
      try await upload(code, by: ill)
      start = clock.now
      try await awaitNotice(on: near, besides: passer, since: start)
      let seconds = clock.now.timeIntervalSince(start)
      if let fault = try await publicFiles.fault(folder: folder) {
        throw Failure(step: .files, reason: fault)
      }
      return Result(failed: nil, reason: "", seconds: seconds)
    } catch let failure as Failure {
      return Result(
        failed: failure.step, reason: failure.reason, seconds: clock.now.timeIntervalSince(start))
    }
  }

  private func phone(_ name: String) -> SimulatedPhone {
    SimulatedPhone(
      name: name, folder: folder.appendingPathComponent(name), world: world,
      configuration: AppConfiguration(
        verificationServer: site.verificationServer, keyServer: site.keyServer,
        region: CanaryUploads.region, platform: site.platform, appPackageName: CanaryUploads.app,
        rootKey: site.rootKey),
      deviceCheck: SimulatedAttestation { Data() }, network: network, notices: notices())
  }

  private func meet(
    _ ill: SimulatedPhone, _ near: SimulatedPhone, _ passer: SimulatedPhone
  ) async throws {
    let phones = [ill, near, passer]
    for phone in phones {
      let outcome = try await phone.enable()
      guard outcome == .enabled else {
        throw Failure(step: .meeting, reason: "a phone could not be prepared: \(outcome)")
      }
    }
    world.air.place(near.name, ill.name, metres: CanaryLimits.nearMetres)
    world.air.place(passer.name, ill.name, metres: CanaryLimits.passingMetres)
    let start = world.clock.now
    await world.run(
      until: start.addingTimeInterval(CanaryLimits.passingSeconds), phones: phones)
    world.air.separate(passer.name, ill.name)
    await world.run(
      until: start.addingTimeInterval(CanaryLimits.meetingSeconds), phones: phones)
    world.air.separate(near.name, ill.name)
    world.clock.advance(to: clock.now)
    for phone in phones { _ = await phone.device.beat() }
  }

  private func code() async throws -> String {
    do { return try await site.issueCode(over: network) } catch let error as CancellationError {
      throw error
    } catch {
      throw Failure(step: .code, reason: "no code was issued: \(error)")
    }
  }

  private func upload(_ code: String, by phone: SimulatedPhone) async throws {
    let outcome = await phone.app.upload(pin: code, isInteroperabilityEnabled: false)
    guard outcome.result == .success else {
      let reason = outcome.reason.map { "\($0)" } ?? "\(outcome.result)"
      throw Failure(step: .upload, reason: "the upload ended with \(reason)")
    }
  }

  /// Lets the phones check until the one that was near is told, then makes sure that the passer has less risk, and
  /// notices of no higher one.
  private func awaitNotice(
    on near: SimulatedPhone, besides passer: SimulatedPhone, since start: Date
  ) async throws {
    var last = "no check was made"
    while clock.now.timeIntervalSince(start) < limits.noticeSecondsMax {
      try await pause(limits.checkSeconds)
      world.clock.advance(to: clock.now)
      let outcome = await check(near)
      last = "the last check: \(outcome)"
      let isTold = !near.notices.exposureNotices.isEmpty
      guard isTold || outcome.isAtRisk else { continue }
      // A notice without a state, or a state without a notice, is a fault, too.
      guard isTold, outcome.isAtRisk else {
        throw Failure(step: .notice, reason: "notice and state differ; \(last)")
      }
      return try await requireLessRisk(than: outcome, on: passer)
    }
    throw Failure(
      step: .notice,
      reason: "the near phone was not told in \(Int(limits.noticeSecondsMax / 60)) minutes;"
        + " \(last)")
  }

  private func requireLessRisk(
    than near: CheckOutcome, on passer: SimulatedPhone
  ) async throws {
    let outcome = await check(passer)
    guard case .checked(let most) = near, case .checked(let level) = outcome,
      level < most
    else { throw Failure(step: .silence, reason: "a passer-by got \(outcome)") }
    let told = passer.notices.exposureNotices.compactMap(\.riskLevel).max() ?? .none
    guard told == level else {
      throw Failure(
        step: .silence, reason: "notice and state of a passer-by differ: \(outcome)")
    }
  }

  private func check(_ phone: SimulatedPhone) async -> CheckOutcome {
    await phone.app.backgroundCheck(SimulatedRun())
  }
}

/// The times of a round.
package struct CanaryLimits: Sendable {
  /// The longest time from the upload to the notice, in seconds: a period of key files and an hour.
  package var noticeSecondsMax: TimeInterval = 5 * 3_600
  /// The time between two checks of a phone, in seconds.
  package var checkSeconds: TimeInterval = 1_200
  /// The longest time since the end of the newest key file of real phones, in seconds; nil for any. A period without
  /// uploads has no file.
  package var fileAgeSecondsMax: TimeInterval? = 2 * 86_400

  /// The age of the meeting, in seconds: its keys are no longer held back.
  static let meetingAgeSeconds: TimeInterval = 2 * 86_400 + 3_600
  /// The duration of the meeting in seconds, and the distance in metres.
  static let meetingSeconds: TimeInterval = 1_800
  static let nearMetres = 1.0
  /// The time for which the passer-by is in range, and the distance.
  static let passingSeconds: TimeInterval = 300
  static let passingMetres = 25.0

  package init() {}
}

extension Notice {
  /// The risk of which the notice tells; nil for other notices.
  fileprivate var riskLevel: RiskLevel? {
    if case .risk(let level) = cause { level } else { nil }
  }
}

extension CheckOutcome {
  /// True if the check is complete and found an exposure that the authority warns of.
  fileprivate var isAtRisk: Bool {
    if case .checked(let level) = self { level != .none } else { false }
  }
}
