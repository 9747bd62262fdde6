import Foundation
import Synchronization

/// A file under a temporary name, to be removed where the program is ended before it is whole.
final class UnfinishedFile: Sendable {
  private let place = Mutex<URL?>(nil)

  /// Takes note that the file is there.
  func began(at url: URL) {
    place.withLock { $0 = url }
  }

  /// Removes the file, where it has begun and has not got its own name yet.
  @Sendable func remove() {
    place.withLock { url in
      if let url { unlink(url.path) }
    }
  }
}
