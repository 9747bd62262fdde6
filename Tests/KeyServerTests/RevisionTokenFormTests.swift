import Crypto
import ExposureKeys
import Foundation
import Testing

@testable import KeyServer

/// What a revision token is, byte for byte: phones hold those that were written before.
@Suite("Servers 2.3: the form of revision tokens") struct RevisionTokenFormTests {
  private static let key = SymmetricKey(data: Data(repeating: 3, count: 32))
  private static let context = Data("the context of a test".utf8)
  private static let ring = RevisionKeyring(
    present: ("id", key), keys: ["id": key], context: context)

  /// An entry as Protocol Buffers write it: numbers in seven bits at a time, the lowest first.
  private static func entry(_ bytes: [UInt8], start: [UInt8], period: [UInt8]) -> [UInt8] {
    [0x0A, 27, 0x0A, 16] + bytes + [0x10] + start + [0x18] + period
  }

  private static let padding = entry(
    [UInt8](repeating: 0, count: 16), start: [0x80, 0x80, 0x80, 0x80, 0], period: [0x80, 0])

  private static func revisable(
    _ bytes: [UInt8], _ start: UInt32, _ period: UInt32
  ) throws -> RevisableKey {
    RevisableKey(
      try #require(
        TemporaryExposureKey(
          bytes: bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)))
  }

  private static func sealed(_ plain: [UInt8]) throws -> String {
    let box = try AES.GCM.seal(plain, using: key, authenticating: context)
    let data = try #require(box.combined)
    let length = [UInt8(data.count & 0x7F | 0x80), UInt8(data.count >> 7)]
    return Data([0x0A, 2] + Array("id".utf8) + [0x12] + length + data).base64EncodedString()
  }

  @Test("A token says each key once, in fixed lengths, and is filled up to 28 entries")
  func written() throws {
    let one = (1...16).map { UInt8($0) }
    let other = [UInt8](repeating: 0xFE, count: 16)
    let token = RevisionToken([
      try Self.revisable(one, 2_999_808, 144), try Self.revisable(other, .max - 1, 1),
    ])
    let bytes = try #require(Data(base64Encoded: try token.text(sealedWith: Self.ring)))
    #expect(Array(bytes.prefix(5)) == [0x0A, 2] + Array("id".utf8) + [0x12])
    let plain = try AES.GCM.open(
      try AES.GCM.SealedBox(combined: bytes.dropFirst(7)), using: Self.key,
      authenticating: Self.context)
    let wanted =
      Self.entry(one, start: [0x80, 0x8C, 0xB7, 0x81, 0], period: [0x90, 1])
      + Self.entry(other, start: [0xFE, 0xFF, 0xFF, 0xFF, 0x0F], period: [0x81, 0])
    #expect(Array(plain) == wanted + [[UInt8]](repeating: Self.padding, count: 26).flatMap { $0 })
  }

  @Test("A token is read whatever the widths and the order of its fields, without its padding")
  func read() throws {
    let bytes = (1...16).map { UInt8($0) }
    let narrow = [0x0A, 26, 0x18, 0x90, 1, 0x10, 0x80, 0x8C, 0xB7, 1, 0x0A, 16] + bytes
    let wide = Self.entry(bytes, start: [0x80, 0x8C, 0xB7, 0x81, 0], period: [0x90, 1])
    let wanted = try Self.revisable(bytes, 2_999_808, 144)
    for entry in [narrow, wide] {
      let token = try #require(
        RevisionToken(try Self.sealed(entry + Self.padding), with: Self.ring))
      #expect(token.keys == [wanted])
      #expect(token.covers(wanted))
      #expect(!token.covers(try Self.revisable(bytes, 2_999_808, 143)))
      #expect(!token.covers(try Self.revisable(bytes, 2_999_807, 144)))
      #expect(!token.covers(try Self.revisable([0] + bytes.dropFirst(), 2_999_808, 144)))
    }
  }

  @Test("A token with an entry that is no key is not read")
  func noKey() throws {
    let short = [0x0A, 8, 0x0A, 2, 1, 2, 0x10, 1, 0x18, 1] as [UInt8]
    #expect(RevisionToken(try Self.sealed(short), with: Self.ring) == nil)
    let long = Self.entry(
      [UInt8](repeating: 1, count: 16), start: [0x80, 0x80, 0x80, 0x80, 0], period: [0x91, 1])
    #expect(RevisionToken(try Self.sealed(long), with: Self.ring) == nil)
  }
}
