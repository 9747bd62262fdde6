// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import Logging
import Simulation

/// The demo: the phones near and diagnosed are together for half an hour, diagnosed tests positive, and
/// near shows a notice. The phone far is out of range and shows none.
///
/// Every step uses the real framework, app and servers and checks the result. The demo ends with the first
/// step that fails.
public struct DemoRun {
  private let seed: UInt64
  private let folder: URL
  private let logger: Logger
  private let onStep: (DemoStep) -> Void

  /// Creates a demo; phones and servers store their data below `folder`, and `onStep` is called after each
  /// step.
  public init(
    seed: UInt64, folder: URL, logger: Logger, onStep: @escaping (DemoStep) -> Void
  ) {
    self.seed = seed
    self.folder = folder
    self.logger = logger
    self.onStep = onStep
  }

  /// Runs all steps.
  public func run() async -> DemoResult {
    let start = DemoClock.day(1, 7)
    let world = SimulatedWorld(start: start, seed: seed, logger: logger)
    let recorder = DemoRecorder(clock: world.clock, onStep: onStep)
    do {
      let participants = try await startServers(of: world, recorder)
      await performSteps(DemoSteps(world: world, participants: participants, recorder: recorder))
      await participants.stop()
    } catch {
      // The failed step is recorded.
    }
    return recorder.result
  }

  private func startServers(of world: SimulatedWorld, _ recorder: DemoRecorder) async throws
    -> DemoParticipants
  {
    try await recorder.step(
      "servers", "The health authority starts its two servers.",
      on: [.verificationServer, .keyServer]
    ) { facts in
      let participants = try await DemoParticipants(world: world, folder: folder)
      facts.append("Verification server: \(await participants.authority.verificationURL)")
      facts.append("Key server: \(await participants.authority.keyServerURL)")
      return participants
    }
  }

  private func performSteps(_ steps: DemoSteps) async {
    do {
      try await steps.onboardPhones()
      try await steps.firstChecks()
      try await steps.meeting()
      try await steps.midnight()
      let code = try await steps.issueCode()
      try await steps.upload(code)
      try await steps.codeIsUsedUp(code)
      try await steps.embargo()
      let file = try await steps.export()
      try await steps.backgroundChecks()
      try await steps.notices()
      try await steps.cleanedUp(after: file)
      let keys = try await steps.checkEncryption(code: code)
      try await steps.knowledge(code: code, keys: keys)
      await steps.recordPhoneResults()
    } catch {
      // The failed step is recorded; later steps are skipped.
      await steps.recordPhoneResults()
    }
  }
}

/// The steps of `DemoRun` up to the positive test.
struct DemoSteps {
  let world: SimulatedWorld
  let participants: DemoParticipants
  let recorder: DemoRecorder

  private var allPhones: Set<DemoLane> { [.near, .far, .diagnosed] }

  func onboardPhones() async throws {
    try await recorder.step(
      "onboarding", "Three users allow exposure notifications on their phones.", on: allPhones
    ) { facts in
      for phone in participants.phones {
        let outcome = try await phone.enable()
        try DemoFailure.unless(outcome == .enabled, "\(phone.name): enabling ended \(outcome)")
        try DemoFailure.unless(
          phone.user.requests == [.enableExposureNotification], "\(phone.name) was not asked once")
      }
      facts.append("Each user was asked once, and every phone sends and receives beacons.")
    }
  }

  func firstChecks() async throws {
    await run(until: DemoClock.day(1, 8))
    try await recorder.step(
      "first-check", "All three phones check for the first time. No keys are published yet.",
      on: allPhones, messages: allPhones.sorted().map { (from: .keyServer, to: $0) }
    ) { facts in
      for phone in participants.phones {
        let outcome = try await check(phone)
        try DemoFailure.unless(
          outcome == .checked(.none), "\(phone.name): the check ended \(outcome)")
      }
      facts.append("Risk: none, none, none. Each app has scheduled its next check.")
    }
  }

