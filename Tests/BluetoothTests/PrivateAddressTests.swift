// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing
import World

@testable import Bluetooth

@Suite("Private address")
struct PrivateAddressTests {
  @Test("The two highest bits are 0 and the others are random")
  func bits() {
    let randomness = TestRandomness()
    let addresses = (0..<200).map { _ in PrivateAddress(randomness) }
    #expect(Set(addresses).count == 200)
    #expect(addresses.allSatisfy { $0.bytes.count == 6 && $0.bytes[5] < 0b0100_0000 })
    for bit in 0..<46 {
      let ones = addresses.count { $0.bytes[bit / 8] >> (bit % 8) & 1 == 1 }
      #expect((40...160).contains(ones), "bit \(bit)")
    }
  }

  @Test("An address of only ones or zeros is drawn again", arguments: [0x00, 0xff] as [UInt8])
  func excluded(byte: UInt8) {
    let address = PrivateAddress(ListedRandomness([byte, 0x12]))
    #expect(address.bytes == [UInt8](repeating: 0x12, count: 6))
    #expect(address.text == "12:12:12:12:12:12")
  }

  @Test("A log does not show the address")
  func redaction() {
    let address = PrivateAddress(ListedRandomness([0x12]))
    #expect("\(address)" == "PrivateAddress")
  }
}

/// A random source that repeats each byte of a list for one request; the last one for all further requests.
private final class ListedRandomness: Randomness {
  private let list: Mutex<[UInt8]>

  init(_ list: [UInt8]) {
    self.list = Mutex(list)
  }

  func bytes(_ count: Int) -> [UInt8] {
    let byte = list.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    return [UInt8](repeating: byte, count: count)
  }
}
