// SPDX-License-Identifier: Apache-2.0
/// The modules of a QR code while it is made: the fixed patterns, the data, and the mask.
struct QRMatrix: Sendable {
  private(set) var modules: [[Bool]]
  /// True for modules of the fixed patterns, which hold no data.
  private var isFixed: [[Bool]]
  private let version: QRCode.Version
  private var size: Int { version.size }

  /// A matrix with the fixed patterns.
  init(_ version: QRCode.Version) {
    self.version = version
    modules = Array(repeating: Array(repeating: false, count: version.size), count: version.size)
    isFixed = modules
    for index in 0..<size {
      set(6, index, index.isMultiple(of: 2))
      set(index, 6, index.isMultiple(of: 2))
    }
    for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { addFinder(row, column) }
    addAlignment()
    addFormat(mask: 0)
    addVersion()
  }

  /// A finder pattern around its centre, with its light border.
  private mutating func addFinder(_ row: Int, _ column: Int) {
    for y in -4...4 {
      for x in -4...4 {
        let distance = max(abs(x), abs(y))
        guard (0..<size).contains(row + y), (0..<size).contains(column + x) else { continue }
        set(row + y, column + x, distance != 2 && distance != 4)
      }
    }
  }

  private mutating func addAlignment() {
    let last = version.alignment.last
    for row in version.alignment {
      for column in version.alignment {
        // The finder patterns are in three corners.
        let isCorner =
          (row == 6 && column == 6) || (row == 6 && column == last) || (row == last && column == 6)
        guard !isCorner else { continue }
        for y in -2...2 {
          for x in -2...2 { set(row + y, column + x, max(abs(x), abs(y)) != 1) }
        }
      }
    }
  }

  /// The error correction level (M is 0) and the mask, with a BCH code, twice.
  private mutating func addFormat(mask: Int) {
    var remainder = mask
    for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
    let bits = (mask << 10 | remainder) ^ 0x5412
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0...5 { set(index, 8, bit(index)) }
    set(7, 8, bit(6))
    set(8, 8, bit(7))
    set(8, 7, bit(8))
    for index in 9..<15 { set(8, 14 - index, bit(index)) }
    for index in 0..<8 { set(8, size - 1 - index, bit(index)) }
    for index in 8..<15 { set(size - 15 + index, 8, bit(index)) }
    set(size - 8, 8, true)
  }

  /// The version with a BCH code, twice, from version 7 on.
  private mutating func addVersion() {
    guard version.number >= 7 else { return }
    var remainder = version.number
    for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
    let bits = version.number << 12 | remainder
    for index in 0..<18 {
      let (far, near) = (size - 11 + index % 3, index / 3)
      set(near, far, bits >> index & 1 == 1)
      set(far, near, bits >> index & 1 == 1)
    }
  }

  private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
    modules[row][column] = isDark
    isFixed[row][column] = true
  }

  /// Fills the free modules with the bits of `codewords`: pairs of columns from right to left, alternately up and
  /// down.
  mutating func place(_ codewords: [UInt8]) {
    var index = 0
    var isUpward = true
    var right = size - 1
    while right > 0 {
      // The column of the timing pattern is left out.
      if right == 6 { right = 5 }
      for step in 0..<size {
        let row = isUpward ? size - 1 - step : step
        for column in [right, right - 1] where !isFixed[row][column] {
          if index < 8 * codewords.count {
            modules[row][column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
          }
          index += 1
        }
      }
      isUpward.toggle()
      right -= 2
    }
  }

  /// Inverts the data modules that the mask selects, and writes the mask into the format.
  mutating func apply(mask: Int) {
    for row in 0..<size {
      for column in 0..<size where !isFixed[row][column] && Self.isSelected(mask, row, column) {
        modules[row][column].toggle()
      }
    }
    addFormat(mask: mask)
  }

  private static func isSelected(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    let number =
      switch mask {
      case 0: (row + column) % 2
      case 1: row % 2
      case 2: column % 3
      case 3: (row + column) % 3
      case 4: (row / 2 + column / 3) % 2
      case 5: row * column % 2 + row * column % 3
      case 6: (row * column % 2 + row * column % 3) % 2
      default: ((row + column) % 2 + row * column % 3) % 2
      }
    return number == 0
  }
}

extension QRMatrix {
  /// A measure of patterns that make reading harder: runs, blocks, false finder patterns, and an uneven share of dark
  /// modules.
  var penalty: Int {
    let columns = modules.indices.map { column in modules.map { $0[column] } }
    let lines = modules + columns
    return lines.reduce(0) { $0 + Self.runs($1) + Self.falseFinders($1) } + blocks + imbalance
  }

  private static func runs(_ line: [Bool]) -> Int {
    var (penalty, length) = (0, 1)
    for index in 1..<line.count {
      length = line[index] == line[index - 1] ? length + 1 : 1
      penalty += length == 5 ? 3 : length > 5 ? 1 : 0
    }
    return penalty
  }

  private static func falseFinders(_ line: [Bool]) -> Int {
    var (penalty, window) = (0, 0)
    for (index, isDark) in line.enumerated() {
      window = (window << 1 | (isDark ? 1 : 0)) & 0b111_1111_1111
      if index >= 10, window == 0b101_1101_0000 || window == 0b000_0101_1101 { penalty += 40 }
    }
    return penalty
  }

  private var blocks: Int {
    var count = 0
    for row in 1..<modules.count {
      for column in 1..<modules.count {
        let isDark = modules[row][column]
        if modules[row - 1][column] == isDark, modules[row][column - 1] == isDark,
          modules[row - 1][column - 1] == isDark
        {
          count += 3
        }
      }
    }
    return count
  }

  private var imbalance: Int {
    let dark = modules.reduce(0) { $0 + $1.count { $0 } }
    return abs(dark * 20 - modules.count * modules.count * 10) / (modules.count * modules.count)
      * 10
  }
}
