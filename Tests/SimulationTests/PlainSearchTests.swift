import Foundation
import Simulation
import TestSupport
import Testing

@Suite struct PlainSearchTests {
  private let secret = [UInt8](0..<16)
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A secret is found as bytes, as hex in either case, and as base64")
  func spellings() throws {
    let hex = secret.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    let spellings = [
      Data(secret), Data(hex.utf8), Data(hex.uppercased().utf8),
      Data(secret).base64EncodedData(),
    ]
    for (index, spelling) in spellings.enumerated() {
      try (Data("before".utf8) + spelling + Data("after".utf8)).write(to: folder.path("\(index)"))
    }
    let found = try PlainSearch(for: [secret]).findings(below: folder.url)
    #expect(found.files == 4)
    #expect(found.leaks.sorted() == ["0", "1", "2", "3"])
  }

  @Test("A secret that JSON has written is found, whatever its base64 looks like")
  func json() throws {
    let slashes = [UInt8](repeating: 0xff, count: 16)
    try JSONEncoder().encode(["key": Data(slashes)]).write(to: folder.path("state"))
    #expect(try PlainSearch(for: [slashes]).findings(below: folder.url).leaks == ["state"])
  }

  @Test("What only resembles a secret is no leak")
  func noFalseAlarm() throws {
    try Data(secret.dropLast()).write(to: folder.path("shorter"))
    try Data(secret.reversed()).write(to: folder.path("reversed"))
    #expect(try PlainSearch(for: [secret]).findings(below: folder.url).leaks.isEmpty)
  }
}
