import Synchronization
import World

/// A random source that repeats each byte of a list for one request; the last one for all further requests.
final class ListedRandomness: Randomness {
  private let list: Mutex<[UInt8]>

  init(_ list: [UInt8]) {
    self.list = Mutex(list)
  }

  func bytes(_ count: Int) -> [UInt8] {
    let byte = list.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    return [UInt8](repeating: byte, count: count)
  }
}
