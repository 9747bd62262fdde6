import ExposureKeys

/// Gathers keys into batches of one size, fresh and revised ones apart.
struct KeyBatcher {
  private let batchSize: Int
  private var keys: [DiagnosisKey] = []
  private var areRevised = false
  private(set) var keysSkipped = 0

  /// A size outside `KeyFileLimit.batchSizes` is brought inside.
  init(batchSize: Int) {
    let sizes = KeyFileLimit.batchSizes
    self.batchSize = min(max(batchSize, sizes.lowerBound), sizes.upperBound)
  }

  /// Adds a key; hands the batch on where it is full or of the other kind.
  mutating func add(
    _ message: KeyMessage, isRevised: Bool, each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    guard let key = message.diagnosisKey else {
      keysSkipped += 1
      return
    }
    if isRevised != areRevised { try flush(each) }
    areRevised = isRevised
    keys.append(key)
    if keys.count == batchSize { try flush(each) }
  }

  /// Hands on what is left.
  mutating func flush(_ each: (ProvisionalKeyBatch) throws -> Void) throws {
    guard !keys.isEmpty else { return }
    try each(ProvisionalKeyBatch(keys: keys, areRevised: areRevised))
    keys.removeAll(keepingCapacity: true)
  }
}
