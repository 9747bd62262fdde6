import CZlib

/// CRC-32 of some bytes, as a zip has it, and their number; two that lie beside each other add up.
struct CyclicCheck: Sendable {
  private(set) var value: UInt32 = 0
  private(set) var byteCount = 0

  /// Of no bytes.
  init() {}

  /// Of `bytes`.
  init(of bytes: UnsafeBufferPointer<UInt8>) {
    value = UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, z_size_t(bytes.count)))
    byteCount = bytes.count
  }

  /// Goes on with the bytes that come next.
  mutating func append(_ next: CyclicCheck) {
    let joined = crc32_combine(UInt(value), UInt(next.value), next.byteCount)
    value = UInt32(truncatingIfNeeded: joined)
    byteCount += next.byteCount
  }
}
