// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import Populations
import RiskRules
import Synchronization
import World

/// The phones of the people with the app, and the servers of their health authority, in one process.
final class PhoneFleet: Sendable {
  /// The people with a phone, in the order of the phones.
  let owners: [Int]
  private let scenario: Scenario
  private let world: SimulatedWorld
  private let authority: SimulatedHealthAuthority
  private let origin: HTTPNetwork
  private let cache: CachingNetwork
  private let folder: URL
  private let seed: UInt64
  private let numbers: [Int: Int]
  private let state = Mutex(State())

  private struct State {
    var phones: [SimulatedPhone] = []
    var official: HealthOfficial?
    var noticeCounts: [Int] = []
    var counts = CheckCounts()
  }

  /// The numbers of checks.
  struct CheckCounts {
    var checks = 0
    var failed = 0
    /// They found all that there is: the server has published no key file of the last two weeks.
    var withoutKeyFiles = 0

    mutating func note(_ outcome: CheckOutcome) {
      checks += 1
      switch outcome {
      case .failed(.noKeyFiles): withoutKeyFiles += 1
      case .failed: failed += 1
      case .checked, .paused: break
      }
    }
  }

  init(
    _ scenario: Scenario, owners: [Int], seed: UInt64, threads: Int, folder: URL, logger: Logger
  ) throws {
    self.scenario = scenario
    self.owners = owners
    self.folder = folder
    self.seed = seed
    numbers = Dictionary(uniqueKeysWithValues: zip(owners, owners.indices))
    var model = AirModel()
    model.loss = scenario.radio
    model.receptionsPerScan = 1...scenario.app.receptionsPerScan
    world = SimulatedWorld(
      start: Date(unixSecond: scenario.start), seed: seed, recordsBeacons: false, model: model,
      threads: threads, logger: logger)
    authority = try SimulatedHealthAuthority(
      folder: folder.appendingPathComponent("health-authority"), clock: world.clock,
      randomness: world.randomness, deviceCheck: nil, minimumKeys: scenario.app.minimumKeys,
      exportPeriodSeconds: scenario.app.exportHours * 3_600, logger: logger)
    origin = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    cache = CachingNetwork(origin, clock: world.clock)
  }

  /// Runs the servers during `work`.
  func withServers<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
    try await authority.serve(over: origin, during: work)
  }

  /// Creates all phones and switches exposure notifications on.
  func enable() async throws {
    let configuration = await authority.appConfiguration(
      windowRisk: try WindowRiskAssessment(.standard))
    let official = await authority.official(network: origin)
    let (world, cache, folder) = (world, cache, folder)
    let phones = await owners.concurrentMap(world.threads) {
      _, person -> Result<SimulatedPhone, PhoneNotEnabled> in
      let phone = SimulatedPhone(
        name: "person-\(person)", folder: folder.appendingPathComponent("\(person)"), world: world,
        configuration: configuration, network: cache)
      // A fault of the disk makes it return another outcome or throw; the run ends with the number of the person.
      do {
        let outcome = try await phone.enable()
        guard outcome == .enabled else {
          return .failure(PhoneNotEnabled(name: "person \(person)", outcome: outcome))
        }
        return .success(phone)
      } catch {
        return .failure(PhoneNotEnabled(name: "person \(person)", error: error))
      }
    }
    let enabled = try phones.map { try $0.get() }
    state.withLock { state in
      state.phones = enabled
      state.official = official
      state.noticeCounts = owners.map { _ in 0 }
    }
  }

  private var phones: [SimulatedPhone] { state.withLock { $0.phones } }

  func hasPhone(_ person: Int) -> Bool { numbers[person] != nil }

  /// Lets phones send and scan for some hours.
  func pass(_ encounters: [Encounter], onDay day: Int, until second: Int) async {
    await world.step(
      until: Date(unixSecond: scenario.start + Int64(second)), phones: phones,
      nearby: nearby(encounters, onDay: day))
  }

  private func nearby(_ encounters: [Encounter], onDay day: Int) -> [[NearbyPhone]] {
    var nearby = [[NearbyPhone]](repeating: [], count: owners.count)
    let midnight = Double(scenario.start) + Double(day * Epidemic.daySeconds)
    for encounter in encounters {
      let (first, second) = (Int(encounter.first), Int(encounter.second))
      guard let one = numbers[first], let other = numbers[second] else { continue }
      var generator = StreamGenerator(
        seed: seed, Stream.shift, UInt64(day * 24) + UInt64(encounter.start / 3_600),
        UInt64(first), UInt64(second))
      let shift = scenario.radio.pairDecibels * generator.normal()
      let time = midnight + Double(encounter.start)..<midnight + Double(encounter.end)
      for (listener, sender) in [(one, other), (other, one)] {
        nearby[listener].append(
          NearbyPhone(
            number: sender, metres: Double(encounter.metres), shift: shift, time: time))
      }
    }
    return nearby
  }

  /// The days after which the device configuration is signed again; phones accept it for 90.
  private static let renewalDays = 30

  /// Prepares the servers for a day.
  func beginDay(_ day: Int) throws {
    if day > 0, day % Self.renewalDays == 0 { try authority.signing.publish() }
  }

  /// Publishes the key files that are due.
  func publish() async throws {
    _ = try await authority.keyServer.exportDue()
    cache.expire()
  }

  /// Runs the checks that are due.
  ///
  /// - Returns: The people whose phones have shown a notice, with its level.
  func checkForKeys() async -> [(person: Int, level: RiskLevel)] {
    let outcomes = await world.checkForKeys(phones)
    return state.withLock { state in
      for outcome in outcomes.compactMap(\.self) { state.counts.note(outcome) }
      var found: [(person: Int, level: RiskLevel)] = []
      for (number, phone) in state.phones.enumerated() where outcomes[number] != nil {
        let notices = phone.notices.exposureNotices
        for notice in notices.dropFirst(state.noticeCounts[number]) {
          if case .risk(let level) = notice.cause { found.append((owners[number], level)) }
        }
        state.noticeCounts[number] = notices.count
      }
      return found
    }
  }

  /// Issues a PIN and uploads the keys of a person.
  ///
  /// - Returns: The reason if the upload failed; nil on success.
  func upload(_ person: Int) async -> String? {
    let (phone, official) = state.withLock { state in
      (numbers[person].map { state.phones[$0] }, state.official)
    }
    guard let phone, let official else { return "no phone" }
    do {
      let code = try await official.issueCode()
      let outcome = await phone.app.upload(pin: code, isInteroperabilityEnabled: false)
      return outcome.result == .success ? nil : "\(outcome.reason.map { "\($0)" } ?? "refused")"
    } catch {
      return "no PIN"
    }
  }

  var receivingScanCount: Int { phones.reduce(0) { $0 + $1.radio.receivingScanCount } }
  var counts: CheckCounts { state.withLock { $0.counts } }
  var decoyCount: Int { cache.decoyCount }
}
