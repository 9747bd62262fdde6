import ExposureKeys

/// The keys of one batch as they come from the database, one at a time.
///
/// A `Sequence` cannot throw: where the database fails in the middle the sequence ends early and
/// `failure` says so, which whoever wrote the keys must look at before it believes them complete.
final class StoredKeys: Sequence, IteratorProtocol {
  private let advance: () throws -> DiagnosisKey?
  /// Why the sequence ended early; nil where it did not.
  private(set) var failure: (any Error)?

  init(_ advance: @escaping () throws -> DiagnosisKey?) {
    self.advance = advance
  }

  func next() -> DiagnosisKey? {
    guard failure == nil else { return nil }
    do {
      return try advance()
    } catch {
      failure = error
      return nil
    }
  }
}
