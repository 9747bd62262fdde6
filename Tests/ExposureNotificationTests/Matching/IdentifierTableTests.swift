import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 5.
struct IdentifierTableTests {
  /// 20,000 identifiers that differ in eight bytes only: the first, or the last.
  private func identifiers(varyingFirst: Bool) -> [(UInt64, UInt64)] {
    (0..<20_000).map { number in varyingFirst ? (UInt64(number), 7) : (7, UInt64(number)) }
  }

  @Test("Identifiers chosen to be alike lie apart under a secret", arguments: [false, true])
  func flooding(varyingFirst: Bool) {
    var table = IdentifierTable(
      capacity: 20_000, secret: ProbeSecret(from: TestRandomness(seed: 5)))
    let identifiers = identifiers(varyingFirst: varyingFirst)
    for words in identifiers { _ = table.insert(words) }
    #expect(table.longestSearch < 64)
    #expect(identifiers.indices.allSatisfy { table.number(of: identifiers[$0]) == $0 })
    #expect(table.number(of: (8, 8)) == nil)
  }

  @Test("The same identifier has one number, however often it comes")
  func repeated() {
    var table = IdentifierTable(capacity: 3, secret: .ofTests)
    #expect([(1, 1), (2, 1), (1, 1)].map { table.insert($0) } == [0, 1, 0])
    #expect(table.identifiers.count == 2)
  }

  @Test("Where all identifiers collide, whoever is near is found all the same")
  func allCollide() throws {
    // Under a secret of zeros, identifiers that begin with eight zeros lie in one place of the table
    // and in one word of every filter.
    let stranger = try Stranger()
    let strangers = try (0..<2_000).map { number in
      let bytes = [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 0xff)]
      return Sighting(
        advertisement: Advertisement(
          identifier: try required(RollingProximityIdentifier(bytes: bytes)),
          metadata: try required(AssociatedEncryptedMetadata(bytes: [0, 0, 0, 0]))),
        time: Stranger.midnight.date, signalStrength: -60)
    }
    let heard = ScannedSighting.inOrder(strangers + [stranger.heard(step: 3)])
    let index = ContactIndex(heard, secret: ProbeSecret(bytes: []))
    for direction in MatchDirection.allCases {
      let matcher = Matcher(index, direction: direction)
      #expect(
        matcher.matches(of: [stranger.key, try Stranger(2).key]).map(\.key) == [stranger.key])
    }
  }
}
