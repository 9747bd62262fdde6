// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

/// Checks of a phone that was off for more than a day. The files 0 to 5 have a roll-up, 6 to 8 have none.
@Suite("Checks with roll-ups") struct RollUpCheckTests {
  private static let root = KeyServerRoute.rollUpRoot(hours: 24)
  private static let content = "keys of a whole day"

  private let phone: TestApp
  private let app: ExposureApp
  private let rollUp: String

  init() async throws {
    phone = try TestApp()
    app = try await phone.launchedAfterFirstCheck()
    phone.clock.advance(by: TestApp.day)
    phone.publish(0..<9)
    let start = TestApp.end(-1)
    rollUp = try #require(KeyFileName(start: start, end: start + 86_400)).text
    phone.network.script(KeyServerRoute.index(of: KeyServerRoute.rollUpRoot(hours: 48)), .text(""))
    phone.network.script(
      KeyServerRoute.index(of: Self.root), .text("\(Self.root)/\(rollUp)"))
    phone.network.script(KeyServerRoute.keyFile(rollUp, of: Self.root), .text(Self.content))
  }

  private func names(_ numbers: Range<Int>) -> [String] { numbers.map(TestApp.name) }

  private func meetPositiveUser() {
    phone.script.update {
      $0.found = [(date: TestApp.noon, seconds: 1_800, score: 4_000)]
      $0.matchedKeyCount = 1
    }
  }

  @Test("A roll-up is analysed instead of the files that it covers, once")
  func analysed() async throws {
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[rollUp] + names(6..<9)])
    for name in names(0..<6) { #expect(phone.network.requests(for: "/" + name).isEmpty) }
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.count == 1)
    #expect(phone.keyFiles.isEmpty)
  }

  @Test("A phone that has seen a part of the period downloads the other files of it")
  func begun() async throws {
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    phone.publish(0..<9)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections == [names(0..<2), names(2..<9)])
  }

  @Test("A roll-up is not downloaded again after a check that ended during another download")
  func interrupted() async throws {
    let app = app
    phone.network.script("/" + TestApp.name(6), .hangs)
    let run = ManualRun()
    async let outcome = app.backgroundCheck(run)
    await Patience.yielding { phone.keyFiles == [rollUp] + names(7..<9) }
    run.timeIsUp()
    #expect(await outcome == .failed(.timeIsUp))
    phone.publish(0..<9)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[rollUp] + names(6..<9)])
    let path = KeyServerRoute.keyFile(rollUp, of: Self.root)
    #expect(phone.network.requests(for: path).count == 1)
    #expect(phone.keyFiles.isEmpty)
  }

  @Test("The files are downloaded if what is served as their roll-up is another file")
  func missing() async throws {
    phone.network.script(
      KeyServerRoute.keyFile(rollUp, of: Self.root), .text(TestApp.text(ofFile: TestApp.name(7))))
    #expect(await app.check() == .failed(.filesMissing))
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections == [names(6..<9), names(0..<6)])
  }

  @Test("A roll-up that the framework refuses is replaced by its files")
  func refused() async throws {
    phone.script.update { $0.refusedFiles = [rollUp] }
    while await app.check() != .checked(.none) {
      try #require(phone.script.state.detections.count < 10)
      phone.clock.advance(by: 4 * 3_600)
    }
    let analysed = phone.script.state.detections.filter { !$0.contains(rollUp) }.flatMap(\.self)
    #expect(analysed.sorted() == names(0..<9))
  }

  @Test("An encounter of a withdrawn roll-up is undone, and the files that it covers are analysed")
  func withdrawn() async throws {
    meetPositiveUser()
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    let digest = SHA256.hash(data: Data(Self.content.utf8))
    var document = try phone.document(version: 2)
    document.withdrawn = [try #require(KeyFileHash(Data(digest)))]
    try phone.serve(document)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.last == names(0..<9))
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.count == 2)
  }

  @Test("After the withdrawal of a roll-up, a file that the server has removed is not missing")
  func removed() async throws {
    let index = Data(names(0..<9).joined(separator: "\n").utf8)
    phone.network.script("/index.txt", .response(200, index, tag: "1"))
    meetPositiveUser()
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    let left = (names(0..<3) + names(4..<9)).map { $0.replacing("-00001.", with: "-00002.") }
    for name in names(0..<9) { phone.network.script("/" + name, .response(404)) }
    for name in left { phone.network.script("/" + name, .text("0123456789")) }
    phone.network.index(left)
    var document = try phone.document(version: 2)
    let digest = SHA256.hash(data: Data(Self.content.utf8))
    document.withdrawn = [try #require(KeyFileHash(Data(digest)))]
    try phone.serve(document)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.last == left)
    #expect(phone.network.requests(for: "/index.txt").last?.headers.isEmpty == true)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.script.state.detections.count == 2)
  }

  @Test("An encounter of a roll-up that its files show again counts once")
  func again() async throws {
    meetPositiveUser()
    #expect(await app.check() == .checked(.high))
    let exposure = try #require(try await phone.launch().exposures.first)
    var repeated = exposure
    repeated.files = try names(0..<1).map {
      AnalysedFile(name: $0, hash: try #require(KeyFileHash(Data(repeating: 1, count: 32))))
    }
    #expect(exposure.mayBeSame(as: repeated) && repeated.mayBeSame(as: exposure))
    repeated.files = try names(9..<10).map {
      AnalysedFile(name: $0, hash: try #require(KeyFileHash(Data(repeating: 1, count: 32))))
    }
    #expect(!exposure.mayBeSame(as: repeated))
  }
}
