// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import ExposureApp
import Foundation
import Logging
import Simulation
import Terminal
import World

/// `firebreak-benchmarks town`: measures many phones in one process.
struct TownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "town",
    abstract: "Measure the memory and the time of many phones in one process.",
    discussion: """
      Each phone has the real framework, app and storage; they share a simulated clock, a simulated radio, and real \
      servers on loopback. People change places each hour, in which their phones receive each other. The first \
      simulated day is not measured, because apps are set up in it. The files of the phones are in memory: on a disk, \
      400 phones would measure how fast it confirms small writes.
      """)

  /// Phones in one process: a large class.
  private static let phoneCounts = 1...400
  private static let dayCounts = 1...14

  @Option(help: "The number of phones.")
  var phones = 400

  @Option(help: "The measured simulated days.")
  var days = 1

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(phones, Self.phoneCounts, "--phones")
    try BenchLimit.check(days, Self.dayCounts, "--days")
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let folder = try BenchFolder(keep: nil, isInMemory: true)
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    let report = try await TownBench(phones: phones, days: days, folder: folder.url).run()
    try output.write(report)
  }
}

/// One measurement of many phones.
struct TownBench {
  let phones: Int
  let days: Int
  let folder: URL

  private static let seed: UInt64 = 1
  private static let start = Date(unixSecond: 1_772_409_600)
  private static let day: TimeInterval = 86_400

  func run() async throws -> TownReport {
    let logger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }
    let world = SimulatedWorld(
      start: Self.start, seed: Self.seed, recordsBeacons: false, logger: logger)
    let authority = try SimulatedHealthAuthority(
      folder: folder.appendingPathComponent("health-authority"), clock: world.clock,
      randomness: world.randomness, deviceCheck: nil, logger: logger)
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    return try await withThrowingTaskGroup(of: Void.self) { servers in
      servers.addTask { try await authority.run() }
      _ = await authority.keyServerURL
      let gauge = MemoryGauge()
      var crowd = await Crowd(
        world: world, folder: folder, authority: authority, network: network)
      for number in 1...phones { try await crowd.add("person-\(number)") }
      let report = await measure(crowd, gauge)
      servers.cancelAll()
      await network.shutdown()
      return report
    }
  }

  private func measure(_ crowd: Crowd, _ gauge: MemoryGauge) async -> TownReport {
    let bar = ProgressLine("simulated hours")
    defer { bar.clear() }
    let hours = (days + 1) * 24
    func run(untilDay day: Int) async {
      let end = Self.start + Double(day) * Self.day
      while crowd.world.clock.now < end {
        // People change places each hour.
        let hour = (crowd.world.clock.now.timeIntervalSince1970 / 3_600).rounded(.down) + 1
        await crowd.meet(until: min(end, Date(timeIntervalSince1970: hour * 3_600)))
        await crowd.checkForKeys()
        bar.show(Int(crowd.world.clock.now.timeIntervalSince(Self.start) / 3_600), of: hours)
      }
    }
    await run(untilDay: 1)
    let scans = crowd.phones.map(\.radio.receivingScanCount).reduce(0, +)
    let (start, cpu) = (ContinuousClock.now, CPUClock.currentProcess.now ?? .zero)
    await run(untilDay: days + 1)
    let (wall, used) = (ContinuousClock.now - start, (CPUClock.currentProcess.now ?? .zero) - cpu)
    let received = crowd.phones.map(\.radio.receivingScanCount).reduce(0, +) - scans
    return TownReport(
      phones: phones, days: days,
      memoryPerPhoneKiB: (Double(gauge.peak - gauge.baseline) / 1_024 / Double(phones)).rounded(
        to: 1),
      secondsPerDay: (wall / .seconds(days)).rounded(to: 2),
      processorSecondsPerDay: (used / .seconds(days)).rounded(to: 2),
      receivingScansPerPhoneAndDay: received / phones / days)
  }
}

/// The result of `town`, as `--json` prints it.
struct TownReport: MeasurementReport {
  let build = BuildKind.current
  let phones: Int
  let days: Int
  /// The peak of the resident memory above that before the phones, by phone.
  let memoryPerPhoneKiB: Double
  /// Elapsed time of one simulated day of all phones.
  let secondsPerDay: Double
  /// Processor time of it, with that of the servers.
  let processorSecondsPerDay: Double
  /// Scans in which a phone received at least one other.
  let receivingScansPerPhoneAndDay: Int

  var text: String {
    """
    phones      \(phones) in one process
    memory      \(memoryPerPhoneKiB) KiB per phone
    time        \(secondsPerDay) s per simulated day (\(processorSecondsPerDay) s of processor time)
    contacts    \(receivingScansPerPhoneAndDay) scans per phone and day received others
    """
  }

  private enum CodingKeys: CodingKey {
    case build, phones, days, memoryPerPhoneKiB, secondsPerDay, processorSecondsPerDay
    case receivingScansPerPhoneAndDay
  }
}
