import Synchronization
import World

/// Truly random, and remembers what it gave.
final class RecordingRandomness: Randomness {
  private let given = Mutex<[UInt8]>([])

  var recorded: [UInt8] { given.withLock { $0 } }

  func bytes(_ count: Int) -> [UInt8] {
    let bytes = SystemRandomness().bytes(count)
    given.withLock { $0 += bytes }
    return bytes
  }
}