  func meeting() async throws {
    let start = DemoClock.day(1, 17)
    let end = DemoClock.day(1, 17, 30)
    await run(until: start)
    let before = participants.near.radio.receivingScanCount
    world.air.place("near", "diagnosed", metres: 1)
    world.air.place("far", "diagnosed", metres: 150)
    world.air.place("far", "near", metres: 150)
    try await recorder.step(
      "meeting", "Near and diagnosed are one metre apart for half an hour. Far is 150 m away.",
      on: [.near, .diagnosed]
    ) { facts in
      await run(until: end)
      world.air.separate("near", "diagnosed")
      let received = participants.near.radio.receivingScanCount - before
      try DemoFailure.unless(received >= 5, "near received diagnosed only \(received) times")
      try DemoFailure.unless(
        participants.far.radio.receivingScanCount == 0, "far received a beacon")
      facts.append("Near received diagnosed in \(received) scans; far received nothing.")
    }
    recorder.recordMeeting(.near ... .diagnosed, label: "30 min, 1 m")
  }

  func midnight() async throws {
    let before = try await sharedKeys(of: participants.phones)
    await run(until: DemoClock.day(2, 0, 15))
    try await recorder.step(
      "midnight", "Midnight (UTC): every phone starts a new key.", on: allPhones
    ) { facts in
      let after = try await sharedKeys(of: participants.phones)
      try DemoFailure.unless(
        before.isEmpty && after.count == 3,
        "\(before.count) keys could be shared before midnight, \(after.count) after it")
      facts.append("The keys of day 1 are finished; from now on they can be shared.")
      let identifiers = world.air.identifiersSent.count
      try DemoFailure.unless(identifiers > 100, "the phones sent only \(identifiers) identifiers")
      facts.append("The three phones have sent \(identifiers) different identifiers so far.")
    }
  }

  /// The keys that the users of `phones` can share now.
  func sharedKeys(of phones: [SimulatedPhone]) async throws -> [[UInt8]] {
    try await keys(of: phones) { try await $0.diagnosisKeys() }
  }

  /// All keys of the users of `phones`. Ends today's keys early, so it is only for the end of the demo.
  func allKeys(of phones: [SimulatedPhone]) async throws -> [[UInt8]] {
    try await keys(of: phones) { try await $0.testDiagnosisKeys() }
  }

  private func keys(
    of phones: [SimulatedPhone],
    _ request: (ENManager) async throws -> [ENTemporaryExposureKey]
  ) async throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    for phone in phones {
      let manager = ENManager(device: phone.device)
      manager.dispatchQueue = .global()
      defer { manager.invalidate() }
      try await manager.activate()
      keys += try await request(manager).map { Array($0.keyData) }
    }
    return keys
  }

  func run(until date: Date) async {
    await world.run(until: date, phones: participants.phones)
  }

  /// Runs one background check if the app has scheduled one.
  func check(_ phone: SimulatedPhone) async throws -> CheckOutcome {
    try DemoFailure.unless(
      phone.scheduler.takeRequest() != nil, "\(phone.name) has not scheduled a check")
    let run = SimulatedRun()
    let outcome = await phone.app.backgroundCheck(run)
    try DemoFailure.unless(
      run.success == outcome.isSuccess, "\(phone.name) reported a different outcome")
    try DemoFailure.unless(
      phone.scheduler.hasRequest, "\(phone.name) has not scheduled the next check")
    return outcome
  }

  /// Records the risk level and the notices of every phone.
  func recordPhoneResults() async {
    var results: [DemoResult.Phone] = []
    for phone in participants.phones {
      results.append(
        DemoResult.Phone(
          name: phone.name, riskLevel: await phone.app.riskLevel.rawValue,
          notices: phone.notices.exposureNotices.count))
    }
    recorder.phones = results
  }
}

/// The reason why a step failed.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Throws unless `condition` is true.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    guard condition else { throw DemoFailure(description()) }
  }
}
