// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Checks with a bad index, a busy server or a bad key file") struct BadServerTests {
  private static let signInPage = "<html><body>Sign in to use this network</body></html>"

  @Test("A sign-in page in place of the index fails the first check and does not set the cursor")
  func signInPage() async throws {
    let phone = try TestApp()
    phone.network.script("/index.txt", .text(Self.signInPage))
    let app = try phone.launch()
    #expect(await app.check() == .failed(.portal))
    #expect(await app.cursor == nil)
    #expect(await app.lastFailure == .portal)
    #expect(await app.checkTotals.lastCheck == nil)
  }

  @Test(
    "An index that omits a file that was not analysed does not pass over it",
    arguments: ["", TestApp.name(0), TestApp.name(2)])
  func omittedFile(index: String) async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let first = await app.checkTotals.lastCheck
    phone.publish(0..<3, except: [1: .response(404)])
    phone.clock.advance(by: 60)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.checkTotals.lastCheck == first)
    phone.network.script("/index.txt", .text(index))
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.cursor == TestApp.end(0))
    phone.network.script("/" + TestApp.name(1), .text("0123456789"))
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
  }

  @Test("Twenty files answered by 503 cause few requests, and Retry-After applies after a restart")
  func busy() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let busy = ScriptedNetwork.Reply.response(503, retryAfter: 600)
    phone.publish(0..<20, except: Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, busy) }))
    let before = phone.network.requests.count
    #expect(await app.check() == .failed(.serverBusy))
    #expect(phone.network.requests.count - before <= 3 + DownloadLimit.filesAtOnce)
    phone.publish(0..<20)
    let restarted = try phone.launch()
    let after = phone.network.requests.count
    phone.clock.advance(by: 599)
    #expect(await restarted.check() == .failed(.serverBusy))
    #expect(phone.network.requests.count == after)
    phone.clock.advance(by: 1)
    #expect(await restarted.check() == .checked(.none))
    // The pause of a clock that was set back does not last.
    phone.network.script("/index.txt", .response(503, retryAfter: 600))
    #expect(await restarted.check() == .failed(.serverBusy))
    phone.publish(0..<20)
    phone.clock.advance(by: -TestApp.day)
    #expect(await restarted.check() == .checked(.none))
  }

  @Test("Without Retry-After the pause doubles with each refusal and has a limit")
  func growingPause() {
    var pause = ServerPause()
    let now = TestApp.noon
    let randomness = TestRandomness()
    var longest = NetworkLimit.pauseSecondsMin
    for _ in 0..<20 {
      pause.begin(at: now, retryAfterSeconds: nil, randomness: randomness)
      let seconds = pause.end?.timeIntervalSince(now) ?? 0
      #expect((longest / 2...longest).contains(seconds))
      longest = min(longest * 2, NetworkLimit.pauseSecondsMax)
    }
    pause.begin(at: now, retryAfterSeconds: .max, randomness: randomness)
    #expect(
      pause.end?.timeIntervalSince(now) == Double(NetworkLimit.retryAfterSecondsMax))
    pause.finish()
    #expect(pause == ServerPause())
  }

  @Test(
    "Failed downloads are repeated after growing pauses, and end after several failures in a row")
  func pauses() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(
      0..<20,
      except: Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, .fails(.unreachable)) }))
    let before = phone.network.requests.count
    let start = phone.clock.now
    #expect(await phone.checkWhileTimePasses(app) == .failed(.noConnection))
    let most = 3 + NetworkLimit.failuresInARowMax + DownloadLimit.filesAtOnce
    #expect(phone.network.requests.count - before <= most)
    #expect(phone.clock.now.timeIntervalSince(start) >= NetworkLimit.retrySeconds / 2)
  }

  @Test("The index and the configurations are requested with the version of the last response")
  func conditional() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    let names = Data(TestApp.name(0).utf8)
    phone.network.script("/index.txt", .response(200, names, tag: #""one""#), .response(304))
    #expect(await app.check() == .checked(.none))
    #expect(await app.check() == .checked(.none))
    #expect(
      phone.network.requests(for: "/index.txt").map { $0.headers["If-None-Match"] }
        == [nil, nil, #""one""#])
    #expect(await app.cursor == TestApp.end(0))
    let date = "Thu, 15 Oct 2020 12:00:00 GMT"
    #expect(
      ResponseVersion(entityTag: nil, lastModified: date)?.headers == ["If-Modified-Since": date])
    #expect(ResponseVersion(entityTag: "a\r\nb", lastModified: nil) == nil)
    #expect(ResponseVersion(entityTag: "", lastModified: nil) == nil)
  }

  @Test("A bad file costs few calls, and new files are analysed in every check of the day")
  func badFile() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = [TestApp.name(1)] }
    for count in 3...8 {
      phone.publish(0..<count)
      #expect(await app.check() == .failed(.filesMissing))
      phone.clock.advance(by: 4 * 3_600)
    }
    let calls = phone.script.state.detections
    #expect(calls.count <= 6 + DetectionLimit.searchCallsPerDayVersion2)
    // The files of the accepted calls.
    let analysed = calls.filter { !$0.contains(TestApp.name(1)) }.flatMap { $0 }
    #expect(analysed.sorted() == ([0] + (2..<8)).map(TestApp.name).sorted())
    #expect(await app.cursor == TestApp.end(0))
    phone.script.update { $0.refusedFiles = [] }
    phone.clock.advance(by: TestApp.day)
    try phone.serve(try phone.document(version: 2))
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(7))
  }

  @Test("A file that is no key file is refused without a call of the framework")
  func unreadable() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3, except: [1: .text("<html>")])
    phone.countsOnlyFiles(of: 10)
    let strict = try phone.launch()
    #expect(await strict.check() == .failed(.filesMissing))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(2)]])
    _ = app
  }
}

@Suite("Silent framework") struct SilentFrameworkTests {
  @Test("Without a match the framework is not asked for exposures, so the system shows no question")
  func noMatch() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.infoRequestCount == 0)
    phone.script.update { $0.matchedKeyCount = 1 }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.infoRequestCount == 1)
  }

  @Test("A framework that never responds ends the check at the deadline; the next one continues")
  func deadline() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.script.update { $0.isSilent = true }
    async let outcome = app.check()
    while phone.script.state.detections.isEmpty || phone.clock.sleeperCount == 0 {
      await Task.yield()
    }
    phone.clock.advance(by: FrameworkLimit.callSeconds)
    #expect(await outcome == .failed(.systemSilent))
    phone.script.update { $0.isSilent = false }
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(0))
  }
}
