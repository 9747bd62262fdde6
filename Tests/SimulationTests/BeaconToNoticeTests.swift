import Foundation
import Logging
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import Town

@Suite struct BeaconToNoticeTests {
  @Test(
    "Near is told, far is not, and every step on the way holds", arguments: [1, 42] as [UInt64])
  func wholeStory(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    let told = Mutex<[String]>([])
    let story = BeaconToNotice(
      seed: seed, folder: folder.url,
      logger: Logger(label: "story") { _ in SwiftLogNoOpLogHandler() }
    ) { step in told.withLock { $0.append(step.name) } }
    let result = await story.tell()
    #expect(result.ok, "seed \(seed): \(result.steps.last?.facts ?? [])")
    #expect(result.steps.count >= 8)
    #expect(told.withLock { $0 } == result.steps.map(\.name))
    #expect(result.phones.map(\.name) == ["near", "far", "diagnosed"])
    #expect(result.phones.map(\.riskLevel) == [3, 0, 0])
    #expect(result.phones.map(\.notices) == [1, 0, 0])
  }

  @Test("A story that cannot begin says so, and is not ok")
  func noFolder() async {
    let story = BeaconToNotice(
      seed: 1, folder: URL(fileURLWithPath: "/dev/null/no-folder"),
      logger: Logger(label: "story") { _ in SwiftLogNoOpLogHandler() }
    ) { _ in }
    let result = await story.tell()
    #expect(!result.ok)
    #expect(result.steps.map(\.ok) == [false])
  }

  @Test("The report shows every step, the picture, and no template mark")
  func report() throws {
    let step = StoryStep(
      name: "meeting", time: StoryClock.day(2, 9, 15), sentence: "Near & far <met>.",
      facts: ["one"], ok: true, milliseconds: 12)
    let timeline = Timeline(
      start: StoryClock.day(1, 6), end: StoryClock.day(2, 15),
      lanes: StoryLane.allCases.map(\.lane))
    let html = try ReportPage(
      StoryResult(
        steps: [step], phones: [.init(name: "near", riskLevel: 3, notices: 1)], timeline: timeline)
    ).html()
    #expect(html.contains("Near &amp; far &lt;met&gt;."))
    #expect(html.contains("Day 2 09:15"))
    #expect(html.contains("<svg"))
    #expect(!html.contains("{{"))
  }
}
