/// Eight values that the health authority gives to the eight levels of something.
package struct LevelTable: Hashable, Sendable {
  /// How many levels there are.
  package static let levelCount = 8
  /// What a level may be worth; 0 makes the whole score 0.
  package static let values = 0...8

  private let values: [Int]

  /// Nil unless there are eight values, each within `values`.
  package init?(_ values: [Int]) {
    guard values.count == Self.levelCount, values.allSatisfy(Self.values.contains) else {
      return nil
    }
    self.values = values
  }

  /// The value of `level`; levels beyond the last count as the last.
  package subscript(level: Int) -> Int { values[min(max(level, 0), Self.levelCount - 1)] }
}
