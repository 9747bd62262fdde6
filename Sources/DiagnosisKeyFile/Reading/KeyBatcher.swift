import ExposureKeys

/// Gathers keys into batches of one size, fresh and revised ones apart.
///
/// One buffer is used again and again; another is taken only while somebody still holds a batch.
struct KeyBatcher {
  private let batchSize: Int
  private var rows: [KeyRow] = []
  private var areRevised = false
  private(set) var keysSkipped = 0

  /// A size outside `KeyFileLimit.batchSizes` is brought inside.
  init(batchSize: Int) {
    let sizes = KeyFileLimit.batchSizes
    self.batchSize = min(max(batchSize, sizes.lowerBound), sizes.upperBound)
  }

  /// Adds a key; hands the batch on where it is full or of the other kind.
  @inline(__always)
  mutating func add(
    _ fields: borrowing KeyFields, isRevised: Bool, each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    guard let row = KeyRow(fields) else {
      keysSkipped += 1
      return
    }
    if isRevised != areRevised || rows.isEmpty { try turn(isRevised: isRevised, each) }
    rows.append(row)
    if rows.count == batchSize { try flush(each) }
  }

  private mutating func turn(
    isRevised: Bool, _ each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    try flush(each)
    areRevised = isRevised
    rows.reserveCapacity(batchSize)
  }

  /// Hands on what is left.
  mutating func flush(_ each: (ProvisionalKeyBatch) throws -> Void) throws {
    guard !rows.isEmpty else { return }
    try each(ProvisionalKeyBatch(keys: KeyBatch(rows: rows), areRevised: areRevised))
    rows.removeAll(keepingCapacity: true)
  }
}
