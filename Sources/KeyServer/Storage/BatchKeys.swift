import ExposureKeys

/// The keys of one batch as they come from the database, one at a time.
struct BatchKeys {
  private let read: (_ each: (DiagnosisKey, Bool) throws -> Void) throws -> Void

  init(_ read: @escaping (_ each: (DiagnosisKey, Bool) throws -> Void) throws -> Void) {
    self.read = read
  }

  /// Gives `each` every key in the order of their bytes, then every revised one in the same order.
  func forEach(_ each: (_ key: DiagnosisKey, _ isRevised: Bool) throws -> Void) throws {
    try read(each)
  }
}
