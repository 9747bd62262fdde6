import Dispatch
import Synchronization

/// Takes chunks on one thread and has them worked on by another, in their order, so that keys are read and
/// encoded while those before them are hashed and deflated. Documentation/KeyFiles.md 6.5.
///
/// One chunk is under way at a time: whoever sends the next one waits for it.
final class ChunkRelay: Sendable {
  typealias Work = @Sendable (UnsafeRawBufferPointer) throws(KeyFileError) -> Void

  private let work: Work
  private let queue = DispatchQueue(label: "key file")
  private let failure = Mutex<KeyFileError?>(nil)

  /// A relay to `work`, which is not done again once it has failed.
  init(_ work: @escaping Work) {
    self.work = work
  }

  /// Sends a copy of `chunk`.
  ///
  /// - Throws: What the work on an earlier chunk threw.
  func send(_ chunk: UnsafeRawBufferPointer) throws(KeyFileError) {
    try finish()
    let copy = [UInt8](chunk)
    queue.async { [self] in
      do throws(KeyFileError) {
        try copy.withRawBytes(work)
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  /// Returns when everything that was sent has been worked on.
  ///
  /// - Throws: What the work threw.
  func finish() throws(KeyFileError) {
    settle()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// Returns when everything that was sent has been worked on, well or not.
  func settle() {
    queue.sync {}
  }
}
