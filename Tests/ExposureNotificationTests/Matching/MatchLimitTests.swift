import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 4.1, 7.1 and 8.1.
struct MatchLimitTests {
  @Test(
    "A filter has 64 to 128 bits for each identifier, and at least 64 bytes, at most a mebibyte",
    arguments: [
      (0, 4), (1, 4), (8, 4), (9, 5), (1_428, 12), (20_000, 16), (131_071, 18), (131_072, 18),
      (131_073, 18), (1_000_000, 18),
    ])
  func filterSize(identifiers: Int, log2: Int) {
    #expect(ProbeFilter.wordsLog2(for: identifiers) == log2)
  }

  @Test("The kernels always have the room that gets them ahead, and whole batches fit the scratch")
  func room() {
    #expect(MatchLimit.candidates >= Int(EK_CANDIDATES_MIN))
    #expect(KeyFileLimit.batchSizes.contains(MatchLimit.keysPerBatch))
    #expect(MatchLimit.filterWordsLog2.upperBound <= Int(EK_FILTER_LOG2_MAX))
  }

  @Test("However many threads are asked for, from 1 to 16 search", arguments: [-1, 0, 1, 16, 17])
  func threads(asked: Int) throws {
    let stranger = try Stranger()
    var search = KeySearch(Matcher([stranger.heard()]), threads: asked)
    var found = RawMatches()
    try search.run(into: &found) { each in
      for _ in 0..<100 { try each(ProvisionalKeyBatch(keys: KeyBatch([stranger.key]))) }
    }
    #expect(search.counters.keys == 100)
    #expect(found.sightingCount == 1)
  }

  @Test("A batch larger than the scratch is searched to its end")
  func largeBatch() throws {
    let stranger = try Stranger(255)
    let others = [try Stranger(3).key, try Stranger(4, start: 9).key]
    let keys = (0..<2 * MatchLimit.keysPerBatch + 1).map { others[$0 % 2] } + [stranger.key]
    let findings = Matcher([stranger.heard(step: 9)]).findings(in: KeyBatch(keys))
    #expect(findings.matches.map(\.key) == [stranger.key])
    #expect(findings.counters.keys == keys.count)
    #expect(findings.counters.keysSkipped == MatchLimit.keysPerBatch)
  }

  @Test("A key that comes again and again is found each time, what was heard of it held once")
  func duplicates() throws {
    let stranger = try Stranger()
    let heard = (0..<30).map { stranger.heard(after: Double($0)) }
    let keys = [try Stranger(2).key] + (0..<1_000).map { _ in stranger.key }
    let findings = Matcher(heard).findings(in: KeyBatch(keys))
    #expect(findings.matches.count == 1_000)
    #expect(findings.matches.allSatisfy { $0.opened.sightings.count == 30 })
    #expect(Set(findings.matches.map { ObjectIdentifier($0.heard) }).count == 1)
    var (ledger, raw) = (MatchLedger(), RawMatches())
    for _ in 0..<3 {
      ledger.add(findings)
      raw.add(findings)
    }
    #expect((ledger.openedCount, raw.sightingCount) == (30, 30))
  }

  @Test("No more batches wait than the limit says, however fast they come", arguments: 1...3)
  func waiting(threads: Int) throws {
    let stranger = try Stranger()
    let crew = MatchCrew(Matcher([stranger.heard()]), threads: threads, openKeys: nil)
    for _ in 0..<200 {
      crew.add(ProvisionalKeyBatch(keys: KeyBatch([stranger.key])))
      #expect(crew.waitingCount <= (threads - 1) * MatchLimit.batchesWaiting)
    }
    crew.finish()
    #expect(crew.takeFindings().count == 200)
  }

  @Test("Of a search that is given up nothing waits any more", arguments: [1, 16])
  func abandoned(threads: Int) throws {
    let stranger = try Stranger()
    let crew = MatchCrew(Matcher([stranger.heard()]), threads: threads, openKeys: nil)
    let keys = KeyBatch([DiagnosisKey](repeating: stranger.key, count: 500))
    for _ in 0..<60 { crew.add(ProvisionalKeyBatch(keys: keys)) }
    crew.abandon()
    #expect(crew.waitingCount == 0)
  }
}
