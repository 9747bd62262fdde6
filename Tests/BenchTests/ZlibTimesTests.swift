// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import TestSupport
import Testing

@testable import Bench

@Suite("The time of zlib for a key file")
struct ZlibTimesTests {
  private static let keyCount = 1_000

  private let folder: TemporaryFolder
  private let zip: URL

  init() throws {
    folder = try TemporaryFolder()
    var files = try WorkloadFiles(in: try BenchFolder(keep: folder.path("keys").path))
    try files.writeKeys(
      of: MatchWorkload(keys: Self.keyCount, sightings: 1, seed: 1), unzipped: false
    ) { _ in }
    zip = try #require(files.keyFiles.first)
  }

  @Test("A key takes some nanoseconds, and more of them to deflate than to inflate")
  func times() throws {
    let times = try ZlibTimes(ofFirstEntryOf: zip, keyCount: Self.keyCount)
    #expect(times.inflateNanoseconds > 0)
    #expect(times.deflateNanoseconds > times.inflateNanoseconds)
  }

  @Test("A zip that is cut off or damaged is reported")
  func damaged() throws {
    let content = try Data(contentsOf: zip)
    var damaged = content
    // The type of the first block, which is 3 then.
    damaged[30 + "export.bin".utf8.count] |= 0b110
    for wrong in [content.prefix(20), content.prefix(content.count / 2), damaged, Data()] {
      try wrong.write(to: zip)
      #expect(throws: CommandFailure.self) {
        try ZlibTimes(ofFirstEntryOf: zip, keyCount: Self.keyCount)
      }
    }
  }
}
