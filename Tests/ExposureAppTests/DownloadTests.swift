import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

/// Documentation/App.md 3.
@Suite struct DownloadTests {
  @Test("A first check downloads nothing, moves the cursor to the newest file and is a success")
  func firstCheck() async throws {
    let phone = try TestApp()
    phone.publish(0..<3)
    let app = try phone.launch()
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.script.state.detections.isEmpty)
  }

  @Test("New files are fetched, analysed in one call, and removed; the cursor moves")
  func walk() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [(0..<3).map(TestApp.name)])
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.keyFiles.isEmpty)
  }

  @Test("D18: a file that is there already is not fetched again")
  func present() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionError = .internal }
    #expect(await app.check() == .failed(.detectionFailed))
    #expect(phone.keyFiles == [TestApp.name(0), TestApp.name(1)])
    phone.script.update { $0.detectionError = nil }
    #expect(await app.check() == .checked(.none))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
  }

  @Test("D19: no more than four files are fetched at the same time")
  func bounded() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<9)
    _ = await app.check()
    #expect(phone.network.runningMax == DownloadLimit.filesAtOnce)
  }

  @Test("D20: a dead link fails the run and holds the cursor; the other files are analysed once")
  func deadLink() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3, except: [1: .answer(404)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(2)]])
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
    #expect(await app.cursor == TestApp.end(2))
  }

  @Test("D21: the cursor does not move before the detection has succeeded")
  func cursorAfterDetection() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionError = .rateLimited }
    #expect(await app.check() == .failed(.rateLimited))
    #expect(await app.cursor == 0)
    #expect(phone.keyFiles.count == 2)
  }

  @Test(
    "D22: timeout and retries are those of the remote configuration",
    arguments: [(NetworkConnection.wifi, 11.0), (.mobile, 22.0)])
  func remoteSettings(connection: NetworkConnection, seconds: Double) async throws {
    let phone = try TestApp(connection: connection)
    let app = try await phone.launchedAfterFirstCheck()
    try phone.serve(
      RemoteConfiguration(
        version: 2,
        diagnosisKeyDownloadConfiguration: KeyDownload(
          timeoutMobileSeconds: 22, timeoutWifiSeconds: 11, retryCount: 3)))
    phone.publish(0..<1, except: [0: .fails(.timedOut)])
    #expect(await app.check() == .failed(.filesMissing))
    let requests = phone.network.requests(for: "/" + TestApp.name(0))
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.timeoutSeconds == seconds })
    #expect(requests.allSatisfy { $0.answerBytesMax == DownloadLimit.fileBytesMax })
  }

  @Test("A busy server is asked again, a missing file is not")
  func retries() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [0: .answer(404)])
    phone.network.script("/" + TestApp.name(1), .answer(503), .text("0123"))
    _ = await app.check()
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
    #expect(phone.network.requests(for: "/" + TestApp.name(1)).count == 2)
    #expect(phone.script.state.detections == [[TestApp.name(1)]])
  }

  @Test("A file that is too large is not fetched a second time in the same run")
  func tooLarge() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1, except: [0: .fails(.tooLarge)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
  }

  @Test("D23: malformed lines are skipped and the run finishes")
  func malformed() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.network.index(["../../etc/passwd", "/" + TestApp.name(0), "", "hello", "1-2-3.zip"])
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(0)]])
  }

  @Test("A name from the far future does not blind the phone")
  func farFuture() async throws {
    let phone = try TestApp()
    phone.network.index(["9999990000-9999999999-00001.zip"])
    let app = try phone.launch()
    _ = await app.check()
    #expect(await app.cursor == 0)
    let latest = Int64(phone.clock.now.timeIntervalSince1970 + DownloadLimit.futureSecondsMax)
    let download = await app.keyFileDownload
    for (end, isTaken) in [(latest - 1, true), (latest, true), (latest + 1, false)] {
      phone.network.index(["\(end)-00001.zip"])
      #expect(try await download.index(at: phone.clock.now).isEmpty == !isTaken)
    }
  }

  @Test("One bad file hides no good one: each is tried alone, then the bad one always")
  func badFile() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = [TestApp.name(1)] }
    phone.publish(0..<3)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(phone.script.state.detections.count == 4)
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.keyFiles.isEmpty)
    phone.publish(0..<5)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(
      phone.script.state.detections.suffix(2) == [
        [TestApp.name(3), TestApp.name(4)], [TestApp.name(1)],
      ])
    phone.script.update { $0.refusedFiles = [] }
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(4))
  }

  @Test("However many files were refused, a run spends one call on them and one on the new ones")
  func manyBadFiles() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = Set((0..<6).map(TestApp.name)) }
    phone.publish(0..<6)
    #expect(await app.check() == .failed(.filesMissing))
    let first = phone.script.state.detections.count
    phone.publish(0..<7)
    #expect(await app.check() == .failed(.filesMissing))
    let calls = phone.script.state.detections.dropFirst(first)
    #expect(calls.count == 2 && calls.first == [TestApp.name(6)])
    #expect(await app.checkSums.todayKeysCount == 10)
  }

  @Test("No connection and a busy server are told apart, and nothing moves")
  func unreachable() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.script("/index.txt", .fails(.unreachable))
    #expect(await app.check() == .failed(.noConnection))
    phone.network.script("/index.txt", .answer(503))
    #expect(await app.check() == .failed(.serverBusy))
    #expect(await app.cursor == 0)
    #expect(await app.lastFailure == .serverBusy)
  }

  @Test("What a killed run left half-fetched is thrown away")
  func partial() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let folder = phone.folder.appendingPathComponent("KeyFiles")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("half".utf8).write(to: folder.appendingPathComponent(TestApp.name(0) + ".part"))
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.keyFiles.isEmpty)
  }

  @Test(
    "A full disk fails the run with a clear word; with room the next one goes on",
    .enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let phone = try TestApp(folder: disk.url.appendingPathComponent("app"))
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .answer(200, Data(count: 64 << 10))])
    let ballast = disk.fill()
    #expect(await app.check() == .failed(.diskFull))
    #expect(await app.cursor == 0)
    try FileManager.default.removeItem(at: ballast)
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(1))
  }
}
