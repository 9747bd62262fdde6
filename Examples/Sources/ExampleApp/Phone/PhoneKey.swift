import Foundation
import SealedStorage
import World

/// The key that seals all that a phone keeps. A real phone has it in its keychain.
enum PhoneKey {
  static func sealingKey(in folder: URL) throws -> SealingKey {
    let file = folder.appendingPathComponent("sealing-key")
    if let stored = try? Data(contentsOf: file), let key = SealingKey(bytes: stored) { return key }
    let bytes = SystemRandomness().bytes(SealingKey.byteCount)
    try PrivateFile.write(Data(bytes), to: file)
    guard let key = SealingKey(bytes: bytes) else { throw CocoaError(.fileWriteUnknown) }
    return key
  }
}
