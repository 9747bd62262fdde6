import ExposureKeys
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 3.
@Suite struct OwnKeysTests {
  static let midnight = IntervalNumber(rawValue: 144 * 18_428)
  static let noon = IntervalNumber(rawValue: midnight.rawValue + 72)

  private func bytes(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 16) }

  @Test("A key made at noon serves its whole day")
  func wholeDay() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    #expect(own.key(at: Self.midnight) == own.key(at: Self.noon))
    #expect(own.keys.map(\.rollingPeriod) == [144])
    own.add(bytes(2), at: Self.noon)
    #expect(own.keys.count == 1)
  }

  @Test("The key of today stays with the phone where today is left out")
  func withoutToday() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    let before = own
    #expect(own.release(at: Self.noon, includingToday: false).isEmpty)
    #expect(own == before)
  }

  @Test("A key released at noon ends before noon, and the next begins there and fills the day")
  func releaseToday() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    let released = own.release(at: Self.noon, includingToday: true)
    #expect(released.map(\.rollingPeriod) == [72])
    #expect(own.key(at: Self.noon) == nil)
    own.add(bytes(2), at: Self.noon)
    let next = try #require(own.key(at: Self.noon))
    #expect(next.rollingStart == Self.noon && next.rollingPeriod == 72)
    #expect(next.secretBytes == bytes(2))
  }

  @Test("A second release in the same interval hands out nothing new and keeps the key")
  func releaseTwice() throws {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    _ = own.release(at: Self.noon, includingToday: true)
    own.add(bytes(2), at: Self.noon)
    let before = own
    #expect(own.release(at: Self.noon, includingToday: true).map(\.rollingPeriod) == [72])
    #expect(own == before)
  }

  @Test("No two keys ever cover the same interval, even where the clock was set back")
  func noOverlap() throws {
    var own = OwnKeys()
    for (byte, hour) in [(1, 12), (2, 18), (3, 6), (4, 9), (5, 0)] as [(UInt8, UInt32)] {
      let interval = IntervalNumber(rawValue: Self.midnight.rawValue + hour * 6)
      own.add(bytes(byte), at: interval)
      _ = own.release(at: interval, includingToday: true)
      own.add(bytes(byte + 100), at: interval)
      #expect(own.key(at: interval) != nil)
    }
    for (key, next) in zip(own.keys, own.keys.dropFirst()) {
      #expect(key.rollingEnd <= next.rollingStart)
    }
  }

  @Test("Fourteen days back is kept, fifteen is not")
  func prune() {
    var own = OwnKeys()
    own.add(bytes(1), at: Self.noon)
    for (days, isKept) in [(13, true), (14, true), (15, false)] as [(UInt32, Bool)] {
      var copy = own
      let later = IntervalNumber(rawValue: Self.noon.rawValue + days * 144)
      let isPruned = copy.prune(at: later)
      #expect(isPruned != isKept)
      #expect(copy.keys.isEmpty != isKept)
    }
  }
}
