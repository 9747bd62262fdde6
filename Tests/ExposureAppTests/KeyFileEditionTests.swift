// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

/// Key files that the server has written again under new names, for example with a new signature.
@Suite("Editions of key files") struct KeyFileEditionTests {
  private let phone: TestApp
  private let app: ExposureApp

  init() async throws {
    phone = try TestApp()
    app = try await phone.launchedAfterFirstCheck()
  }

  /// The name of an edition of a file.
  private func name(_ number: Int, edition: Int) -> String {
    TestApp.name(number).replacing("-00001.", with: "-0000\(edition).")
  }

  /// Replaces the index by these files. Earlier names are not served any more.
  private func publish(_ names: [String]) {
    phone.network.index(names)
    for name in names { phone.network.script("/" + name, .text("0123456789")) }
  }

  private func find(score: Double) {
    phone.script.update {
      $0.found = [(date: TestApp.noon, seconds: 1_800, score: score)]
      $0.matchedKeyCount = 1
    }
  }

  @Test("A file that is signed again on later days changes neither encounters nor notices")
  func signedAgain() async throws {
    find(score: 4_000)
    publish([name(0, edition: 1)])
    #expect(await app.check() == .checked(.high))
    let first = await app.exposures
    // The score of an encounter falls with its days.
    for (edition, score) in [(2, 4_000.0), (3, 3_000)] {
      phone.clock.advance(by: TestApp.day)
      find(score: score)
      publish([name(0, edition: edition), name(edition, edition: 1)])
      #expect(try await phone.launch().check() == .checked(.high))
      let now = try await phone.launch().exposures
      #expect(now.map(\.id) == first.map(\.id) && now.map(\.riskScore) == [4_000])
    }
    #expect(phone.notices.risks == [.high])
  }

  @Test("An encounter of a new file in the same detection counts, and keeps its score")
  func beside() async throws {
    find(score: 1_000)
    publish([name(0, edition: 1)])
    _ = await app.check()
    phone.script.update {
      $0.found.insert((date: TestApp.noon, seconds: 1_800, score: 4_000), at: 0)
    }
    publish([name(0, edition: 2), name(1, edition: 1)])
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.map(\.riskScore).sorted() == [1_000, 4_000])
  }

  @Test("A removed encounter does not return with a later edition of its file, twice")
  func removed() async throws {
    find(score: 4_000)
    publish([name(0, edition: 1)])
    #expect(await app.check() == .checked(.high))
    try await app.removeExposures()
    for edition in 2...3 {
      publish([name(0, edition: edition)])
      #expect(try await phone.launch().check() == .checked(.none))
    }
    #expect(phone.script.state.detections.count == 3 && phone.notices.risks == [.high])
    // An equal encounter of another file is another one.
    publish([name(0, edition: 3), name(1, edition: 1)])
    #expect(try await phone.launch().check() == .checked(.high))
  }

  @Test("An edition that was never downloaded is not missing when a later one takes its place")
  func neverDownloaded() async throws {
    phone.network.index([name(0, edition: 1)])
    #expect(await app.check() == .failed(.filesMissing))
    for edition in 2...3 {
      publish([name(0, edition: edition)])
      #expect(try await phone.launch().check() == .checked(.none))
      #expect(phone.script.state.detections.last == [name(0, edition: edition)])
    }
  }

  @Test("Two numbers that one index lists are two files")
  func bothListed() async throws {
    publish([name(0, edition: 1), name(0, edition: 2)])
    _ = await app.check()
    #expect(phone.script.state.detections == [[name(0, edition: 1), name(0, edition: 2)]])
    publish([name(0, edition: 1), name(0, edition: 2), name(0, edition: 3)])
    _ = await app.check()
    #expect(phone.script.state.detections.last == [name(0, edition: 3)])
  }

  @Test("If a later edition is withdrawn, the encounter of the earlier one is undone")
  func withdrawn() async throws {
    find(score: 4_000)
    publish([name(0, edition: 1)])
    #expect(await app.check() == .checked(.high))
    publish([name(0, edition: 2)])
    phone.network.script("/" + name(0, edition: 2), .text("signed again"))
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    let file = phone.temporary.path("again")
    try Data("signed again".utf8).write(to: file)
    var document = try phone.document(version: 2)
    document.withdrawn = [try #require(KeyFileHash(ofFile: file))]
    try phone.serve(document)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.notices.removed.contains(.risk))
    #expect(try await phone.launch().exposures.isEmpty)
  }
}
