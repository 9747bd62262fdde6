/// Whose attempts are counted: sixteen bytes that say "the same one as before" and nothing else.
public struct BudgetKey: Hashable, Sendable {
  let digest: SIMD2<UInt64>
}

extension BudgetKey: CustomStringConvertible, CustomReflectable {
  public var description: String { "BudgetKey" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
