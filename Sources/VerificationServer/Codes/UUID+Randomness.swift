import Foundation
import World

extension UUID {
  /// A random UUID (RFC 9562, version 4) from the randomness handed in.
  init(from randomness: any Randomness) {
    self.init(bytes: randomness.bytes(16), version: 0x40)
  }

  /// A UUID made of sixteen bytes that are secret to whoever cannot compute them (version 8).
  init(mark: Data) {
    self.init(bytes: Array(mark.prefix(16)), version: 0x80)
  }

  private init(bytes: [UInt8], version: UInt8) {
    var bytes = bytes + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
    bytes[6] = bytes[6] & 0x0F | version
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  /// In lower case, as both contracts write it.
  var text: String { uuidString.lowercased() }
}
