import ExposureApp
import Foundation
import KeyServer
import Logging
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import Town

@Suite("Demo") struct DemoRunTests {
  @Test(
    "Every step succeeds, near shows one notice and far none", arguments: [1, 42] as [UInt64])
  func wholeStory(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    let names = Mutex<[String]>([])
    let demo = DemoRun(
      seed: seed, folder: folder.url,
      logger: Logger(label: "story") { _ in SwiftLogNoOpLogHandler() }
    ) { step in names.withLock { $0.append(step.name) } }
    let result = await demo.run()
    #expect(result.ok, "seed \(seed): \(result.steps.last?.facts ?? [])")
    #expect(result.steps.count >= 8)
    #expect(names.withLock { $0 } == result.steps.map(\.name))
    #expect(result.phones.map(\.name) == ["near", "far", "diagnosed"])
    #expect(result.phones.map(\.riskLevel) == [3, 0, 0])
    #expect(result.phones.map(\.notices) == [1, 0, 0])
  }

  @Test("A demo without a usable folder fails at its first step")
  func noFolder() async {
    let demo = DemoRun(
      seed: 1, folder: URL(fileURLWithPath: "/dev/null/no-folder"),
      logger: Logger(label: "story") { _ in SwiftLogNoOpLogHandler() }
    ) { _ in }
    let result = await demo.run()
    #expect(!result.ok)
    #expect(result.steps.map(\.ok) == [false])
  }

  @Test("The report contains every step and the picture, and no template marker")
  func report() throws {
    let step = DemoStep(
      name: "meeting", time: DemoClock.day(2, 9, 15), sentence: "Near & far <met>.",
      facts: ["one"], ok: true, milliseconds: 12)
    let timeline = Timeline(
      start: DemoClock.day(1, 6), end: DemoClock.day(2, 15),
      lanes: DemoLane.allCases.map(\.lane))
    let html = try ReportPage(
      DemoResult(
        steps: [step], phones: [.init(name: "near", riskLevel: 3, notices: 1)], timeline: timeline)
    ).html()
    #expect(html.contains("Near &amp; far &lt;met&gt;."))
    #expect(html.contains("Day 2 09:15"))
    #expect(html.contains("<svg"))
    #expect(!html.contains("{{"))
  }
}

@Suite("Expired background run") struct ExpirationTests {
  private let folder: TemporaryFolder
  private let world = SimulatedWorld(
    start: DemoClock.day(1, 7), seed: 7,
    logger: Logger(label: "expiry") { _ in SwiftLogNoOpLogHandler() })

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Enough keys that matching takes much longer than the test needs to notice its start.
  private static let manyKeys = 6_000

  /// Near and diagnosed have been together, and diagnosed's key is published.
  private func published() async throws -> DemoParticipants {
    let participants = try await DemoParticipants(
      world: world, folder: folder.url, minimumKeys: Self.manyKeys)
    for phone in participants.phones {
      await phone.app.start()
      #expect(await phone.app.enable() == .enabled)
      #expect(await phone.app.backgroundCheck(SimulatedRun()) == .checked(.none))
    }
    await world.run(until: DemoClock.day(1, 17), phones: participants.phones)
    world.air.place("near", "diagnosed", metres: 1)
    await world.run(until: DemoClock.day(1, 17, 30), phones: participants.phones)
    world.air.separate("near", "diagnosed")
    await world.run(until: DemoClock.day(2, 9), phones: participants.phones)
    let code = try await participants.authority.official(network: participants.network).issueCode()
    let upload = await participants.diagnosed.app.upload(
      pin: code, isInteroperabilityEnabled: false)
    #expect(upload.result == .success)
    await world.run(until: DemoClock.day(2, 12), phones: participants.phones)
    try await participants.authority.keyServer.exportDue()
    return participants
  }

  /// The names and sizes of the key files on a phone.
  private func keyFiles(on phone: SimulatedPhone) throws -> [String: Int] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)
    return try Dictionary(
      uniqueKeysWithValues: all.filter { $0.hasSuffix(".zip") }.map { name in
        let path = phone.folder.appendingPathComponent(name).path
        return (name, try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
      })
  }

  @Test("A check that expires during matching changes nothing, and the next check notifies near")
  func expiryMidway() async throws {
    let participants = try await published()
    let near = participants.near
    let cursor = await near.app.cursor
    let counted = near.folder.appendingPathComponent("framework/detections")
    try? FileManager.default.removeItem(at: counted)

    let run = SimulatedRun()
    async let outcome = near.app.backgroundCheck(run)
    // The framework writes this file when a detection begins.
    while !FileManager.default.fileExists(atPath: counted.path) {
      try await Task.sleep(for: .milliseconds(1))
    }
    run.expire()

    #expect(await outcome == .failed(.timeIsUp))
    #expect(run.success == false)
    #expect(await near.app.cursor == cursor)
    #expect(await near.app.riskLevel == .none)
    #expect(near.notices.exposureNotices.isEmpty)
    let kept = try keyFiles(on: near)
    #expect(kept.count == 1)
    #expect(near.scheduler.hasRequest)

    #expect(await near.app.backgroundCheck(SimulatedRun()) == .checked(.high))
    #expect(near.notices.exposureNotices.count == 1)
    #expect(try keyFiles(on: near).isEmpty)
    #expect(await near.app.cursor != cursor)
    await participants.stop()
  }
}
