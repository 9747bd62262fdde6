// SPDX-License-Identifier: Apache-2.0
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

  @Test("The demo counts the identifiers of others that each party has")
  func knowledge() async throws {
    let folder = try TemporaryFolder()
    let result = await DemoRun(
      seed: 3, folder: folder.url,
      logger: Logger(label: "story") { _ in SwiftLogNoOpLogHandler() }
    ) { _ in }.run()
    func found(_ party: String, _ kind: String) -> Int? {
      result.knowledge.first { $0.party == party }?.counts.first { $0.kind == kind }?.found
    }
    #expect(result.knowledge.count == 5)
    let near = try #require(found("Near\u{2019}s phone", "beacons of Diagnosed"))
    #expect((1...4).contains(near))
    #expect(found("Near\u{2019}s phone", "beacons of Far") == 0)
    #expect(found("Near\u{2019}s phone", "beacons of Near") == nil)
    #expect(found("Far\u{2019}s phone", "beacons of Diagnosed") == 0)
    #expect(found("Far\u{2019}s phone", "published key") == 1)
    #expect(found("Verification server", "PIN") == 1)
    #expect(found("Verification server", "published key") == 0)
    #expect(found("Key server", "published key") == 1)
    #expect(found("Key server", "PIN") == 0)
  }

  @Test("A party with an identifier that it must not have fails the demo")
  func tooMuchKnowledge() throws {
    let kinds = [
      IdentifierKind(name: "PIN", owner: nil, values: [Array("ABC123".utf8)]),
      IdentifierKind(name: "published key", owner: .diagnosed, values: [[UInt8](1...16)]),
    ]
    func server(_ content: Data...) -> IdentifierCounts {
      PartyData(lane: .keyServer, name: "Key server", content: content).knowledge(of: kinds)
    }
    let key = Data([UInt8](1...16))
    try IdentifierCountCheck([server(key)]).run()
    #expect(throws: DemoFailure.self) {
      try IdentifierCountCheck([server(key, Data("code=ABC123".utf8))]).run()
    }
    #expect(throws: DemoFailure.self) { try IdentifierCountCheck([server(Data())]).run() }
  }
}

@Suite("Report of the demo") struct ReportTests {
  private func html(_ timeline: Timeline, knowledge: [IdentifierCounts] = []) -> String {
    let step = DemoStep(
      name: "meeting", time: DemoClock.day(2, 9, 15), sentence: "Near & far <met>.",
      facts: ["one"], ok: true, milliseconds: 12)
    return ReportPage(
      DemoResult(
        steps: [step], phones: [.init(name: "near", riskLevel: 3, notices: 1)],
        knowledge: knowledge, timeline: timeline)
    ).html
  }

  @Test("The report contains every step, every phone and the picture")
  func report() {
    let html = html(Timeline())
    #expect(html.contains("Near &amp; far &lt;met&gt;."))
    #expect(html.contains("Day 2 09:15"))
    #expect(html.contains("<svg"))
    #expect(html.contains("risk: <strong>high</strong>"))
    #expect(html.contains("<p>1 notice.</p>"))
    #expect(html.contains("Not measured"))
  }

  @Test("The report contains the counts of the run and the remaining risk")
  func knowledge() {
    let party = IdentifierCounts(
      party: "Key server", bytes: 4_096,
      counts: [.init(kind: "PIN", found: 0, total: 1), .init(kind: "keys", found: 2, total: 3)])
    let html = html(Timeline(), knowledge: [party])
    #expect(html.contains("<dt>has</dt><dd>2 of 3 keys</dd>"))
    #expect(html.contains("<dd>0 of 1 PIN</dd>"))
    #expect(html.contains("can guess who was diagnosed"))
    #expect(!html.contains("Not measured"))
  }

  @Test("Three downloads at one time are three arrows at different places")
  func arrows() throws {
    let row = Timeline.Row(
      number: 1, time: DemoClock.day(2, 8), ok: true, lanes: [.far, .near, .diagnosed],
      messages: [DemoLane.far, .near, .diagnosed].map { (from: .keyServer, to: $0) })
    let svg = TimelinePicture(timeline: Timeline(rows: [row])).svg
    let heights = svg.matches(of: /class=\"arrow"[^>]* d="M [0-9.]+ ([0-9.]+) H/).map(\.1)
    #expect(Set(heights).count == 3)
  }

  @Test("Every step is in the row of its own time, also if others follow within minutes")
  func times() throws {
    let times = [(0, 15), (0, 30), (0, 30), (0, 45)]
    let rows = times.enumerated().map { index, time in
      Timeline.Row(
        number: index + 1, time: DemoClock.day(2, time.0, time.1), ok: true, lanes: [.diagnosed],
        messages: [])
    }
    let svg = TimelinePicture(timeline: Timeline(rows: rows)).svg
    let clocks = svg.matches(of: /class="clock" x="0" y="([0-9.]+)">([0-9:]+)</).map {
      ($0.1, $0.2)
    }
    let badges = svg.matches(of: /<\/g>|<text x="[0-9.]+" y="([0-9.]+)">([0-9]+)<\/text>/)
      .compactMap(\.1)
    #expect(clocks.map(\.1) == ["00:15", "00:30", "00:45"])
    #expect(clocks.map(\.0) == [badges[0], badges[1], badges[3]])
    #expect(Set(badges).count == 4)
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

  /// Near and diagnosed have been together, and diagnosed's key is published.
  private func published() async throws -> DemoParticipants {
    let participants = try await DemoParticipants(world: world, folder: folder.url)
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

  /// Expires `run` when its detection reads the contacts of `phone`; nothing else in a check reads them.
  ///
  /// A named pipe replaces the oldest contacts. The detection gets their content after the run has expired, so it
  /// cannot end before.
  private func expire(
    _ run: ExpiringRun, whenDetectionReadsContactsOf phone: SimulatedPhone
  ) throws {
    let contacts = phone.folder.appendingPathComponent("framework/contacts")
    let days = try FileManager.default.contentsOfDirectory(atPath: contacts.path)
      .filter { $0.hasSuffix(".sealed") }
    let oldest = contacts.appendingPathComponent(try #require(days.min()))
    let content = try Data(contentsOf: oldest)
    let (path, aside) = (oldest.path, folder.path("contacts aside").path)
    try #require(rename(path, aside) == 0)
    try #require(mkfifo(path, 0o600) == 0)
    Thread.detachNewThread {
      // Returns when the detection opens the pipe.
      let pipe = open(path, O_WRONLY | O_CLOEXEC)
      run.expire()
      // Later detections read the file again.
      rename(aside, path)
      try? FileHandle(fileDescriptor: pipe, closeOnDealloc: true).write(contentsOf: content)
    }
  }

  @Test("A check that expires during detection changes nothing, and the next check notifies near")
  func expiryMidway() async throws {
    let participants = try await published()
    let near = participants.near
    let cursor = await near.app.cursor

    let run = ExpiringRun()
    try expire(run, whenDetectionReadsContactsOf: near)
    let outcome = await near.app.backgroundCheck(run)

    #expect(outcome == .failed(.timeIsUp))
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

/// A background run that the test expires.
private final class ExpiringRun: BackgroundRun {
  private let handler = Mutex<(@Sendable () -> Void)?>(nil)
  private let result = Mutex<Bool?>(nil)

  var success: Bool? { result.withLock { $0 } }

  func setExpirationHandler(_ handler: @escaping @Sendable () -> Void) {
    self.handler.withLock { $0 = handler }
  }

  func complete(success: Bool) { result.withLock { $0 = $0 ?? success } }

  func expire() { handler.withLock { $0 }?() }
}
