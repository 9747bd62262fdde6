import ExposureKeys

/// Some diagnosis keys, 32 bytes each in one piece of memory; each becomes a `DiagnosisKey` as it is
/// looked at.
public struct KeyBatch: RandomAccessCollection, Sendable {
  /// The keys as they lie in memory: what the matcher reads.
  package let rows: [KeyRow]

  /// A batch of these rows.
  package init(rows: [KeyRow]) {
    self.rows = rows
  }

  /// A batch of `keys`, in their order.
  package init(_ keys: some Sequence<DiagnosisKey>) {
    rows = keys.map(KeyRow.init)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many keys there are.
  public var endIndex: Int { rows.count }
  /// The key at `position`, made anew at each look.
  public subscript(position: Int) -> DiagnosisKey { rows[position].diagnosisKey }
}

extension KeyBatch: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds keys.
  public var description: String { "KeyBatch" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
