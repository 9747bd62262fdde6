import Crypto
import Synchronization

/// SHA-256 of an export as far as it has been written, by whatever thread.
final class RunningDigest: Sendable {
  private let state = Mutex((hash: SHA256(), byteCount: 0))

  /// Takes the next bytes.
  func update(_ bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.hash.update(bufferPointer: bytes)
      state.byteCount += bytes.count
    }
  }

  /// Of everything up to now.
  var value: SHA256Digest { state.withLock { $0.hash.finalize() } }
  /// How many bytes that is.
  var byteCount: Int { state.withLock { $0.byteCount } }
}
