import ExposureApp
import ExposureNotification
import Foundation
import Simulation

/// The scenes of `BeaconToNotice`, in the order they are played. Those of the second walk stand in
/// `StoryScenes+Publication.swift`, the last ones in `StoryScenes+Ending.swift`.
struct StoryScenes {
  let town: SimulatedTown
  let cast: Cast
  let teller: StoryTeller

  private var allPhones: Set<StoryLane> { [.near, .far, .diagnosed] }

  func phonesComeToLife() async throws {
    try await teller.step(
      "onboarding", "Three people allow exposure notifications on their phones.", on: allPhones
    ) { facts in
      for phone in cast.phones {
        await phone.app.start()
        let outcome = await phone.app.enable()
        try StoryFailure.unless(outcome == .enabled, "\(phone.name): enabling ended \(outcome)")
        try await phone.app.finishOnboarding()
        try StoryFailure.unless(
          phone.person.asked == [.enableExposureNotification], "\(phone.name) was not asked once")
      }
      facts.append("Each was asked once, and every phone sends and hears beacons.")
    }
  }

  func firstChecks() async throws {
    await pass(until: StoryClock.day(1, 8))
    try await teller.step(
      "first-check", "All three check for the first time. Nobody has published anything.",
      on: allPhones, passages: allPhones.sorted().map { (.keyServer, $0) }
    ) { facts in
      for phone in cast.phones {
        let outcome = try await check(phone)
        try StoryFailure.unless(
          outcome == .checked(.none), "\(phone.name): the check ended \(outcome)")
      }
      facts.append("Risk: none, none, none. Each app has asked to be woken again.")
    }
  }

  func meeting() async throws {
    let start = StoryClock.day(1, 17)
    let end = StoryClock.day(1, 17, 30)
    await pass(until: start)
    let before = cast.near.radio.heardCount
    town.air.place("near", "diagnosed", metres: 1)
    town.air.place("far", "diagnosed", metres: 150)
    town.air.place("far", "near", metres: 150)
    try await teller.step(
      "meeting", "Near and diagnosed sit a metre apart for half an hour. Far is 150 m away.",
      on: [.near, .diagnosed]
    ) { facts in
      await pass(until: end)
      town.air.part("near", "diagnosed")
      let heard = cast.near.radio.heardCount - before
      try StoryFailure.unless(heard >= 5, "near heard only \(heard) beacons of diagnosed")
      try StoryFailure.unless(cast.far.radio.heardCount == 0, "far heard a beacon")
      facts.append("Near heard diagnosed in \(heard) scans; far heard nobody.")
    }
    teller.drawMeeting(.near ... .diagnosed, from: start, to: end, label: "30 min, 1 m")
  }

  func midnight() async throws {
    let before = try await sharedKeys(of: cast.phones)
    await pass(until: StoryClock.day(2, 0, 15))
    try await teller.step(
      "midnight", "Midnight (UTC): every phone begins a new key.", on: allPhones
    ) { facts in
      let after = try await sharedKeys(of: cast.phones)
      try StoryFailure.unless(
        before.isEmpty && after.count == 3,
        "\(before.count) keys could be shared before midnight, \(after.count) after it")
      facts.append("The keys of day 1 are finished: from now on their owners could share them.")
      let identifiers = town.air.identifiersSent.count
      try StoryFailure.unless(identifiers > 100, "the phones hardly changed their names")
      facts.append("The three phones have sent \(identifiers) different identifiers so far.")
    }
  }

  /// The keys that the owners of `phones` could share now: they are asked, and agree.
  func sharedKeys(of phones: [SimulatedPhone]) async throws -> [[UInt8]] {
    try await keys(of: phones) { try await $0.diagnosisKeys() }
  }

  /// The same and today's key, which the phone cuts short for it: only for the end of a story.
  func allKeys(of phones: [SimulatedPhone]) async throws -> [[UInt8]] {
    try await keys(of: phones) { try await $0.testDiagnosisKeys() }
  }

  private func keys(
    of phones: [SimulatedPhone],
    _ asked: (ENManager) async throws -> [ENTemporaryExposureKey]
  ) async throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    for phone in phones {
      let manager = ENManager(device: phone.device)
      manager.dispatchQueue = .global()
      defer { manager.invalidate() }
      try await manager.activate()
      keys += try await asked(manager).map { Array($0.keyData) }
    }
    return keys
  }

  /// Lets all phones live until `date`.
  func pass(until date: Date) async {
    await town.pass(until: date, phones: cast.phones)
  }

  /// Wakes `phone` as its app has asked, for one background check.
  func check(_ phone: SimulatedPhone) async throws -> CheckOutcome {
    try StoryFailure.unless(
      phone.alarm.takeRequest() != nil, "\(phone.name) has not asked to be woken")
    let run = SimulatedRun()
    let outcome = await phone.app.backgroundCheck(run)
    try StoryFailure.unless(
      run.success == outcome.isSuccess, "\(phone.name) reported another outcome than it had")
    try StoryFailure.unless(phone.alarm.hasRequest, "\(phone.name) does not ask to be woken again")
    return outcome
  }

  /// Asks every phone what it tells its owner.
  func askPhones() async {
    var answers: [StoryResult.Phone] = []
    for phone in cast.phones {
      answers.append(
        StoryResult.Phone(
          name: phone.name, riskLevel: await phone.app.riskLevel.rawValue,
          notices: phone.notices.exposureNotices.count))
    }
    teller.phones = answers
  }
}
