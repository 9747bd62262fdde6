import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 9: nothing leaves before it may be believed.
struct ProvisionalTests {
  private let authority: Authority
  private let stranger: Stranger
  private let matcher: Matcher

  init() throws {
    authority = try Authority()
    stranger = try Stranger()
    matcher = Matcher([stranger.heard()])
  }

  /// 40 keys in file order, the stranger's first.
  private func keys() throws -> [DiagnosisKey] {
    try [stranger.key] + (100..<139).map { try Stranger($0).key }
  }

  @Test("Of a file whose signature fails after its hits, no hit leaves", arguments: 1...3)
  func forged(threads: Int) throws {
    let file = try authority.publish(keys())
    let others = try Authority().verificationKeys
    var search = KeySearch(matcher, threads: threads)
    var found = RawMatches()
    var batches = 0
    #expect(throws: KeyFileError.signatureMismatch) {
      try search.run(into: &found) { each in
        try UnverifiedKeyFile(at: file).verified(by: others, batchSize: 8) { batch in
          batches += 1
          try each(batch)
        }
      }
    }
    #expect(batches == 5)
    #expect((found.keyCount, found.sightingCount) == (0, 0))
    #expect(search.counters == MatchCounters())
  }

  @Test("What an earlier file gave stays when a later one is refused")
  func earlierStays() throws {
    let file = try authority.publish(keys())
    var search = KeySearch(matcher)
    var found = RawMatches()
    for keys in [try authority.verificationKeys, try Authority().verificationKeys] {
      try? search.run(into: &found) { each in
        _ = try UnverifiedKeyFile(at: file).verified(by: keys, batchSize: 8, each: each)
      }
    }
    #expect((found.keyCount, search.counters.keys, search.counters.hits) == (1, 40, 1))
  }

  @Test("A file cut anywhere gives nothing, zipped or not", arguments: [true, false])
  func cut(isZip: Bool) throws {
    let zip = try authority.publish(keys())
    let url = isZip ? zip : try authority.unzipped(zip)
    let whole = try Data(contentsOf: url)
    let trusted = try authority.verificationKeys
    for count in whole.indices {
      try whole.prefix(count).write(to: url)
      var search = KeySearch(matcher)
      var found = RawMatches()
      #expect(throws: KeyFileError.self) {
        try search.run(into: &found) { each in
          try UnverifiedKeyFile(at: url).verified(by: trusted, batchSize: 8, each: each)
        }
      }
      #expect(found.keyCount == 0)
    }
  }

  @Test(
    "A search cancelled in the middle of a file stops there and tells nothing", arguments: 1...3)
  func cancelled(threads: Int) throws {
    let file = try authority.publish(keys())
    let trusted = try authority.verificationKeys
    let progress = Progress()
    var search = KeySearch(matcher, threads: threads, progress: progress)
    var found = RawMatches()
    var batches = 0
    #expect(throws: CancellationError.self) {
      try search.run(into: &found) { each in
        try UnverifiedKeyFile(at: file).verified(by: trusted, batchSize: 8) { batch in
          batches += 1
          if batches == 3 { progress.cancel() }
          try each(batch)
        }
      }
    }
    #expect(batches == 3)
    #expect(found.keyCount == 0)
  }
}
