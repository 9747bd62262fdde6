// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A position in a town, in metres from a corner of its map.
public struct Position: Codable, Hashable, Sendable {
  /// To the east.
  public var x: Double
  /// To the south.
  public var y: Double

  /// Creates a position.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// The distance to another position, in metres.
  public func metres(to other: Position) -> Double { hypot(x - other.x, y - other.y) }
}
