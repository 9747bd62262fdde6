import Crypto

/// Where an export's bytes go, hashed on their way.
struct ExportOutlet {
  /// Takes the next bytes.
  typealias Receive = (UnsafeRawBufferPointer) throws(KeyFileError) -> Void

  private let receive: Receive
  private var hash = SHA256()
  /// How many bytes have gone.
  private(set) var byteCount = 0

  /// An outlet to `receive`.
  init(_ receive: @escaping Receive) {
    self.receive = receive
  }

  /// SHA-256 of everything up to now.
  var digest: SHA256Digest { hash.finalize() }

  /// Hands on the next bytes.
  mutating func put(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    hash.update(bufferPointer: bytes)
    byteCount += bytes.count
    try receive(bytes)
  }
}
