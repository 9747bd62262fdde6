// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Testing
import World

@Suite("Sealing key")
struct SealingKeyTests {
  @Test(
    "A key has exactly 32 bytes", arguments: [(31, false), (32, true), (33, false)])
  func length(_ count: Int, _ isKey: Bool) {
    #expect((SealingKey(bytes: SystemRandomness().bytes(count)) != nil) == isKey)
  }

  @Test("A key, and its owners, are not readable in a log or a dump")
  func redacted() throws {
    let bytes = [UInt8](repeating: 171, count: 32)
    let key = try #require(SealingKey(bytes: bytes))
    let url = URL(fileURLWithPath: "/nowhere")
    let file = SealedFile(url: url, key: key, purpose: "p", randomness: SystemRandomness())
    let log = SealedLog(folder: url, key: key, purpose: "p", randomness: SystemRandomness())
    for value in [key, file, log] as [Any] {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      #expect(!text.contains("171"))
      #expect(!text.lowercased().contains("abab"))
      #expect(!text.contains("SymmetricKey"))
    }
  }
}
