// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The bytes of a secret in one place in memory, overwritten with zeros before the memory is freed.
///
/// A reference to it can be passed on without copying the bytes. `Data`, arrays and strings are copied by
/// the runtime whenever it likes, and freed memory keeps its content until it is used again.
///
/// ```swift
/// var typed = readPIN()                      // [UInt8]
/// let pin = ZeroingBytes(moving: &typed)     // `typed` is all zeros now
/// pin.withUnsafeBytes { send($0) }
/// ```
///
/// It cannot clear other copies, such as those in registers, in the page cache or in a library's buffer.
public final class ZeroingBytes: Sendable {
  // Written by `init` and `deinit` only, so references may be shared.
  private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
  private let free: @Sendable (UnsafeMutableRawBufferPointer) -> Void

  /// Allocates `count` zero bytes and calls `fill` to write them.
  public init(
    count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) rethrows {
    bytes = .allocate(byteCount: max(0, count), alignment: MemoryLayout<UInt64>.alignment)
    free = { $0.deallocate() }
    overwrite(bytes)
    try fill(bytes)
  }

  /// Takes ownership of `memory`. On deallocation the bytes are overwritten and passed to `free`.
  package init(
    adopting memory: UnsafeMutableRawBufferPointer,
    free: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
  ) {
    bytes = memory
    self.free = free
  }

  /// Copies `source`.
  public convenience init(copying source: some Collection<UInt8>) {
    self.init(count: source.count) { $0.copyBytes(from: source) }
  }

  /// Copies `source` and overwrites it with zeros.
  public convenience init(moving source: inout some Zeroable & Collection<UInt8>) {
    self.init(copying: source)
    source.zero()
  }

  deinit {
    overwrite(bytes)
    free(bytes)
  }

  /// The number of bytes.
  public var count: Int { bytes.count }
}

extension ZeroingBytes: ContiguousBytes {
  /// Calls `body` with the bytes, which must not be used after it returns.
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(bytes)) }
  }
}

extension ZeroingBytes: Equatable {
  /// Compares in a time that depends only on the lengths.
  public static func == (left: ZeroingBytes, right: ZeroingBytes) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { isEqualInConstantTime(left, $0) } }
  }
}

extension ZeroingBytes: Redacted {}

/// A collection of bytes that can be overwritten.
public protocol Zeroable {
  /// Overwrites every byte with zero; the length stays.
  ///
  /// This clears the only copy if no other variable holds the value. Otherwise the bytes are copied
  /// first, like before every change, and the other variable keeps them.
  mutating func zero()
}

extension Data: Zeroable {
  public mutating func zero() {
    withUnsafeMutableBytes { overwrite($0) }
  }
}

extension [UInt8]: Zeroable {
  public mutating func zero() {
    withUnsafeMutableBytes { overwrite($0) }
  }
}

/// Passes `bytes` to `body` and overwrites them afterwards, also if it throws.
///
/// Pass the result of a call. A variable would keep a copy; overwrite it with `defer { bytes.zero() }`.
///
/// ```swift
/// let keys = try withZeroedOnExit(try file.read()) { try decode($0) }
/// ```
public func withZeroedOnExit<Bytes: Zeroable, Result, Failure: Error>(
  _ bytes: consuming Bytes, _ body: (borrowing Bytes) throws(Failure) -> Result
) throws(Failure) -> Result {
  defer { bytes.zero() }
  return try body(bytes)
}

/// A call that the optimizer does not remove, although the memory is not read again.
private func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
  if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
}
