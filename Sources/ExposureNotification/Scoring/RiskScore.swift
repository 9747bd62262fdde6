/// A score of version 1: the product of four table values, 0...4,096.
package struct RiskScore: Hashable, Comparable, Sendable {
  /// The product itself.
  package let fullRange: Int
  /// The product as old apps know it, at most 255.
  package var capped: UInt8 { UInt8(clamping: fullRange) }

  /// A score with this product.
  package init(fullRange: Int) {
    self.fullRange = fullRange
  }

  package static func < (left: RiskScore, right: RiskScore) -> Bool {
    left.fullRange < right.fullRange
  }
}
