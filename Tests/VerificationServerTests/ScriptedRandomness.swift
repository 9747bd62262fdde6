import Synchronization
import World

/// Gives the bytes of a script first, and truly random ones when it is over.
final class ScriptedRandomness: Randomness {
  private let script: Mutex<[UInt8]>

  init(_ script: [UInt8]) {
    self.script = Mutex(script)
  }

  func bytes(_ count: Int) -> [UInt8] {
    script.withLock { script in
      guard script.count >= count else { return SystemRandomness().bytes(count) }
      defer { script.removeFirst(count) }
      return Array(script.prefix(count))
    }
  }
}
