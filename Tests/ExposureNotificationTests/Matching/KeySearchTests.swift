// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

struct KeySearchTests {
  private let authority: Authority
  private let user: BeaconSender
  private let matcher: Matcher

  init() throws {
    authority = try Authority()
    user = try BeaconSender()
    matcher = Matcher([user.sighting()])
  }

  /// 40 keys in file order; the user's is the first.
  private func keys() throws -> [DiagnosisKey] {
    try [user.key] + (100..<139).map { try BeaconSender($0).key }
  }

  @Test("A file with an invalid signature yields no matches", arguments: 1...3)
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

  @Test("Matches of an earlier file are kept if a later file is rejected")
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

  @Test("A file truncated at any byte yields no matches, zipped or not", arguments: [true, false])
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
    "A search that is cancelled within a file stops before the next batch and yields no matches",
    arguments: 1...3)
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

  @Test("A search uses 1 to 16 threads for any requested number", arguments: [-1, 0, 1, 16, 17])
  func threads(asked: Int) throws {
    let user = try BeaconSender()
    var search = KeySearch(Matcher([user.sighting()]), threads: asked)
    var found = RawMatches()
    try search.run(into: &found) { each in
      for _ in 0..<100 { try each(ProvisionalKeyBatch(keys: KeyBatch([user.key]))) }
    }
    #expect(search.counters.keys == 100)
    #expect(found.sightingCount == 1)
  }

  @Test("The number of queued batches never exceeds the limit", arguments: 1...3)
  func waiting(threads: Int) throws {
    let pool = KeySearch(matcher, threads: threads).makePool()
    var resultCount = 0
    for _ in 0..<200 {
      resultCount += pool.submit(ProvisionalKeyBatch(keys: KeyBatch([user.key]))).count
      #expect(pool.queuedCount <= (threads - 1) * MatchLimit.queuedBatchesPerThread)
    }
    #expect(resultCount + pool.finish().count == 200)
  }

  @Test("A cancelled search leaves no batch in the queue", arguments: [1, 16])
  func abandoned(threads: Int) throws {
    let pool = KeySearch(matcher, threads: threads).makePool()
    let keys = KeyBatch([DiagnosisKey](repeating: user.key, count: 500))
    for _ in 0..<60 { _ = pool.submit(ProvisionalKeyBatch(keys: keys)) }
    pool.cancel()
    #expect(pool.queuedCount == 0)
  }
}
