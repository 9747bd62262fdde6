// SPDX-License-Identifier: Apache-2.0
/// A checksum over the values of a row, which detects each change of one value, and any other change with near
/// certainty. It does not protect from an attacker.
package struct RowChecksum {
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  package init() {}

  /// Adds a number. The step is a bijection of the state, so a change of one number always changes the checksum.
  package mutating func add(_ number: UInt64) {
    state = (state ^ number) &* 0xff51_afd7_ed55_8ccd
    state ^= state >> 32
  }

  package mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

  /// Adds a number or NULL, which differs from every number.
  package mutating func add(_ number: Int64?) {
    add(UInt64(number == nil ? 1 : 2))
    add(number ?? 0)
  }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var word: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      word = word << 8 | UInt64(byte)
      if index % 8 == 7 { add(word) }
    }
    add(word)
  }

  /// The value for a column.
  package var value: Int64 { Int64(bitPattern: state) }
}
