// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Key file downloads") struct DownloadTests {
  @Test("The first check downloads nothing, moves the cursor to the newest file and succeeds")
  func firstCheck() async throws {
    let phone = try TestApp()
    phone.publish(0..<3)
    let app = try phone.launch()
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.script.state.detections.isEmpty)
  }

  @Test("Files published between the start and the first index are analysed")
  func lateFirstIndex() async throws {
    let phone = try TestApp()
    phone.publish(0..<3)
    phone.network.script("/index.txt", .response(503))
    let app = try phone.launch()
    await app.start()
    phone.clock.advance(by: 4 * 3_600)
    #expect(await phone.checkWhileTimePasses(app) == .failed(.serverBusy))
    phone.publish(0..<4)
    phone.clock.advance(by: 4 * 3_600)
    #expect(await phone.checkWhileTimePasses(try phone.launch()) == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(3)]])
  }

  @Test("New files are downloaded, analysed in one call and removed, and the cursor moves")
  func walk() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [(0..<3).map(TestApp.name)])
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.keyFiles.isEmpty)
  }

  @Test("A file in the folder is not downloaded again")
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

  @Test("At most four files are downloaded concurrently")
  func bounded() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<9)
    _ = await app.check()
    #expect(phone.network.runningMax == DownloadLimit.filesAtOnce)
  }

  @Test("A dead link fails the run and stops the cursor; the other files are analysed once")
  func deadLink() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3, except: [1: .response(404)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(2)]])
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
    #expect(await app.cursor == TestApp.end(2))
  }

  @Test("The cursor does not move if the detection fails")
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
    "Timeout and retries follow the remote configuration",
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
    #expect(await phone.checkWhileTimePasses(app) == .failed(.filesMissing))
    let requests = phone.network.requests(for: "/" + TestApp.name(0))
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.timeoutSeconds == seconds })
    #expect(requests.allSatisfy { $0.responseBytesMax == DownloadLimit.fileBytesMax })
  }

  @Test("A 500 response is retried, a 404 response is not")
  func retries() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [0: .response(404)])
    phone.network.script("/" + TestApp.name(1), .response(500), .text("0123"))
    _ = await phone.checkWhileTimePasses(app)
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
    #expect(phone.network.requests(for: "/" + TestApp.name(1)).count == 2)
    #expect(phone.script.state.detections == [[TestApp.name(1)]])
  }

  @Test("A file above the size limit is not downloaded again in the same run")
  func tooLarge() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1, except: [0: .fails(.tooLarge)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
  }

  @Test("Malformed lines of the index are skipped")
  func malformed() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.network.index(["../../etc/passwd", "/" + TestApp.name(0), "", "hello", "1-2-3.zip"])
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(0)]])
  }

  @Test("A file name in the far future does not move the cursor")
  func farFuture() async throws {
    let phone = try TestApp()
    phone.network.index(["9999990000-9999999999-00001.zip"])
    let app = try phone.launch()
    _ = await app.check()
    #expect(await app.cursor == 0)
    let latest = Int64(phone.clock.now.timeIntervalSince1970 + TestApp.day)
    let download = await app.keyFileDownload(from: phone.network)
    for (end, isTaken) in [(latest - 1, true), (latest, true), (latest + 1, false)] {
      phone.network.script("/index.txt", .response(200, Data("\(end)-00001.zip".utf8), tag: "1"))
      let listed = try #require(try await download.index(since: nil, at: phone.clock.now))
      #expect(listed.names.isEmpty == !isTaken)
      // Without a version the same index is read again, when the phone's clock is right.
      #expect((listed.version == nil) == !isTaken)
    }
  }

  @Test("The first index does not set the cursor to a file that ends in the future")
  func nearFuture() async throws {
    let phone = try TestApp()
    let end = Int64(phone.clock.now.timeIntervalSince1970) + 3_600
    phone.network.index([TestApp.name(0), "\(end)-00001.zip"])
    let app = try phone.launch()
    _ = await app.check()
    #expect(await app.cursor == TestApp.end(0))
  }

  @Test("An unreachable server and a 503 response are different failures, and the cursor stays")
  func unreachable() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.script("/index.txt", .fails(.unreachable))
    #expect(await app.check() == .failed(.noConnection))
    phone.network.script("/index.txt", .response(503))
    #expect(await app.check() == .failed(.serverBusy))
    #expect(await app.cursor == 0)
    #expect(await app.lastFailure == .serverBusy)
  }

  @Test("Partial files of a killed run are removed")
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
    "A full disk fails the run with diskFull; the next run continues once there is space",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let phone = try TestApp(folder: disk.url.appendingPathComponent("app"))
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .response(200, Data(count: 64 << 10))])
    let ballast = disk.fill()
    #expect(await app.check() == .failed(.diskFull))
    #expect(await app.cursor == 0)
    try FileManager.default.removeItem(at: ballast)
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(1))
  }
}
